// Package gate finds the commands in acceptance criteria and starts programs.
//
// Criteria are Markdown; the code in them is shell. Plan says of every piece
// of code, and of prose that reads like a command, whether it is a check that
// can run, and if not, why: nothing is guessed and nothing is left out in
// silence. Plan runs nothing.
//
// This is the one package that starts processes, for checks and for what
// others need of git, so that ending a process with all that it started is
// done in one place.
//
// The package does not know issues, stores or who may trust whom, and not
// what is on this machine: a Lookup tells.
//
//	for _, check := range gate.Plan("Run `go test ./...`.", look) {
//		fmt.Println(check.Class, check.Text)
//	}
package gate
