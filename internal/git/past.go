package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
)

// Past is the committed history of a store in a file.
type Past struct {
	Client
	Path string // as in FileAt
}

var _ beads.History = Past{}

// Versions implements beads.History: it lists all commits that changed the file, including
// those under its former names.
func (p Past) Versions(ctx context.Context, since string) ([]beads.Version, error) {
	versions, err := p.History(ctx, p.Path, since)
	slices.Reverse(versions)
	return versions, err
}

// Texts implements beads.History with the whole texts of the file.
func (p Past) Texts(ctx context.Context, versions []beads.Version, _ string, take func(name string, text []byte)) error {
	return p.Blobs(ctx, beads.Names(versions), take)
}

// Snapshot implements beads.History. It reads a copy of the file, which lasts as long as the
// snapshot.
func (p Past) Snapshot(ctx context.Context, revision string) (*beads.Snapshot, error) {
	copied, err := os.CreateTemp("", "stig-*.jsonl")
	if err != nil {
		return nil, err
	}
	forget := func() error {
		_ = copied.Close()
		return os.Remove(copied.Name())
	}
	if err = p.FileAt(ctx, revision, p.Path, copied); err != nil {
		_ = forget()
		return nil, p.unlessNew(ctx, revision, err)
	}
	file, err := snapshotOf(copied, forget)
	if err != nil {
		_ = forget()
	}
	return file, err
}

// snapshotOf reads a store from an open file.
func snapshotOf(f *os.File, closed func() error) (*beads.Snapshot, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return beads.NewSnapshot(beads.Place{Path: f.Name()}, beads.Source{Lines: f, Size: info.Size(), Close: closed})
}

// unlessNew is the error for a file missing from a commit, with the other stores that it has.
func (p Past) unlessNew(ctx context.Context, revision string, err error) error {
	e, missing := fault.As(err, fault.NoRevision)
	if !missing {
		return err
	}
	commit, unknown := p.Commit(ctx, revision)
	if unknown != nil {
		return err
	}
	had, failed := p.hadStore(ctx, commit)
	if failed != nil {
		return failed
	}
	if !had {
		e.Err = beads.ErrBefore
	}
	return e
}

// hadStore reports whether a commit has any store: a moved one must not pass for a new one.
// Files deeper in a .beads, such as bd's backups, do not count.
func (p Past) hadStore(ctx context.Context, commit string) (bool, error) {
	files, err := p.Must(ctx, "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit)
	if err != nil {
		return false, err
	}
	for file := range strings.SplitSeq(files, "\x00") {
		if dir, name := path.Split(file); path.Base(dir) == beads.DirName && strings.HasSuffix(name, ".jsonl") {
			return true, nil
		}
	}
	return false, nil
}

// Common implements beads.History.
func (p Past) Common(ctx context.Context, revision string) (string, error) {
	commit, err := p.Commit(ctx, revision)
	if err != nil && revision == "HEAD" && p.unborn(ctx) {
		return "", &fault.Error{Code: fault.NoRevision, Reason: "no commit yet", Err: beads.ErrBefore}
	}
	if err != nil || revision == "HEAD" {
		return commit, err
	}
	base, err := p.Run(ctx, "merge-base", commit, "HEAD")
	if err != nil {
		return "", err
	}
	if base.Exit != 0 {
		return "", &fault.Error{Code: fault.NoRevision, Reason: fmt.Sprintf("%q: shares no commit with HEAD", revision),
			Hint: "name an earlier commit of this branch; in a shallow clone type git fetch --unshallow"}
	}
	return strings.TrimSpace(string(base.Stdout)), nil
}

// unborn reports whether HEAD is a branch without a commit: a hook that runs before the first
// one must allow it.
func (g Client) unborn(ctx context.Context) bool {
	if !g.onBranch(ctx) {
		return false
	}
	commit, err := g.Run(ctx, "rev-parse", "-q", "--verify", "HEAD")
	return err == nil && commit.Exit != 0
}

// onBranch reports whether HEAD is a branch, with or without a commit.
func (g Client) onBranch(ctx context.Context) bool {
	branch, err := g.Run(ctx, "symbolic-ref", "-q", "HEAD")
	return err == nil && branch.Exit == 0
}

// shallow reports whether the repository lacks older history.
func (g Client) shallow(ctx context.Context) bool {
	result, err := g.Run(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(string(result.Stdout)) == "true"
}
