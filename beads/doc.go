// Package beads is the lossless store: a file of issues, one JSON object to a
// line, of which every byte is kept that nobody asked to change.
//
// It finds the store (Discover), reads it in one pass into a small index
// (Read), gives the whole line of an issue when asked (Issue.Record), and
// changes single string values and dependency rows by splicing their bytes and
// adds lines (Record.With, Tx.AddRow, Tx.Add, Edit), and makes a store (Init).
// Edit holds a lock that other programs honour, compares the content on disk
// with what was read, and replaces the file atomically; readers take no lock
// and never wait.
//
// The package does not know what the texts mean: notes, signals, criteria and
// the graph of issues are other packages' business, and so is whether an issue
// may be closed. It starts no program and reads no environment or clock.
//
//	s, err := beads.Discover(beads.Where{Dir: "."})
//	…
//	_, err = beads.Edit(ctx, s, beads.Options{Now: now}, func(tx *beads.Tx) error {
//		return tx.Set("demo-1", beads.Set{Key: beads.Notes, Text: "seen"})
//	})
package beads
