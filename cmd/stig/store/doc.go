// Package store has the commands about the file of issues and its history: make it,
// compare it, merge it, and find, take back or put back what edits changed.
//
//	root.AddCommand(store.LogCommand(a))
package store
