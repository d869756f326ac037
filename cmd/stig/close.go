package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/checkpoint"
	"stig/orient"
	"stig/signals"
	"stig/verify"
)

// closeOptions are the flags of a close.
type closeOptions struct {
	trialOptions
	reason   string
	text     text // the same, given in another way
	waive    string
	escalate bool
	dryRun   bool
}

func (a *app) closeCommand() *cobra.Command {
	var o closeOptions
	cmd := &cobra.Command{
		Use:        "close ID…",
		SuggestFor: []string{"done", "finish", "complete"},
		Short:      "close issues whose acceptance criteria pass",
		Long: "Close issues. The commands in an issue's acceptance criteria are run first, unless they\n" +
			"passed on this very tree already; it closes when all of them pass, and stays as it is\n" +
			"otherwise. The reason says what exists now that did not before: it is what those who\n" +
			"build on the issue read. Where nothing can be run, --waive says why that is no matter.",
		GroupID: "work",
		Args:    takes(1, -1, "the issues to close, and - to read the reason from standard input"),
		Example: "  stig close demo-1 --reason \"the parser reads both forms\"\n" +
			"  stig close demo-2 -m \"the page is printed\" --waive \"only a person can see it hang\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := a.readClose(cmd, args, &o)
			if err != nil {
				return err
			}
			return a.close(cmd.Context(), ids, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.reason, "reason", "", "what exists now that did not before")
	takesText(cmd, &o.text, "the reason")
	flags.StringVar(&o.waive, "waive", "", "close without a verdict, and record `WHY`")
	flags.BoolVar(&o.escalate, "escalate", false, "put a failure to a person: escalation becomes pending")
	o.bind(cmd)
	a.writes(cmd, &o.dryRun)
	exclude(cmd, "waive", "escalate")
	return cmd
}

// readClose checks the flags and gives the issues to close.
func (a *app) readClose(cmd *cobra.Command, args []string, o *closeOptions) (ids []string, err error) {
	if ids = o.text.dash(args); len(ids) == 0 {
		return nil, usage(called(cmd)+": takes the issues to close; found none", "")
	}
	if cmd.Flags().Changed("waive") && strings.TrimSpace(o.waive) == "" {
		return nil, usage("--waive: must say why nothing needs to be run; found nothing", "")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	o.reason, err = a.reason(o.reason, o.text, "what exists now that did not before: those who build on it read that")
	return ids, err
}

// reason is what a flag says, or else a text; asked says what is asked for
// where there is neither.
func (a *app) reason(flag string, t text, asked string) (string, error) {
	if flag != "" && t.given() {
		return "", usage("the reason is given twice", "leave one of them out")
	}
	if flag == "" {
		var err error
		if flag, err = a.read(t); err != nil {
			return "", err
		}
	}
	if strings.TrimSpace(flag) == "" {
		return "", usage("a reason is missing", "say with --reason "+asked)
	}
	return flag, nil
}

// closer closes issues, each by its own verdict.
type closer struct {
	closeOptions
	app     *core
	site    *site
	edit    beads.Options
	closing checkpoint.Closing // its evidence is a waiver or still to come
	rules   checkpoint.Rules
}

func (a *core) closer(ctx context.Context, o closeOptions) (*closer, error) {
	store, edit, err := a.toWrite(ctx, o.dryRun)
	if err != nil {
		return nil, err
	}
	c := &closer{closeOptions: o, app: a, edit: edit, rules: checkpoint.Rules{Schema: a.schema, Now: edit.Now}}
	if c.site, err = a.site(ctx, store); err != nil {
		return nil, err
	}
	c.closing.Reason = o.reason
	if o.waive == "" {
		c.closing.Actor, err = a.actorName(ctx)
		return c, err
	}
	if c.closing.Actor, err = a.mustActor(ctx); err != nil {
		return nil, err
	}
	c.closing.Evidence, err = verify.Waive(o.waive, c.closing.Actor)
	return c, err
}

// close closes issues one after the other, each of them once.
func (a *app) close(ctx context.Context, ids []string, o closeOptions) error {
	c, err := a.closer(ctx, o)
	if err != nil {
		return err
	}
	var findings []finding
	for _, id := range ids {
		candidate, err := checkpoint.Closable(ctx, c.site.store, c.edit, id, o.reason, c.rules)
		if refused, ok := errors.AsType[*beads.RefusedError](err); ok && c.site.store.Mode == beads.Dolt {
			refused.Hint = c.byTracker(id)
		}
		f := finding{id: id, dryRun: o.dryRun, err: err}
		if err == nil {
			f.id = candidate.ID
		}
		if slices.ContainsFunc(findings, func(done finding) bool { return done.id == f.id }) {
			continue
		}
		if err == nil {
			c.close(ctx, candidate, &f)
			a.notify(ctx, c.site.store, c.edit.Now, f.notices(signals.Day(c.edit.Now)))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.tell(f); err != nil {
			return err
		}
		findings = append(findings, f)
	}
	return a.conclude(findings)
}

// byTracker is how an issue is closed that stig may not write.
func (c *closer) byTracker(id string) string {
	if waiver, ok := c.closing.Evidence.(verify.Waiver); ok {
		return "type " + waiveByTracker(id, c.closing.Reason, waiver.Why())
	}
	return fmt.Sprintf("type stig verify %s, and when it passes bd close %s", id, id)
}

// close takes one issue through the gate.
func (c *closer) close(ctx context.Context, candidate *checkpoint.Candidate, f *finding) {
	if candidate.Already {
		f.closed = candidate.Closed(c.reason)
		return
	}
	f.trial = c.app.trial(ctx, c.site, f.id, candidate.Criteria)
	closing := c.closing
	if closing.Evidence == nil {
		f.err = c.verdict(ctx, f.trial)
	}
	f.err = errors.Join(f.err, f.trial.settle())
	switch {
	case f.err != nil:
		return
	case f.failed() && c.escalate && !c.dryRun:
		f.escalated, f.err = c.ask(ctx, f.trial)
		return
	case closing.Evidence == nil && !f.trial.verdict.Passed():
		return
	case closing.Evidence == nil:
		closing.Evidence = f.trial.verdict
	}
	closing.Edited = f.trial.edited
	f.closed, f.err = checkpoint.Close(ctx, c.site.store, c.edit, f.id, closing, c.rules)
}

// verdict takes the one that still counts, or has the checks run. A dry run
// runs nothing.
func (c *closer) verdict(ctx context.Context, t *trial) error {
	if !t.asks() {
		return nothingToRun(t)
	}
	fresh, err := c.site.fresh(ctx)
	if err != nil {
		return err
	}
	if t.verdict, t.reused = fresh(t.id, t.criteria); t.reused || c.dryRun {
		return nil
	}
	return c.app.try(ctx, t, c.trialOptions)
}

// ask puts a failure to a person, and reports whether it was not asked before.
func (c *closer) ask(ctx context.Context, t *trial) (bool, error) {
	_, err := checkpoint.Escalate(ctx, c.site.store, c.edit, t.id, checkpoint.Question{
		Text: failureText(t.verdict), By: c.closing.Actor, Evidence: c.app.config.Signals.Evidence,
	}, c.rules)
	if asked, ok := errors.AsType[*checkpoint.EscalationError](err); ok {
		c.app.note("%s", asked)
		return false, nil
	}
	return err == nil, err
}

// failureText is the question that a failure puts to a person.
func failureText(v *verify.Verdict) string {
	var text strings.Builder
	text.WriteString(orient.FailureOpening + " Is the work at fault, or are they?\n")
	for _, o := range v.Outcomes() {
		if o.Passed() || o.Exit == verify.ExitNotRun {
			continue
		}
		fmt.Fprintf(&text, "\nexit %d:\n\n%s", o.Exit, fenced(o.Text))
		if said := o.Reason + o.Tail; said != "" {
			fmt.Fprintf(&text, "\n%s", fenced(said))
		}
	}
	return text.String()
}

// fenced is a text as a block of code, in which nothing of it is taken for
// anything else.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}
