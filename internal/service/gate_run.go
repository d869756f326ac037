package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// unprovable returns a warning if nothing in the criteria can be run: only a waiver would close
// the issue.
func unprovable(found gate.Criteria) []string {
	if len(found) == 0 || gate.Asks(found.Plan()) {
		return nil
	}
	return []string{"nothing in its criteria can be run; write the commands into a block marked verify"}
}

// GateRunOptions are the flags of commands that run checks.
type GateRunOptions struct {
	KeepGoing        bool
	AllowDestructive bool
	Timeout          time.Duration // 0 means the configured value, or else the gate's default
	Deadline         time.Duration
}

func (o *GateRunOptions) check() error {
	if o.Timeout < 0 || o.Deadline < 0 {
		return workspace.Usage("--timeout and --deadline must not be negative", "leave them out for the defaults, 10m and 30m")
	}
	return nil
}

// GateRun is one run of the gate: an issue, the plan of its checks, and their verdict.
type GateRun struct {
	Code     *workspace.Code
	Id       string
	criteria gate.Criteria
	Plan     []gate.Check
	Verdict  *gate.Verdict // nil until its checks have run
	Reused   bool          // an earlier verdict counts, since nothing has changed

	Edited  *checkpoint.Edited // nil if the criteria are the committed ones; set by WaitEdits
	compare func() (*checkpoint.Edited, error)
	proof   *Proof // of an issue whose criteria are rerun; nil otherwise
	meant   bool   // of one: it says that its checks may pass before the work
}

// gateRun plans the checks of an issue's criteria without running them. It reads the committed
// store in the background, since a large store takes as long as some checks.
func gateRun(ctx context.Context, a *workspace.Run, s *workspace.Code, id string, found gate.Criteria) *GateRun {
	t := &GateRun{Code: s, Id: id, criteria: found, Plan: found.Plan()}
	t.compare = sync.OnceValues(func() (*checkpoint.Edited, error) { return a.CriteriaEdited(ctx, s, id, found) })
	go t.compare()
	return t
}

// WaitEdits waits until it is known how the criteria differ from the committed ones.
func (t *GateRun) WaitEdits() (err error) {
	t.Edited, err = t.compare()
	return err
}

// Runs returns how many commands would run.
func (t *GateRun) Runs() (n int) {
	for _, c := range t.Plan {
		if c.Class == gate.Runnable {
			n++
		}
	}
	return n
}

// Asks reports whether the criteria ask to run anything.
func (t *GateRun) Asks() bool { return gate.Asks(t.Plan) }

// nothingToRun returns the refusal of criteria without commands.
func nothingToRun(t *GateRun) error {
	reason, hint := "nothing in its acceptance criteria can be run", "to have it checked, type "+t.editLine()
	if len(t.criteria) == 0 {
		reason = "it has no acceptance criteria"
	}
	if t.Code.Store.Mode == beads.Export {
		hint = "write such a block into its criteria"
		if len(t.criteria) == 0 {
			hint += ", or type " + WaiveByTracker(t.Id, "WHAT", "WHY", "NAME")
		}
	}
	return workspace.NotRun(t.Id, reason, hint)
}

// editLine returns the command that adds a check to the criteria.
func (t *GateRun) editLine() string {
	if _, fence := t.criteria.FromProse(); fence != "" {
		return "stig edit " + t.Id + " --acceptance-from-prose"
	}
	const most = 200 // bytes of criteria that a hint repeats
	text := ""
	if len(t.criteria) > 0 && t.criteria[0].Field == gate.FieldAcceptance {
		text = strings.TrimRight(strings.TrimSpace(t.criteria[0].Text), ".") + "; "
	}
	if len(text) > most || strings.Contains(text, "\n") {
		return "stig edit " + t.Id + " --acceptance -"
	}
	return "stig edit " + t.Id + " --acceptance " + visible.InQuotes(text+"`COMMAND` passes")
}

// WaiveByTracker returns the bd command that closes an issue with nothing to run in a store
// that stig may not write.
func WaiveByTracker(id, what, why, who string) string {
	return fmt.Sprintf("bd close %s --reason \"%s.\"", id, gate.Waived(strings.TrimRight(what, "."), why, who))
}

// Fence returns a verify block for criteria without commands: with the commands seen in them,
// or else a placeholder.
func (t *GateRun) Fence() string {
	if _, fence := t.criteria.FromProse(); fence != "" {
		return fence
	}
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

// Try runs the checks if it may, and saves the verdict. The error wraps ErrNotRun if it may
// not.
func Try(ctx context.Context, a *workspace.Run, t *GateRun, o GateRunOptions) error {
	if !t.Asks() {
		return nothingToRun(t)
	}
	trust, err := a.TrustState(ctx, t.Code)
	if err != nil {
		return err
	}
	if err := trust.Refused(t.Id); err != nil {
		return err
	}
	tellNew(a, t, trust.Grant)
	job, err := job(ctx, a, t, o)
	if err != nil {
		return err
	}
	if t.Verdict, err = gate.Run(ctx, job); err != nil {
		return err
	}
	warnOfEmpty(a, t)
	if kept, ok := t.Code.Verdicts(); ok {
		return kept.Save(t.Verdict)
	}
	return nil
}

// mayRunOf returns a gate run of the issue's criteria. The error wraps ErrNotRun if they may
// not run.
func mayRunOf(ctx context.Context, a *workspace.Run, id string) (*GateRun, error) {
	t, err := GateRunOf(ctx, a, id)
	if err != nil {
		return nil, err
	}
	if !t.Asks() {
		return nil, errors.Join(nothingToRun(t), t.WaitEdits())
	}
	trust, err := a.TrustState(ctx, t.Code)
	if err = errors.Join(err, t.WaitEdits()); err == nil {
		err = trust.Refused(t.Id)
	}
	return t, err
}

// Passing runs all criteria of an issue in the directory that a is started in, and returns the
// texts of those that pass, and the exit codes of those that fail, by text. The error wraps
// ErrNotRun if they may not run.
func Passing(ctx context.Context, a *workspace.Run, id string) (passes []string, fails map[string]int, err error) {
	t, err := mayRunOf(ctx, a, id)
	if err != nil {
		return nil, nil, err
	}
	job, err := job(ctx, a, t, GateRunOptions{KeepGoing: true})
	if err != nil {
		return nil, nil, err
	}
	v, err := gate.Run(ctx, job)
	if err != nil {
		return nil, nil, err
	}
	fails = map[string]int{}
	for _, o := range v.Outcomes() {
		if o.Passed() {
			passes = append(passes, o.Text)
		} else if o.Exit != gate.ExitNotRun && o.Exit != gate.ExitInterrupt {
			fails[o.Text] = o.Exit
		}
	}
	return passes, fails, nil
}

// BeforeRequest asks what the checks of an issue show before the work on it begins.
type BeforeRequest struct {
	Name  string // the name under which the results are kept; see befores
	Known bool   // run nothing, only report whether the results are known
}

// Before runs the criteria of an issue before the work on it, in the work tree that a is
// started in, and saves the results. It runs nothing if all results are known, and reports
// whether they are. The error wraps ErrNotRun if the criteria may not run.
func Before(ctx context.Context, a *workspace.Run, id string, r BeforeRequest) (known bool, err error) {
	t, err := mayRunOf(ctx, a, id)
	if err != nil {
		return false, err
	}
	kept := befores(t.Code)
	had := kept.Load(r.Name)
	if known = had.Has(t.Id, t.Plan); known || r.Known {
		return known, nil
	}
	job, err := job(ctx, a, t, GateRunOptions{})
	if err != nil {
		return false, err
	}
	shown, err := gate.RunBefore(ctx, job)
	if err != nil {
		return false, err
	}
	return false, kept.Save(r.Name, shown)
}

// befores returns the store of check results from before the work, shared by all work trees of
// the clone. Results are named by the commit at which the work began, or by claimName.
func befores(s *workspace.Code) gate.Befores {
	place, err := clone.At(s.Store.Path)
	if err != nil {
		return gate.Befores{}
	}
	name := filepath.FromSlash(place.Store)
	if s.Own == "" { // the user's directory is shared by all stores
		name = gate.Hash(filepath.Join(place.Worktree, name))[:16]
	}
	return gate.Befores{Dir: workspace.Below(notices(s), "before", name)}
}

// claimName returns the name of the check results recorded when a person claimed an issue.
func claimName(id string) string { return "claim " + id }

// Compare compares the verdict with the results from before the work that are kept under name.
func (g *PendingClose) Compare(name string) {
	if g.run.Verdict != nil {
		g.run.Verdict = g.run.Verdict.Against(befores(g.run.Code).Load(name))
	}
}

// Read adds to the verdict the files that its checks read and that the work changed.
func (g *PendingClose) Read(changed []git.Change) {
	if g.run.Verdict != nil {
		g.run.Verdict = g.run.Verdict.Reading(gate.Reads(g.run.Plan, g.run.fromRoot(changed)))
	}
}

// KeepShown saves the results of the checks under name, as the results before the next work,
// unless the checks changed the tree.
func (g *PendingClose) KeepShown(name string) error {
	if g.run.Verdict == nil || g.run.Verdict.Changed() {
		return nil
	}
	return befores(g.run.Code).Save(name, g.run.Verdict.Shows())
}

// compareForPerson compares the verdict with the check results from before the work: those of
// the person's claim, or, if gate.before is always, those at the merge base. If they cannot be
// determined it warns.
func (t *GateRun) compareForPerson(ctx context.Context, a *workspace.Run) {
	if a.Config.Gate.Before == workspace.BeforeNever {
		return
	}
	kept := befores(t.Code)
	before := kept.Load(claimName(t.Id))
	if before == nil && a.Config.Gate.Before == workspace.BeforeAlways {
		base, err := t.forkOf(ctx, a)
		var at []*gate.Verdict
		if err == nil {
			at, err = runAt(ctx, a, t.Code.Store, base, nil, []*GateRun{t})
		}
		if err != nil {
			a.Warn("%s: cannot tell what its checks showed before the work: %v", t.Id, err)
			return
		}
		before = at[0].Shows()
	}
	if before != nil {
		t.Verdict = t.Verdict.Against(before)
	}
}

// forkOf returns the commit at which the work began: the merge base of HEAD and the branch that
// it comes from, or HEAD if nothing of the work is committed.
func (t *GateRun) forkOf(ctx context.Context, a *workspace.Run) (string, error) {
	here := a.GitIn(t.Code.Root)
	head, err := here.Commit(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	for _, from := range []string{"@{upstream}", "refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"} {
		base, err := here.Run(ctx, "merge-base", "HEAD", from)
		if err != nil {
			return "", err
		}
		if commit := strings.TrimSpace(string(base.Stdout)); base.Exit == 0 && (commit != head || t.Verdict.Tree().Dirty) {
			return commit, nil
		}
	}
	return "", errors.New("cannot find the commit at which the work began")
}

// BeforeClaim runs the criteria of a claimed issue before the work on it, and prints how many
// of its checks already pass.
func BeforeClaim(ctx context.Context, a *workspace.Run, id string) error {
	t, err := GateRunOf(ctx, a, id)
	if err != nil {
		return err
	}
	if err := errors.Join(befores(t.Code).Forget(claimName(t.Id)), t.WaitEdits()); err != nil {
		return err
	}
	if _, err := Before(ctx, a, id, BeforeRequest{Name: claimName(t.Id)}); err != nil {
		return err
	}
	shown, green := befores(t.Code).Load(claimName(t.Id)), []string{}
	for _, c := range t.Plan {
		if c.Class == gate.Runnable && shown.Passed(t.Id, c) {
			green = append(green, visible.FirstLine(c.Text))
		}
	}
	a.Note("%s: before the work %d of %s pass", t.Id, len(green), visible.Counted(len(shown), "check"))
	for _, text := range green {
		a.Note("%s: already passes, so it says nothing about the work: %s", t.Id, text)
	}
	return nil
}

// warnOfEmpty warns of checks that passed although no test ran: usually the named test was
// never written.
func warnOfEmpty(a *workspace.Run, t *GateRun) {
	for _, o := range t.Verdict.Outcomes() {
		if o.RanNoTest() {
			a.Warn("%s: passed, but no test ran: %s", t.Id, visible.FirstLine(o.Text))
		}
	}
}

// job returns the job for the gate.
func job(ctx context.Context, a *workspace.Run, t *GateRun, o GateRunOptions) (gate.Job, error) {
	now, err := a.Clock()
	if err != nil {
		return gate.Job{}, err
	}
	j := gate.Job{
		Issue: t.Id, Criteria: t.criteria.Text(), Checks: t.Plan,
		Root: t.Code.Root, Top: t.Code.Place.Root,
		Env: a.Environ(), Pass: a.Config.Gate.Env, Sandbox: a.Config.Gate.Sandbox,
		KeepGoing: o.KeepGoing, AllowDestructive: o.AllowDestructive,
		Out: a.Progress, Terminal: a.Terminal, Logs: t.Code.Logs(), Time: now, Now: a.Now,
	}
	if j.Timeout, err = limit(o.Timeout, a.Config.Gate.Timeout); err != nil {
		return j, err
	}
	if j.Deadline, err = limit(o.Deadline, a.Config.Gate.Deadline); err != nil {
		return j, err
	}
	if j.Without, err = jsonl.Touched(t.Code.Store); err != nil {
		return j, err
	}
	j.Actor, err = a.ActorName(ctx)
	return j, err
}

// limit returns the duration of a flag, or else of the configuration; 0 for neither.
func limit(flag time.Duration, configured string) (time.Duration, error) {
	if flag > 0 || configured == "" {
		return flag, nil
	}
	return checkpoint.ParseSpan(configured)
}

// GateRunOf plans the criteria of an issue in the store.
func GateRunOf(ctx context.Context, a *workspace.Run, id string) (*GateRun, error) {
	if _, err := a.Discover(); err != nil {
		return nil, err // the gate settings must be readable, or nothing runs
	}
	return withIssue(a, id, false, func(file *beads.Snapshot, at int) (*GateRun, error) {
		issue := file.At(at)
		if issue.Status == beads.StatusTombstone {
			return nil, &fault.Error{Code: fault.Refused, Path: file.Place().Name(), Line: issue.Line,
				Reason: issue.ID + " was deleted (status tombstone)", Hint: "verify another issue"}
		}
		record, err := issue.Record()
		if err != nil {
			return nil, err
		}
		s, err := a.Code(ctx, file.Place())
		if err != nil {
			return nil, err
		}
		return gateRun(ctx, a, s, issue.ID, gate.Of(record)), nil
	})
}

// VerifyRequest asks to run the checks of an issue, or with Plan to list what would run.
type VerifyRequest struct {
	ID string
	GateRunOptions
	Plan bool
}

// Verify runs the checks of an issue, and notifies of a failure. If they were not run, the
// finding says why.
func Verify(ctx context.Context, a *workspace.Run, r VerifyRequest) (Finding, error) {
	if err := r.check(); err != nil {
		return Finding{}, err
	}
	t, err := GateRunOf(ctx, a, r.ID)
	if err != nil {
		return Finding{}, err
	}
	f := Finding{Id: t.Id, GateRun: t}
	if r.Plan {
		return f, t.WaitEdits()
	}
	now, err := a.Clock()
	if err != nil {
		return Finding{}, err
	}
	f.Err = Try(ctx, a, t, r.GateRunOptions)
	if err := errors.Join(ctx.Err(), t.WaitEdits()); err != nil {
		return Finding{}, err
	}
	renewOwn(ctx, a, t.Code.Store, t.Id, now)
	notify(ctx, a, t.Code.Store, now, f.notices(signals.Day(now)))
	return f, nil
}

// Plans plans the criteria of the given issues, or of all unclosed ones in the order of the
// store. Nothing is run.
func Plans(ctx context.Context, a *workspace.Run, ids []string) (findings []Finding, err error) {
	if _, err := a.Discover(); err != nil {
		return nil, err
	}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, err := a.Code(ctx, file.Place())
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		for i := range file.All() {
			if issue := file.At(i); !beads.IsClosed(issue.Status) {
				ids = append(ids, issue.ID)
			}
		}
	}
	for _, id := range ids {
		issue, record, err := file.FindRecord(id)
		if err != nil {
			return nil, err
		}
		found := gate.Of(record)
		findings = append(findings, Finding{Id: issue.ID, GateRun: &GateRun{Code: s, Id: issue.ID, criteria: found, Plan: found.Plan()}})
	}
	return findings, nil
}

// WarnOfStale warns if the checks themselves changed the work tree, which makes their verdict
// stale.
func WarnOfStale(ctx context.Context, a *workspace.Run, t *GateRun) error {
	if _, kept := t.Code.Verdicts(); !kept || !t.Verdict.Passed() {
		return nil
	}
	fresh, err := t.Code.Fresh(ctx)
	if err != nil {
		return err
	}
	if _, counts := fresh(t.Id, t.criteria); !counts {
		a.Warn("%s: its checks changed the work tree, so stig close will run them again", t.Id)
		a.Hint("add the files that they write to .gitignore")
	}
	return nil
}

// tellNew prints the commands that were added to the criteria since trust was given, before
// they run. Each is printed once, and not to workers.
func tellNew(a *workspace.Run, t *GateRun, grant *gate.Grant) {
	if grant == nil || a.Getenv("STIG_RUN") != "" {
		return
	}
	added := slices.DeleteFunc(slices.Clone(t.Plan), func(c gate.Check) bool { return !c.Asked() || grant.Knows(c) })
	for _, c := range added {
		a.Note("%s: new since this repository was trusted on %s: %s", t.Id, signals.Day(grant.Time), strings.TrimRight(c.Text, "\n"))
	}
	if len(added) > 0 {
		_ = gate.Trust{Dir: t.Code.State}.Know(grant.Root, added) // if this fails they are printed again
	}
}
