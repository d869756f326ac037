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

// Look is what a session of an assistant knows of the store since it last looked at it.
type Look struct {
	Store string   `json:"store"` // the path of its file
	Stamp string   `json:"stamp"` // of that file; "" once the session was told that it is gone
	Head  string   `json:"head"`  // the commit that was checked out; "" without
	Lines []byte   `json:"lines"` // checksums of its lines
	Told  []string `json:"told"`  // what was lost then, by name
}

// lookAge is how long a session is remembered after its last look.
const lookAge = 14 * 24 * time.Hour

// Looked gives the last look of a session, and whether there was one. What cannot be read is
// nothing.
func (p Place) Looked(session string) (l Look, known bool) {
	for _, dir := range p.dirs() {
		if readJSON(filepath.Join(dir, p.lookFile(session)), &l) == nil && l.Store != "" {
			return l, true
		}
	}
	return Look{}, false
}

// LockLook keeps other hooks of a session from looking at the same time: they run at once if
// tools do, and each would report the same. It waits until ctx ends.
func (p Place) LockLook(ctx context.Context, session string) (unlock func() error, err error) {
	return p.Lock(ctx, p.lookFile(session))
}

// Keep records a look of a session.
func (p Place) Keep(session string, l Look, now time.Time) error {
	return p.inDir(func(dir string) error {
		if err := replaceJSON(filepath.Join(dir, p.lookFile(session)), l); err != nil {
			return err
		}
		dropLooks(dir, now.Add(-lookAge))
		return nil
	})
}

// lookFile is named after the session and the work tree first, so that it is
// found when the store is gone.
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

// dropLooks removes the looks before that time, and what earlier programs kept for them.
// What cannot be removed is tried again.
func dropLooks(dir string, before time.Time) {
	for _, pattern := range []string{"look-*.json", "baseline-*.json", "copy-*.jsonl"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are sound
		for _, path := range files {
			if info, err := os.Stat(path); err == nil && info.ModTime().Before(before) {
				_, _ = os.Remove(path), os.Remove(path+".lock")
			}
		}
	}
}

// Vanished gives the stores that a session saw in the work tree around a directory and whose
// file is gone, each once: it records that it gave them.
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

// vanished takes note of one store if its file is gone.
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
