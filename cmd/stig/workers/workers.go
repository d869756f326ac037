// Package workers contains the commands for workers: the loop, the registry, inboxes, and what
// keeps a worker running. Packages loop, loop/actors and service/traces start programs and keep
// state.
//
//	root.AddCommand(workers.WorkCommand(a))
package workers
