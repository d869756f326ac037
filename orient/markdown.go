package orient

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/signals"
)

// Markdown renders a briefing: urgent parts first, next steps at the end, and omissions in the
// last line. Quotations are texts of the issues; all else is from stig.
func (b *Briefing) Markdown() string {
	w := &page{}
	b.body(w)
	b.pointersLeft(w)
	w.quoted("What you learned from earlier work", b.Learned)
	w.next(b.Next)
	w.omitted(b.Omitted)
	return w.String()
}

// Background renders a briefing for the person who answers the question: without the question
// itself and the worker's next steps.
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
	b.urgent(w)
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
	w.line(strings.Join(b.facts(), " · "))
	if b.Assessed {
		w.line(b.Signals.Summary())
	}
	if len(b.Issue.Labels) > 0 {
		w.line("labels: " + visible.OneLine(strings.Join(b.Issue.Labels, ", ")))
	}
	if b.Epic != nil {
		w.linef("epic %s %s: %d of %d closed", b.Epic.ID, visible.OneLine(b.Epic.Title), b.Epic.Closed, b.Epic.Total)
	}
	b.references(w)
	b.relatedLine(w)
	for _, notice := range b.Notices {
		w.line(notice)
	}
	for _, alert := range b.Alerts {
		w.linef("alert %s: %s", alert.Rule, alert.Message)
	}
	for _, v := range b.Violations {
		w.linef("%s: notes:%d:%d: %s", v.Severity, v.Line, v.Column, v.Message)
	}
}

// facts returns the issue's state, and the depth of the briefing with its origin.
func (b *Briefing) facts() []string {
	facts := []string{cmp.Or(b.Issue.Status, "no status"), cmp.Or(b.Issue.Type, "no type"), fmt.Sprintf("P%d", b.Issue.Priority), b.Issue.holder()}
	if b.Issue.Deferred != "" {
		facts = append(facts, "deferred until "+b.Issue.Deferred)
	}
	if b.Held != nil {
		facts = append(facts, b.Held.Words())
	}
	if !b.Assessed {
		facts = append(facts, signals.NoTable)
	}
	if b.DepthFrom == depthFromDefault {
		return facts
	}
	return append(facts, "briefing "+b.Depth)
}

// holder returns who works on the issue, and since when if known.
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

// urgent shows what the reader must see first.
func (b *Briefing) urgent(w *page) {
	if b.Escalation.Question != "" {
		w.heading("Question that waits for a person")
		w.quote(b.Escalation.Question)
		if d := b.Escalation.Default; d != nil && d.Overdue {
			w.linef("%s. Option %d: %s", upperFirst(d.Words()), d.Option, visible.OneLine(d.Text))
		}
		w.line("Do not decide this yourself: work on what does not depend on it, or on another issue.")
	}
	b.answers(w)
	w.quoted("Close reason", b.Issue.CloseReason)
	if len(b.OpenBlockers) > 0 {
		var lines []string
		for _, blocker := range b.OpenBlockers {
			lines = append(lines, fmt.Sprintf("%s %s (%s)", blocker.ID, visible.OneLine(blocker.Title), blocker.describe()))
		}
		w.list("Blocked by", lines)
	}
	b.holds(w)
	b.others(w)
	if b.Divergence != nil {
		w.section("Surprise "+signals.Decimal(b.Divergence.Surprise), b.Divergence.Explained+".")
	}
	if b.Estimate != nil && b.Estimate.Text != "" {
		w.quoted(strings.TrimSpace("State estimate left here "+parenthesised(b.Estimate.Date)), b.Estimate.Text)
	}
	for _, e := range b.Also {
		if e.Text != "" {
			w.quoted(e.alsoHeading(), e.Text)
		}
	}
	if b.Shown != nil && b.Shown.Text != "" {
		w.quoted(b.Shown.heading(), b.Shown.Text)
	}
	b.conclusion(w)
}

// describe returns the state of a blocker, and how it blocks the issue.
func (b Blocker) describe() string {
	words := b.Status
	if b.Assignee != "" {
		words += ", assignee " + visible.OneLine(b.Assignee)
	}
	switch {
	case b.Above:
		words += "; it contains this issue, so neither can close: see stig cycles"
	case b.Through != "":
		words += "; holds up the epic " + b.Through
	}
	return words
}

const builtHeading = "What finished dependencies left, in the order they were built"

// texts shows the texts about the task.
func (b *Briefing) texts(w *page) {
	w.quoted("Description", b.Description)
	b.design(w)
	b.comments(w)
	b.traces(w)
	w.quoted("Further notes", b.Notes)
}

// design shows the design unless the description contains it.
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
	b.found(w)
	b.waiting(w)
}

func (b *Briefing) deepBody(w *page) {
	b.texts(w)
	b.childrenOf(w)
	b.dependencies(w, "What we know")
	b.found(w)
	b.seen(w)
	if !b.explorer {
		b.discover(w)
	}
	b.acceptance(w)
	b.waiting(w)
}

// discover lists the open questions, and says how to go about them.
func (b *Briefing) discover(w *page) {
	var open []string
	for _, item := range b.Discover {
		open = append(open, visible.OneLine(item.Text)+" ("+visible.OneLine(item.From)+")")
	}
	switch {
	case len(open) == 0 && b.Estimate == nil && !b.agreed():
		open = []string{"no open question is written down; find out what is uncertain: `stig checkpoint " + b.Issue.ID + " --question …`"}
	case len(open) == 0:
		open = []string{"no open question is written down"}
	}
	w.list("What we need to discover", open)
	w.section("How to go about it", b.Directive)
}

func (b *Briefing) probeBody(w *page) {
	b.texts(w)
	b.probed(w)
	if !b.explorer {
		w.section("How to go about it", b.Directive)
	}
	b.childrenOf(w)
	b.dependencies(w, "What bears on the hypothesis")
	b.found(w)
	b.seen(w)
	b.acceptance(w)
	b.waiting(w)
}

// probed shows the parts of a probe that the page does not show yet.
func (b *Briefing) probed(w *page) {
	above := visible.OneLine(strings.ReplaceAll(w.String(), "\n>", "\n"))
	for _, part := range b.Probe.parts() {
		if !strings.Contains(above, visible.OneLine(*part.text)) {
			w.quoted(part.name, *part.text)
		}
	}
}

// acceptance shows the acceptance criteria. An epic without criteria is done when its children
// are.
func (b *Briefing) acceptance(w *page) {
	switch {
	case b.Acceptance.isOneScript():
		w.heading("Acceptance criteria")
		w.command(b.Acceptance.Checks[0].Text)
		return
	case b.Acceptance.Text != "":
		w.quoted("Acceptance criteria", b.Acceptance.Text)
	case len(b.Acceptance.Beside) > 0:
		b.beside(w)
	case b.Acceptance.there || b.Children != nil || b.over():
	case b.untold:
		w.section("Acceptance criteria", "none, and no description; agree on both first.")
	default:
		w.section("Acceptance criteria", "none; agree on how to tell that it works.")
	}
	b.commands(w)
}

// beside shows where else the issue says how it is verified, with texts that are not shown
// elsewhere.
func (b *Briefing) beside(w *page) {
	var places []string
	for _, p := range b.Acceptance.Beside {
		places = append(places, visible.OneLine(p.Name)+" ("+p.Place+")")
	}
	w.section("Acceptance criteria", "the field is empty; see "+visible.Some(places, 5))
	for _, p := range b.Acceptance.Beside {
		w.quoted(visible.OneLine(p.Name), p.Text)
	}
}

// commands lists the verification commands and the manual checks. Commands that are only
// mentioned are counted, and listed only with Full.
func (b *Briefing) commands(w *page) {
	skipped := 0
	for _, c := range b.Acceptance.Checks {
		if c.Class == gate.Mention && !b.full {
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
		case c.Class != gate.Mention || b.full:
			w.linef("- %s: `%s`: %s", c.Class, visible.OneLine(c.Text), visible.OneLine(c.Reason))
		}
	}
	if skipped > 0 {
		w.blank()
		w.linef("Read as text and not run: %s of code (`stig verify %s --plan`)", visible.Counted(skipped, "piece"), b.Issue.ID)
	}
}

func (b *Briefing) waiting(w *page) {
	w.list("Waiting for this issue", refLines(b.Dependents))
}

func refLines(refs []beads.Ref) (lines []string) {
	for _, r := range refs {
		lines = append(lines, fmt.Sprintf("%s %s (%s)", r.ID, visible.OneLine(r.Title), r.Status))
	}
	return lines
}

// next shows the next steps.
func (p *page) next(steps []Step) {
	if len(steps) == 0 {
		return
	}
	p.heading("Next")
	for _, step := range steps {
		p.linef("- %s: `%s`", step.Why, commandLine(step.Argv))
	}
}

// pointersLeft lists URLs and paths in the issue's texts that the page does not show. A depth
// or a budget may have left out the only pointer to the work.
func (b *Briefing) pointersLeft(w *page) {
	shown, room := w.String(), widestRef
	var left []string
	for _, p := range b.pointers {
		if n := utf8.RuneCountInString(p) + 2; !strings.Contains(shown, p) && n <= room {
			left, room = append(left, p), room-n
		}
	}
	if len(left) > 0 {
		w.blank()
		w.line("Named in omitted texts: " + strings.Join(left, ", "))
	}
}

// omitted ends a text with a line about what was left out.
func (p *page) omitted(omitted []Omission) {
	if len(omitted) == 0 {
		return
	}
	p.blank()
	p.line("Left out: " + strings.Join(leftOut(omitted), "; "))
}

// leftOut returns the omissions, grouped by the command that shows them.
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
