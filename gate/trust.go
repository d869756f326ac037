package gate

import (
	"errors"
	"time"
)

// Trust records in which repositories criteria may be run: in the user's
// state directory, outside of any repository.
type Trust struct{ Dir string }

// Grant is a repository that is trusted.
type Grant struct {
	Root   string    `json:"root"`             // the Home of its Place, or the directory without git; its real path
	Commit string    `json:"commit,omitempty"` // its root commit; "" trusts the path alone
	Time   time.Time `json:"time"`             // when it was granted
}

// Granted tells whether the repository at root, with this root commit, is
// trusted.
func (t Trust) Granted(root, rootCommit string) bool { return false }

// Commits gives the root commits that are trusted at root, for Git.RootCommit.
func (t Trust) Commits(root string) []string { return nil }

// Grant trusts the repository at root. Without a root commit, in a directory
// without git or before the first commit, its path alone is trusted.
func (t Trust) Grant(root, rootCommit string, now time.Time) error {
	return errors.New("trust cannot be granted yet")
}

// Revoke takes trust back, and tells whether there was any.
func (t Trust) Revoke(root string) (bool, error) {
	return false, errors.New("trust cannot be revoked yet")
}

// List gives all that is trusted, by path.
func (t Trust) List() ([]Grant, error) { return nil, errors.New("trust cannot be listed yet") }
