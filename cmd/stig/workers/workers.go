// Package workers holds the commands about workers: the loop, the registry, inboxes,
// and what keeps a worker running. It starts no program and keeps no state: the services
// of app/working, app/actors, app/inboxes and app/swarming do.
//
//	root.AddCommand(workers.WorkCommand(a))
package workers
