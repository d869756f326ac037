package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/criteria"
	"stig/fault"
	"stig/jsonl"
	"stig/signals"
	"stig/verify"
)

// unprovable warns of criteria in which nothing can be run: only a waiver would
// close the issue.
func (a *App) unprovable(ctx context.Context, store beads.Place, found criteria.Criteria) []string {
	workspace, err := a.Workspace(ctx, store)
	if err != nil || len(found) == 0 || criteria.Asks(found.Plan(workspace.look)) {
		return nil
	}
	return []string{"nothing in its criteria can be run; write the commands into a block marked verify"}
}

// TrialOptions are the flags of a command that runs checks.
type TrialOptions struct {
	KeepGoing        bool
	AllowDestructive bool
	Timeout          time.Duration // 0 is what is configured, or else the gate's own
	Deadline         time.Duration
}

func (o *TrialOptions) check() error {
	if o.Timeout < 0 || o.Deadline < 0 {
		return Usage("--timeout and --deadline must not be negative", "leave them out for 10m and 30m")
	}
	return nil
}

// Trial is one issue before the gate.
type Trial struct {
	Site     *workspace
	Id       string
	criteria criteria.Criteria
	Plan     []criteria.Check
	Verdict  *verify.Verdict // nil until its checks have run
	Reused   bool            // they ran before, and nothing has changed since

	Edited  *checkpoint.Edited // nil when the criteria are those that are committed; see settle
	compare func() (*checkpoint.Edited, error)
}

// trial plans what the criteria of an issue ask for, and runs nothing of it.
// The store as it is committed is read meanwhile: a large one takes as long as
// many a check.
func (a *App) trial(ctx context.Context, s *workspace, id string, found criteria.Criteria) *Trial {
	t := &Trial{Site: s, Id: id, criteria: found, Plan: found.Plan(s.look)}
	t.compare = sync.OnceValues(func() (*checkpoint.Edited, error) { return a.edited(ctx, s, id, found) })
	go t.compare()
	return t
}

// Settle waits until it is known what became of the criteria since they were
// committed.
func (t *Trial) Settle() (err error) {
	t.Edited, err = t.compare()
	return err
}

// Asks reports whether the criteria ask for anything to be run.
func (t *Trial) Asks() bool { return criteria.Asks(t.Plan) }

// ErrNotRun is wrapped by the refusal (fault.Found) to run the checks of an issue.
var ErrNotRun = errors.New("its checks are not run")

func notRun(id, reason, hint string) error {
	return &fault.Error{Code: fault.Found, ID: id, Reason: reason, Hint: hint, Err: ErrNotRun}
}

// nothingToRun is the refusal of criteria that show nothing. Only where there are
// none it proposes to waive them.
func nothingToRun(t *Trial) error {
	reason, hint := "nothing in its acceptance criteria can be run", "put such a block into them with stig edit "+t.Id+" --acceptance -"
	waive := "stig close " + t.Id + " --reason … --waive WHY"
	if t.Site.store.Mode == beads.Export {
		hint, waive = "write such a block into its criteria", waiveByTracker(t.Id, "WHAT", "WHY", "NAME")
	}
	if len(t.criteria) == 0 {
		reason = "it has no acceptance criteria"
		hint += ", or type " + waive
	}
	return notRun(t.Id, reason, hint)
}

// waiveByTracker is how an issue without anything to run is closed that stig may
// not write.
func waiveByTracker(id, what, why, who string) string {
	return fmt.Sprintf("bd close %s --reason \"%s.\"", id, verify.Waived(strings.TrimRight(what, "."), why, who))
}

// Fence is the block to write into criteria that hold nothing to run: with
// the commands that were seen there, else with a place for them.
func (t *Trial) Fence() string {
	var commands []string
	for _, check := range t.Plan {
		if check.Instead != "" {
			commands = append(commands, check.Instead)
		}
	}
	if commands == nil {
		commands = []string{"# the commands that succeed when it is done"}
	}
	return "```verify\n" + strings.Join(commands, "\n") + "\n```\n"
}

// Try runs the checks, when it may, and keeps the verdict. The error wraps
// ErrNotRun when it may not.
func (a *App) Try(ctx context.Context, t *Trial, o TrialOptions) error {
	if !t.Asks() {
		return nothingToRun(t)
	}
	trust, err := a.standing(ctx, t.Site)
	if err != nil {
		return err
	}
	if err := trust.refused(t.Id); err != nil {
		return err
	}
	a.tellNew(t, trust.grant)
	job, err := a.job(ctx, t, o)
	if err != nil {
		return err
	}
	if t.Verdict, err = verify.Run(ctx, job); err != nil {
		return err
	}
	a.warnOfEmpty(t)
	if kept, ok := t.Site.verdicts(); ok {
		return kept.Save(t.Verdict)
	}
	return nil
}

// warnOfEmpty names the checks that passed and say that no test ran: a name
// that matches none is mostly a test that was not written.
func (a *App) warnOfEmpty(t *Trial) {
	for _, o := range t.Verdict.Outcomes() {
		if o.RanNoTest() {
			a.Warn("%s: no test ran, and still it passed: %s", t.Id, FirstLine(o.Text))
		}
	}
}

// job is what the gate is asked to run.
func (a *App) job(ctx context.Context, t *Trial, o TrialOptions) (verify.Job, error) {
	now, err := a.Clock()
	if err != nil {
		return verify.Job{}, err
	}
	j := verify.Job{
		Issue: t.Id, Criteria: t.criteria.Text(), Checks: t.Plan,
		Again: func() []criteria.Check { return t.criteria.Plan(t.Site.again()) }, Root: t.Site.root, Top: t.Site.place.Root,
		Env: a.Environ(), Pass: a.Config.Gate.Env, Sandbox: a.Config.Gate.Sandbox,
		KeepGoing: o.KeepGoing, AllowDestructive: o.AllowDestructive,
		Out: a.Progress, Terminal: a.Terminal, Logs: t.Site.logs(), Time: now, Now: a.Now,
	}
	if j.Timeout, err = limit(o.Timeout, a.Config.Gate.Timeout); err != nil {
		return j, err
	}
	if j.Deadline, err = limit(o.Deadline, a.Config.Gate.Deadline); err != nil {
		return j, err
	}
	if j.Without, err = jsonl.Touched(t.Site.store); err != nil {
		return j, err
	}
	j.Actor, err = a.ActorName(ctx)
	return j, err
}

// limit is the time that a flag gives, or else the configuration; 0 for neither.
func limit(flag time.Duration, configured string) (time.Duration, error) {
	if flag > 0 || configured == "" {
		return flag, nil
	}
	return checkpoint.ParseSpan(configured)
}

// TrialOf plans the criteria of an issue of the store.
func (a *App) TrialOf(ctx context.Context, id string) (*Trial, error) {
	if _, err := a.Discover(); err != nil {
		return nil, err // what the configuration says of the gate counts, or nothing runs
	}
	file, at, err := a.OpenIssue(id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	issue := file.At(at)
	if issue.Status == beads.StatusTombstone {
		return nil, &fault.Error{Code: fault.Refused, Path: file.Place().Name(), Line: issue.Line,
			Reason: issue.ID + " was deleted (status tombstone)", Hint: "verify another issue"}
	}
	record, err := issue.Record()
	if err != nil {
		return nil, err
	}
	s, err := a.Workspace(ctx, file.Place())
	if err != nil {
		return nil, err
	}
	return a.trial(ctx, s, issue.ID, criteria.Of(record)), nil
}

// VerifyRequest asks for the checks of an issue to be run, or with Plan for what
// would be run.
type VerifyRequest struct {
	ID string
	TrialOptions
	Plan bool
}

// Verify runs the checks of an issue, and notifies of a failure. Why they were not
// run is told by the finding.
func (a *App) Verify(ctx context.Context, r VerifyRequest) (Finding, error) {
	if err := r.check(); err != nil {
		return Finding{}, err
	}
	t, err := a.TrialOf(ctx, r.ID)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Id: t.Id, Trial: t}
	if r.Plan {
		return f, t.Settle()
	}
	now, err := a.Clock()
	if err != nil {
		return Finding{}, err
	}
	f.Err = a.Try(ctx, t, r.TrialOptions)
	if err := errors.Join(ctx.Err(), t.Settle()); err != nil {
		return Finding{}, err
	}
	a.renewOwn(ctx, t.Site.store, t.Id, now)
	a.notify(ctx, t.Site.store, now, f.notices(signals.Day(now)))
	return f, nil
}

// WarnOfStale says when the checks themselves changed the work tree, so that what
// they showed counts no more.
func (a *App) WarnOfStale(ctx context.Context, t *Trial) error {
	if _, kept := t.Site.verdicts(); !kept || !t.Verdict.Passed() {
		return nil
	}
	fresh, err := t.Site.fresh(ctx)
	if err != nil {
		return err
	}
	if _, counts := fresh(t.Id, t.criteria); !counts {
		a.Warn("%s: its checks changed the work tree, so that stig close runs them again", t.Id)
		a.Hint("let git ignore what they write")
	}
	return nil
}
