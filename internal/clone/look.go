package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stig/internal/file"
	"stig/internal/git"
)

// Look is what an assistant's session knows of the store from its last check.
type Look struct {
	Store string   `json:"store"` // path of its file
	Stamp string   `json:"stamp"` // of that file; "" once the session was told that it is gone
	Head  string   `json:"head"`  // the commit that was checked out; "" if there is none
	Lines []byte   `json:"lines"` // checksums of its lines
	Told  []string `json:"told"`  // names of what was lost then
}

// lookAge is how long a session is remembered after its last check.
const lookAge = 14 * 24 * time.Hour

// Looked returns the last look of a session, and whether there is a readable one.
func (p Place) Looked(session string) (l Look, known bool) {
	for _, dir := range p.dirs() {
		if readJSON(filepath.Join(dir, p.lookFile(session)), &l) == nil && l.Store != "" {
			return l, true
		}
	}
	return Look{}, false
}

// LockLook prevents concurrent checks by hooks of a session: hooks of parallel tools would
// report the same twice. It waits until ctx ends.
func (p Place) LockLook(ctx context.Context, session string) (unlock func() error, err error) {
	return p.Lock(ctx, p.lookFile(session))
}

// Keep stores the look of a session.
func (p Place) Keep(session string, l Look, now time.Time) error {
	return p.inDir(func(dir string) error {
		if err := replaceJSON(filepath.Join(dir, p.lookFile(session)), l); err != nil {
			return err
		}
		dropLooks(dir, now.Add(-lookAge))
		return nil
	})
}

// lookFile returns the file name for a session: session and work tree first, so that it is
// found without the store.
func (p Place) lookFile(session string) string {
	return "look-" + hash(session, p.Worktree) + "-" + hash(p.Store) + ".json"
}

func hash(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write([]byte(part + "\x00"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// dropLooks removes looks from before a time, and files that earlier versions kept for them.
// What cannot be removed is retried later.
func dropLooks(dir string, before time.Time) {
	for _, pattern := range []string{"look-*.json", "baseline-*.json", "copy-*.jsonl"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are valid
		for _, path := range files {
			if info, err := os.Stat(path); err == nil && info.ModTime().Before(before) {
				_, _ = os.Remove(path), os.Remove(path+".lock")
			}
		}
	}
}

// Vanished returns the stores that a session saw in the work tree around a directory and whose
// file is gone. It returns each once.
func Vanished(dir, session string) (gone []Look) {
	tree, err := git.CheckoutOf(dir)
	if err != nil || tree.Root == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(tree.Common, sharedDir, "look-"+hash(session, tree.Root)+"-*.json"))
	for _, path := range files {
		unlock, err := file.LockFile(path+".lock", soon) // see LockLook
		if err != nil {
			continue
		}
		if l, is := vanished(path); is {
			gone = append(gone, l)
		}
		_ = unlock()
	}
	return gone
}

// vanished reports whether a store's file is gone, and records that.
func vanished(path string) (l Look, is bool) {
	if readJSON(path, &l) != nil || l.Stamp == "" {
		return l, false
	}
	if _, err := os.Stat(l.Store); !errors.Is(err, fs.ErrNotExist) {
		return l, false
	}
	told := l
	told.Stamp = ""
	return l, replaceJSON(path, told) == nil
}

// Views returns the saved views of the board by name, each as a query of its list of issues.
func (p Place) Views() (all map[string]string, err error) {
	all = map[string]string{}
	for _, dir := range p.dirs() {
		err = errors.Join(err, readJSON(filepath.Join(dir, p.viewsFile()), &all))
	}
	return all, err
}

// ChangeViews edits the saved views under a lock.
func (p Place) ChangeViews(change func(all map[string]string) error) error {
	return p.locked(p.viewsFile(), func(dir string) error {
		all, err := p.Views()
		if err == nil {
			err = change(all)
		}
		if err != nil {
			return err
		}
		return replaceJSON(filepath.Join(dir, p.viewsFile()), all)
	})
}

func (p Place) viewsFile() string { return "views-" + hash(p.Store) + ".json" }
