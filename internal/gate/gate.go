// Package gate decides whether an issue may be closed: it finds the commands in acceptance
// criteria, runs the checks that are trusted, keeps their verdicts, and says which verdict
// closes. Only this package makes a Verdict, and the zero Verdict closes nothing.
//
// Criteria are Markdown; the code in them is shell. Plan says of every piece of code, and
// of prose that reads like a command, whether it is a check that can run, and if not, why:
// it guesses nothing and leaves out nothing without saying so. What can be read of shell
// commands (ParseShell, ShellWords, IsRunner) serves package assistant too.
//
// The package does not know where criteria are kept, or where an issue is: it is given
// texts and a directory.
//
//	for _, check := range gate.Plan("Run `go test ./...`.") {
//		fmt.Println(check.Class, check.Text)
//	}
package gate
