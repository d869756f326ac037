package orient

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/criteria"
	"stig/signals"
)

// Markdown renders a briefing: what is urgent first, what to do at the end,
// and in the last line what was left out. What stands in quotes are the words
// of issues; all else is stig's.
func (b *Briefing) Markdown() string {
	w := &page{}
	b.body(w)
	w.next(b.Next)
	w.omitted(b.Omitted)
	return w.String()
}

// Background renders what a person reads who answers the question: the briefing
// without the question itself, and without what a worker does next.
func (b *Briefing) Background() string {
	answered := *b
	answered.Escalation.Question = ""
	w := &page{}
	answered.body(w)
	w.omitted(b.Omitted)
	return w.String()
}

func (b *Briefing) body(w *page) {
	b.head(w)
	b.standing(w)
	switch b.Depth {
	case signals.PlanningDepthDeep:
		b.deepBody(w)
	case signals.PlanningDepthProbe:
		b.probeBody(w)
	default:
		b.standardBody(w)
	}
}

func (b *Briefing) head(w *page) {
	w.linef("# %s %s", b.Issue.ID, oneLine(b.Issue.Title))
	w.blank()
	facts := []string{b.Issue.Status, cmp.Or(b.Issue.Type, "no type"), fmt.Sprintf("P%d", b.Issue.Priority)}
	if b.Issue.Assignee != "" {
		facts = append(facts, "assignee "+b.Issue.Assignee)
	} else {
		facts = append(facts, "unassigned")
	}
	facts = append(facts, "briefing "+b.Depth)
	w.line(strings.Join(facts, " · "))
	w.line(b.Signals.Summary())
	if b.Epic != nil {
		w.linef("epic %s %s: %d of %d closed", b.Epic.ID, oneLine(b.Epic.Title), b.Epic.Closed, b.Epic.Total)
	}
	for _, alert := range b.Alerts {
		w.linef("alert %s: %s", alert.Rule, alert.Message)
	}
	for _, v := range b.Violations {
		w.linef("%s: notes:%d:%d: %s", v.Severity, v.Line, v.Column, v.Message)
	}
}

// standing shows what must be seen before anything else.
func (b *Briefing) standing(w *page) {
	if b.Escalation.Question != "" {
		w.heading("Question that waits for a person")
		w.quote(b.Escalation.Question)
		if d := b.Escalation.Default; d != nil && d.Overdue {
			w.linef("Nobody answered in time. This is %s, %s; only a person may act on that.", d.Words(), oneLine(d.Text))
		}
		w.line("Do not decide this yourself: work on what does not depend on it, or on another issue.")
	}
	if b.Escalation.Resolution != "" {
		w.heading("Answered by a person")
		w.quote(b.Escalation.Resolution)
	}
	if len(b.OpenBlockers) > 0 {
		w.heading("Blocked by")
		w.refs(b.OpenBlockers)
	}
	if b.Divergence != nil {
		w.heading("Surprise " + signals.Decimal(b.Divergence.Surprise) + ": the work so far left the description")
		w.line(upperFirst(b.Divergence.Explained) + ".")
	}
	if b.Estimate != nil {
		w.heading(strings.TrimSpace("State estimate left here " + parenthesised(b.Estimate.Date)))
		w.quote(b.Estimate.Text)
	}
	for _, e := range b.Also {
		w.heading(e.alsoHeading())
		w.quote(e.Text)
	}
	if b.Shown != nil {
		w.heading(b.Shown.heading())
		w.quote(b.Shown.Text)
	}
}

func (b *Briefing) standardBody(w *page) {
	w.quoted("Description", b.Description)
	w.quoted("Further notes", b.Notes)
	b.acceptance(w)
	b.dependencies(w, "What finished dependencies left, in the order they were built")
	b.waiting(w)
}

func (b *Briefing) deepBody(w *page) {
	w.quoted("Description", b.Description)
	w.quoted("Further notes", b.Notes)
	b.dependencies(w, "What we know")
	if len(b.ClosedDependencies) == 0 {
		w.heading("What we know")
		w.line("No finished dependency left a trail: nothing is known but the description.")
	}
	w.heading("What we need to discover")
	for _, item := range b.Discover {
		w.linef("- %s (%s)", oneLine(item.Text), oneLine(item.From))
	}
	if len(b.Discover) == 0 {
		w.line("No open question is written down: find out what is uncertain and write it into the checkpoint.")
	}
	w.section("How to go about it", b.Directive)
	b.acceptance(w)
	b.waiting(w)
}

func (b *Briefing) probeBody(w *page) {
	w.quoted("Description", b.Description)
	w.quotedOr("Hypothesis", b.Probe.Hypothesis,
		"Not written down: say what you believe is going on before you touch anything.")
	w.quotedOr("Smallest intervention", b.Probe.Intervention,
		"Not written down: choose the smallest step that would prove or disprove the hypothesis.")
	w.quotedOr("Feedback", b.Probe.Feedback,
		"Not written down: say what you will watch, and how soon it will tell.")
	w.quotedOr("Stabilised when", cmp.Or(b.Probe.Stabilised, b.Acceptance.Text),
		"Not written down: say what must hold before this counts as under control.")
	w.section("How to go about it", b.Directive)
	w.quoted("Further notes", b.Notes)
	b.dependencies(w, "What bears on the hypothesis")
	b.commands(w)
	b.waiting(w)
}

func (b *Briefing) acceptance(w *page) {
	if b.Acceptance.isOneScript() {
		w.section("Acceptance criteria", "This script passes:")
		w.command(b.Acceptance.Checks[0].Text)
		return
	}
	w.quotedOr("Acceptance criteria", b.Acceptance.Text,
		"None are written down: agree on how it will be known to work before you start.")
	b.commands(w)
}

// commands lists the verification commands, and what looked like one and is not.
func (b *Briefing) commands(w *page) {
	if len(b.Acceptance.Checks) == 0 {
		return
	}
	w.heading("Verification commands found in them")
	for _, c := range b.Acceptance.Checks {
		if c.Class == criteria.Runnable {
			w.command(c.Text)
			continue
		}
		w.linef("- %s: `%s`: %s", c.Class, oneLine(c.Text), oneLine(c.Reason))
	}
}

func (b *Briefing) dependencies(w *page, heading string) {
	if len(b.ClosedDependencies) == 0 {
		return
	}
	w.heading(heading)
	if least := b.Upstream.least(); len(b.ClosedDependencies) > 1 && len(least) > 0 {
		w.line(strings.Join(least, " · "))
	}
	for _, d := range b.ClosedDependencies {
		w.blank()
		w.linef("### %s %s", d.ID, oneLine(d.Title))
		w.line(d.facts())
		if d.CloseReason != "" {
			w.quote("Closed: " + d.CloseReason)
		}
		if d.Checkpoint != "" {
			w.quote(d.Checkpoint)
		}
		if d.Ran != "" {
			w.quote("Evidence: " + d.Ran)
		}
	}
}

func (d Dependency) facts() string {
	facts := []string{"direct"}
	if d.Distance > 1 {
		facts[0] = fmt.Sprintf("%d steps away", d.Distance)
	}
	facts = append(facts, "surprise "+signals.Decimal(d.Surprise))
	if d.Confidence != "" {
		facts = append(facts, "confidence "+d.Confidence)
	}
	if day := d.evidenceDay(); day != "" {
		facts = append(facts, day)
	}
	return strings.Join(facts, " · ")
}

func (b *Briefing) waiting(w *page) {
	if len(b.Dependents) == 0 {
		return
	}
	w.heading("Waiting for this issue")
	w.refs(b.Dependents)
}

// next says what to do.
func (p *page) next(steps []Step) {
	p.heading("Next")
	for _, step := range steps {
		p.linef("- %s: `%s`", step.Why, commandLine(step.Argv))
	}
}

// omitted ends a text: in the last line, what was left out.
func (p *page) omitted(omitted []Omission) {
	if len(omitted) == 0 {
		return
	}
	p.blank()
	p.line("Left out: " + strings.Join(leftOut(omitted), "; "))
}

// leftOut names what is left out, once for each command that shows it.
func leftOut(omitted []Omission) []string {
	var parts, what []string
	for i, o := range omitted {
		what = append(what, o.What)
		if i+1 < len(omitted) && slices.Equal(omitted[i+1].Argv, o.Argv) {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s (`%s`)", strings.Join(what, ", "), commandLine(o.Argv)))
		what = nil
	}
	return parts
}
