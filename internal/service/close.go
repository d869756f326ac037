package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// CloseOptions say how to close issues.
type CloseOptions struct {
	GateRunOptions
	Reason   string
	Waive    string
	Despite  string // why to close the issues despite an unanswered question
	Escalate bool
	DryRun   bool
	Stacked  bool // for a request: what it is built upon may still be in review

	// For issues that were not done: no check is run.
	NotPlanned  string // why the issues will not be done
	DuplicateOf string // the issue that they duplicate
}

// Close closes issues one after the other, each at most once, and sends notifications. each is
// called as soon as the result of an issue is known. A failure is returned in the finding of
// its issue; the other issues are still closed.
func Close(ctx context.Context, a *workspace.Run, ids []string, o CloseOptions, each func(Finding) error) (findings []Finding, err error) {
	if err := o.check(ids); err != nil {
		return nil, err
	}
	c, err := newCloser(ctx, a, o)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		candidate, err := checkpoint.Closable(ctx, c.store, c.edit, id, c.closing, c.rules)
		if refused, ok := fault.As(err, fault.Refused); ok && c.code.Store.Mode == beads.Export {
			refused.Hint = c.byTracker(id)
		}
		f := Finding{Id: id, DryRun: o.DryRun, Err: err}
		if err == nil {
			f.Id = candidate.ID
		}
		if slices.ContainsFunc(findings, func(done Finding) bool { return done.Id == f.Id }) {
			continue
		}
		if err == nil {
			c.close(ctx, candidate, &f)
			if f.Closed != nil && !o.DryRun {
				warnOfStranded(ctx, a, c.code.Store, f.Id)
				if c.closing.Undone() {
					RemoveLeftovers(ctx, a, c.code.Store, f.Id)
				}
			}
			notify(ctx, a, c.code.Store, c.edit.Now, f.notices(signals.Day(c.edit.Now)))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := each(f); err != nil {
			return nil, err
		}
		findings = append(findings, f)
	}
	if slices.ContainsFunc(findings, func(f Finding) bool { return f.Closed != nil && !f.Closed.Already }) && !o.DryRun {
		if found, command := LandHint(ctx, a, c.code.Store, ""); found != "" {
			a.Note("%s: %s", found, command)
		}
	}
	return findings, nil
}

// warnOfStranded warns that the work on an issue is only on its branch, for example because a
// loop could not verify it: issues that build on this one do not have that work.
func warnOfStranded(ctx context.Context, a *workspace.Run, store beads.Place, id string) {
	if remedy := Stranded(ctx, a, store, id); remedy != "" {
		a.Warn("%s: its work is only on branch %s", id, git.BranchOf(id, git.WorkBranch))
		a.Hint("type " + remedy)
	}
}

// RemoveLeftovers removes the branches that workers left of an issue that will not be done, and
// prints their commits.
func RemoveLeftovers(ctx context.Context, a *workspace.Run, store beads.Place, id string) {
	code, err := workspace.CodeOf(store)
	if err != nil || code.Root == "" || !process.Finder("", a.Getenv)("git") {
		return
	}
	removed, err := git.RemoveLeftovers(ctx, a.GitIn(store.Dir), git.BranchOf(id, git.WorkBranch))
	for _, one := range removed {
		a.Warn("%s: removed branch %s (was %.12s)", id, one.Branch, one.Commit)
	}
	if err != nil {
		a.Warn("%s: leftover branches not removed: %v", id, err)
	}
}

// Stranded calls git.StrandedWork for an issue of the store.
func Stranded(ctx context.Context, a *workspace.Run, store beads.Place, id string) (remedy string) {
	if !process.Finder("", a.Getenv)("git") {
		return ""
	}
	return git.StrandedWork(ctx, a.GitIn(store.Dir), id)
}

// Discard calls git.DiscardWork for an issue of the store.
func Discard(ctx context.Context, a *workspace.Run, store beads.Place, id string) string {
	return git.DiscardWork(ctx, a.GitIn(store.Dir), id)
}

// check validates the options, and that at least one issue is named.
func (o *CloseOptions) check(ids []string) error {
	if len(ids) == 0 {
		return workspace.Usage("close: takes at least one issue; found none", "")
	}
	if o.NotPlanned != "" && o.Reason+o.Waive != "" {
		return workspace.Usage("close: --not-planned excludes --reason and --waive", "leave these out")
	}
	return o.GateRunOptions.check()
}

// closer closes issues, each with its own verdict.
type closer struct {
	CloseOptions
	app     *workspace.Run
	code    *workspace.Code
	store   beads.Store
	edit    beads.Options
	closing checkpoint.Closing // its evidence is a waiver or not known yet
	rules   checkpoint.Rules
}

func newCloser(ctx context.Context, a *workspace.Run, o CloseOptions) (*closer, error) {
	store, edit, err := a.ToWrite(ctx, o.DryRun)
	if err != nil {
		return nil, err
	}
	c := &closer{CloseOptions: o, app: a, store: store, edit: edit, rules: writeRules(a, edit.Now)}
	if c.code, err = a.Code(ctx, store.Place()); err != nil {
		return nil, err
	}
	actor, must := "", a.MustActor
	if o.Waive+o.Despite+o.NotPlanned+o.DuplicateOf == "" {
		must = a.ActorName
	}
	if actor, err = must(ctx); err != nil {
		return nil, err
	}
	switch {
	case o.DuplicateOf != "":
		c.closing, err = checkpoint.DuplicateOf(o.DuplicateOf, actor)
	case o.NotPlanned != "":
		c.closing = checkpoint.Closing{Reason: o.NotPlanned, NotPlanned: true}
	default:
		c.closing.Reason = o.Reason
	}
	if err == nil && o.Waive != "" {
		c.closing.Evidence, err = waiver(a, o.Waive, actor)
	}
	c.closing.Actor, c.closing.Despite, c.closing.Stacked = actor, o.Despite, o.Stacked
	return c, err
}

// waiver returns the actor's waiver, which closes an issue without a verdict. An assistant
// session may not waive unless the configuration allows it.
func waiver(a *workspace.Run, why, actor string) (gate.Evidence, error) {
	if err := mayWaive(a, actor); err != nil {
		return nil, err
	}
	w, err := gate.Waive(why, actor)
	if err != nil {
		return nil, workspace.Usage("--waive: "+err.Error(), "say why no command can verify it, and who can")
	}
	return w, nil
}

// mayWaive refuses waivers by whatever a loop started, and by assistant sessions unless the
// configuration allows them.
func mayWaive(a *workspace.Run, actor string) error {
	if err := a.ForPeople("--waive"); err != nil {
		return err
	}
	if program := a.Assistant(actor); program != "" && a.Config.Gate.Waivers != "anyone" {
		return &fault.Error{Code: fault.Found, Reason: fmt.Sprintf("--waive: an assistant session (%s) may not waive", program),
			Hint: "ask a person with stig escalate; to let sessions waive, set gate: waivers: \"anyone\" in .stig.cue"}
	}
	return nil
}

// byTracker returns the hint for an issue that stig may not write: how to close it with bd.
func (c *closer) byTracker(id string) string {
	if waiver, ok := c.closing.Evidence.(gate.Waiver); ok {
		return "type " + WaiveByTracker(id, c.closing.Reason, waiver.Why(), waiver.Actor())
	}
	return fmt.Sprintf("type stig verify %s, and when it passes bd close %s", id, id)
}

// close passes one issue through the gate.
func (c *closer) close(ctx context.Context, candidate *checkpoint.Candidate, f *Finding) {
	if candidate.Already {
		f.Closed = candidate.Closed(c.closing.Reason)
		return
	}
	closing := c.closing
	if closing.Undone() || candidate.ByChildren {
		if f.Err = c.refused(candidate.Obstacles); f.Err == nil {
			f.Closed, f.Err = checkpoint.Close(ctx, c.store, c.edit, f.Id, closing, c.rules)
		}
		return
	}
	t := gateRun(ctx, c.app, c.code, f.Id, candidate.Criteria)
	if f.Err = c.obstructed(ctx, t, candidate.Obstacles); f.Err != nil {
		if !t.Asks() || errors.Is(f.Err, workspace.ErrNotRun) {
			f.GateRun = t // report what was checked
		}
		return
	}
	f.GateRun = t
	if waiver, waived := closing.Evidence.(gate.Waiver); waived {
		closing.Evidence, f.Err = c.tried(ctx, f.GateRun, waiver)
	} else {
		f.Err = c.verdict(ctx, f.GateRun)
	}
	f.Err = errors.Join(f.Err, f.GateRun.WaitEdits())
	switch {
	case f.Err != nil:
		return
	case f.Failed() && c.Escalate: // a dry run runs nothing, so nothing fails
		f.Escalated, f.Err = c.ask(ctx, f.GateRun)
		return
	case closing.Evidence == nil && !f.GateRun.Verdict.Passed():
		return
	case closing.Evidence == nil:
		if !c.DryRun {
			f.GateRun.compareForPerson(ctx, c.app)
		}
		closing.Evidence = f.GateRun.Verdict
	}
	closing.Edited = f.GateRun.Edited
	f.Closed, f.Err = checkpoint.Close(ctx, c.store, c.edit, f.Id, closing, c.rules)
	if f.Err == nil && !c.DryRun {
		_ = befores(c.code).Forget(claimName(f.Id)) // a later claim records it anew
	}
}

// obstructed returns everything that keeps an issue open before any check runs: the given
// obstacles, criteria without commands, an untrusted repository.
func (c *closer) obstructed(ctx context.Context, t *GateRun, obstacles []checkpoint.Obstacle) error {
	if c.closing.Evidence == nil && !t.Asks() {
		nothing, proposed := c.nothingToRun(t)
		if obstacles = append(obstacles, nothing); !proposed {
			return c.refused(obstacles)
		}
	}
	if c.closing.Evidence == nil && !c.DryRun {
		untrusted, err := c.untrusted(ctx, t)
		if err != nil {
			return err
		}
		obstacles = append(obstacles, untrusted...)
	}
	return c.refused(obstacles)
}

// untrusted returns an obstacle if the repository is not trusted, unless the checks passed on
// this tree.
func (c *closer) untrusted(ctx context.Context, t *GateRun) ([]checkpoint.Obstacle, error) {
	trust, err := c.app.TrustState(ctx, t.Code)
	if err != nil {
		return nil, err
	}
	refused, _ := fault.As(trust.Refused(t.Id), fault.Found)
	if refused == nil {
		return nil, nil
	}
	fresh, err := c.code.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	if _, passed := fresh(t.Id, t.criteria); passed {
		return nil, nil
	}
	refused.Hint = ""
	return []checkpoint.Obstacle{{Error: refused, Before: "read them", Run: "stig trust"}}, nil
}

// nothingToRun returns the obstacle of criteria without commands. A person may waive them. If
// their prose reads like commands, proposed is true and these come first.
func (c *closer) nothingToRun(t *GateRun) (o checkpoint.Obstacle, proposed bool) {
	o.Error, _ = fault.As(nothingToRun(t), fault.Found)
	_, fence := t.criteria.FromProse()
	mayWaive := mayWaive(c.app, c.closing.Actor) == nil
	if fence == "" && mayWaive {
		o.Flag = `--waive "WHY NOTHING CAN BE RUN"`
		return o, false
	}
	if o.Run, o.Hint = t.editLine(), ""; mayWaive {
		o.Hint = "to close it unchecked give --waive WHY"
	}
	return o, fence != ""
}

// refused returns an error that lists the obstacles, with the command that then closes the
// issue: the typed one, with what it lacked.
func (c *closer) refused(obstacles []checkpoint.Obstacle) error {
	if len(obstacles) == 0 {
		return nil
	}
	command := "stig close " + visible.Quoted(obstacles[0].ID)
	if c.DuplicateOf != "" {
		command += " --duplicate-of " + visible.Quoted(c.DuplicateOf)
	}
	for _, given := range []struct{ flag, value string }{
		{"reason", c.Reason}, {"waive", c.Waive}, {"despite-question", c.Despite}, {"not-planned", c.NotPlanned},
	} {
		if !gate.SaysNothing(given.value) {
			command += " --" + given.flag + " " + visible.InQuotes(visible.OneLine(given.value))
		}
	}
	asksActor := func(o checkpoint.Obstacle) bool { return o.Flag != "" && !strings.HasPrefix(o.Flag, "--reason") }
	switch {
	case c.app.Actor != "":
		command += " --actor " + visible.Quoted(c.app.Actor)
	case c.closing.Actor == "" && slices.ContainsFunc(obstacles, asksActor):
		command += " --actor NAME"
	}
	if c.AllowDestructive {
		command += " --allow-destructive"
	}
	return checkpoint.Refused(obstacles, command)
}

// tried runs what can be run before the criteria are waived. Criteria that all pass need no
// waiver; otherwise the results become part of the reason.
func (c *closer) tried(ctx context.Context, t *GateRun, waiver gate.Waiver) (gate.Evidence, error) {
	if !t.Asks() || c.DryRun {
		return waiver, nil
	}
	trusted, err := c.app.Trusted(ctx, t.Code)
	if err != nil || !trusted {
		return waiver.NotTried("the repository is not trusted here"), err
	}
	if err := c.verdict(ctx, t); err != nil {
		return waiver, err
	}
	if t.Verdict.Passed() {
		c.app.Note("%s: its checks pass; no waiver needed", t.Id)
		return t.Verdict, nil
	}
	return waiver.Tried(t.Verdict), nil
}

// verdict reuses a fresh verdict or runs the checks. A dry run runs nothing.
func (c *closer) verdict(ctx context.Context, t *GateRun) error {
	if !t.Asks() {
		return nothingToRun(t)
	}
	fresh, err := c.code.Fresh(ctx)
	if err != nil {
		return err
	}
	if t.Verdict, t.Reused = fresh(t.Id, t.criteria); t.Reused || c.DryRun {
		return nil
	}
	return Try(ctx, c.app, t, c.GateRunOptions)
}

// PendingClose is an issue whose checks ran and that is closed later. In between, the work
// lands on the branch that others build on.
type PendingClose struct {
	closer    *closer
	candidate *checkpoint.Candidate
	run       *GateRun
	waiver    gate.Evidence // a person's waiver instead of a verdict; nil for none
}

// Gate runs the checks of an issue in the work tree that a is started in, or reuses a fresh
// verdict. The error says what keeps the issue from being closed whatever the checks show. It
// wraps ErrNotRun if they could not run. A closed issue is checked too.
func Gate(ctx context.Context, a *workspace.Run, id string, o CloseOptions) (*PendingClose, error) {
	if err := o.check([]string{id}); err != nil {
		return nil, err
	}
	c, err := newCloser(ctx, a, o)
	if err != nil {
		return nil, err
	}
	g := &PendingClose{closer: c}
	if g.candidate, err = checkpoint.Closable(ctx, c.store, c.edit, id, c.closing, c.rules); err == nil {
		err = c.refused(g.candidate.Obstacles)
	}
	if err != nil {
		return nil, err
	}
	g.run = gateRun(ctx, a, c.code, g.candidate.ID, g.candidate.Criteria)
	return g, errors.Join(c.verdict(ctx, g.run), g.run.WaitEdits())
}

// Verdict returns the verdict of the checks.
func (g *PendingClose) Verdict() *gate.Verdict { return g.run.Verdict }

// Passed reports whether all checks passed or a person waived them.
func (g *PendingClose) Passed() bool { return g.waiver != nil || g.run.Verdict.Passed() }

// Take accepts a person's waiver in place of checks that do not run.
func (g *PendingClose) Take(why, person string) error {
	waiver, err := gate.Waive(why, person)
	if err != nil {
		return err
	}
	if g.run.Asks() {
		waiver = waiver.NotTried("they could not be run")
	}
	g.waiver = waiver
	return nil
}

// Close closes the issue on its verdict, unless its criteria changed meanwhile, and sends
// notifications.
func (g *PendingClose) Close(ctx context.Context) (*checkpoint.Closed, error) {
	c := g.closer
	if g.candidate.Already {
		return g.candidate.Closed(c.Reason), nil
	}
	closing := c.closing
	closing.Evidence, closing.Edited, closing.Stacked = g.run.Verdict, g.run.Edited, false
	if g.waiver != nil {
		closing.Evidence = g.waiver
	}
	f := Finding{Id: g.candidate.ID, GateRun: g.run}
	if f.Closed, f.Err = checkpoint.Close(ctx, c.store, c.edit, f.Id, closing, c.rules); f.Err != nil {
		return nil, f.Err
	}
	notify(ctx, c.app, c.code.Store, c.edit.Now, f.notices(signals.Day(c.edit.Now)))
	return f.Closed, nil
}

// ask escalates a failure to a person, and reports whether the question is new.
func (c *closer) ask(ctx context.Context, t *GateRun) (bool, error) {
	_, err := checkpoint.Escalate(ctx, c.store, c.edit, t.Id, checkpoint.Question{
		Text: failureText(t.Verdict), By: c.closing.Actor, Evidence: c.app.Config.Signals.Evidence,
	}, c.rules)
	if fault.Is(err, fault.Conflict) {
		c.app.Note("%s", err)
		return false, nil
	}
	return err == nil, err
}

// failureText returns the question to a person about a failure. It omits the output of
// commands, which may contain credentials that must not get into the notes.
func failureText(v *gate.Verdict) string {
	var text strings.Builder
	text.WriteString(orient.FailureOpening + " Is the work at fault, or are they?\n")
	for _, o := range v.Outcomes() {
		if o.Passed() || o.Exit == gate.ExitNotRun {
			continue
		}
		at := ""
		if o.Failed != nil {
			at = ", " + visible.HideSecrets(o.Fault())
		}
		fmt.Fprintf(&text, "\nexit %d%s:\n\n%s", o.Exit, at, visible.Fenced(visible.HideSecrets(o.Text)))
		if said := o.Reason + o.Tail; said != "" {
			fmt.Fprintf(&text, "\n%s", visible.Fenced(visible.HideSecrets(said)))
		}
	}
	return text.String()
}

// WithoutEstimate reports whether an issue that others wait for was closed without a state
// estimate, so that they learn nothing from it.
func WithoutEstimate(c *checkpoint.Closed) bool {
	if len(c.Unblocked)+c.StillBlocked == 0 {
		return false
	}
	for _, line := range c.Lines {
		if line.ID != c.ID {
			continue
		}
		if after, err := beads.ParseRecord(line.After); err == nil {
			_, left := signals.LastEstimate(notes.Parse(after.Text(beads.Notes)))
			return !left
		}
	}
	return false
}

// WarnOfEdited warns how the criteria changed since they were committed.
func WarnOfEdited(a *workspace.Run, t *GateRun) {
	a.Warn("%s: %s", t.Id, t.Edited)
	for _, text := range t.Edited.Gone {
		a.Warn("%s: no longer in its criteria: %s", t.Id, visible.FirstLine(text))
	}
}
