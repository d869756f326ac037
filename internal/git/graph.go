package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Node is a commit that changed a file, or that merged such ones.
type Node struct {
	Commit  string
	Time    time.Time
	Parents []string // of these commits; older ones are left out
	Blob    string   // of the file; "" where the commit has none
}

// Graph gives the history of a file behind revisions, as git rev-list takes them, as far as it
// is not older than a time: each commit before its parents, of HEAD the one first that left
// the file as HEAD has it. path is as in FileAt. Without a commit there is none.
func (g Client) Graph(ctx context.Context, path string, since time.Time, revisions ...string) (list []Node, err error) {
	argv := []string{"rev-list", "--simplify-merges", "--parents", "--timestamp", "--topo-order", fmt.Sprintf("--since=@%d", since.Unix())}
	result, err := g.Run(ctx, append(append(argv, revisions...), "--", path)...)
	if err != nil || result.Exit != 0 {
		if _, unborn := g.Commit(ctx, "HEAD"); err == nil && unborn == nil {
			err = failure([]string{"rev-list"}, result)
		}
		return nil, err
	}
	name, err := g.fromHere(path)
	if err != nil {
		return nil, err
	}
	var asked []string
	for line := range strings.Lines(string(result.Stdout)) {
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		seconds, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git rev-list: %w", err)
		}
		list = append(list, Node{Commit: words[1], Time: time.Unix(seconds, 0).UTC(), Parents: slices.Clone(words[2:])})
		asked = append(asked, words[1]+":"+name)
	}
	if len(list) == 0 {
		return nil, nil
	}
	blobs, err := g.Names(ctx, asked...)
	for i := range blobs {
		list[i].Blob = blobs[i]
	}
	return list, err
}

// Merging lists what is being merged into the work tree: the commits of a merge, a
// cherry-pick, a revert or a rebase that git has not finished.
func (g Client) Merging(ctx context.Context, path string) ([]Tip, error) {
	var listed strings.Builder
	for _, p := range inProgress {
		if p.head == "" {
			continue
		}
		result, err := g.Run(ctx, "rev-parse", "-q", "--verify", p.head)
		if err != nil {
			return nil, err
		}
		if commit := strings.TrimSpace(string(result.Stdout)); result.Exit == 0 && IsHash(commit) {
			fmt.Fprintf(&listed, "%s %s\n", p.head, commit)
		}
	}
	return g.withBlobs(ctx, path, listed.String())
}

// BranchOf names a branch that has a commit, as a reference; "" for none.
func (g Client) BranchOf(ctx context.Context, commit string) (string, error) {
	return g.Must(ctx, "for-each-ref", "--count=1", "--format=%(refname)", "--contains="+commit, "refs/heads", "refs/remotes")
}
