package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/fault"
	"stig/internal/visible"
)

// Merge merges Onto into the branch, in the work tree, and returns the commit that Land moves
// Onto to. Everything must be committed. Onto's version of the store wins. A conflict is a
// *RejectedError with the files, and nothing has changed.
//
// It merges before it touches any file of the work tree, so that a killed process leaves no
// partial merge.
func (t *Worktree) Merge(ctx context.Context) (tip string, err error) {
	_, onto, merged, err := t.mergeIn(ctx, t.repo.onto)
	if err != nil {
		return "", err
	}
	t.tip, t.from = merged, onto
	return merged, t.writeNote(onto)
}

// Include merges another branch than Onto into the branch, as Merge does, and reports whether
// that changed anything.
func (t *Worktree) Include(ctx context.Context, branch string) (changed bool, err error) {
	was, _, merged, err := t.mergeIn(ctx, branch)
	if err != nil || merged == was {
		return false, err
	}
	return true, t.since(ctx, merged, t.Tip)
}

// mergeIn merges a branch into that of the work tree. It returns the commits of the work tree
// before, of the branch, and of the result.
func (t *Worktree) mergeIn(ctx context.Context, branch string) (was, onto, merged string, err error) {
	fail := func(err error) (string, string, string, error) { return "", "", "", err }
	release, err := t.hold(ctx)
	if err != nil {
		return fail(err)
	}
	defer release()
	s, err := t.settled(ctx)
	if err != nil {
		return fail(err)
	}
	if s.dirty {
		return fail(&RejectedError{Reason: fmt.Sprintf("%s: has uncommitted changes, such as in %q", t.Dir, s.changed[0])})
	}
	if onto, err = t.repo.branch(ctx, branch); err != nil {
		return fail(err)
	}
	if onto == "" {
		return fail(moved(branch, ""))
	}
	as := *t
	if branch != t.repo.onto {
		if has, err := t.repo.descends(ctx, s.head, onto); err != nil || has {
			return s.head, onto, s.head, err
		}
		repo := *t.repo
		as.repo, as.Issue, as.upon, repo.onto = &repo, "", "", branch
	}
	merged, err = as.combine(ctx, s.head, onto)
	if err == nil && merged != s.head {
		err = t.forward(ctx, merged)
	}
	return s.head, onto, merged, err
}

// Landing returns what Merge merged: Onto's commit then, and the commit that Land moves it to;
// "" before.
func (t *Worktree) Landing() (from, tip string) { return t.from, t.tip }

// combine returns a merge commit of both, with onto's store. The work on an issue becomes one
// step that names the issue, so that the first-parent history has one commit for each.
func (t *Worktree) combine(ctx context.Context, head, onto string) (string, error) {
	base, err := t.repo.base(ctx, head, onto)
	if err != nil || base == head {
		return onto, err
	}
	follows := base == onto
	if follows && t.Issue != "" {
		if follows, err = t.isOneStep(ctx, head, onto); err != nil {
			return "", err
		}
	}
	tree, parents := head+"^{tree}", []string{head}
	if !follows {
		parents = []string{onto, head}
	}
	if base != onto {
		if tree, err = t.mergeBeyond(ctx, base, head, onto); err != nil {
			return "", err
		}
	}
	tree, changed, err := t.withStore(ctx, tree, onto)
	if err != nil || !changed && len(parents) == 1 {
		return head, err
	}
	message := fmt.Sprintf("Merge branch '%s' into %s", t.Branch, t.repo.onto)
	if len(parents) == 1 {
		message = fmt.Sprintf("Leave %s as it is on %s", t.repo.store, t.repo.onto)
	}
	if t.Issue != "" {
		message += "\n\n" + IssueTrailer + ": " + t.Issue
	}
	return t.commitTree(ctx, tree, message, parents)
}

// mergeBeyond merges two commits into a tree. If head is built upon a request that landed in
// another form, as by a squash, or was reverted, only the work after that request is merged.
func (t *Worktree) mergeBeyond(ctx context.Context, base, head, onto string) (string, error) {
	if t.upon == "" {
		return t.mergeTree(ctx, head, onto)
	}
	for _, within := range [][2]string{{base, t.upon}, {t.upon, head}} {
		is, err := t.repo.descends(ctx, within[1], within[0])
		if err != nil {
			return "", err
		}
		if !is {
			return t.mergeTree(ctx, head, onto)
		}
	}
	return t.mergeSince(ctx, t.upon, head, onto)
}

// mergeSince merges what one commit changed since another into a third: old versions of git
// accept no other base than a common ancestor, so it makes such commits.
func (t *Worktree) mergeSince(ctx context.Context, since, head, onto string) (string, error) {
	ours, err := t.commitTree(ctx, onto+"^{tree}", "ours", []string{since})
	if err != nil {
		return "", err
	}
	theirs, err := t.commitTree(ctx, head+"^{tree}", "theirs", []string{since})
	if err != nil {
		return "", err
	}
	return t.mergeTree(ctx, theirs, ours)
}

// isOneStep reports whether head is one commit on onto that names its issue.
func (t *Worktree) isOneStep(ctx context.Context, head, onto string) (bool, error) {
	list, err := t.repo.commits(ctx, "--max-count=2", onto+".."+head)
	return len(list) == 1 && contains(issuesIn(list[0].message), t.Issue), err
}

// mergeTree merges two commits into a tree, in which files of the store may be in conflict.
func (t *Worktree) mergeTree(ctx context.Context, head, onto string) (string, error) {
	result, err := t.git().Perform(ctx, nil, nil, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, onto)
	if err != nil {
		return "", err
	}
	if result.Exit > 1 {
		if base, err := t.git().Run(ctx, "merge-base", head, onto); err == nil && base.Exit == 1 {
			return "", &RejectedError{Reason: fmt.Sprintf("branch %s: has no commit in common with %s", t.Branch, t.repo.onto)}
		}
		return "", fmt.Errorf("git merge-tree: exit %d: %s", result.Exit, strings.TrimSpace(string(result.Stderr)))
	}
	fields := strings.Split(strings.TrimRight(string(result.Stdout), "\x00"), "\x00")
	files := slices.DeleteFunc(slices.Clone(fields[1:]), func(name string) bool { return name == "" || t.repo.isStore(name) })
	if len(files) > 0 {
		files = slices.Compact(files)
		return "", &RejectedError{Exit: 1, Files: files, Onto: t.repo.onto, Reason: fmt.Sprintf("branch %s: conflicts with %s in %s", t.Branch, t.repo.onto, strings.Join(files, ", "))}
	}
	return fields[0], nil
}

// isStore reports whether a file, as git names it, belongs to the store.
func (r *worktreeRepo) isStore(name string) bool {
	return r.store != "" && (name == r.store || strings.HasPrefix(name, r.store+"/"))
}

// withStore returns a tree with a commit's store, and whether it had another.
func (t *Worktree) withStore(ctx context.Context, tree, from string) (_ string, changed bool, err error) {
	store := t.repo.store
	if store == "" {
		return tree, false, nil
	}
	g := t.git()
	names, err := g.Names(ctx, strings.TrimSuffix(tree, "^{tree}")+":"+store, from+":"+store)
	if err != nil || names[0] == names[1] {
		return tree, false, err
	}
	_, remove, err := t.ownIndex(&g)
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	steps := [][]string{{"read-tree", tree}, {"-c", "core.sparseCheckout=false", "rm", "-r", "-f", "--quiet", "--cached", "--ignore-unmatch", "--", store}}
	if names[1] != "" {
		steps = append(steps, []string{"read-tree", "--prefix=" + store + "/", from + ":" + store})
	}
	for _, argv := range steps {
		if _, err := g.Must(ctx, argv...); err != nil {
			return "", false, err
		}
	}
	tree, err = g.Must(ctx, "write-tree")
	return tree, true, err
}

// ownIndex makes git use a new index, in a directory that remove deletes.
func (t *Worktree) ownIndex(g *Client) (index string, remove func() error, err error) {
	dir, err := os.MkdirTemp(t.own, "stig-index-")
	index = filepath.Join(dir, "index")
	g.Env = append(slices.Clone(g.Env), "GIT_INDEX_FILE="+index)
	return index, func() error { return os.RemoveAll(dir) }, err
}

// commitTree commits a tree without hooks, so that a failure is not the work's fault.
func (t *Worktree) commitTree(ctx context.Context, tree, message string, parents []string) (string, error) {
	return t.commitTreeAs(ctx, "", tree, message, parents)
}

// commitTreeAs is commitTree in author's name, "" for git's own identity.
func (t *Worktree) commitTreeAs(ctx context.Context, author, tree, message string, parents []string) (string, error) {
	signs, err := signs(ctx, t.git())
	if err != nil {
		return "", err
	}
	argv, hint := []string{"commit-tree"}, ""
	if signs {
		argv, hint = append(argv, "-S"), "commit.gpgSign is set: see that git can sign without asking, or type git config commit.gpgSign false"
	}
	argv = append(argv, tree)
	for _, parent := range parents {
		argv = append(argv, "-p", parent)
	}
	var env []string
	if author != "" {
		env = []string{"GIT_AUTHOR_NAME=" + plain(author)}
	}
	result, err := t.knowing(ctx, env, cmp.Or(author, "stig"), message, argv...)
	if err == nil && result.Exit != 0 {
		err = &fault.Error{Code: fault.Store, Reason: "git cannot commit: " + visible.OneLine(strings.ToValidUTF8(string(result.Stderr), "\uFFFD")), Hint: hint}
	}
	return strings.TrimSpace(string(result.Stdout)), err
}

// signs reports whether git signs commits.
func signs(ctx context.Context, g Client) (bool, error) {
	told, err := g.Run(ctx, "config", "--type=bool", "commit.gpgSign")
	return strings.TrimSpace(string(told.Stdout)) == "true", err
}

// forward moves branch and files of the work tree to a descendant commit. Hooks do not run:
// what is merged was committed, and is verified now.
func (t *Worktree) forward(ctx context.Context, commit string) error {
	if err := t.skipStore(ctx); err != nil {
		return err
	}
	_, err := t.git().Must(ctx, "-c", expectFiles, "-c", noUpkeep, "-c", "core.hooksPath="+os.DevNull, "-c", "submodule.recurse=false", "merge", "--quiet", "--ff-only", commit)
	return err
}

// expectFiles keeps git from treating files that a worker put into omitted places as changed.
const expectFiles = "sparse.expectFilesOutsideOfPatterns=true"

// skipStore makes git ignore a store that a worker put into the work tree.
func (t *Worktree) skipStore(ctx context.Context) error {
	if !t.hasStore() {
		return nil
	}
	listed, err := t.git().Run(ctx, "ls-files", "-z", "--", t.repo.store)
	if err != nil {
		return err
	}
	return t.git().accepted(ctx, nil, listed.Stdout, "-c", expectFiles, "update-index", "-z", "--skip-worktree", "--stdin")
}
