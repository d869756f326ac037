// Package journal finds out what became of edits that stig acknowledged, and puts lost
// ones back: it lists them, undoes them, and recovers what another program or git took
// from the store. Package clone keeps the records.
//
// Two questions are answered. A Look compares the store with what a session last saw of
// it, line by line, and finds what another program took: issues, sections of notes, rows
// of the signal table, comments, long texts, and issues that it closed. What stig took
// away itself is no loss, nor is what the history of git took away, such as the work of a
// commit that is no longer checked out; what a merge dropped of its own side is one. A
// value in whose place another stands is listed as replaced. Find compares the journal
// with the store and with what git and other work trees hold, and lists the values that
// stig wrote and the store lacks.
//
// The package does not know which command asked, and prints nothing.
//
//	look, err := journal.NewLook(place, session)
//	err = look.Read(ctx)
//	found, err := look.Find(textAt, sidesAt, put)
//	…
//	for _, gone := range found.Gone {
//		fmt.Println(gone.ID, gone.Kind, gone.Name)
//	}
package journal
