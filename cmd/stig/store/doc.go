// Package store contains the commands for the file of issues and its history: create it,
// compare it, merge it, and list, undo or recover edits.
//
//	root.AddCommand(store.LogCommand(a))
package store
