// Package dirstore keeps a store in a directory, one file an issue:
// .beads/issues/ID.json. It exists to prove the seam (beads.Store): the scripts of
// cmd/stig that are not about the JSONL file pass with it. It does not survive a
// power cut, and an edit of several issues that is killed may be half made.
//
//	store := dirstore.Open(place) // takes in .beads/issues.jsonl the first time
package dirstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/beads"
	"stig/fault"
	"stig/jsonl"
	"stig/textfile"
)

const (
	dirName  = "issues"
	lockName = "issues.lock"
	suffix   = ".json"
)

// Store implements beads.Store.
type Store struct {
	place beads.Place
	dir   string
}

// Open gives the store beside a JSONL file. The first use takes in the issues of
// that file, which nobody reads any more afterwards. git is told to leave the
// directory alone.
func Open(p beads.Place) *Store { return &Store{place: p, dir: filepath.Join(p.Dir, dirName)} }

// there reports whether the file was taken in.
func (s *Store) there() bool {
	_, err := os.Stat(s.dir)
	return err == nil
}

// takeIn makes the directory of a JSONL file, if nobody did.
func (s *Store) takeIn() error {
	if s.there() {
		return nil
	}
	text, err := os.ReadFile(s.place.Path)
	if err != nil {
		return beads.Unreadable(s.place.Path, err)
	}
	unlock, err := s.lock(time.Minute)
	if err != nil {
		return err
	}
	return errors.Join(s.fill(text), unlock())
}

func (s *Store) fill(text []byte) error {
	if s.there() {
		return nil // another process was first
	}
	fresh := s.dir + ".new"
	if err := os.MkdirAll(fresh, 0o755); err != nil {
		return err
	}
	for name, line := range named(text) {
		if err := os.WriteFile(filepath.Join(fresh, name), []byte(line), 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(fresh, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(fresh, s.dir)
}

// named gives each line of a text the name of its file: that of the issue, and a
// number for what is none or repeats.
func named(text []byte) map[string]string {
	lines := map[string]string{}
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		name := fmt.Sprintf("~%06d", len(lines))
		if r, err := beads.ParseRecord(line); err == nil && r.Text(beads.ID) != "" {
			name = url.PathEscape(r.Text(beads.ID))
		}
		if _, repeats := lines[name+suffix]; repeats {
			name += fmt.Sprintf("~%06d", len(lines))
		}
		lines[name+suffix] = string(line)
	}
	return lines
}

// Place implements beads.Store.
func (s *Store) Place() beads.Place { return s.place }

func (s *Store) lock(wait time.Duration) (func() error, error) {
	return jsonl.LockFile(filepath.Join(s.place.Dir, lockName), wait)
}

// read gives the lines of the files by their names.
func (s *Store) read() (map[string]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, beads.Unreadable(s.dir, err)
	}
	lines := map[string]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, e.Name()))
		if err != nil {
			return nil, beads.Unreadable(s.dir, err)
		}
		lines[e.Name()] = string(text)
	}
	return lines, nil
}

// Snapshot implements beads.Store.
func (s *Store) Snapshot() (*beads.Snapshot, error) {
	if err := s.takeIn(); err != nil {
		return nil, err
	}
	lines, err := s.read()
	if err != nil {
		return nil, err
	}
	return s.snapshot(lines)
}

// snapshot has the lines in the order of the names without their suffix, which is
// that of the ids.
func (s *Store) snapshot(lines map[string]string) (*beads.Snapshot, error) {
	var names []string
	for name := range lines {
		names = append(names, strings.TrimSuffix(name, suffix))
	}
	slices.Sort(names)
	var text strings.Builder
	for _, name := range names {
		text.WriteString(lines[name+suffix] + "\n")
	}
	return beads.NewSnapshot(s.place, beads.Source{
		Lines: strings.NewReader(text.String()), Size: int64(text.Len()), Prefix: s.prefix,
	})
}

// prefix is what stands in the file that Init of package jsonl makes.
func (s *Store) prefix(fallback bool) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.place.Dir, "prefix"))
	if !fallback || errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// Edit implements beads.Store.
func (s *Store) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) (changes []beads.Change, err error) {
	if err := s.takeIn(); err != nil {
		return nil, err
	}
	if !o.DryRun {
		unlock, err := s.lock(cmp.Or(o.Wait, 30*time.Second))
		if err != nil {
			return nil, &fault.Error{Code: fault.Changed, Path: s.place.Path, Reason: err.Error(), Hint: "let the other program finish and run the command again"}
		}
		defer func() {
			if e := unlock(); e != nil {
				err = errors.Join(err, e)
			}
		}()
	}
	return beads.Retry(ctx, s.place, func() ([]beads.Change, error) {
		before, err := s.read()
		if err != nil {
			return nil, err
		}
		f, err := s.snapshot(before)
		if err != nil {
			return nil, err
		}
		tx, err := beads.Try(f, o, fn)
		if err != nil {
			return nil, err
		}
		changes := tx.Changes()
		if o.DryRun || len(changes) == 0 {
			return changes, nil
		}
		return changes, s.put(before, changes)
	})
}

// put replaces the files of changed issues by rename, if they all still hold what
// was read.
func (s *Store) put(before map[string]string, changes []beads.Change) error {
	now, err := s.read()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if name := url.PathEscape(c.ID) + suffix; now[name] != before[name] {
			return beads.ErrStale
		}
	}
	for _, c := range changes {
		if err := textfile.Replace(filepath.Join(s.dir, url.PathEscape(c.ID)+suffix), c.After); err != nil {
			return &fault.Error{Code: fault.Store, Path: s.dir, Reason: "cannot be written", Cause: err, Hint: "see that the disk works and may be written"}
		}
	}
	return nil
}

// Watch implements beads.Store, by looking ten times a second.
func (s *Store) Watch() (changes <-chan struct{}, stop func()) {
	_ = s.takeIn() // who reads it says why it cannot be
	told, done, was := make(chan struct{}, 1), make(chan struct{}), s.stamp()
	go func() {
		look := time.NewTicker(time.Second / 10)
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-look.C:
			}
			now := s.stamp()
			if now == was {
				continue
			}
			was = now
			select {
			case told <- struct{}{}:
			default: // there is one that nobody has taken yet
			}
		}
	}()
	return told, sync.OnceFunc(func() { close(done) })
}

// stamp tells one state of the directory from another: a file that is replaced is
// a change of it.
func (s *Store) stamp() string {
	info, err := os.Stat(s.dir)
	if err != nil {
		return ""
	}
	return info.ModTime().String()
}
