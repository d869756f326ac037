package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/actor"
	"stig/beads"
	"stig/checkpoint"
	"stig/criteria"
	"stig/fault"
	"stig/guard"
	"stig/host"
	"stig/notes"
	"stig/orient"
	"stig/process"
	"stig/secret"
	"stig/signals"
	"stig/verify"
	"stig/worktree"
)

// CloseOptions are the flags of a close.
type CloseOptions struct {
	TrialOptions
	Reason   string
	Text     Text // the same, given in another way
	Waive    string
	Despite  string // why a question that waits does not hold the issues
	Escalate bool
	DryRun   bool
}

// Close closes issues one after the other, each of them once, and notifies of what
// follows. each is called with an issue as soon as its result is known. Why
// one could not be closed is told by its finding, and keeps no other from being
// closed.
func (a *App) Close(ctx context.Context, ids []string, o CloseOptions, each func(Finding) error) (findings []Finding, err error) {
	if err := o.check(ids); err != nil {
		return nil, err
	}
	c, err := a.closer(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		candidate, err := checkpoint.Closable(ctx, c.store, c.edit, id, c.closing, c.rules)
		if refused, ok := fault.As(err, fault.Refused); ok && c.site.store.Mode == beads.Export {
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
				a.warnOfStranded(ctx, c.site.store, f.Id)
			}
			a.notify(ctx, c.site.store, c.edit.Now, f.notices(signals.Day(c.edit.Now)))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := each(f); err != nil {
			return nil, err
		}
		findings = append(findings, f)
	}
	return findings, nil
}

// warnOfStranded says that the work on an issue is on its branch alone, such as that of a
// loop of which nothing could be shown: whoever builds on the issue does not have it.
func (a *App) warnOfStranded(ctx context.Context, store beads.Place, id string) {
	if remedy := a.Stranded(ctx, store, id); remedy != "" {
		a.Warn("%s: its work is on branch %s alone", id, worktree.BranchOf(id, worktree.Usual))
		a.Hint("type " + remedy)
	}
}

// Stranded is worktree.Stranded of an issue of the store.
func (a *App) Stranded(ctx context.Context, store beads.Place, id string) (remedy string) {
	if !process.Finder("", a.Getenv)("git") {
		return ""
	}
	return worktree.Stranded(ctx, a.GitIn(store.Dir), id)
}

// Discard is worktree.Discard of an issue of the store.
func (a *App) Discard(ctx context.Context, store beads.Place, id string) string {
	return worktree.Discard(ctx, a.GitIn(store.Dir), id)
}

// check refuses a request that names no issue or gives no reason.
func (o *CloseOptions) check(ids []string) error {
	if len(ids) == 0 {
		return Usage("close: takes the issues to close; found none", "")
	}
	if err := o.TrialOptions.check(); err != nil {
		return err
	}
	return needsReason(o.Reason, "what exists now that did not before: those who build on it read that")
}

// closer closes issues, each by its own verdict.
type closer struct {
	CloseOptions
	app     *App
	site    *workspace
	store   beads.Store
	edit    beads.Options
	closing checkpoint.Closing // its evidence is a waiver or still to come
	rules   checkpoint.Rules
}

func (a *App) closer(ctx context.Context, o CloseOptions) (*closer, error) {
	store, edit, err := a.ToWrite(ctx, o.DryRun)
	if err != nil {
		return nil, err
	}
	c := &closer{CloseOptions: o, app: a, store: store, edit: edit, rules: a.writeRules(edit.Now)}
	if c.site, err = a.Workspace(ctx, store.Place()); err != nil {
		return nil, err
	}
	c.closing.Reason, c.closing.Despite = o.Reason, o.Despite
	if o.Waive == "" && o.Despite == "" {
		c.closing.Actor, err = a.ActorName(ctx)
		return c, err
	}
	if c.closing.Actor, err = a.MustActor(ctx); err != nil {
		return nil, err
	}
	if o.Waive != "" {
		c.closing.Evidence, err = a.waiver(o.Waive, c.closing.Actor)
	}
	return c, err
}

// waiver is the word of the actor that an issue may close without a verdict. The
// session of an assistant may not give it unless the configuration says so.
func (a *App) waiver(why, actor string) (verify.Evidence, error) {
	if program := a.Assistant(actor); program != "" && a.Config.Gate.Waivers != "anyone" {
		return nil, &fault.Error{Code: fault.Found, Reason: fmt.Sprintf("--waive: a session of an assistant (%s) may not waive", program),
			Hint: "ask a person with stig escalate; a project lets sessions waive with gate: waivers: \"anyone\" in .stig.cue"}
	}
	w, err := verify.Waive(why, actor)
	if err != nil {
		return nil, Usage("--waive: "+err.Error(), "say why nothing can show that it is done, and who could see it")
	}
	return w, nil
}

// Assistant is the program of an assistant in whose session stig runs: by the name of
// the actor, by the name that its hook exported, whatever --actor says, by the program
// that we were started below, or by the variables that such programs set; "" for a person.
func (a *App) Assistant(name string) string {
	for _, name := range []string{name, a.Getenv("STIG_ACTOR")} {
		if actor.IsSession(name) {
			return name
		}
	}
	if s, inside := a.session(); inside {
		return s.Host
	}
	return host.Running(a.Getenv)
}

// byTracker is how an issue is closed that stig may not write.
func (c *closer) byTracker(id string) string {
	if waiver, ok := c.closing.Evidence.(verify.Waiver); ok {
		return "type " + waiveByTracker(id, c.closing.Reason, waiver.Why(), waiver.Actor())
	}
	return fmt.Sprintf("type stig verify %s, and when it passes bd close %s", id, id)
}

// close takes one issue through the gate.
func (c *closer) close(ctx context.Context, candidate *checkpoint.Candidate, f *Finding) {
	if candidate.Already {
		f.Closed = candidate.Closed(c.Reason)
		return
	}
	f.Trial = c.app.trial(ctx, c.site, f.Id, candidate.Criteria)
	closing := c.closing
	if waiver, waived := closing.Evidence.(verify.Waiver); waived {
		closing.Evidence, f.Err = c.tried(ctx, f.Trial, waiver)
	} else {
		f.Err = c.verdict(ctx, f.Trial)
	}
	f.Err = errors.Join(f.Err, f.Trial.Settle())
	switch {
	case f.Err != nil:
		return
	case f.Failed() && c.Escalate: // a dry run runs nothing, and fails nothing
		f.Escalated, f.Err = c.ask(ctx, f.Trial)
		return
	case closing.Evidence == nil && !f.Trial.Verdict.Passed():
		return
	case closing.Evidence == nil:
		closing.Evidence = f.Trial.Verdict
	}
	closing.Edited = f.Trial.Edited
	f.Closed, f.Err = checkpoint.Close(ctx, c.store, c.edit, f.Id, closing, c.rules)
}

// tried runs what can be run before it is waived: what passes needs no waiver, and what
// came of the rest is in the reason.
func (c *closer) tried(ctx context.Context, t *Trial, waiver verify.Waiver) (verify.Evidence, error) {
	if !t.Asks() || c.DryRun {
		return waiver, nil
	}
	trusted, err := c.app.Trusted(ctx, t.Site)
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

// verdict takes the one that still counts, or has the checks run. A dry run
// runs nothing.
func (c *closer) verdict(ctx context.Context, t *Trial) error {
	if !t.Asks() {
		return nothingToRun(t)
	}
	fresh, err := c.site.fresh(ctx)
	if err != nil {
		return err
	}
	if t.Verdict, t.Reused = fresh(t.Id, t.criteria); t.Reused || c.DryRun {
		return nil
	}
	return c.app.Try(ctx, t, c.TrialOptions)
}

// Gated is an issue whose checks ran for a close that is made later: what passed is put
// meanwhile where others build on it.
type Gated struct {
	closer    *closer
	candidate *checkpoint.Candidate
	trial     *Trial
	waiver    verify.Evidence // the word of a person instead of a verdict; nil for none
}

// Gate runs the checks of an issue in the work tree that a is started in, or takes the
// verdict that still counts. The error says what keeps the issue from being closed
// whatever they show, or, wrapping ErrNotRun, why they do not run. An issue that is
// closed goes through the gate too.
func (a *App) Gate(ctx context.Context, id string, o CloseOptions) (*Gated, error) {
	if err := o.check([]string{id}); err != nil {
		return nil, err
	}
	c, err := a.closer(ctx, o)
	if err != nil {
		return nil, err
	}
	g := &Gated{closer: c}
	if g.candidate, err = checkpoint.Closable(ctx, c.store, c.edit, id, c.closing, c.rules); err != nil {
		return nil, err
	}
	g.trial = a.trial(ctx, c.site, g.candidate.ID, g.candidate.Criteria)
	return g, errors.Join(c.verdict(ctx, g.trial), g.trial.Settle())
}

// Verdict is what the checks showed.
func (g *Gated) Verdict() *verify.Verdict { return g.trial.Verdict }

// Passed reports whether all checks passed, or a person takes the issue without them.
func (g *Gated) Passed() bool { return g.waiver != nil || g.trial.Verdict.Passed() }

// Take has a person's word stand for checks that do not run.
func (g *Gated) Take(why, person string) error {
	waiver, err := verify.Waive(why, person)
	if err != nil {
		return err
	}
	if g.trial.Asks() {
		waiver = waiver.NotTried("they could not be run")
	}
	g.waiver = waiver
	return nil
}

// Close closes the issue on its verdict, unless its criteria changed since, and notifies
// of what follows.
func (g *Gated) Close(ctx context.Context) (*checkpoint.Closed, error) {
	c := g.closer
	if g.candidate.Already {
		return g.candidate.Closed(c.Reason), nil
	}
	closing := c.closing
	closing.Evidence, closing.Edited = g.trial.Verdict, g.trial.Edited
	if g.waiver != nil {
		closing.Evidence = g.waiver
	}
	f := Finding{Id: g.candidate.ID, Trial: g.trial}
	if f.Closed, f.Err = checkpoint.Close(ctx, c.store, c.edit, f.Id, closing, c.rules); f.Err != nil {
		return nil, f.Err
	}
	c.app.notify(ctx, c.site.store, c.edit.Now, f.notices(signals.Day(c.edit.Now)))
	return f.Closed, nil
}

// ask puts a failure to a person, and reports whether it was not asked before.
func (c *closer) ask(ctx context.Context, t *Trial) (bool, error) {
	_, err := checkpoint.Escalate(ctx, c.store, c.edit, t.Id, checkpoint.Question{
		Text: failureText(t.Verdict), By: c.closing.Actor, Evidence: c.app.Config.Signals.Evidence,
	}, c.rules)
	if fault.Is(err, fault.Conflict) {
		c.app.Note("%s", err)
		return false, nil
	}
	return err == nil, err
}

// failureText is the question that a failure puts to a person. What a command printed
// may hold what it was given to work with: no credential comes into the notes.
func failureText(v *verify.Verdict) string {
	var text strings.Builder
	text.WriteString(orient.FailureOpening + " Is the work at fault, or are they?\n")
	for _, o := range v.Outcomes() {
		if o.Passed() || o.Exit == verify.ExitNotRun {
			continue
		}
		fmt.Fprintf(&text, "\nexit %d:\n\n%s", o.Exit, Fenced(secret.Hide(o.Text)))
		if said := o.Reason + o.Tail; said != "" {
			fmt.Fprintf(&text, "\n%s", Fenced(secret.Hide(said)))
		}
	}
	return text.String()
}

// Fenced is a text as a block of code, in which nothing of it is taken for
// anything else.
func Fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// Finding is what became of one issue before the gate.
type Finding struct {
	Id        string
	Trial     *Trial             // nil when it did not come so far
	Closed    *checkpoint.Closed // nil when it was not asked for, or refused
	Escalated bool               // the failure became a question
	DryRun    bool
	Err       error // why it went no further
}

// Code is the exit code for this issue alone.
func (f Finding) Code() int {
	switch {
	case f.Err != nil:
		return Classify(f.Err).Code
	case f.Failed(), f.Closed != nil && f.Closed.Unkept != "":
		return ExitFound
	}
	return ExitDone
}

// Failed reports whether its checks ran and did not all pass, and nobody waived that.
func (f Finding) Failed() bool {
	return f.Closed == nil && f.Trial != nil && f.Trial.Verdict != nil && !f.Trial.Verdict.Passed()
}

// Object is the finding as data.
func (f Finding) Object() map[string]any {
	o := map[string]any{
		"id": f.Id, "passed": false, "reused": false, "checks": []criteria.Check{}, "not_run": []criteria.Check{}, "criteria_hash": "",
		"criteria_changed": false, "tree": nil, "closed": false, "close_reason": "", "unblocked": []string{},
		"escalated": f.Escalated, "dry_run": f.DryRun,
	}
	if t := f.Trial; t != nil {
		o["checks"], o["not_run"] = t.Plan, criteria.NotRun(t.Plan)
		o["criteria_hash"], o["reused"] = verify.Hash(t.criteria.Text()), t.Reused
		if t.Edited != nil {
			o["criteria_changed"], o["criteria_edited"] = true, t.Edited
		}
		if v := t.Verdict; v != nil {
			o["passed"], o["checks"], o["not_run"], o["tree"] = v.Passed(), v.Outcomes(), v.NotRun(), v.Tree()
			o["tree_changed"] = v.Changed()
		}
	}
	if c := f.Closed; c != nil {
		var ids []string
		for _, ref := range c.Unblocked {
			ids = append(ids, ref.ID)
		}
		o["closed"], o["already"], o["close_reason"] = !f.DryRun || c.Already, c.Already, c.Reason
		if c.Unkept != "" {
			o["reason_not_kept"] = c.Unkept
		}
		o["changed"] = append([]checkpoint.Changed{}, c.Changed...)
		o["unblocked"], o["nearer"], o["epic"] = append([]string{}, ids...), c.Nearer, c.Epic
		o["alerts"], o["warnings"] = append([]checkpoint.Alert{}, c.Alerts...), append([]string{}, c.Warnings...)
	}
	if f.Err != nil {
		o["error"] = Classify(f.Err)
	}
	return o
}

// VerdictOutput is what became of issues before the gate as data: one issue by
// itself, and several as a list. The error is that of one issue of which there is
// nothing else to say.
func VerdictOutput(findings []Finding) (Output, error) {
	if len(findings) == 1 && findings[0].Trial == nil && findings[0].Err != nil {
		return Output{}, findings[0].Err
	}
	list := []map[string]any{}
	for _, f := range findings {
		object := f.Object()
		if f.DryRun && f.Closed != nil {
			diff, err := DiffText(f.Closed.Lines)
			if err != nil {
				return Output{}, err
			}
			object["diff"] = diff
		}
		list = append(list, object)
	}
	if len(list) == 1 {
		return output("verdict", list[0]), nil
	}
	return output("verdicts", map[string]any{"verdicts": list}), nil
}

// WithoutEstimate reports whether issues wait for one that was closed now without a
// state estimate, of which those who build on it get none.
func WithoutEstimate(c *checkpoint.Closed) bool {
	if len(c.Unblocked)+c.Nearer == 0 {
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
func (a *App) WarnOfEdited(t *Trial) {
	a.Warn("%s: %s", t.Id, t.Edited)
	for _, text := range t.Edited.Gone {
		a.Warn("%s: no longer among them: %s", t.Id, FirstLine(text))
	}
}

// FirstLine is a command by its first line.
func FirstLine(command string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	if rest != "" {
		return first + " …"
	}
	return first
}

// What a hook says to a command line that would close an issue.

// pastGate says which of the issues that an attempt closes may not be closed, and
// what to type instead; "" where all may.
func (a *App) pastGate(ctx context.Context, store beads.Place, attempt guard.Attempt) string {
	var reasons, unproven []string
	bare := "" // one that has no criteria
	for _, g := range a.gated(ctx, store, attempt) {
		switch {
		case g.asked != nil:
			reasons = append(reasons, attempt.Verb+": "+g.asked.Refusal.Error()+"\nhint: "+despiteHint(store, g.asked))
		case !g.proven:
			unproven = append(unproven, g.id)
			if g.bare {
				bare = cmp.Or(bare, g.id)
			}
		}
	}
	if len(unproven) > 0 {
		are := "is"
		if len(unproven) > 1 {
			are = "are"
		}
		reason := fmt.Sprintf("%s: nothing shows that %s %s done: an issue closes when the commands in its acceptance criteria pass\n", attempt.Verb, strings.Join(unproven, ", "), are) +
			"hint: type " + instead(store, attempt.Verb, unproven)
		if bare != "" && store.Mode == beads.Export {
			reason += ";\n" + bare + " has no acceptance criteria: write them, or type " + waiveByTracker(bare, "WHAT", "WHY", "NAME")
		}
		reasons = append(reasons, reason)
	}
	return strings.Join(reasons, "\n")
}

// instead is what closes issues with a verdict. Issues in a Dolt database are
// not stig's to close: what was verified is let through.
func instead(store beads.Place, verb string, ids []string) string {
	if store.Mode != beads.Export {
		return fmt.Sprintf("stig close %s --reason \"what exists now, and how you know that it works\"; it runs them", strings.Join(ids, " "))
	}
	return fmt.Sprintf("stig verify %s, for each alone; %s is let through when they have passed", ids[0], verb)
}

// despiteHint is what to type about an issue that a question holds. stig can neither
// answer nor close where the issues live in a Dolt database.
func despiteHint(store beads.Place, held *checkpoint.Unanswered) string {
	if store.Mode != beads.Export {
		return held.Refusal.Hint
	}
	return fmt.Sprintf("type stig await %s; to close it all the same, once it is verified, say why in the reason: \"WHAT; closed %s: WHY\"", held.Refusal.ID, held.Despite)
}

// gate is what stands between an issue and being closed.
type gate struct {
	id     string
	asked  *checkpoint.Unanswered // nil when no question holds it
	proven bool                   // a fresh verdict passed, or a waiver stands for it
	bare   bool                   // it has no criteria
}

// gated looks at each issue that an attempt closes. Whatever keeps that from being
// known leaves all of them unproven.
func (a *App) gated(ctx context.Context, store beads.Place, attempt guard.Attempt) []gate {
	list := make([]gate, len(attempt.IDs))
	for i, id := range attempt.IDs {
		list[i].id = id
	}
	workspace, err := a.Workspace(ctx, store)
	if err != nil {
		return list
	}
	fresh, err := workspace.fresh(ctx)
	if err != nil {
		return list
	}
	file, err := a.At(store).Snapshot()
	if err != nil {
		return list
	}
	defer file.Close()
	_, waived := verify.ParseWaived(attempt.Why)
	waived = waived && store.Mode == beads.Export
	for i, id := range attempt.IDs {
		issue, record, err := file.FindRecord(id)
		if err != nil {
			continue
		}
		found := criteria.Of(record)
		_, passed := fresh(issue.ID, found)
		list[i].bare = len(found) == 0
		list[i].proven = passed || waived && !criteria.Asks(found.Plan(workspace.look))
		held := checkpoint.HeldByQuestion(record, checkpoint.Rules{Schema: a.Schema})
		if held != nil && !(store.Mode == beads.Export && saysDespite(attempt.Why, held)) {
			list[i].asked = held
		}
	}
	return list
}

// saysDespite reports whether the reason of a close names the questions that hold its
// issue, and why they are not waited for.
func saysDespite(reason string, held *checkpoint.Unanswered) bool {
	_, why, named := strings.Cut(reason, held.Despite+":")
	return named && !isBlank(why)
}
