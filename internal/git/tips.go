package git

import (
	"context"
	"errors"
	"fmt"
	slashpath "path"
	"slices"
	"strings"

	"stig/internal/visible"
)

// Tip is a commit named by a reference, and the blob of one file in it.
type Tip struct {
	Ref    string // such as refs/heads/main or stash@{0}
	Commit string
	Blob   string // "" if the commit has no such file
}

// Tips returns the commits of references below the given names, such as refs/heads; only has
// further options of git for-each-ref, such as --no-merged=HEAD. path is as in FileAt.
func (g Client) Tips(ctx context.Context, path string, only []string, refs ...string) ([]Tip, error) {
	argv := append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, only...)
	listed, err := g.Must(ctx, append(argv, refs...)...)
	if err != nil {
		return nil, err
	}
	return g.withBlobs(ctx, path, listed)
}

// Published returns the branch on which a repository publishes its work: the default branch of
// a remote as last fetched, or without remotes the default branch itself. The remote is given by
// name or URL; "" is origin, or the only one.
func (g Client) Published(ctx context.Context, remote string) (ref string, err error) {
	listed, err := g.Must(ctx, "remote", "--verbose")
	if err != nil {
		return "", err
	}
	remotes := map[string]bool{}
	for line := range strings.Lines(listed) {
		fields := strings.Fields(line)
		if remotes[fields[0]] = true; len(fields) > 1 && fields[1] == remote {
			remote = fields[0]
		}
	}
	switch {
	case remote == "" && len(remotes) == 0:
		return g.defaultBranch(ctx, "refs/heads/")
	case remote == "" && len(remotes) == 1:
		for remote = range remotes {
		}
	case remote == "":
		remote = "origin"
	}
	if !remotes[remote] {
		return "", fmt.Errorf("it has no remote %q", remote)
	}
	return g.defaultBranch(ctx, "refs/remotes/"+remote+"/")
}

// defaultBranch returns the default branch in a name space: what its HEAD names, else main or
// master, else the only branch that is not a worker's.
func (g Client) defaultBranch(ctx context.Context, space string) (string, error) {
	listed, err := g.Must(ctx, "for-each-ref", "--format=%(refname) %(symref)", strings.TrimSuffix(space, "/"))
	if err != nil {
		return "", err
	}
	var branches []string
	head := ""
	for line := range strings.Lines(listed) {
		ref, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ref == space+"HEAD" {
			head = target
		} else if !strings.HasPrefix(ref, space+namespace+"/") {
			branches = append(branches, ref)
		}
	}
	for _, ref := range []string{head, space + "main", space + "master"} {
		if slices.Contains(branches, ref) {
			return ref, nil
		}
	}
	remote, isRemote := strings.CutPrefix(strings.TrimSuffix(space, "/"), "refs/remotes/")
	switch {
	case !isRemote && len(branches) == 1:
		return branches[0], nil
	case !isRemote:
		return "", errors.New("its default branch is unknown: it has neither main nor master")
	case len(branches) == 0:
		return "", fmt.Errorf("nothing of its remote %s was fetched or pushed", remote)
	}
	return "", fmt.Errorf("the default branch of its remote %s is unknown; type git -C %s remote set-head %[1]s --auto", remote, visible.Quoted(g.Dir))
}

// Stashes returns the commits of git stash, latest first.
func (g Client) Stashes(ctx context.Context, path string) ([]Tip, error) {
	result, err := g.Run(ctx, "log", "-g", "--format=%gd %H", "refs/stash", "--")
	if err != nil || result.Exit != 0 { // there is none
		return nil, err
	}
	return g.withBlobs(ctx, path, strings.TrimSpace(string(result.Stdout)))
}

// withBlobs reads lines of a reference and its commit, and asks for the file's blob in each.
func (g Client) withBlobs(ctx context.Context, path, listed string) (tips []Tip, err error) {
	for line := range strings.Lines(listed) {
		if ref, commit, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			tips = append(tips, Tip{Ref: ref, Commit: commit})
		}
	}
	if len(tips) == 0 {
		return nil, nil
	}
	name, err := g.fromHere(path)
	if err != nil {
		return nil, err
	}
	asked := make([]string, len(tips))
	for i, t := range tips {
		asked[i] = t.Commit + ":" + name
	}
	blobs, err := g.Names(ctx, asked...)
	for i := range blobs {
		tips[i].Blob = blobs[i]
	}
	return tips, err
}

// Names returns the names of objects, such as a commit's file for COMMIT:PATH, "" for each
// missing one. It starts git once.
func (g Client) Names(ctx context.Context, of ...string) ([]string, error) {
	told, err := g.mustRun(ctx, []byte(strings.Join(of, "\n")+"\n"), nil, "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	names := make([]string, len(of))
	for i, line := range strings.Split(strings.TrimSpace(told), "\n") {
		if i < len(names) && IsHash(strings.TrimSpace(line)) {
			names[i] = strings.TrimSpace(line)
		}
	}
	return names, nil
}

// MadeHere finds, by HEAD's reflog, the commits made in this work tree rather than pulled or
// checked out. Without a reflog it returns all.
func (g Client) MadeHere(ctx context.Context) (func(commit string) bool, error) {
	result, err := g.Run(ctx, "log", "--walk-reflogs", "--no-show-signature", "--format=%H %gs", "HEAD")
	if err != nil || result.Exit != 0 {
		return func(string) bool { return true }, err
	}
	made := map[string]bool{}
	for line := range strings.Lines(string(result.Stdout)) {
		commit, how, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		made[commit] = made[commit] || !cameAlong(how)
	}
	return func(commit string) bool { return len(made) == 0 || made[commit] }, nil
}

// cameAlong reports whether a reflog entry says that HEAD moved to an existing commit.
func cameAlong(how string) bool {
	action, rest, _ := strings.Cut(how, ": ")
	for _, moved := range []string{"clone", "checkout", "reset", "switch"} {
		if action == moved {
			return true
		}
	}
	for _, step := range []string{"(start)", "(finish)", "(abort)"} {
		if strings.HasSuffix(action, step) {
			return true
		}
	}
	return rest == "Fast-forward"
}

// PastBlobs lists the blobs that files with these names, beside path, had in the history of
// some commits, latest first and each once. The history of the commits in without is omitted;
// missing ones of these are ignored. A partial clone lacks some.
func (g Client) PastBlobs(ctx context.Context, path string, names, of, without []string) (blobs []string, lacking int, err error) {
	name, err := g.fromHere(path)
	if err != nil {
		return nil, 0, err
	}
	var asked strings.Builder
	for _, commit := range of {
		asked.WriteString(commit + "\n")
	}
	for _, commit := range without {
		asked.WriteString("^" + commit + "\n")
	}
	argv := []string{"rev-list", "--objects", "--full-history", "--missing=print", "--ignore-missing", "--stdin", "--"}
	for _, n := range names {
		argv = append(argv, strings.TrimPrefix(slashpath.Join(slashpath.Dir(name), n), "./"))
	}
	told, err := g.mustRun(ctx, []byte(asked.String()), nil, argv...)
	for line := range strings.Lines(told) {
		blob, at, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case strings.HasPrefix(blob, "?"):
			lacking++
		case slices.Contains(names, slashpath.Base(at)):
			blobs = append(blobs, blob)
		}
	}
	return blobs, lacking, err
}
