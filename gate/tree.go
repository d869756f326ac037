package gate

import (
	"context"
	"errors"
)

// Tree identifies what a work tree holds. The zero value stands for no
// repository.
type Tree struct {
	Head  string `json:"head"`  // the commit; "" before the first one
	Dirty bool   `json:"dirty"` // something differs from Head, untracked files included
	State string `json:"state"` // 64 hexadecimal digits: Head, and all that differs from it
}

// Tree looks at the work tree that g.Dir is in. Ignored files do not count,
// and neither do the files without, absolute or relative to g.Dir. Outside of
// a repository the zero value is given, and no error.
func (g Git) Tree(ctx context.Context, without ...string) (Tree, error) {
	return Tree{}, errors.New("trees cannot be told apart yet")
}

// Place is where a repository is. The zero value stands for none.
type Place struct {
	Root string // the top of the work tree
	Home string // of all its work trees: the top of the main one, or the bare repository
	Own  string // stig's directory in git's own of this work tree; it may not exist yet
}

// Place gives the places of the repository that g.Dir is in: the zero value
// outside of one, and no error. All are absolute.
func (g Git) Place(ctx context.Context) (Place, error) {
	return Place{}, errors.New("repositories cannot be found yet")
}

// RootCommit gives the commit that a repository began with, "" before the
// first one and outside of a repository. The first of known that the repository
// has is taken, which spares a walk through all of history.
func (g Git) RootCommit(ctx context.Context, known ...string) (string, error) {
	return "", errors.New("root commits cannot be found yet")
}
