// Package journal finds out what became of acknowledged edits, restores lost ones and undoes
// edits. Package clone stores the records.
//
// A version is a line of an issue, named by its content. A record leads from one version to
// another, and names the changed parts: keys, sections of notes, rows of the signal table,
// labels, comments, edges. A merge leads from both sides to its result. Thus the edits behind a
// line of the store, a commit, a stash or a work tree are known; for an unrecorded line its
// values and its date decide. Find compares the store with each version that nothing starts
// from, and lists what the store lacks and what became of it. Records of earlier versions of
// stig name no versions and are read by value. Others compares the store with HEAD's commit, to
// find what other programs removed from lines that stig did not write.
//
// The package does not know which command called it, and prints nothing.
//
//	findings, err := journal.Find(ctx, journal.Question{Place: place, Journal: past, Store: journal.InSnapshot(file), Held: held})
//	…
//	for _, f := range findings {
//		fmt.Println(f.ID, f.Kind, f.Name, f.State)
//	}
package journal
