// Package beads is the lossless format of stores, and the seam between them and
// all that works on issues.
//
// A store holds a text, one issue as a JSON object to a line, of which every byte
// is kept that nobody asked to change. The package reads it in one pass into a
// small index (NewSnapshot), gives the whole line of an issue when asked
// (Issue.Record), changes single string values and rows of lists by splicing
// their bytes, and adds lines (Record.With, Tx.AddRow, Tx.Add). Store is what
// keeps the text: a file (package jsonl), or anything that has its four methods.
//
// The package does not know what the texts mean: notes, signals, criteria and
// the graph of issues are other packages' business, and so is whether an issue
// may be closed. It opens no file, starts no program and reads no environment or
// clock.
//
//	_, err = store.Edit(ctx, beads.Options{Now: now}, func(tx *beads.Tx) error {
//		return tx.Set("demo-1", beads.Set{Key: beads.Notes, Text: "seen"})
//	})
package beads
