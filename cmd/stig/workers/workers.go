// Package workers holds the commands about workers: the loop, the registry, inboxes,
// and what keeps a worker running. It starts no program and keeps no state: packages
// loop, loop/actors and service/traces do.
//
//	root.AddCommand(workers.WorkCommand(a))
package workers
