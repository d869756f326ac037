// Package recovery finds what stig wrote and the store no longer holds, and
// puts it back: it compares the journal of edits with the store, with what git
// holds, and with the stores of other work trees.
//
// A value counts as lost only when nothing else explains that it is gone: see
// Find. What stands on another branch, in a stash or in another work tree is
// not lost, nor is what somebody edited since.
//
// The package does not know what signals and estimates mean, and decides
// nothing about closing: it puts back values that the store held.
//
//	findings, err := recovery.Find(ctx, q)
//	…
//	result, err := recovery.Apply(ctx, store, options, findings, schema)
package recovery
