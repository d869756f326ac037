// Package assistant reads and writes the files and messages of coding assistants' programs:
// their settings, their skill folders, the instruction files they read first, and the JSON
// exchanged with hooks. It also predicts what a command line would do past the checks that
// close issues (Attempts): close issues with bd or br, or write files through redirections,
// tee, sed -i, cp and mv. Callers find any other effect by comparing the store before and after
// the command.
//
// Settings are files that users wrote, with comments, odd indentation and other programs'
// hooks. All bytes except stig's own entries are kept; removing the entries restores the file
// as it was.
//
// The package does not know issues, the store or git: its callers decide what a hook answers.
// It starts no program and reads neither the environment nor the clock.
//
//	text, added, err := assistant.AllSettings()[0].Install(source)
//
// To add a host, add a constant and a row in hosts.go; in event.go, add the form of its replies
// and the keys of its events if they are new; add a row to the table in docs/assistants.md.
// Setup, hook, skill, doctor and their help read the row in hosts.go.
package assistant
