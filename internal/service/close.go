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

// CloseOptions say how issues are closed.
type CloseOptions struct {
	GateRunOptions
	Reason   string
	Waive    string
	Despite  string // why a question that waits does not hold the issues
	Escalate bool
	DryRun   bool

	// Not done: no check is run.
	NotPlanned  string // why nobody will do the issues
	DuplicateOf string // the issue that they repeat
}

// Close closes issues one after the other, each of them once, and notifies of what
// follows. each is called with an issue as soon as its result is known. A failure is in
// the finding of its issue, and the other issues are still closed.
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

// warnOfStranded warns that the work on an issue is on its branch alone, such as that of a
// loop whose work could not be verified: issues built on this one do not have it.
func warnOfStranded(ctx context.Context, a *workspace.Run, store beads.Place, id string) {
	if remedy := Stranded(ctx, a, store, id); remedy != "" {
		a.Warn("%s: its work is on branch %s alone", id, git.BranchOf(id, git.WorkBranch))
		a.Hint("type " + remedy)
	}
}

// RemoveLeftovers removes the branches of what workers left of an issue that nobody will do, and
// says which commits they were.
func RemoveLeftovers(ctx context.Context, a *workspace.Run, store beads.Place, id string) {
	code, err := workspace.CodeOf(store)
	if err != nil || code.Root == "" || !process.Finder("", a.Getenv)("git") {
		return
	}
	removed, err := git.RemoveLeftovers(ctx, a.GitIn(store.Dir), git.BranchOf(id, git.WorkBranch))
	for _, one := range removed {
		a.Warn("%s: branch %s is removed; it was at %.12s", id, one.Branch, one.Commit)
	}
	if err != nil {
		a.Warn("%s: branches of leftovers stay: %v", id, err)
	}
}

// Stranded is git.StrandedWork of an issue of the store.
func Stranded(ctx context.Context, a *workspace.Run, store beads.Place, id string) (remedy string) {
	if !process.Finder("", a.Getenv)("git") {
		return ""
	}
	return git.StrandedWork(ctx, a.GitIn(store.Dir), id)
}

// Discard is git.DiscardWork of an issue of the store.
func Discard(ctx context.Context, a *workspace.Run, store beads.Place, id string) string {
	return git.DiscardWork(ctx, a.GitIn(store.Dir), id)
}

// check refuses a request that names no issue.
func (o *CloseOptions) check(ids []string) error {
	if len(ids) == 0 {
		return workspace.Usage("close: takes the issues to close; found none", "")
	}
	if o.NotPlanned != "" && o.Reason+o.Waive != "" {
		return workspace.Usage("close: what is not planned has no other reason, and no waiver", "leave these out")
	}
	return o.GateRunOptions.check()
}

// closer closes issues, each by its own verdict.
type closer struct {
	CloseOptions
	app     *workspace.Run
	code    *workspace.Code
	store   beads.Store
	edit    beads.Options
	closing checkpoint.Closing // its evidence is a waiver or still to come
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
	c.closing.Actor, c.closing.Despite = actor, o.Despite
	return c, err
}

// waiver is the word of the actor that an issue may close without a verdict. The
// session of an assistant may not give it unless the configuration says so.
func waiver(a *workspace.Run, why, actor string) (gate.Evidence, error) {
	if err := mayWaive(a, actor); err != nil {
		return nil, err
	}
	w, err := gate.Waive(why, actor)
	if err != nil {
		return nil, workspace.Usage("--waive: "+err.Error(), "say why nothing can show that it is done, and who could see it")
	}
	return w, nil
}

// mayWaive refuses what a loop started, and the sessions of assistants unless the
// configuration lets them waive.
func mayWaive(a *workspace.Run, actor string) error {
	if err := a.ForPeople("--waive"); err != nil {
		return err
	}
	if program := a.Assistant(actor); program != "" && a.Config.Gate.Waivers != "anyone" {
		return &fault.Error{Code: fault.Found, Reason: fmt.Sprintf("--waive: a session of an assistant (%s) may not waive", program),
			Hint: "ask a person with stig escalate; a project lets sessions waive with gate: waivers: \"anyone\" in .stig.cue"}
	}
	return nil
}

// byTracker says how to close an issue that stig may not write.
func (c *closer) byTracker(id string) string {
	if waiver, ok := c.closing.Evidence.(gate.Waiver); ok {
		return "type " + WaiveByTracker(id, c.closing.Reason, waiver.Why(), waiver.Actor())
	}
	return fmt.Sprintf("type stig verify %s, and when it passes bd close %s", id, id)
}

// close takes one issue through the gate.
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
			f.GateRun = t // what was seen
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
	case f.Failed() && c.Escalate: // a dry run runs nothing, and fails nothing
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
		_ = befores(c.code).Forget(claimName(f.Id)) // a later claim sees for itself
	}
}

// obstructed says all that keeps the issue of a run open before any check has run: what
// there is besides, criteria that ask for nothing, a repository that is not trusted.
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

// untrusted is a repository whose checks do not run here, unless they passed on this tree.
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

// nothingToRun are criteria in which nothing can be run. A person may waive them, unless their
// prose reads like commands: these are proposed first.
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

// refused is what keeps an issue open, with the command that then closes it: the one that
// was typed, and what it lacks.
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

// tried runs what can be run before criteria are waived: what passes needs no waiver, and
// the result of the rest goes into the reason.
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
		c.app.Note("%s: its checks pass, and need no waiver", t.Id)
		return t.Verdict, nil
	}
	return waiver.Tried(t.Verdict), nil
}

// verdict takes the verdict that still counts, or runs the checks. A dry run runs nothing.
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

// PendingClose is an issue whose checks ran and that is closed later: meanwhile the work
// that passed lands where others build on it.
type PendingClose struct {
	closer    *closer
	candidate *checkpoint.Candidate
	run       *GateRun
	waiver    gate.Evidence // the word of a person instead of a verdict; nil for none
}

// Gate runs the checks of an issue in the work tree that a is started in, or takes the
// verdict that still counts. The error says what keeps the issue from being closed
// whatever they show, or, wrapping ErrNotRun, why they do not run. An issue that is
// closed goes through the gate too.
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

// Verdict is what the checks showed.
func (g *PendingClose) Verdict() *gate.Verdict { return g.run.Verdict }

// Passed reports whether all checks passed, or a person takes the issue without them.
func (g *PendingClose) Passed() bool { return g.waiver != nil || g.run.Verdict.Passed() }

// Take accepts a person's word in place of checks that do not run.
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

// Close closes the issue on its verdict, unless its criteria changed since, and notifies
// of what follows.
func (g *PendingClose) Close(ctx context.Context) (*checkpoint.Closed, error) {
	c := g.closer
	if g.candidate.Already {
		return g.candidate.Closed(c.Reason), nil
	}
	closing := c.closing
	closing.Evidence, closing.Edited = g.run.Verdict, g.run.Edited
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

// ask escalates a failure to a person, and reports whether that had not been asked before.
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

// failureText is the question to a person about a failure. The output of a command may hold
// credentials that it was given: none gets into the notes.
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

// WithoutEstimate reports whether issues wait for one that was just closed without a state
// estimate, so that they get none from it.
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

// WarnOfEdited says what became of criteria since they were committed.
func WarnOfEdited(a *workspace.Run, t *GateRun) {
	a.Warn("%s: %s", t.Id, t.Edited)
	for _, text := range t.Edited.Gone {
		a.Warn("%s: no longer among them: %s", t.Id, visible.FirstLine(text))
	}
}
