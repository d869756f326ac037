package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/git"
	"stig/internal/merge"
)

// Clone is what git and the other work trees of a clone hold of a store. The
// zero Git stands for a store outside of git.
type Clone struct {
	Git    git.Client // in the work tree of the store
	Path   string     // of the store, as git.Client.FileAt takes it
	Others func() []beads.Store
}

var _ Held = Clone{}

// atOnce is how many versions are read before it is known whether more are needed.
const atOnce = 16

// slack is how much older than a record a commit may be that holds it: clocks
// step.
const slack = time.Hour

// Reachable implements Held.
func (c Clone) Reachable(ctx context.Context, since clone.Record, ids []string, visit func(merge.Index) bool) error {
	if c.Git.Dir == "" {
		return nil
	}
	changes, err := c.Git.History(ctx, c.Path, "")
	if fault.Is(err, fault.NoRevision) {
		return nil
	}
	if err != nil {
		return err
	}
	var blobs []string
	for _, change := range changes {
		if change.Time.Before(since.At.Add(-slack)) {
			break
		}
		if change.After != "" {
			blobs = append(blobs, change.After)
		}
	}
	for len(blobs) > 0 {
		n, more := min(atOnce, len(blobs)), true
		err := c.Git.Blobs(ctx, blobs[:n], func(_ string, text []byte) {
			if more {
				more = visit(indexIn(text, ids))
			}
		})
		if err != nil || !more {
			return err
		}
		blobs = blobs[n:]
	}
	return nil
}

// indexIn indexes the issues of those ids in the text of a store.
func indexIn(text []byte, ids []string) merge.Index {
	index := merge.Index{}
	for _, id := range ids {
		if !bytes.Contains(text, []byte(id)) {
			continue
		}
		if r := beads.RecordIn(text, id); r != nil {
			index[id] = merge.EntryOf(r)
		}
	}
	return index
}

// Outside implements Held.
func (c Clone) Outside(ctx context.Context, ids []string, visit func(string, merge.Index)) error {
	if c.Git.Dir == "" {
		return nil
	}
	for _, s := range c.Others() {
		file, err := s.Snapshot()
		if err != nil {
			continue // it cannot be read: it holds nothing that can be relied on
		}
		found, err := merge.IndexOf(file, ids)
		if err = errors.Join(err, file.Close()); err == nil {
			visit("work tree "+filepath.Dir(s.Place().Dir), found)
		}
	}
	tips, err := c.outside(ctx)
	if err != nil {
		return err
	}
	refs, blobs := map[string]string{}, []string{}
	for _, t := range tips {
		if t.Blob != "" && refs[t.Blob] == "" {
			refs[t.Blob] = t.Ref
			blobs = append(blobs, t.Blob)
		}
	}
	return c.Git.Blobs(ctx, blobs, func(blob string, text []byte) { visit(refs[blob], indexIn(text, ids)) })
}

// Head implements Held.
func (c Clone) Head(ctx context.Context, ids []string) (merge.Index, error) {
	if c.Git.Dir == "" {
		return nil, nil
	}
	var text bytes.Buffer
	err := c.Git.FileAt(ctx, "HEAD", c.Path, &text)
	if fault.Is(err, fault.NoRevision) {
		return nil, nil // no commit yet, or none that has the store
	}
	return indexIn(text.Bytes(), ids), err
}

// outside lists stashes and the tips of branches that HEAD does not hold.
func (c Clone) outside(ctx context.Context) ([]git.Tip, error) {
	tips, err := c.Git.Stashes(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	branches, err := c.Git.Tips(ctx, c.Path, []string{"--no-merged=HEAD"}, "refs/heads", "refs/remotes")
	if err != nil {
		if _, unborn := c.Git.Commit(ctx, "HEAD"); unborn != nil {
			return tips, nil // no commit yet, and so no branch
		}
	}
	return append(tips, branches...), err
}

// Deleted implements Held: an issue was deleted on purpose where the last commit
// that knows it has a tombstone, or where bd lists it among its deletions.
func (c Clone) Deleted(ctx context.Context, ids []string) (map[string]bool, error) {
	deleted := map[string]bool{}
	text, err := file.Read(filepath.Join(filepath.Dir(c.Path), "deletions.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var d struct{ ID string }
		if json.Unmarshal(line, &d) == nil && d.ID != "" {
			deleted[d.ID] = true
		}
	}
	known := map[string]bool{}
	err = c.Reachable(ctx, clone.Record{}, ids, func(there merge.Index) bool {
		for id, entry := range there {
			if !known[id] && entry.Status == beads.StatusTombstone {
				deleted[id] = true
			}
			known[id] = true
		}
		return len(known) < len(ids)
	})
	return deleted, err
}

// Ancestor implements Held.
func (c Clone) Ancestor(ctx context.Context, commit string) bool {
	if c.Git.Dir == "" {
		return true
	}
	result, err := c.Git.Run(ctx, "merge-base", "--is-ancestor", commit, "HEAD")
	return err == nil && result.Exit == 0
}

// Branch implements Held.
func (c Clone) Branch(ctx context.Context, name string) bool {
	result, err := c.Git.Run(ctx, "rev-parse", "-q", "--verify", "--end-of-options", "refs/heads/"+name)
	return err == nil && result.Exit == 0
}
