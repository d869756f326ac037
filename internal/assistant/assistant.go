// Package host is what the programs of coding assistants read and write: their
// settings, the folders of their skills, the instructions they begin with, and
// the JSON that passes between them and a hook.
//
// Settings are files that somebody wrote, with comments, odd indentation and
// other programs' hooks. As in package beads, every byte of them is kept but
// those of stig's own entries, and taking these out again gives back the file
// as it was.
//
// The package knows no issues, no store and no git: what a hook says is made
// elsewhere. It starts no program and reads no environment or clock.
//
//	text, added, err := assistant.AllSettings()[0].Install(source)
//
// To add a host: a constant and a row in hosts.go; in event.go the form of its
// replies, and the keys of its events, where they are new; a row of the table in
// docs/assistants.md. Setup, hook, skill, doctor and their help read the row.
package assistant
