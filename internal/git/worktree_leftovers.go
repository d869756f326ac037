package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostLeftovers limits the leftover branches of an issue.
const mostLeftovers = 3

// Leftovers is a commit of what a worker left uncommitted, on a branch of its own.
type Leftovers struct {
	Branch  string // such as stig/harbor-9fd.3-leftovers-1; "" if the issue has the maximum
	Commit  string
	Subject string   // the worker's name
	Files   []string // that differ from the issue's branch at that time
}

// Uncommitted is what a work tree contains and its branch lacks.
type Uncommitted struct {
	Doing string   // an unfinished git operation, as in Busy; "" for none
	Away  bool     // HEAD is not at the branch
	Files []string // that differ from HEAD, including new ones
}

// IsNothing reports whether the work tree equals its branch.
func (u Uncommitted) IsNothing() bool { return u.Doing == "" && !u.Away && len(u.Files) == 0 }

// Uncommitted determines what the work tree contains and its branch lacks.
func (t *Worktree) Uncommitted(ctx context.Context) (Uncommitted, error) {
	s, err := t.status(ctx)
	return Uncommitted{Doing: Busy(t.own), Away: s.branch != t.Branch, Files: s.changed}, err
}

// Aside says how to set a work tree aside.
type Aside struct {
	Run, Actor string // the worker's name
	Held       string // a directory for what is left out of commits
	Branch     bool   // the branch's commits go too, and the next branch begins at Onto
}

// SetAside commits what the work tree has beyond its branch to a branch of leftovers, moves
// what is left out of commits to a directory, and removes the work tree with ignored files and
// unfinished operations: PrepareWorktree makes the next. Existing leftovers are not committed
// again; the zero value means that there is nothing to commit. Repeated after a kill it changes
// nothing twice.
func (t *Worktree) SetAside(ctx context.Context, o Aside) (kept Leftovers, err error) {
	release, err := t.hold(ctx)
	if err != nil {
		return kept, err
	}
	defer release()
	s, left, err := t.debris(ctx)
	isModule := func(l LeftOut) bool { return l.Why == changedModule }
	if err == nil {
		err = t.MoveOut(slices.DeleteFunc(slices.Clone(left), isModule), o.Held)
	}
	if err == nil {
		kept, err = t.commitAside(ctx, s.head, o)
	}
	if err == nil { // the commit records them
		err = t.MoveOut(left, o.Held)
	}
	if err == nil && t.submodulesChanged(ctx) { // their commits may be nowhere else
		err = move(filepath.Join(t.own, "modules"), filepath.Join(o.Held, ".git", "modules"))
	}
	branch := ""
	if err == nil && o.Branch {
		branch, err = t.repo.branch(ctx, t.Branch)
	}
	if err == nil {
		err = t.remove(ctx, branch, s.head)
	}
	return kept, err
}

// Omitted lists what SetAside moves to a directory: what is left out of commits, and submodules
// with changes.
func (t *Worktree) Omitted(ctx context.Context) ([]LeftOut, error) {
	_, left, err := t.debris(ctx)
	return left, err
}

const changedModule = "a submodule with changes of its own"

// debris is Omitted, with the state of the work tree.
func (t *Worktree) debris(ctx context.Context) (s status, left []LeftOut, err error) {
	if s, err = t.status(ctx); err == nil {
		left, err = t.omitted(ctx, s.fresh)
	}
	if !IsHash(s.head) { // on a branch without a commit
		s.head = t.Head
	}
	for _, module := range s.nested {
		left = append(left, LeftOut{module + "/", changedModule})
	}
	return s, left, err
}

// commitAside commits the files of the work tree on top of its HEAD, unless a branch has them.
func (t *Worktree) commitAside(ctx context.Context, head string, o Aside) (kept Leftovers, err error) {
	tree, err := t.treeOfFiles(ctx, head)
	if err != nil {
		return kept, err
	}
	base := "refs/heads/" + t.Branch
	if o.Branch {
		base = "refs/heads/" + t.repo.onto
	}
	was, err := t.git().Must(ctx, "rev-parse", head+"^{tree}")
	if err != nil {
		return kept, err
	}
	if there, err := t.repo.descends(ctx, base, head); err != nil || there && tree == was {
		return kept, err
	}
	known, err := t.Leftovers(ctx)
	if err != nil {
		return kept, err
	}
	for _, one := range known {
		if has, err := t.git().Must(ctx, "rev-parse", one.Commit+"^{tree}"); err != nil || has == tree {
			return one, err
		}
	}
	kept.Subject = fmt.Sprintf("leftovers of %s (%s)", o.Run, o.Actor)
	parents := []string{head}
	if stashed, err := os.ReadFile(filepath.Join(t.own, "rebase-merge", "autostash")); err == nil { // it is in no list of stashes
		parents = append(parents, strings.TrimSpace(string(stashed)))
	}
	if kept.Commit, err = t.commitTreeAs(ctx, o.Actor, tree, kept.Subject, parents); err != nil {
		return kept, err
	}
	for n := 1; n <= mostLeftovers && kept.Branch == ""; n++ {
		name := leftoversBranch(BranchOf(t.Issue, t.repo.onto), fmt.Sprint(n))
		if !slices.ContainsFunc(known, func(l Leftovers) bool { return l.Branch == name }) {
			kept.Branch = name
		}
	}
	if kept.Branch != "" {
		_, err = t.git().Must(ctx, "update-ref", "-m", "stig: "+kept.Subject, "refs/heads/"+kept.Branch, kept.Commit, "")
	}
	if err == nil {
		kept.Files, err = t.git().touched(ctx, base, kept.Commit)
	}
	return kept, err
}

// treeOfFiles returns a tree with the files of the work tree, and HEAD's store.
func (t *Worktree) treeOfFiles(ctx context.Context, head string) (tree string, err error) {
	g := t.git()
	index, remove, err := t.ownIndex(&g)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, remove()) }()
	err = copyFile(filepath.Join(t.own, "index"), index)
	if err == nil {
		err = g.accepted(ctx, nil, nil, "add", "--all", "--sparse")
	}
	if err == nil {
		tree, err = g.Must(ctx, "write-tree")
	}
	if err == nil {
		tree, _, err = t.withStore(ctx, tree, head)
	}
	return tree, err
}

// leftoversBranch names a leftovers branch for the issue of a branch.
func leftoversBranch(branch, which string) string { return branch + "-leftovers-" + which }

// Leftovers lists the leftovers of the issue. Without any, git is not started.
func (t *Worktree) Leftovers(ctx context.Context) ([]Leftovers, error) {
	branch := BranchOf(t.Issue, t.repo.onto)
	for n := range mostLeftovers {
		commit, known := Checkout{Common: t.repo.common}.Ref("refs/heads/" + leftoversBranch(branch, fmt.Sprint(n+1)))
		if !known || commit != "" {
			return leftoversOf(ctx, t.git(), branch, t.Branch)
		}
	}
	return nil, nil
}

// LeftoversOf lists the leftovers of the issue with that branch, see BranchOf.
func LeftoversOf(ctx context.Context, g Client, branch string) (all []Leftovers, err error) {
	return leftoversOf(ctx, g, branch, branch)
}

// leftoversOf is LeftoversOf with the files that differ from the branch from.
func leftoversOf(ctx context.Context, g Client, branch, from string) (all []Leftovers, err error) {
	said, err := g.Must(ctx, "for-each-ref", "--format=%(refname:lstrip=2)%00%(objectname)%00%(subject)", "refs/heads/"+leftoversBranch(branch, "*"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(said) {
		if fields := strings.Split(strings.TrimSpace(line), "\x00"); len(fields) == 3 {
			one := Leftovers{Branch: fields[0], Commit: fields[1], Subject: fields[2]}
			if one.Files, err = g.touched(ctx, "refs/heads/"+from, one.Commit); err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// touched lists the files changed by a commit since it left a branch; those of its last commit
// if there is no such branch.
func (g Client) touched(ctx context.Context, branch, commit string) ([]string, error) {
	argv := []string{"diff", "--name-only", "-z", "--no-renames", branch + "..." + commit}
	said, err := g.Run(ctx, argv...)
	if err == nil && said.Exit != 0 {
		said, err = g.Run(ctx, "diff-tree", "--no-commit-id", "--name-only", "-r", "-z", "--no-renames", commit)
	}
	return strings.FieldsFunc(string(said.Stdout), func(r rune) bool { return r == 0 }), err
}

// RemoveLeftovers deletes the leftovers branches of the issue with that branch, and returns
// them. One that is checked out somewhere stays, with an error.
func RemoveLeftovers(ctx context.Context, g Client, branch string) (removed []Leftovers, err error) {
	all, err := LeftoversOf(ctx, g, branch)
	for _, one := range all {
		_, e := g.Must(ctx, "branch", "--quiet", "-D", "--", one.Branch)
		if err = errors.Join(err, e); e == nil {
			removed = append(removed, one)
		}
	}
	return removed, err
}

// FileVersion is a file as a commit left it.
type FileVersion struct {
	Commit, Path string
	Blob         string
	Was          []string // blobs of the file in the commit's parents, also under its former name
}

// Versions lists the versions of changed files in the commits of to that from lacks; for a
// merge those that differ from all parents.
func (g Client) Versions(ctx context.Context, from, to string) (list []FileVersion, err error) {
	said, err := g.mustRun(ctx, nil, nil, "-c", "log.showRoot=true", "log", "--format=%x01%H", "-c", "--raw", "-z", "--no-abbrev", "-M", "--diff-filter=d", from+".."+to)
	fields := strings.Split(said, "\x00")
	commit := ""
	for i := 0; i < len(fields); i++ {
		field := strings.TrimLeft(fields[i], "\n")
		if hash, ok := strings.CutPrefix(field, "\x01"); ok {
			commit = hash
			continue
		}
		what := strings.TrimLeft(field, ":")
		parents := len(field) - len(what)
		words := strings.Fields(what) // modes, blobs, how it changed; the path follows
		if parents == 0 || len(words) != 2*(parents+1)+1 {
			continue
		}
		i++
		if parents == 1 && strings.ContainsRune("RC", rune(words[4][0])) {
			i++ // after the former one
		}
		if i < len(fields) && words[parents] != gitlink {
			list = append(list, FileVersion{commit, fields[i], words[2*parents+1], words[parents+1 : 2*parents+1]})
		}
	}
	return list, err
}
