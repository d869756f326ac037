// Package workers holds the commands about workers: the loop, the registry, inboxes,
// and what keeps a worker running.
package workers
