// Package issue has the commands that work on issues: brief, claim, checkpoint,
// verify, close, create, edit, show, list. A command binds flags, calls a
// service, and prints the result; it holds no rule of the convention.
//
//	root.AddCommand(issue.ShowCommand(a))
package issue
