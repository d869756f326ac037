// Package check contains the commands that validate issues, and prints diagnostics as text,
// JSON, SARIF, JUnit and GitHub annotations. The rules are in package lint.
//
//	root.AddCommand(check.CheckCommand(a))
package check
