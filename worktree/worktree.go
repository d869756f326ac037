// Package worktree gives a worker a work tree and a branch of its own for an issue, and
// brings what it committed together with what others did.
//
// It knows git alone: no store, no gate, no process of a worker. It pushes nothing and
// touches no branch that is checked out somewhere.
package worktree
