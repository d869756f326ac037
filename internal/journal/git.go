package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/git"
)

// Clone is what git and the other work trees of a clone have of a store. The zero Git stands
// for a store outside git.
type Clone struct {
	Git    git.Client // in the work tree of the store
	Path   string     // path of the store, for git.Client.FileAt
	Busy   bool       // an unfinished git operation
	Others func() []beads.Store
}

var _ Held = Clone{}

// atOnce is how many versions are read before it is known whether more are needed.
const atOnce = 16

// Head implements Held.
func (c Clone) Head(ctx context.Context, ids []string) (Lines, error) {
	if c.Git.Dir == "" {
		return nil, nil
	}
	return c.at(ctx, "HEAD", ids)
}

// at returns issues in a commit; none if it has no store or there is no commit.
func (c Clone) at(ctx context.Context, commit string, ids []string) (Lines, error) {
	var text bytes.Buffer
	err := c.Git.FileAt(ctx, commit, c.Path, &text)
	if fault.Is(err, fault.NoRevision) {
		return nil, nil
	}
	return issuesIn(text.Bytes(), ids), err
}

// Outside implements Held.
func (c Clone) Outside(ctx context.Context, ids []string, visit func(string, Lines) bool) error {
	if c.Git.Dir == "" {
		return nil
	}
	for _, s := range c.Others() {
		file, err := s.Snapshot()
		if err != nil {
			continue // unreadable: nothing in it is reliable
		}
		found, err := linesIn(file, ids)
		if err = errors.Join(err, file.Close()); err == nil && !visit("work tree "+filepath.Dir(s.Place().Dir), found) {
			return nil
		}
	}
	tips, err := c.outside(ctx)
	if err != nil {
		return err
	}
	refs, blobs := map[string]string{}, []string{}
	for _, t := range tips {
		if t.Blob != "" && refs[t.Blob] == "" {
			refs[t.Blob] = placeName(t.Ref)
			blobs = append(blobs, t.Blob)
		}
	}
	more := true
	for blob := range slices.Values(blobs) {
		if !more {
			return nil
		}
		err := c.Git.Blobs(ctx, []string{blob}, func(blob string, text []byte) { more = visit(refs[blob], issuesIn(text, ids)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// placeName is a reference under the name people use.
func placeName(ref string) string {
	if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
		return "branch " + name
	}
	return strings.TrimPrefix(ref, "refs/remotes/")
}

// outside lists stashes, a merge in progress, and branch tips outside HEAD.
func (c Clone) outside(ctx context.Context) ([]git.Tip, error) {
	tips, err := c.Git.Stashes(ctx, c.Path)
	if err == nil && c.Busy {
		var merging []git.Tip
		merging, err = c.Git.Merging(ctx, c.Path)
		tips = append(tips, merging...)
	}
	if err != nil {
		return nil, err
	}
	branches, err := c.Git.Tips(ctx, c.Path, []string{"--no-merged=HEAD"}, "refs/heads", "refs/remotes")
	if err != nil {
		if _, unborn := c.Git.Commit(ctx, "HEAD"); unborn != nil {
			return tips, nil // no commit yet, so no branch
		}
	}
	return append(tips, branches...), err
}

// Deleted implements Held.
func (c Clone) Deleted(ids []string) (map[string]bool, error) {
	text, err := file.Read(filepath.Join(filepath.Dir(c.Path), "deletions.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	deleted := map[string]bool{}
	for line := range bytes.Lines(text) {
		var d struct{ ID string }
		if json.Unmarshal(line, &d) == nil && slices.Contains(ids, d.ID) {
			deleted[d.ID] = true
		}
	}
	return deleted, nil
}

// Past implements Held.
func (c Clone) Past(ctx context.Context, since time.Time, ids []string) (Past, error) {
	return c.past(ctx, since, ids, "HEAD")
}

// Branches implements Held.
func (c Clone) Branches(ctx context.Context, since time.Time, ids []string) (Past, error) {
	return c.past(ctx, since, ids, "--branches", "--remotes", "--not", "HEAD")
}

func (c Clone) past(ctx context.Context, since time.Time, ids []string, revisions ...string) (Past, error) {
	if c.Git.Dir == "" {
		return nil, nil
	}
	nodes, err := c.Git.Graph(ctx, c.Path, since, revisions...)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	p := &gitPast{clone: c, nodes: nodes, ids: ids, texts: map[string]Lines{"": nil}, messages: map[int]string{}}
	places := map[string]int{}
	for i, n := range nodes {
		places[n.Commit] = i
	}
	for _, n := range nodes {
		one := Commit{Name: n.Commit, Time: n.Time}
		for _, parent := range n.Parents {
			if at, there := places[parent]; there {
				one.Parents = append(one.Parents, at)
			}
		}
		p.commits = append(p.commits, one)
	}
	return p, nil
}

// gitPast is the history of a store in git.
type gitPast struct {
	clone    Clone
	nodes    []git.Node
	commits  []Commit
	ids      []string
	texts    map[string]Lines // by blob
	messages map[int]string
}

// Commits implements Past.
func (p *gitPast) Commits() []Commit { return p.commits }

// Lines implements Past. It reads several commits at once.
func (p *gitPast) Lines(ctx context.Context, commit int) (Lines, error) {
	blob := p.nodes[commit].Blob
	if lines, read := p.texts[blob]; read {
		return lines, nil
	}
	var blobs []string
	for _, n := range p.nodes[commit:min(len(p.nodes), commit+atOnce)] {
		if _, read := p.texts[n.Blob]; !read && !slices.Contains(blobs, n.Blob) {
			blobs = append(blobs, n.Blob)
		}
	}
	err := p.clone.Git.Blobs(ctx, blobs, func(blob string, text []byte) { p.texts[blob] = issuesIn(text, p.ids) })
	return p.texts[blob], err
}

// Base implements Past.
func (p *gitPast) Base(ctx context.Context, commit int) (Lines, error) {
	name := p.nodes[commit].Commit
	result, err := p.clone.Git.Run(ctx, "merge-base", name+"^1", name+"^2")
	base := strings.TrimSpace(string(result.Stdout))
	if err != nil || result.Exit != 0 || base == "" {
		return nil, err
	}
	return p.clone.at(ctx, base, p.ids)
}

// IsRevert implements Past.
func (p *gitPast) IsRevert(ctx context.Context, commit int) (bool, error) {
	message, asked := p.messages[commit]
	if !asked {
		result, err := p.clone.Git.Run(ctx, "show", "-s", "--format=%B", p.nodes[commit].Commit)
		if err != nil {
			return false, err
		}
		message = string(result.Stdout)
		p.messages[commit] = message
	}
	inverse := slices.ContainsFunc(p.nodes[commit+1:], func(n git.Node) bool { return n.Blob == p.nodes[commit].Blob })
	return saysRevert(message) || namesRevert(message) && inverse, nil
}

// MadeHere implements Past.
func (p *gitPast) MadeHere(ctx context.Context, commit int) (bool, error) {
	here, err := p.clone.Git.MadeHere(ctx)
	return err == nil && here(p.nodes[commit].Commit), err
}

// Branch implements Past.
func (p *gitPast) Branch(ctx context.Context, commit int) (string, error) {
	ref, err := p.clone.Git.BranchOf(ctx, p.nodes[commit].Commit)
	return placeName(ref), err
}
