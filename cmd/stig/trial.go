package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/checkpoint"
	"stig/criteria"
	"stig/verify"
)

// trialOptions are the flags of a command that runs checks.
type trialOptions struct {
	keepGoing        bool
	allowDestructive bool
	timeout          time.Duration // 0 is what is configured, or else the gate's own
	deadline         time.Duration
}

func (o *trialOptions) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&o.keepGoing, "keep-going", false, "run the checks after one that failed too")
	flags.BoolVar(&o.allowDestructive, "allow-destructive", false, "run what destroys or publishes, in a fence that is marked verify")
	flags.DurationVar(&o.timeout, "timeout", 0, "end each check after `TIME` (10m unless configured)")
	flags.DurationVar(&o.deadline, "deadline", 0, "end all of them after `TIME` (30m unless configured)")
}

func (o *trialOptions) check() error {
	if o.timeout < 0 || o.deadline < 0 {
		return usage("--timeout and --deadline must not be negative", "leave them out for 10m and 30m")
	}
	return nil
}

// trial is one issue before the gate.
type trial struct {
	site     *site
	id       string
	criteria string
	plan     []criteria.Check
	verdict  *verify.Verdict // nil until its checks have run
	reused   bool            // they ran before, and nothing has changed since

	edited  *checkpoint.Edited // nil when the criteria are those that are committed; see settle
	compare func() (*checkpoint.Edited, error)
}

// trial plans what the criteria of an issue ask for, and runs nothing of it.
// The store as it is committed is read meanwhile: a large one takes as long as
// many a check.
func (a *core) trial(ctx context.Context, s *site, id, acceptance string) *trial {
	t := &trial{site: s, id: id, criteria: acceptance, plan: criteria.Plan(acceptance, s.look)}
	t.compare = sync.OnceValues(func() (*checkpoint.Edited, error) { return a.edited(ctx, s, id, acceptance) })
	go t.compare()
	return t
}

// settle waits until it is known what became of the criteria since they were
// committed.
func (t *trial) settle() (err error) {
	t.edited, err = t.compare()
	return err
}

// asks reports whether the criteria ask for anything to be run.
func (t *trial) asks() bool { return criteria.Asks(t.plan) }

// refusalError says why the checks of an issue are not run.
type refusalError struct{ id, reason, hint string }

func (e *refusalError) Error() string { return e.id + ": " + e.reason }

// nothingToRun is the refusal of criteria that show nothing.
func nothingToRun(t *trial) error {
	hint := "put such a block into them (stig edit " + t.id + " --acceptance -), or type stig close " + t.id + " --reason … --waive WHY"
	if t.site.store.Mode == beads.Dolt {
		hint = "write such a block into its criteria, or type " + waiveByTracker(t.id, "WHAT", "WHY")
	}
	e := &refusalError{id: t.id, reason: "nothing in its acceptance criteria can be run", hint: hint}
	if strings.TrimSpace(t.criteria) == "" {
		e.reason = "it has no acceptance criteria"
	}
	return e
}

// waiveByTracker is how an issue without anything to run is closed that stig may
// not write.
func waiveByTracker(id, what, why string) string {
	return fmt.Sprintf("bd close %s --reason \"%s.\"", id, verify.Waived(strings.TrimRight(what, "."), why))
}

// fence is the block to write into criteria that hold nothing to run: with
// the commands that were seen in prose, else with a place for them.
func (t *trial) fence() string {
	var commands []string
	for _, check := range t.plan {
		if check.Origin == criteria.Prose {
			commands = append(commands, check.Text)
		}
	}
	if commands == nil {
		commands = []string{"# the commands that succeed when it is done"}
	}
	return "```verify\n" + strings.Join(commands, "\n") + "\n```\n"
}

// try runs the checks, when it may, and keeps the verdict. The error is a
// *refusalError when it may not.
func (a *core) try(ctx context.Context, t *trial, o trialOptions) error {
	if !t.asks() {
		return nothingToRun(t)
	}
	trusted, err := a.trusted(ctx, t.site)
	if err != nil {
		return err
	}
	if !trusted {
		return &refusalError{id: t.id, reason: "its checks are commands of a repository that is not trusted here",
			hint: "read them, then type stig trust, or set STIG_TRUST=1 to trust whatever is here"}
	}
	job, err := a.job(ctx, t, o)
	if err != nil {
		return err
	}
	if t.verdict, err = verify.Run(ctx, job); err != nil {
		return err
	}
	a.warnOfEmpty(t)
	if kept, ok := t.site.verdicts(); ok {
		return kept.Save(t.verdict)
	}
	return nil
}

// warnOfEmpty names the checks that passed and say that no test ran: a name
// that matches none is mostly a test that was not written.
func (a *core) warnOfEmpty(t *trial) {
	for _, o := range t.verdict.Outcomes() {
		if o.Passed() && ranNoTest(o.Tail) {
			a.warn("%s: no test ran, and still it passed: %s", t.id, firstLine(o.Text))
		}
	}
}

// ranNoTest reports whether what is left of an output says of all packages that go
// tested that no test of theirs was run.
func ranNoTest(tail string) bool {
	const whole = 20 // lines; of a longer output the first may be missing
	if strings.Count(tail, "\n") >= whole {
		return false
	}
	empty := false
	for line := range strings.Lines(tail) {
		if !strings.HasPrefix(line, "ok  \t") {
			continue
		}
		if !strings.HasSuffix(strings.TrimSpace(line), "[no tests to run]") {
			return false
		}
		empty = true
	}
	return empty
}

// job is what the gate is asked to run.
func (a *core) job(ctx context.Context, t *trial, o trialOptions) (verify.Job, error) {
	now, err := a.clock()
	if err != nil {
		return verify.Job{}, err
	}
	j := verify.Job{
		Issue: t.id, Criteria: t.criteria, Checks: t.plan, Root: t.site.root,
		Env: a.environ(), Pass: a.config.Gate.Env,
		KeepGoing: o.keepGoing, AllowDestructive: o.allowDestructive,
		Out: a.progress, Terminal: a.terminal, Logs: t.site.logs(), Time: now, Now: a.now,
	}
	if j.Timeout, err = limit(o.timeout, a.config.Gate.Timeout); err != nil {
		return j, err
	}
	if j.Deadline, err = limit(o.deadline, a.config.Gate.Deadline); err != nil {
		return j, err
	}
	if j.Without, err = t.site.store.Touched(); err != nil {
		return j, err
	}
	j.Actor, err = a.actorName(ctx)
	return j, err
}

// limit is the time that a flag gives, or else the configuration; 0 for neither.
func limit(flag time.Duration, configured string) (time.Duration, error) {
	if flag > 0 || configured == "" {
		return flag, nil
	}
	return time.ParseDuration(configured)
}
