// Package assistant is what the programs of coding assistants read and write: their
// settings, the folders of their skills, the instructions they begin with, and the JSON
// that passes between them and a hook. It also foresees what a command line of an
// assistant would do past the checks that close issues: what parses as a close by bd or
// br, and the files that redirections, tee, sed -i, cp and mv write (Attempts). Whatever
// else a command does to the store is found by comparing the store afterwards.
//
// Settings are files that somebody wrote, with comments, odd indentation and other
// programs' hooks. Every byte of them is kept but those of stig's own entries; taking
// these out again gives back the file as it was.
//
// The package knows no issues, no store and no git: its callers decide what a hook
// answers. It starts no program and reads no environment or clock.
//
//	text, added, err := assistant.AllSettings()[0].Install(source)
//
// To add a host: a constant and a row in hosts.go; in event.go the form of its replies and
// the keys of its events, where they are new; a row of the table in docs/assistants.md.
// Setup, hook, skill, doctor and their help read the row.
package assistant
