// Package jsonl keeps a store in a file, one JSON object to a line, as bd does: the
// beads.Store that a project has unless its issues are on a server (package sql).
//
// It finds the file (Discover), makes it (Init), reads it without a lock, writes it
// under a lock that other programs honour (Store.Edit), and watches it. A write
// compares the content on disk with what was read and replaces the file
// atomically; readers never wait. Beside the file it reads what bd and its relatives say of
// the store, in metadata.json and config.yaml, without knowing what the values mean.
//
// The package starts no program and reads no environment or clock. What stands in
// the lines is the business of package beads; what bd does is that of package bd.
//
//	place, err := jsonl.Discover(jsonl.Where{Dir: "."})
//	…
//	_, err = jsonl.Open(place).Edit(ctx, beads.Options{Now: now}, func(tx *beads.Tx) error {
//		return tx.Set("demo-1", beads.Set{Key: beads.Notes, Text: "seen"})
//	})
package jsonl
