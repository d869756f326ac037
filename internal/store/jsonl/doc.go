// Package jsonl keeps a store in a file, one JSON object a line, as bd does: the beads.Store of
// a project unless its issues are on a server (package sql).
//
// It finds the file (Discover), creates it (Init), reads it without a lock, writes it under a
// lock that other programs honour (Store.Edit), and watches it. A write compares the content on
// disk with what was read and replaces the file atomically; readers never wait. It also reads
// what bd and its relatives say about the store in metadata.json and config.yaml, without
// interpreting the values.
//
// The package starts no program and reads neither environment nor clock. Package beads handles
// the lines, package bd handles bd.
//
//	place, err := jsonl.Discover(jsonl.Where{Dir: "."})
//	…
//	_, err = jsonl.Open(place).Edit(ctx, beads.Options{Now: now}, func(tx *beads.Tx) error {
//		return tx.Set("demo-1", beads.Set{Key: beads.Notes, Text: "seen"})
//	})
package jsonl
