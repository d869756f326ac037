// Package cli contains what all commands share: the streams, global flags, printing as text and
// as JSON, the editor, exit codes and usage errors. It contains no commands and no rules of the
// convention.
//
//	return a.Printf("%s: closed\n", id)
package cli
