package sql

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/store/jsonl"
)

// Synced is the result of Sync.
type Synced struct {
	Behind bool // the copy differed from the server
	Lines  int  // on the server
	Bytes  int
	Hash   string // SHA-256 of them
}

func synced(before string, text []byte) Synced {
	return Synced{before != string(text), bytes.Count(text, []byte("\n")), len(text), hashOf(text)}
}

// Copy is the copy of a store on a server in a JSONL file.
type Copy struct {
	Store *Store
	File  string // path of the copy
	Cache string // directory that remembers what Sync wrote; "" for none
}

// Sync makes the copy equal to the store on the server. It locks the copy as any writer of a
// store does, and replaces it in one step. If the copy has lines that the server never had, it
// stays as it is: fault.Changed.
func (c Copy) Sync(ctx context.Context, o beads.Options) (s Synced, err error) {
	created := false
	if _, err := os.Stat(c.File); errors.Is(err, fs.ErrNotExist) {
		text, err := c.Store.Text(ctx)
		if err != nil || o.DryRun {
			return synced("", text), err
		}
		err = putNew(c.File, text)
		created = err == nil
		if _, absent := os.Stat(c.File); err != nil && absent != nil { // else another one was faster
			return s, err
		}
	}
	file := beads.Place{Path: c.File, Dir: c.Store.Place().Dir}
	err = jsonl.Rewrite(ctx, file, o, func(before string) ([]jsonl.Splice, error) {
		after, err := c.Store.Text(ctx) // under the lock: whoever locks later reads no less
		if err != nil {
			return nil, err
		}
		s = synced(before, after)
		if s.Behind {
			err = c.RefuseStrange(ctx, before, after)
		}
		s.Behind = s.Behind || created
		return []jsonl.Splice{{Start: 0, End: len(before), Text: string(after)}}, err
	})
	if err == nil && s.Behind && !o.DryRun {
		c.remember(s.Hash)
	}
	return s, err
}

// RefuseStrange returns fault.Changed if a text of the copy has a line that the server never
// had: a person or another program wrote it. after is what the server has now.
func (c Copy) RefuseStrange(ctx context.Context, before string, after []byte) error {
	if before == "" || c.isOurs(before) {
		return nil
	}
	present := map[string]bool{}
	for line := range bytes.Lines(after) {
		present[string(trimmed(line))] = true
	}
	var lines []Line
	var numbers []int
	number := 0
	for line := range bytes.Lines([]byte(before)) {
		number++
		line = trimmed(line)
		if len(line) == 0 || present[string(line)] || isMarker(line) {
			continue
		}
		id := ""
		if r, bad := beads.ParseRecord(line); bad == nil {
			id = r.Text(beads.ID)
		}
		lines, numbers = append(lines, Line{id, line}), append(numbers, number)
	}
	held, err := c.Store.Held(ctx, lines)
	if at := slices.Index(held, false); err == nil && at >= 0 {
		err = c.strange(numbers[at], lines[at].ID)
	}
	return err
}

func (c Copy) strange(number int, id string) error {
	what := "this line"
	if id != "" {
		what = "this version of " + id
	}
	return &fault.Error{Code: fault.Changed,
		Path:   fmt.Sprintf("%s:%d", c.File, number),
		Reason: fmt.Sprintf("%s was never on %s, and a sync would overwrite it", what, c.Store.Place().Name()),
		Hint:   fmt.Sprintf("type mv %s %s.mine && stig store sync, then make the changes that stig diff --files %s %s.mine shows again with stig", c.File, c.File, c.File, c.File),
	}
}

func trimmed(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

// isMarker reports whether a line is a conflict marker of git. The lines between markers are
// judged one by one.
func isMarker(line []byte) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"}, func(marker string) bool { return bytes.HasPrefix(line, []byte(marker)) })
}

// isOurs reports whether Sync wrote this text last into this copy of this store.
func (c Copy) isOurs(text string) bool {
	path := c.note()
	if path == "" {
		return false
	}
	hash, err := os.ReadFile(path)
	return err == nil && string(hash) == hashOf([]byte(text))
}

// remember writes the hash of what Sync wrote into the cache. It does not read the copy, which
// others may change as soon as the lock is free. Without the hash the next Sync asks the server.
func (c Copy) remember(hash string) {
	if path := c.note(); path != "" && os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = file.Replace(path, []byte(hash))
	}
}

// note returns the path of the file with the hash; "" without a cache.
func (c Copy) note() string {
	full, err := filepath.Abs(c.File)
	if c.Cache == "" || err != nil {
		return ""
	}
	return filepath.Join(c.Cache, "copy-"+hashOf([]byte(full + "\n" + c.Store.Place().URL))[:16])
}

func hashOf(text []byte) string { return hex.EncodeToString(sum(text)) }

// Syncing is a store on a server whose edits also write the copy.
type Syncing struct {
	beads.Store
	Copy Copy
	Warn func(error) // called with the error if the copy could not be written
}

// Edit implements beads.Store. It succeeds if the server has the edit.
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
