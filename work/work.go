// Package work decides what a worker loop does next: which task, whether its bounds
// allow it, what came of a run, how long to back off.
//
// Its functions are pure: they take the store's snapshot, the run records and a time.
// Package app/working starts programs and writes what follows.
package work
