// Package gate finds the commands in acceptance criteria, runs them, and starts
// all other programs.
//
// Criteria are Markdown; the code in them is shell. Plan says of every piece
// of code, and of prose that reads like a command, whether it is a check that
// can run, and if not, why: nothing is guessed and nothing is left out in
// silence. Plan runs nothing.
//
// Verify runs what Plan found and gives a Verdict, which nobody else can make:
// an issue closes on a Ground alone, a verdict that passed or a Waiver. Verdicts
// keeps them, Trust keeps in which repositories criteria may be run at all.
//
// Closes reads a command line that somebody is about to run, and tells which
// issues it would close past all this, and which files it would write. It runs
// nothing either.
//
// This is the one package that starts processes, for checks and for what
// others need of git, so that ending a process with all that it started is
// done in one place.
//
// The package does not know issues or stores, who is to be trusted, or what is
// on this machine: a Lookup tells.
//
//	for _, check := range gate.Plan("Run `go test ./...`.", look) {
//		fmt.Println(check.Class, check.Text)
//	}
package gate
