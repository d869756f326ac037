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

// prepare finds out all that a loop needs, and writes nothing.
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
		return workspace.Usage("work: no file names the store to workers: "+p.Name(),
			fmt.Sprintf(`type mkdir -p .beads && echo '{"store": "%s"}' > .beads/stig.json`, p.URL))
	}
	if l.place, err = l.app.Live(l.store.Place()); err != nil {
		return err
	}
	if l.place.Documents != nil {
		l.Times.Look *= 5 // each asks the server
	}
	l.app.Store = filepath.Join(l.place.Worktree, filepath.FromSlash(l.place.Store)) // whatever directory a step works in
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
	l.filter, err = l.readFilter()
	return err
}

// writable refuses a store that no edit is made in: one with conflict markers, or with
// lines that cannot be read. Later the loop waits for such a store, which another program
// may be writing.
func (l *loop) writable(ctx context.Context) error {
	store, options, err := l.app.ToWrite(ctx, true)
	if err != nil {
		return err
	}
	_, err = store.Edit(ctx, options, func(*beads.Tx) error { return nil })
	return err
}

// nameOf is who works: the actor that is named, else the person's name with a word added,
// since what she claimed herself is not the loop's.
func nameOf(ctx context.Context, a *workspace.Run) (string, error) {
	name, err := a.MustActor(ctx)
	if err != nil || cmp.Or(a.Actor, a.Getenv("STIG_ACTOR"), a.Getenv("BD_ACTOR")) != "" || clone.IsSession(name) {
		return name, err
	}
	return cmp.Or(clone.Slug(name), "somebody") + "-worker", nil
}

// loadProfile reads the actor's file where it is another than was read, and reports
// whether it is. What flags say counts before it.
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

// fromFile takes the command of the actor's file. Where a person has to agree to it
// first, the actor is paused, and the loop waits for that.
func (l *loop) fromFile(ctx context.Context) error {
	if l.profile.Command == "" {
		return workspace.Usage("no command to run", "give it after --, such as stig work -- ./agent.sh; or in the actor's file: command")
	}
	l.Command, l.ofFile = []string{"sh", "-c", l.profile.Command}, true
	if l.DryRun {
		return nil
	}
	return l.agreed(ctx)
}

// agreed validates that a person agreed to what the actor's file has run. Where nobody
// did the actor is paused, and that is no error.
func (l *loop) agreed(ctx context.Context) error {
	err := actors.Trusted(ctx, l.fresh(ctx, ""), l.profile)
	if err != nil && l.state(l.now()) == clone.Paused {
		l.once(err.Error())
		return nil
	}
	return err
}

// findCommand refuses a command that is not there before anything is claimed.
func (l *loop) findCommand(ctx context.Context, a *workspace.Run) (err error) {
	hint := "type stig work --dry-run -- COMMAND to validate another"
	switch {
	case l.Host != "":
		l.Command, hint = l.Host.Unattended(storeDir(l.store)), "install it, or name another program after --"
	case len(l.Command) == 0:
		return l.fromFile(ctx)
	}
	l.Command, err = programOf(a, l.Command, hint)
	return err
}

// priced refuses a bound on the cost of a program that names none.
func (l *loop) priced(context.Context) error {
	if _, ok := l.app.Config.PriceOf("", string(l.Host)); l.Bounds.Cost <= 0 || l.Bounds.CostUnknown || l.Host == "" || l.Host.NamesPrice() || ok {
		return nil
	}
	return workspace.Usage(fmt.Sprintf("--max-cost: %s says how many tokens it used, and no price", l.Host),
		fmt.Sprintf("give --max-tokens instead, or what a million of them cost in .stig.cue, such as cost: prices: %s: {in: 1.25, out: 10}", l.Host))
}

// findPlace decides whether runs get work trees, and where these are.
func (l *loop) findPlace(ctx context.Context) (err error) {
	l.root = filepath.Dir(storeDir(l.store))
	if l.code, err = workspace.CodeOf(l.store.Place()); err != nil {
		return err
	}
	if l.code.Root == "" {
		l.once("without git: works in place, one loop at a time")
		return nil
	}
	if !l.profile.Worktree {
		l.once("worktree: false: works in place, one loop at a time")
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

// mayBeOnto refuses as the branch that results go to what is the branch of an issue, which
// is removed when that is closed, and what git reads as another name.
func (l *loop) mayBeOnto() error {
	if l.Onto == "@" || strings.HasPrefix(l.Onto, "refs/") {
		return workspace.Usage(fmt.Sprintf("--onto: must be the name of a branch alone; found %q", l.Onto), "leave it out for "+git.WorkBranch)
	}
	issue, ok := strings.CutPrefix(l.Onto, "stig/")
	if !ok {
		return nil
	}
	record, err := l.recordOf(issue)
	if err != nil || record == nil {
		return err
	}
	return workspace.Usage(fmt.Sprintf("--onto: %s is the branch for the work on issue %s", l.Onto, issue), "name another branch with --onto, such as stig/results")
}

// storeDir is the directory of a store, absolute.
func storeDir(s beads.Store) string {
	dir, err := filepath.Abs(s.Place().Dir)
	if err != nil {
		return s.Place().Dir
	}
	return dir
}

// trusted refuses to begin where the checks of issues may not run.
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
