// Package gate decides whether an issue may be closed: it finds the commands in acceptance
// criteria, runs the trusted checks, stores their verdicts, and says which verdict closes. Only
// this package creates a Verdict, and the zero Verdict closes nothing.
//
// Criteria are Markdown with shell code. Plan classifies every piece of code, and prose that
// reads like a command: either it is a check that can run, or it gives the reason why not. It
// guesses nothing and silently omits nothing. Package assistant also uses its parsing of shell
// commands (ParseShell, ShellWords, IsRunner).
//
// The package does not know where criteria are stored, or where an issue is: it gets texts and
// a directory.
//
//	for _, check := range gate.Plan("Run `go test ./...`.") {
//		fmt.Println(check.Class, check.Text)
//	}
package gate
