package sql

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/store/jsonl"
)

// Synced says what Sync found.
type Synced struct {
	Behind bool // the copy was not what the server holds
	Lines  int  // that the server holds
	Bytes  int
	Hash   string // SHA-256 of them
}

func synced(before string, text []byte) Synced {
	return Synced{before != string(text), bytes.Count(text, []byte("\n")), len(text), hashOf(text)}
}

// Copy is the copy of a store on a server in a file of JSONL.
type Copy struct {
	Store *Store
	File  string // the copy
	Cache string // a directory in which it is kept what Sync wrote; "" for none
}

// Sync writes what the server holds into the copy, where that is something else. It locks
// the copy as any writer of a store does, and the file is replaced in one step. Lines that
// the server never held are not written over: fault.Changed.
func (c Copy) Sync(ctx context.Context, o beads.Options) (s Synced, err error) {
	file := beads.Place{Path: c.File, Dir: c.Store.Place().Dir}
	if _, err := os.Stat(file.Path); errors.Is(err, fs.ErrNotExist) {
		text, err := c.Store.Text(ctx) // before anything is made
		if err != nil || o.DryRun {
			return synced("", text), err
		}
		if err := begin(file.Path); err != nil {
			return s, err
		}
	}
	err = jsonl.Rewrite(ctx, file, o, func(before string) ([]jsonl.Splice, error) {
		after, err := c.Store.Text(ctx) // under the lock: whoever comes later writes no less
		if err != nil {
			return nil, err
		}
		s = synced(before, after)
		if s.Behind {
			err = c.RefuseStrange(ctx, before, after)
		}
		return []jsonl.Splice{{Start: 0, End: len(before), Text: string(after)}}, err
	})
	if err == nil && s.Behind && !o.DryRun {
		c.remember(s.Hash)
	}
	return s, err
}

// begin makes the copy where there is none yet.
func begin(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return &fault.Error{Code: fault.Store, Path: path, Reason: "cannot be made", Cause: err, Hint: "see that the directory is there and may be written"}
	}
	return f.Close()
}

// RefuseStrange refuses to write over lines that the server never held: a person or another
// program wrote them into the copy.
func (c Copy) RefuseStrange(ctx context.Context, before string, after []byte) error {
	if before == "" || c.isOurs(before) {
		return nil
	}
	held := map[string]bool{}
	for line := range bytes.Lines(after) {
		held[string(trimmed(line))] = true
	}
	var strange []Line
	var numbers []int
	number := 0
	for line := range strings.Lines(before) {
		number++
		text := trimmed([]byte(line))
		if len(text) == 0 || held[string(text)] || isMarker(text) {
			continue
		}
		one := Line{Text: text}
		if r, bad := beads.ParseRecord(text); bad == nil {
			one.ID = r.Text(beads.ID)
		}
		strange, numbers = append(strange, one), append(numbers, number)
	}
	known, err := c.Store.Held(ctx, strange)
	if err != nil {
		return err
	}
	for i, line := range strange {
		if !known[i] {
			return c.strange(numbers[i], line.ID)
		}
	}
	return nil
}

func (c Copy) strange(number int, id string) error {
	what := "a line"
	if id != "" {
		what = id
	}
	return &fault.Error{Code: fault.Changed,
		Path:   fmt.Sprintf("%s:%d", c.File, number),
		Reason: fmt.Sprintf("%s was written into this copy past %s, and would be lost", what, c.Store.Place().Name()),
		Hint:   fmt.Sprintf("move it away with mv %s %s.mine, type stig store sync, and repeat with stig what the two differ in: stig diff --files %s %s.mine", c.File, c.File, c.File, c.File),
	}
}

func trimmed(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

// isMarker reports whether git put a line between the sides of a conflict: what these
// hold is judged line by line.
func isMarker(line []byte) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"}, func(marker string) bool { return bytes.HasPrefix(line, []byte(marker)) })
}

// isOurs reports whether a text is what Sync wrote last into this copy of this store.
func (c Copy) isOurs(text string) bool {
	path := c.note()
	if path == "" {
		return false
	}
	sum, err := os.ReadFile(path)
	return err == nil && string(sum) == hashOf([]byte(text))
}

// remember keeps the hash of what Sync wrote, not of what the copy holds by now: others may
// write it as soon as the lock is free. Without it the next Sync asks the server.
func (c Copy) remember(hash string) {
	if path := c.note(); path != "" && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = file.Replace(path, []byte(hash))
	}
}

// note is the file that has the hash of the copy; "" where nothing is kept.
func (c Copy) note() string {
	full, err := filepath.Abs(c.File)
	if c.Cache == "" || err != nil {
		return ""
	}
	return filepath.Join(c.Cache, "copy-"+hashOf([]byte(full + "\n" + c.Store.Place().URL))[:16])
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Syncing is a store on a server of which each edit writes the copy too.
type Syncing struct {
	beads.Store
	Copy Copy
	Warn func(error) // is given why the copy could not be written
}

// Edit implements beads.Store. What is written is on the server, whatever becomes of the
// copy.
func (s Syncing) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	changes, err := s.Store.Edit(ctx, o, fn)
	o.Written = nil // the copy is not the store
	if err == nil && len(changes) > 0 && !o.DryRun {
		if _, err := s.Copy.Sync(context.WithoutCancel(ctx), o); err != nil {
			s.Warn(err)
		}
	}
	return changes, err
}
