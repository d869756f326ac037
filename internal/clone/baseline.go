package clone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stig/internal/file"
	"stig/internal/git"
)

// Baseline is how the store stood when a session of an assistant last looked at it.
type Baseline struct {
	Store string `json:"store"` // the path of its file
	Stamp string `json:"stamp"` // of that file; "" once the session was told that it is gone
	Head  string `json:"head"`  // the commit that was checked out; "" without
	Mark  Mark   `json:"mark"`  // the end of the journal
	Copy  string `json:"copy"`  // the path of a copy of the file; Keep fills it in
}

// baselineAge is how long a session is remembered after its last look. If its copy was
// dropped earlier, because all copies took too much room, the next look counts as the first.
const (
	baselineAge = 14 * 24 * time.Hour
	mostCopies  = 512 << 20 // bytes of all copies; one at least is kept
)

// Baseline gives how the store stood when a session last looked at it, and whether
// it did. What cannot be read is nothing.
func (p Place) Baseline(id string) (s Baseline, known bool) {
	for _, dir := range p.dirs() {
		if readJSON(filepath.Join(dir, p.baselineFile(id)), &s) == nil && s.Copy != "" {
			return s, true
		}
	}
	return Baseline{}, false
}

// LockBaseline keeps other hooks of a session from comparing the store at the same time: they
// run at once if tools do, and each would report the same. It waits until ctx ends.
func (p Place) LockBaseline(ctx context.Context, id string) (unlock func() error, err error) {
	return p.Lock(ctx, p.baselineFile(id))
}

// Keep records how the store stands for a session: its text goes into a copy,
// which sessions that saw the same text share.
func (p Place) Keep(id string, s Baseline, text []byte, now time.Time) error {
	return p.locked("baseline", func(dir string) error {
		s.Copy = filepath.Join(dir, "copy-"+hash(p.Worktree, p.Store, s.Stamp)+".jsonl")
		if _, err := os.Stat(s.Copy); errors.Is(err, fs.ErrNotExist) {
			if err := file.Replace(s.Copy, text); err != nil {
				return err
			}
		}
		path := filepath.Join(dir, p.baselineFile(id))
		if err := replaceJSON(path, s); err != nil {
			return err
		}
		dropBaselines(dir, now.Add(-baselineAge))
		return nil
	})
}

// baselineFile is named after the session and the work tree first, so that it is
// found when the store is gone.
func (p Place) baselineFile(id string) string {
	return "baseline-" + hash(id, p.Worktree) + "-" + hash(p.Store) + ".json"
}

func hash(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write([]byte(part + "\x00"))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// dropBaselines removes sessions whose last look was before that time, copies that belong to
// no session, and the oldest copies if all take too much room. What cannot be removed is
// tried again.
func dropBaselines(dir string, before time.Time) {
	files, _ := filepath.Glob(filepath.Join(dir, "baseline-*.json")) // the patterns are sound
	var used []string
	for _, path := range files {
		var s Baseline
		if info, err := os.Stat(path); err == nil && info.ModTime().Before(before) {
			_, _ = os.Remove(path), os.Remove(path+".lock")
		} else if readJSON(path, &s) == nil {
			used = append(used, s.Copy)
		}
	}
	copies, _ := filepath.Glob(filepath.Join(dir, "copy-*.jsonl"))
	var kept []fs.FileInfo
	for _, path := range copies {
		if !slices.Contains(used, path) {
			_ = os.Remove(path)
		} else if info, err := os.Stat(path); err == nil {
			kept = append(kept, info)
		}
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var size int64
	for i, info := range kept {
		if size += info.Size(); i > 0 && size > mostCopies {
			_ = os.Remove(filepath.Join(dir, info.Name()))
		}
	}
}

// Vanished gives the stores that a session saw in the work tree around a directory and whose
// file is gone, each once: it records that it gave them.
func Vanished(dir, id string) (gone []Baseline) {
	tree, err := git.CheckoutOf(dir)
	if err != nil || tree.Root == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(tree.Common, sharedDir, "baseline-"+hash(id, tree.Root)+"-*.json"))
	for _, path := range files {
		unlock, err := file.LockFile(path+".lock", soon) // see LockBaseline
		if err != nil {
			continue
		}
		if s, is := vanished(path); is {
			gone = append(gone, s)
		}
		_ = unlock()
	}
	return gone
}

// vanished takes note of one store if its file is gone.
func vanished(path string) (s Baseline, is bool) {
	if readJSON(path, &s) != nil || s.Stamp == "" {
		return s, false
	}
	if _, err := os.Stat(s.Store); !errors.Is(err, fs.ErrNotExist) {
		return s, false
	}
	told := s
	told.Stamp = ""
	return s, replaceJSON(path, told) == nil
}

// Mark is a place in the journal: how long each of its segments was, by path.
type Mark map[string]int64

// Mark gives the present end of the journal.
func (p Place) Mark() Mark {
	mark := Mark{}
	for _, dir := range p.dirs() {
		all, _ := journal.segments(dir) // what cannot be listed cannot be read later either
		for _, s := range all {
			path := filepath.Join(dir, s.name())
			if info, err := os.Stat(path); err == nil {
				mark[path] = info.Size()
			}
		}
	}
	return mark
}

// Since reads what was recorded of the store after a mark. A segment that became
// shorter meanwhile, because some of it was forgotten, is read whole.
func (p Place) Since(m Mark) (Journal, error) {
	return p.ours(p.gather(func(_ string, all []segment) ([]segment, Mark) { return all, m }))
}
