package night

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// proven runs the checks of what would land in a separate tree with that commit.
func (u *Unlanded) proven(ctx context.Context, a *workspace.Run, store beads.Place, done *Landed) (err error) {
	if done.To == u.Head {
		return nil
	}
	dir, remove, err := git.DetachedTree(ctx, u.Trees, "landing", done.To)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	there := a.Fresh(ctx, "land")
	there.Dir, there.Progress, there.Terminal = dir, io.Discard, false
	there.Store = filepath.Join(u.Place.Worktree, filepath.FromSlash(u.Place.Store))
	if err := service.SetUp(ctx, a, store, dir, done.Issues...); err != nil {
		return err
	}
	for _, one := range done.landing {
		if one.ID == "" || one.Status == "" {
			continue
		}
		if err := passes(ctx, there, one.ID); err != nil {
			return err
		}
	}
	return nil
}

// passes runs the checks of one issue and returns an error if they do not pass.
func passes(ctx context.Context, a *workspace.Run, id string) error {
	t, err := service.GateRunOf(ctx, a, id)
	if err != nil {
		return err
	}
	defer func() { _ = t.WaitEdits() }() // it reads from the tree that is removed next
	if !t.Asks() {
		a.Note("%s: has no checks to run", id)
		return nil
	}
	err = service.Try(ctx, a, t, service.GateRunOptions{})
	if refused, ok := fault.As(err, fault.Found); ok {
		refused.Hint += "; to land it unchecked, git merge " + git.WorkBranch
	}
	if err != nil || t.Verdict.Passed() {
		return err
	}
	refused := &fault.Error{Code: fault.Found, ID: id, Reason: "its checks did not finish on the tree to land",
		Hint: "nothing was changed; see stig verify " + visible.Quoted(id)}
	for _, o := range t.Verdict.Outcomes() {
		if !o.Passed() && o.Exit != gate.ExitNotRun {
			refused.Reason = fmt.Sprintf("on the tree to land, its check %s ends with exit code %d: %s", o.Named(), o.Exit,
				cmp.Or(visible.HideSecrets(visible.OneLine(o.Reason+" "+o.Tail)), "(no output)"))
			refused.Hint = "nothing was changed; if the work is at fault, type stig land --revert " + visible.Quoted(id) + " --reason WHY"
			break
		}
	}
	return refused
}
