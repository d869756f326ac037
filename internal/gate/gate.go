// Package criteria finds the commands in acceptance criteria.
//
// Criteria are Markdown; the code in them is shell. Plan says of every piece
// of code, and of prose that reads like a command, whether it is a check that
// can run, and if not, why: nothing is guessed and nothing is left out in
// silence. It runs nothing; package verify does.
//
// The package knows of an issue in which of its texts criteria stand, and nothing of
// stores, of who is to be trusted, or of what is on this machine: a Lookup tells.
//
//	for _, check := range gate.Plan("Run `go test ./...`.", look) {
//		fmt.Println(check.Class, check.Text)
//	}
package gate
