package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/loop/actors"
	"stig/internal/workspace"
)

// prepare determines all that a loop needs. It writes nothing.
func (l *loop) prepare(ctx context.Context, a *workspace.Run) (err error) {
	if l.name, err = nameOf(ctx, a); err != nil {
		return err
	}
	l.app = a.Lasting(ctx, "work", l.name)
	if l.now, err = clockOf(l.app); err != nil {
		return err
	}
	if l.store, err = l.app.Discover(); err != nil {
		return err
	}
	if p := l.store.Place(); p.Mode == beads.Server && !workspace.Exists(p.Path) {
		return workspace.Usage("work: no file tells workers where the store is: "+p.Name(),
			fmt.Sprintf(`type mkdir -p .beads && echo '{"store": "%s"}' > .beads/stig.json`, p.URL))
	}
	if l.place, err = l.app.Live(l.store.Place()); err != nil {
		return err
	}
	l.Times.Sign = cmp.Or(l.Times.Sign, l.place.SignEvery())
	if l.place.Documents != nil {
		l.Times.Look *= 5 // each look asks the server
	}
	l.app.Store = filepath.Join(l.place.Worktree, filepath.FromSlash(l.place.Store)) // independent of the directory of a step
	root, err := actors.Root(l.app)
	if err != nil {
		return err
	}
	l.files = root
	if _, err := l.loadProfile(); err != nil {
		return err
	}
	if err := l.findCommand(ctx, a); err != nil {
		return err
	}
	for _, validate := range []func(context.Context) error{l.priced, l.findPlace, l.trusted, l.writable} {
		if err := validate(ctx); err != nil {
			return err
		}
	}
	if l.filter, err = l.readFilter(); err != nil {
		return err
	}
	return l.mayCompete()
}

// writable returns an error if the store cannot be edited because of conflict markers or
// unreadable lines. Once it runs, the loop waits in that case, since another program may be
// writing.
func (l *loop) writable(ctx context.Context) error {
	store, options, err := l.app.ToWrite(ctx, true)
	if err != nil {
		return err
	}
	_, err = store.Edit(ctx, options, func(*beads.Tx) error { return nil })
	return err
}

// nameOf returns the actor of the loop: the one that is set, otherwise the person's name with a
// suffix, since issues that the person claimed are not the loop's.
func nameOf(ctx context.Context, a *workspace.Run) (string, error) {
	name, err := a.MustActor(ctx)
	if err != nil || cmp.Or(a.Actor, a.Getenv("STIG_ACTOR"), a.Getenv("BD_ACTOR")) != "" || clone.IsSession(name) {
		return name, err
	}
	return cmp.Or(clone.Slug(name), "somebody") + "-worker", nil
}

// loadProfile reads the actor's file and reports whether it changed. Flags take precedence over
// it.
func (l *loop) loadProfile() (changed bool, err error) {
	p, err := clone.LoadProfile(l.files, l.name)
	if errors.Is(err, fs.ErrNotExist) {
		p, err = clone.DefaultProfile(l.name), nil
	}
	if err != nil || l.profile != nil && p.Text() == l.profile.Text() {
		return false, err
	}
	l.profile = p
	l.runTimeout = cmp.Or(l.RunTimeout, p.Timeout)
	l.Bounds.PerHour = p.PerHour
	l.roles = l.Roles
	if len(l.roles) == 0 {
		l.roles = p.Roles
	}
	return true, nil
}

// fromFile uses the command in the actor's file. If a person has to agree to it first, the
// actor is paused and the loop waits.
func (l *loop) fromFile(ctx context.Context) error {
	if l.profile.Command == "" {
		return workspace.Usage("no command to run", "give one after --, such as stig work -- ./agent.sh; or set command in the actor's file")
	}
	l.Command, l.ofFile = []string{"sh", "-c", l.profile.Command}, true
	if l.DryRun {
		return nil
	}
	return l.agreed(ctx)
}

// agreed checks that a person agreed to the commands in the actor's file. If not, the actor is
// paused, which is not an error.
func (l *loop) agreed(ctx context.Context) error {
	err := actors.Trusted(ctx, l.fresh(ctx, ""), l.profile)
	if err != nil && l.state(l.now()) == clone.Paused {
		l.once(err.Error())
		return nil
	}
	return err
}

// findCommand returns an error if the command does not exist, before anything is claimed.
func (l *loop) findCommand(ctx context.Context, a *workspace.Run) (err error) {
	hint := "type stig work --dry-run -- COMMAND to try another command"
	switch {
	case l.Host != "":
		l.Command, hint = l.Host.Unattended(storeDir(l.store)), "install it, or give another program after --"
	case len(l.Command) == 0:
		return l.fromFile(ctx)
	}
	l.Command, err = programOf(a, l.Command, hint)
	return err
}

// priced returns an error for a cost limit if the program does not report its cost.
func (l *loop) priced(context.Context) error {
	if _, ok := l.app.Config.PriceOf("", string(l.Host)); l.Bounds.Cost <= 0 || l.Bounds.CostUnknown || l.Host == "" || l.Host.NamesPrice() || ok {
		return nil
	}
	return workspace.Usage(fmt.Sprintf("--max-cost: %s reports its tokens but no cost", l.Host),
		fmt.Sprintf("give --max-tokens instead, or the price of a million tokens in .stig.cue, such as cost: prices: %s: {in: 1.25, out: 10}", l.Host))
}

// findPlace decides whether runs get work trees and where these are.
func (l *loop) findPlace(ctx context.Context) (err error) {
	l.root = filepath.Dir(storeDir(l.store))
	if l.code, err = workspace.CodeOf(l.store.Place()); err != nil {
		return err
	}
	if l.code.Root == "" {
		l.once("without git: working in place, one loop at a time")
		return nil
	}
	if !l.profile.Worktree {
		l.once("worktree: false: working in place, one loop at a time")
		return nil
	}
	if l.trees, err = l.app.Trees(l.store.Place()); err != nil || l.trees == nil {
		return err
	}
	l.trees.Onto = l.Onto
	if err := l.mayBeOnto(); err != nil {
		return err
	}
	return git.CheckWorktrees(ctx, *l.trees)
}

// mayBeOnto returns an error if the branch for results is an issue's branch, which is removed
// when the issue is closed, or a name that git reads differently.
func (l *loop) mayBeOnto() error {
	if l.Onto == "@" || strings.HasPrefix(l.Onto, "refs/") {
		return workspace.Usage(fmt.Sprintf("--onto: must be a branch name; found %q", l.Onto), "leave it out for "+git.WorkBranch)
	}
	issue, ok := strings.CutPrefix(l.Onto, "stig/")
	if !ok {
		return nil
	}
	record, err := l.recordOf(issue)
	if err != nil || record == nil {
		return err
	}
	return workspace.Usage(fmt.Sprintf("--onto: %s is the branch of issue %s", l.Onto, issue), "give another branch with --onto, such as stig/results")
}

// storeDir returns the absolute path of a store's directory.
func storeDir(s beads.Store) string {
	dir, err := filepath.Abs(s.Place().Dir)
	if err != nil {
		return s.Place().Dir
	}
	return dir
}

// trusted returns an error if the checks of issues may not run.
func (l *loop) trusted(ctx context.Context) error {
	if l.NoClose || l.Plan {
		return nil
	}
	code, err := l.app.Code(ctx, l.store.Place())
	if err != nil {
		return err
	}
	return trustedFor(ctx, l.app, code, "", "no check of an issue would run", "; or give --no-close")
}
