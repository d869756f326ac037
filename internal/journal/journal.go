// Package journal finds out what became of edits that stig acknowledged, puts lost ones back
// and takes edits back. Package clone keeps the records.
//
// A version is a line of an issue, named by what it says. A record leads from one version to
// another, and says which parts changed: keys, sections of notes, rows of the signal table,
// labels, comments, edges. A merge leads from both sides to its result. So it is known from
// which edits a line is made, of the store, of a commit, a stash or a work tree; of a line that
// no record names the values decide, with its date. Find compares the store with each version
// that nothing starts from, and lists what the store lacks with what became of it. Records of
// earlier programs name no versions: they are read by their values. Others compares the store
// with the commit that is checked out, for what other programs took from lines that stig did
// not write.
//
// The package does not know which command asked, and prints nothing.
//
//	findings, err := journal.Find(ctx, journal.Question{Place: place, Journal: past, Store: journal.InSnapshot(file), Held: held})
//	…
//	for _, f := range findings {
//		fmt.Println(f.ID, f.Kind, f.Name, f.State)
//	}
package journal
