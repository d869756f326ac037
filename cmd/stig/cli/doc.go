// Package cli is what all commands share: the streams, the flags that every command
// has, printing for people and as JSON, the editor, exit codes and usage errors.
// It knows no command and no rule of the convention.
//
//	return a.Printf("%s: closed\n", id)
package cli
