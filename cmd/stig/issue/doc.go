// Package issue contains the commands that work on issues: orient, claim, checkpoint, verify,
// close, create, edit, show, list. A command binds flags, calls a service, and prints the
// result. The rules of the convention are elsewhere.
//
//	root.AddCommand(issue.ShowCommand(a))
package issue
