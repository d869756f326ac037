// Package loss finds what another program took from a store: issues, sections of
// notes, rows of the signal table, comments and long texts that are no more, and
// issues that it closed. It compares two texts of the store's file, line by line,
// and reads as issues only the lines that differ.
//
// A value in whose place another stands is listed too, marked as replaced: it is lost
// where the journal says that stig wrote it over that other one, which package recovery
// knows.
//
// What stig took away itself, which its journal says, is no loss. Neither is what
// the history of git took away: where another commit is checked out than before,
// what the former one held and this one does not. What the side that was checked out
// wrote, and its merge with another side lacks, is a loss.
//
//	look, err := journal.NewLook(place, session)
//	err = look.Read(ctx)
//	found, err := look.Find(textAt, sidesAt, put)
//	…
//	for _, gone := range found.Gone {
//		fmt.Println(gone.ID, gone.Kind, gone.Name)
//	}
package journal
