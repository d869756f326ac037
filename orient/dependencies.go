package orient

import (
	"fmt"
	"slices"
	"strings"

	"stig/internal/visible"
	"stig/signals"
)

// Kinds of omissions that a depth may take back.
const (
	kindCheckpoints = "checkpoints of farther dependencies"
	kindFarther     = "farther dependencies"
)

// order puts the direct dependencies before the farther ones, each group as it is
// given. Of farther ones only those that left something to read are kept, and of
// their checkpoints what was learned; the rest are named. full keeps everything.
func (b *Briefing) order(all []Dependency, full bool) {
	b.ClosedDependencies = make([]Dependency, 0, len(all))
	for _, d := range all {
		if d.Distance == 1 {
			b.ClosedDependencies = append(b.ClosedDependencies, d)
		}
	}
	for _, d := range all {
		switch {
		case d.Distance == 1:
			continue
		case full:
		case !d.left(b.Issue.ID):
			b.Farther = append(b.Farther, d.ID)
			continue
		case d.Checkpoint != "":
			d.Checkpoint, d.Learned, d.held = "", d.learned, true
		}
		b.ClosedDependencies = append(b.ClosedDependencies, d)
	}
	b.omitHeld()
	if len(b.Farther) > 0 {
		b.omitKind(kindFarther, "why "+count(len(b.Farther), "farther dependency")+" closed", "--full")
	}
}

// omitHeld says how many checkpoints are held back.
func (b *Briefing) omitHeld() {
	held := 0
	for _, d := range b.ClosedDependencies {
		if d.held {
			held++
		}
	}
	b.Omitted = slices.DeleteFunc(b.Omitted, func(o Omission) bool { return o.kind == kindCheckpoints })
	if held > 0 {
		b.omitKind(kindCheckpoints, count(held, "checkpoint")+" of farther dependencies", "--full")
	}
}

// left reports whether a dependency left more than a close reason: an estimate, a
// finding, surprise, or a word on the issue of that id.
func (d Dependency) left(id string) bool {
	return d.Checkpoint != "" || d.Surprise > 0 || d.Confidence != "" || d.bearsOn(id) || names(d.CloseReason, id)
}

// dependencies shows what finished work left: the direct ones, then the farther.
func (b *Briefing) dependencies(w *page, heading string) {
	if len(b.ClosedDependencies) == 0 && len(b.Farther) == 0 {
		return
	}
	w.heading(heading)
	if least := b.Upstream.least(); len(b.ClosedDependencies) > 1 && len(least) > 0 {
		w.line(strings.Join(least, " · "))
	}
	direct := slices.IndexFunc(b.ClosedDependencies, func(d Dependency) bool { return d.Distance > 1 })
	if direct < 0 {
		direct = len(b.ClosedDependencies)
	}
	showAll(w, b.ClosedDependencies[:direct], "Also closed: ")
	showAll(w, b.ClosedDependencies[direct:], "Also closed, farther away: ")
	if len(b.Farther) > 0 {
		w.blank()
		w.line("Farther, with nothing but a close reason: " + strings.Join(b.Farther, ", "))
	}
}

// showAll shows dependencies, and in one line those of which only the titles are
// left to show.
func showAll(w *page, dependencies []Dependency, also string) {
	var bare []string
	for _, d := range dependencies {
		if d.isBare() {
			bare = append(bare, strings.TrimSpace(d.ID+" "+visible.OneLine(d.Title)))
			continue
		}
		d.show(w)
	}
	if len(bare) > 0 {
		w.blank()
		w.line(also + strings.Join(bare, "; "))
	}
}

func (d Dependency) show(w *page) {
	w.blank()
	w.linef("### %s %s", d.ID, visible.OneLine(d.Title))
	w.line(d.facts())
	if d.CloseReason != "" && !d.wordless {
		w.quote("Closed: " + d.CloseReason)
	}
	if d.Checkpoint != "" {
		w.quote(d.Checkpoint)
	}
	if d.Learned != "" {
		w.quote("What was learned: " + d.Learned)
	}
	if d.Ran != "" {
		w.quote("Evidence: " + d.Ran)
	}
}

// isBare reports whether there is nothing to show of a dependency but its title.
func (d Dependency) isBare() bool {
	return (d.wordless || d.CloseReason == "") && d.Checkpoint == "" && d.Learned == "" && d.Ran == "" && !d.assessed && d.Confidence == ""
}

// isBareReason reports whether a close reason says no more than that the issue is
// closed.
func isBareReason(reason string) bool {
	word := strings.ToLower(strings.Trim(visible.OneLine(reason), ".! "))
	return slices.Contains([]string{"", "close", "closed", "complete", "completed", "done", "fixed", "resolved", "finished", "implemented"}, word)
}

func (d Dependency) facts() string {
	facts := []string{"direct"}
	if d.Distance > 1 {
		facts[0] = fmt.Sprintf("%d steps away", d.Distance)
	}
	if d.assessed {
		facts = append(facts, "surprise "+signals.Decimal(d.Surprise))
	}
	if d.Confidence != "" {
		facts = append(facts, "confidence "+d.Confidence)
	}
	if day := d.evidenceDay(); day != "" {
		facts = append(facts, day)
	}
	if d.wordless {
		facts = append(facts, "closed without a reason")
	}
	return strings.Join(facts, " · ")
}
