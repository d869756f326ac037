package clone

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stig/internal/file"
)

// Watcher is the memory of a watcher: the lines of the store as it last saw them, and its
// position in the journal. It is an append-only file, rewritten when it has doubled in size.
type Watcher struct {
	path         string
	unlock       func() error
	base, length int64
}

// WatcherState is the state of a watcher besides the lines.
type WatcherState struct {
	Mark Mark      `json:"mark"` // its position in the journal
	Done []string  `json:"done"` // records after the mark that it has reported
	At   time.Time `json:"at"`
}

// ErrWatched says that another process is watching under the name.
var ErrWatched = errors.New("another process watches under this name")

// watcherAge is after how long an unused memory is removed. The journal, in which it has a
// position, goes back as far.
const watcherAge = journalAge

// Watcher opens the memory of a name. known is false if there is none yet, or with anew, which
// ignores what is there. The error is ErrWatched while another process has it open; other
// errors mean that it cannot be read. Memories unused for 90 days before now are removed.
func (p Place) Watcher(name string, anew bool, now time.Time) (w *Watcher, s WatcherState, lines map[string][]byte, known bool, err error) {
	var path string
	err = p.inDir(func(dir string) error {
		path = filepath.Join(dir, "watch-"+hash(name, p.Worktree, p.Store)+".log")
		f, err := file.OpenPrivate(path+".lock", os.O_CREATE|os.O_RDWR)
		if err != nil {
			return err
		}
		return f.Close()
	})
	if err != nil {
		return nil, s, nil, false, err
	}
	unlock, err := file.LockFile(path+".lock", soon)
	if err != nil {
		return nil, s, nil, false, fmt.Errorf("%w: %w", ErrWatched, err)
	}
	_ = os.Chtimes(path+".lock", now, now) // records the use, for dropWatchers
	dropWatchers(filepath.Dir(path), now)
	w = &Watcher{path: path, unlock: unlock}
	if anew {
		return w, s, nil, false, nil
	}
	if s, lines, known, err = w.read(); err != nil {
		return nil, s, nil, known, errors.Join(err, unlock())
	}
	return w, s, lines, known, nil
}

// dropWatchers removes memories that were last used too long ago, unless somebody is watching.
// What cannot be removed is retried later.
func dropWatchers(dir string, now time.Time) {
	locks, _ := filepath.Glob(filepath.Join(dir, "watch-*.log.lock")) // the pattern is valid
	for _, lock := range locks {
		path := strings.TrimSuffix(lock, ".lock")
		if now.Sub(later(lock, path)) <= watcherAge {
			continue
		}
		if unlock, err := file.LockFile(lock, soon); err == nil {
			_, _, _ = os.Remove(path), os.Remove(lock), unlock()
		}
	}
}

// later returns the latest modification time of files.
func later(paths ...string) (t time.Time) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
	}
	return t
}

// Close lets others watch under the name.
func (w *Watcher) Close() error { return w.unlock() }

// read reads the whole memory. It ignores lines after the last state: the watcher was killed
// before it reported them. Nothing is appended to those.
func (w *Watcher) read() (s WatcherState, lines map[string][]byte, known bool, err error) {
	text, err := os.ReadFile(w.path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil, false, nil
	}
	if err != nil {
		return s, nil, false, err
	}
	lines = map[string][]byte{}
	added := map[string][]byte{}
	length := int64(len(text))
	for number := 1; len(text) > 0; number++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			break
		}
		w.length += int64(len(line)) + 1
		text = rest
		var entry struct {
			ID    string        `json:"id"`
			Line  *string       `json:"line"`
			State *WatcherState `json:"state"`
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			return s, nil, true, fmt.Errorf("%s:%d: %w", w.path, number, err)
		}
		switch {
		case entry.State != nil:
			s, known = *entry.State, true
			for id, line := range added {
				if line == nil {
					delete(lines, id)
				} else {
					lines[id] = line
				}
			}
			clear(added)
		case entry.Line == nil:
			added[entry.ID] = nil
		default:
			added[entry.ID] = []byte(*entry.Line)
		}
	}
	if !known {
		return s, nil, false, nil // the watcher was killed before it wrote its first state
	}
	if len(added) == 0 && w.length == length {
		w.base = w.length / 2 // rewritten soon, else at once
	}
	return s, lines, true, nil
}

// Keep stores changed lines, nil for a removed one, and the state. all is the lines of all
// issues.
func (w *Watcher) Keep(s WatcherState, changed map[string][]byte, all map[string][]byte) error {
	if w.base == 0 || w.length > 2*w.base+1<<16 {
		text, err := entries(s, all)
		if err != nil {
			return err
		}
		w.base, w.length = int64(len(text)), int64(len(text))
		return file.Replace(w.path, text)
	}
	text, err := entries(s, changed)
	if err != nil {
		return err
	}
	f, err := file.OpenPrivate(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	w.length += int64(len(text))
	return errors.Join(err, f.Close())
}

func entries(s WatcherState, lines map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for id, line := range lines {
		entry := map[string]any{"id": id}
		if line != nil {
			entry["line"] = string(line)
		}
		if err := encoder.Encode(entry); err != nil {
			return nil, err
		}
	}
	err := encoder.Encode(map[string]any{"state": s})
	return b.Bytes(), err
}
