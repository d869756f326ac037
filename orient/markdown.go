package orient

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/signals"
)

// Markdown renders a briefing: what is urgent first, what to do at the end,
// and in the last line what was left out. What stands in quotes are the words
// of issues; all else is stig's.
func (b *Briefing) Markdown() string {
	w := &page{}
	b.body(w)
	w.quoted("What you learned from earlier work", b.Learned)
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
	w.line(strings.TrimSpace("# " + b.Issue.ID + " " + visible.OneLine(b.Issue.Title)))
	w.blank()
	w.line(strings.Join(b.facts(), " · "))
	if b.Assessed {
		w.line(b.Signals.Summary())
	} else {
		w.line("no signals")
	}
	if len(b.Issue.Labels) > 0 {
		w.line("labels: " + visible.OneLine(strings.Join(b.Issue.Labels, ", ")))
	}
	if b.Epic != nil {
		w.linef("epic %s %s: %d of %d closed", b.Epic.ID, visible.OneLine(b.Epic.Title), b.Epic.Closed, b.Epic.Total)
	}
	b.relatedLine(w)
	for _, alert := range b.Alerts {
		w.linef("alert %s: %s", alert.Rule, alert.Message)
	}
	for _, v := range b.Violations {
		w.linef("%s: notes:%d:%d: %s", v.Severity, v.Line, v.Column, v.Message)
	}
}

// facts say where the issue stands, and how deep the briefing is and why.
func (b *Briefing) facts() []string {
	facts := []string{cmp.Or(b.Issue.Status, "no status"), cmp.Or(b.Issue.Type, "no type"), fmt.Sprintf("P%d", b.Issue.Priority), b.Issue.holder()}
	if b.Issue.Deferred != "" {
		facts = append(facts, "deferred until "+b.Issue.Deferred)
	}
	if b.Held != nil {
		facts = append(facts, b.Held.Words())
	}
	depth := "briefing " + b.Depth
	if b.DepthFrom == depthFromDefault {
		depth += " (default)"
	}
	return append(facts, depth)
}

// holder says who works on the issue, and since when as far as the store says it.
func (i Issue) holder() string {
	if i.Assignee == "" {
		return "unassigned"
	}
	who := "assignee " + visible.OneLine(i.Assignee)
	switch {
	case i.Started != "":
		who += " since " + i.Started
	case i.Changed != "" && !beads.IsClosed(i.Status):
		who += ", last change " + i.Changed
	}
	return who
}

// standing shows what must be seen before anything else.
func (b *Briefing) standing(w *page) {
	if b.Escalation.Question != "" {
		w.heading("Question that waits for a person")
		w.quote(b.Escalation.Question)
		if d := b.Escalation.Default; d != nil && d.Overdue {
			w.linef("Nobody answered in time. This is %s, %s; only a person may act on that.", d.Words(), visible.OneLine(d.Text))
		}
		w.line("Do not decide this yourself: work on what does not depend on it, or on another issue.")
	}
	b.answers(w)
	if len(b.OpenBlockers) > 0 {
		w.heading("Blocked by")
		for _, blocker := range b.OpenBlockers {
			w.linef("- %s %s (%s)", blocker.ID, visible.OneLine(blocker.Title), blocker.standing())
		}
	}
	b.holds(w)
	if b.Divergence != nil {
		w.heading("Surprise " + signals.Decimal(b.Divergence.Surprise) + ": the work so far left the description")
		w.line(upperFirst(b.Divergence.Explained) + ".")
	}
	if b.Estimate != nil && b.Estimate.Text != "" {
		w.heading(strings.TrimSpace("State estimate left here " + parenthesised(b.Estimate.Date)))
		w.quote(b.Estimate.Text)
	}
	for _, e := range b.Also {
		if e.Text != "" {
			w.heading(e.alsoHeading())
			w.quote(e.Text)
		}
	}
	if b.Shown != nil && b.Shown.Text != "" {
		w.heading(b.Shown.heading())
		w.quote(b.Shown.Text)
	}
}

// standing says how far a blocker is, and why it counts here.
func (b Blocker) standing() string {
	words := b.Status
	if b.Assignee != "" {
		words += ", assignee " + visible.OneLine(b.Assignee)
	}
	switch {
	case b.Above:
		words += "; it contains this issue, so that neither can close: see stig cycles"
	case b.Through != "":
		words += "; holds up the epic " + b.Through
	}
	return words
}

const builtHeading = "What finished dependencies left, direct ones first, in the order they were built"

// texts shows what was written about the task.
func (b *Briefing) texts(w *page) {
	w.quoted("Description", b.Description)
	b.design(w)
	b.comments(w)
	b.traces(w)
	w.quoted("Further notes", b.Notes)
}

// design shows the design, unless the description says the same.
func (b *Briefing) design(w *page) {
	if !b.designTold {
		w.quoted("Design", b.Design)
	}
}

func (b *Briefing) standardBody(w *page) {
	b.texts(w)
	b.acceptance(w)
	b.childrenOf(w)
	b.dependencies(w, builtHeading)
	b.waiting(w)
}

func (b *Briefing) deepBody(w *page) {
	b.texts(w)
	b.childrenOf(w)
	b.dependencies(w, "What we know")
	if len(b.ClosedDependencies) == 0 && len(b.Farther) == 0 {
		w.section("What we know", "No finished dependency left a trail: nothing is known but what stands above.")
	}
	b.found(w)
	b.seen(w)
	w.heading("What we need to discover")
	for _, item := range b.Discover {
		w.linef("- %s (%s)", visible.OneLine(item.Text), visible.OneLine(item.From))
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
	var missing []string
	for _, part := range []struct{ name, text string }{
		{"Hypothesis", b.Probe.Hypothesis}, {"Smallest intervention", b.Probe.Intervention},
		{"Feedback", b.Probe.Feedback}, {"Stabilised when", b.Probe.Stabilised},
	} {
		w.quoted(part.name, part.text)
		if part.text == "" {
			missing = append(missing, strings.ToLower(part.name))
		}
	}
	directive := b.Directive
	if len(missing) > 0 {
		directive = "Not written down: " + strings.Join(missing, ", ") + ". Write it into the checkpoint before you touch anything. " + directive
	}
	w.section("How to go about it", directive)
	b.design(w)
	b.comments(w)
	b.traces(w)
	w.quoted("Further notes", b.Notes)
	b.childrenOf(w)
	b.dependencies(w, "What bears on the hypothesis")
	b.seen(w)
	b.acceptance(w)
	b.waiting(w)
}

// acceptance shows what must hold at the end. An epic without criteria of its own
// is done when its children are.
func (b *Briefing) acceptance(w *page) {
	switch {
	case b.Acceptance.isOneScript():
		w.section("Acceptance criteria", "This script passes:")
		w.command(b.Acceptance.Checks[0].Text)
		return
	case b.Acceptance.Text != "":
		w.quoted("Acceptance criteria", b.Acceptance.Text)
	case b.Acceptance.there || b.Children != nil || b.over():
	case b.untold:
		w.section("Acceptance criteria", "Nothing but the title says what is to be done: agree on that, and on how it will be known to work, before you start.")
	default:
		w.section("Acceptance criteria", "None are written down: agree on how it will be known to work before you start.")
	}
	b.commands(w)
}

// commands lists the verification commands. What only looked like one is counted,
// and listed too where everything was asked for.
func (b *Briefing) commands(w *page) {
	skipped := 0
	for _, c := range b.Acceptance.Checks {
		if !c.Asked() && !b.full {
			skipped++
		}
	}
	if skipped < len(b.Acceptance.Checks) {
		w.heading("Verification commands found in them")
	}
	for _, c := range b.Acceptance.Checks {
		switch {
		case c.Class == gate.Runnable:
			w.command(c.Text)
		case c.Asked() || b.full:
			w.linef("- %s: `%s`: %s", c.Class, visible.OneLine(c.Text), visible.OneLine(c.Reason))
		}
	}
	if skipped > 0 {
		w.blank()
		w.linef("Read as text and not run: %s of code (`stig verify %s --plan`)", count(skipped, "piece"), b.Issue.ID)
	}
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
