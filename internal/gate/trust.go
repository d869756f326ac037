package gate

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/file"
	"stig/internal/git"
)

// Trust records in which repositories criteria may run: one file for each, in the folder
// "trust" of Dir, stig's state directory of the user. Dir is absolute and outside any
// repository; otherwise nothing is trusted.
type Trust struct{ Dir string }

// Grant is a trusted repository.
type Grant struct {
	Root   string    `json:"root"`             // its real path: the Home of its Place, or the directory where there is no git
	Quoted string    `json:"quoted,omitempty"` // Root as Go quotes it where it is no UTF-8, which JSON cannot hold; List leaves it out
	Commit string    `json:"commit,omitempty"` // its root commit; "" trusts the path alone
	Time   time.Time `json:"time"`             // when it was granted
	Mark   string    `json:"mark,omitempty"`   // what its git directory holds since then, where it had no commit

	// Settings is the Hash of what the repository's configuration passed on and started at that
	// time; "" for nothing. If it changes, trust is asked for again.
	Settings string `json:"settings,omitempty"`
	// Commands are the checks that its criteria had then, or that were printed as new since,
	// see Grant.Know. List leaves them, Actors and Settings out.
	Commands string `json:"commands,omitempty"`
	// Actors are hashes of what a person allowed actors' files to run.
	Actors string `json:"actors,omitempty"`
	By     string `json:"by,omitempty"` // who did; "" when unknown
}

// knownDigits is how many digits of a command's hash a grant stores.
const knownDigits = 16

// Know adds commands to those that a person could see.
func (g *Grant) Know(checks []Check) {
	list := strings.Fields(g.Commands)
	known := make(map[string]bool, len(list)+len(checks))
	for _, hash := range list {
		known[hash] = true
	}
	for _, c := range checks {
		if hash := Hash(c.Text)[:knownDigits]; !known[hash] {
			known[hash] = true
			list = append(list, hash)
		}
	}
	g.Commands = strings.Join(list, " ")
}

// Knows reports whether a command was there when trust was given, or was printed since.
func (g Grant) Knows(c Check) bool {
	return strings.Contains(" "+g.Commands+" ", " "+Hash(c.Text)[:knownDigits]+" ")
}

// Agree adds what an actor's file runs, by its Hash.
func (g *Grant) Agree(hash string) {
	if !g.Agreed(hash) {
		g.Actors = strings.TrimSpace(g.Actors + " " + hash)
	}
}

// Agreed reports whether a person allowed what has that Hash.
func (g Grant) Agreed(hash string) bool { return strings.Contains(" "+g.Actors+" ", " "+hash+" ") }

// Granted reports whether the repository at root is trusted with this root commit: another one
// at the same path is another repository. An unreadable grant does not count. One given before
// the first commit extends to that, as long as the git directory has the same mark.
func (t Trust) Granted(root, rootCommit string) bool {
	g, err := t.read(t.file(git.RealPath(root)))
	if err != nil {
		return false
	}
	if g.Commit == "" && rootCommit != "" && g.Mark != "" && g.Mark == markOf(g.Root) {
		_ = t.change(root, func(g *Grant) { g.Commit, g.Mark = rootCommit, "" }) // without it the mark is compared again next time
		g.Commit = rootCommit
	}
	return g.Commit == rootCommit
}

// change edits the record of the repository at root. Others may do so at the same time, or
// revoke it: it is read and written under a lock, and one that is gone (fs.ErrNotExist) stays
// so.
func (t Trust) change(root string, edit func(*Grant)) error {
	path := t.file(git.RealPath(root))
	return locked(path, func() error {
		g, err := t.read(path)
		if err != nil {
			return err
		}
		edit(&g)
		return t.Grant(g)
	})
}

// Agree records that a person allowed what has that Hash, in a repository that is still
// trusted; else the error is fs.ErrNotExist.
func (t Trust) Agree(root, hash string) error {
	return t.change(root, func(g *Grant) { g.Agree(hash) })
}

// Know adds commands to the record of a repository that is still trusted; else the error is
// fs.ErrNotExist.
func (t Trust) Know(root string, checks []Check) error {
	return t.change(root, func(g *Grant) { g.Know(checks) })
}

// locked calls do while no other process changes the record at a path. The lock file goes
// while it is held: who waits for it makes the next one.
func locked(path string, do func() error) (err error) {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	unlock, err := file.LockFile(path+".lock", 10*time.Second)
	if err != nil {
		return err
	}
	defer func() { _, err = os.Remove(path+".lock"), errors.Join(err, unlock()) }()
	return do()
}

// markFile is the file in a repository's git directory that distinguishes it from others at its
// path.
func markFile(root string) string {
	dir := filepath.Join(root, ".git")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = root // the git directory itself, or none
	}
	return filepath.Join(dir, "stig", "trusted-before-commit")
}

// markOf returns the mark of a repository; "" for none.
func markOf(root string) string {
	text, err := os.ReadFile(markFile(root))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// mark writes a mark into a repository's git directory, and returns it; "" if it has none.
func mark(root string) (string, error) {
	if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(markFile(root))), "HEAD")); err != nil {
		return "", nil
	}
	if there := markOf(root); there != "" {
		return there, nil
	}
	text := rand.Text()
	if err := file.MkdirPrivate(filepath.Dir(markFile(root))); err != nil {
		return "", err
	}
	return text, file.Replace(markFile(root), []byte(text+"\n"))
}

// At returns the record of the repository at root; ok is false if there is none. Granted
// decides whether it counts.
func (t Trust) At(root string) (g Grant, ok bool) {
	g, err := t.read(t.file(git.RealPath(root)))
	return g, err == nil
}

// Commits returns the trusted root commits at root, for git.Client.RootCommit.
func (t Trust) Commits(root string) []string {
	g, err := t.read(t.file(git.RealPath(root)))
	if err != nil || g.Commit == "" {
		return nil
	}
	return []string{g.Commit}
}

// Grant trusts a repository. Without a root commit (no git, or no commit yet) it trusts the
// path alone until there is a commit; a git directory gets a mark, which extends the trust to
// its first commit.
func (t Trust) Grant(g Grant) (err error) {
	if g.Commit == "" {
		if g.Mark, err = mark(g.Root); err != nil {
			return err
		}
	}
	path, text, err := t.Record(g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { // private to the user, whoever shares the repository
		return err
	}
	return file.Replacement{Pattern: file.Unfinished, Mode: 0o600}.Put(path, text)
}

// Record returns the file that Grant writes and Revoke removes, and its text.
func (t Trust) Record(g Grant) (path string, text []byte, err error) {
	if !filepath.IsAbs(t.Dir) {
		return "", nil, fmt.Errorf("trust cannot be stored: must be in an absolute directory of the user; found %q", t.Dir)
	}
	g.Root, g.Time = git.RealPath(g.Root), g.Time.UTC()
	if !utf8.ValidString(g.Root) {
		g.Quoted = strconv.Quote(g.Root)
	}
	text, err = json.MarshalIndent(g, "", "\t")
	return t.file(g.Root), append(text, '\n'), err
}

// Revoke revokes trust, and reports whether there was any.
func (t Trust) Revoke(root string) (bool, error) {
	path := t.file(git.RealPath(root))
	err := locked(path, func() error { return os.Remove(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List returns all trusted repositories, by path. An unreadable file is an error beside the
// others.
func (t Trust) List() ([]Grant, error) {
	entries, err := os.ReadDir(filepath.Join(t.Dir, "trust"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var grants []Grant
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		g, bad := t.read(filepath.Join(t.Dir, "trust", entry.Name()))
		if errors.Is(bad, fs.ErrNotExist) {
			continue // revoked meanwhile
		}
		if err = errors.Join(err, bad); bad == nil {
			g.Quoted, g.Settings, g.Commands, g.Actors = "", "", "", ""
			grants = append(grants, g)
		}
	}
	slices.SortFunc(grants, func(a, b Grant) int { return cmp.Compare(a.Root, b.Root) })
	return grants, err
}

// file derives its name from the path, with a hash for what names cannot contain.
func (t Trust) file(root string) string {
	return filepath.Join(t.Dir, "trust", fileName(filepath.Base(root))+"-"+Hash(root)[:16]+".json")
}

func (t Trust) read(path string) (Grant, error) {
	if !filepath.IsAbs(path) {
		return Grant{}, fs.ErrNotExist // a repository could have created it
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Grant{}, err
	}
	var g Grant
	if err := json.Unmarshal(text, &g); err != nil {
		return Grant{}, fmt.Errorf("%s: %w", path, err)
	}
	if root, err := strconv.Unquote(g.Quoted); err == nil {
		g.Root = root
	}
	if t.file(g.Root) != path {
		return Grant{}, fmt.Errorf("%s: is not the record of %s", path, quotedText(g.Root))
	}
	return g, nil
}
