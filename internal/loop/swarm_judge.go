package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// judge runs the acceptance criteria of the issue on each solution of a round, in a
// directory that holds its commit and nothing else. What was judged before is not judged
// again. Where nothing in the criteria can be run there is no verdict.
func (s *session) judge(ctx context.Context, own []swarm.Operation, more []swarm.Verdict) (list []swarm.Verdict, err error) {
	var solutions []swarm.Verdict
	for _, o := range own {
		if o.Kind == swarm.Find && o.Commit != "" {
			solutions = append(solutions, swarm.Verdict{Agent: o.Agent, Idea: o.Idea, Branch: o.Branch, Commit: o.Commit})
		}
	}
	for _, v := range append(solutions, more...) {
		known := func(other swarm.Verdict) bool { return other.Commit == v.Commit }
		if slices.ContainsFunc(s.state.Verdicts, known) || slices.ContainsFunc(list, known) {
			continue
		}
		judged, asks, err := s.try(ctx, v)
		if err != nil {
			return nil, err
		}
		if !asks {
			return nil, nil
		}
		list = append(list, judged)
	}
	return list, nil
}

// try runs the criteria on one solution; asks is false where nothing in them can be run.
func (s *session) try(ctx context.Context, v swarm.Verdict) (_ swarm.Verdict, asks bool, err error) {
	trees, err := s.app.Trees(s.store.Place())
	if err != nil || trees == nil {
		return v, false, err
	}
	if _, err := s.commitOf(ctx, v.Commit); fault.Is(err, fault.Usage) { // its branch was removed, and git collected it
		v.Why = workspace.Classify(err).Message
		return v, true, nil
	}
	dir, remove, err := git.DetachedTree(ctx, *trees, s.issue, v.Commit)
	if err != nil {
		return v, false, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	a := s.app.Fresh(ctx, "swarm")
	a.Dir, a.Store = dir, filepath.Join(s.place.Worktree, filepath.FromSlash(s.place.Store))
	a.Progress, a.Terminal = io.Discard, false
	t, err := service.TrialOf(ctx, a, s.issue)
	if err != nil || !t.Asks() {
		return v, false, err
	}
	tried := errors.Join(service.Try(ctx, a, t, service.TrialOptions{}), t.Settle())
	if ctx.Err() != nil {
		return v, true, context.Cause(ctx)
	}
	if t.Verdict == nil { // it did not run: that says nothing of the solution
		return v, true, tried
	}
	v.Passed, v.Why = t.Verdict.Passed(), why(t.Verdict)
	v.Changed, err = s.named(ctx, v.Commit, t.Verdict)
	return v, true, err
}

// mostChanged is how many files a verdict names.
const mostChanged = 5

// named lists files that a solution changed and that the checks name: who changes what
// judges it has to be read.
func (s *session) named(ctx context.Context, commit string, v *gate.Verdict) (list []string, err error) {
	result, err := s.app.GitIn(s.app.Dir).Run(ctx, "diff", "--name-only", "-z", "HEAD..."+commit)
	if err != nil || result.Exit != 0 { // nothing in common with HEAD
		return nil, err
	}
	for path := range strings.SplitSeq(string(result.Stdout), "\x00") {
		name := path[strings.LastIndexByte(path, '/')+1:]
		if name == "" || len(path) > mostWhy || len(list) == mostChanged {
			continue
		}
		if slices.ContainsFunc(v.Outcomes(), func(o gate.Outcome) bool { return strings.Contains(o.Text, name) }) {
			list = append(list, visible.Text(path))
		}
	}
	return list, nil
}

// why says which check did not pass; "" where all did.
func why(v *gate.Verdict) string {
	for _, o := range v.Outcomes() {
		if !o.Passed() && o.Exit != gate.ExitNotRun {
			return short(fmt.Sprintf("the check %s ends with exit code %d", visible.FirstLine(o.Text), o.Exit))
		}
	}
	if !v.Passed() {
		return "not all checks ran"
	}
	return ""
}

// mostWhy bounds why a solution did not pass, in bytes.
const mostWhy = 240

// short is a text in one line that is not too long, and without credentials.
func short(text string) string {
	return visible.ClippedBytes(visible.HideSecrets(visible.OneLine(text)), mostWhy)
}
