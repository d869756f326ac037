package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/workspace"
)

// proveBefore runs the criteria of passing issues at the merge base with a revision too, and
// once more at HEAD with the files that they read as they were at the merge base, each in its
// own checkout. This shows which criteria do not prove the work, and which pass only because
// the files that judge them were changed.
func proveBefore(ctx context.Context, a *workspace.Run, code *workspace.Code, store beads.Place, against string, passing []*GateRun) error {
	if len(passing) == 0 || code.Own == "" {
		return nil
	}
	here := a.GitIn(code.Root)
	base, err := here.Must(ctx, "merge-base", "HEAD", against)
	if err != nil {
		a.Warn("criteria not run at %s: %v", against, err)
		return nil
	}
	head, err := here.Commit(ctx, "HEAD")
	if err != nil || head == base {
		return err
	}
	verdicts, err := runAt(ctx, a, store, base, nil, passing)
	if err != nil {
		return err
	}
	changed, err := here.Between(ctx, base, head, "")
	if err != nil {
		return err
	}
	for i, t := range passing {
		v := t.Verdict.Against(verdicts[i].Shows())
		held, declared := v.Compared() && !v.ShowsWork(), v.MayHold() || t.meant
		if t.proof.Green = held && !declared; held && declared && a.Config.ByReview() {
			a.Note("%s: its checks pass at %s too, as its criteria or labels declare", t.Id, against)
		}
		files := gate.Reads(t.Plan, t.fromRoot(changed))
		if len(files) == 0 {
			continue
		}
		judged, err := runAt(ctx, a, store, head, func(dir string) error { return asAt(ctx, a.GitIn(dir), base, files) }, []*GateRun{t})
		if err != nil {
			return err
		}
		if !judged[0].Passed() {
			t.proof.Weakened = files
		}
	}
	return nil
}

// runAt runs the criteria of issues in a checkout of a commit. change, if not nil, may change
// the checkout first.
func runAt(ctx context.Context, a *workspace.Run, store beads.Place, commit string, change func(dir string) error, list []*GateRun) (verdicts []*gate.Verdict, err error) {
	trees, err := a.Trees(store)
	if err != nil || trees == nil {
		return nil, errors.Join(err, fmt.Errorf("%s: not in a git repository", store.Name()))
	}
	self, _ := process.Self() // others may run them at the same time
	dir, remove, err := git.DetachedTree(ctx, *trees, fmt.Sprint("check ", self.PID), commit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	there := a.Fresh(ctx, a.Running)
	there.Dir, there.Config = dir, a.Config
	there.Progress, there.Terminal = io.Discard, false // the same commands were printed when they ran here
	code, err := there.Code(ctx, store)
	if err == nil && change != nil {
		err = change(code.Root)
	}
	if err != nil {
		return nil, err
	}
	runs := make([]*GateRun, len(list))
	for i, t := range list {
		runs[i] = &GateRun{Code: code, Id: t.Id, criteria: t.criteria, Plan: t.Plan}
	}
	return runAll(ctx, there, runs, GateRunOptions{KeepGoing: true})
}

// asAt restores files of a checkout, named relative to it, to their content at a commit. Files
// that the commit does not have are left alone.
func asAt(ctx context.Context, there git.Client, commit string, files []string) error {
	for _, name := range files {
		had, err := there.Run(ctx, "cat-file", "-e", commit+":./"+name)
		if err != nil || had.Exit != 0 {
			continue
		}
		if _, err := there.Must(ctx, "checkout", "--quiet", commit, "--", name); err != nil {
			return err
		}
	}
	return nil
}

// fromRoot returns changes with paths relative to the directory in which the checks run.
func (t *GateRun) fromRoot(changed []git.Change) []git.Change {
	below, err := filepath.Rel(t.Code.Place.Root, t.Code.Root)
	if err != nil || below == "." {
		return changed
	}
	var list []git.Change
	for _, c := range changed {
		if path, err := filepath.Rel(below, filepath.FromSlash(c.Path)); err == nil {
			list = append(list, git.Change{Path: strings.TrimPrefix(filepath.ToSlash(path), "./"), Was: c.Was})
		}
	}
	return list
}
