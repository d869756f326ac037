package orient

import (
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/signals"
)

// How much of a dependency is shown. A budget reduces it level by level.
const (
	showWhole    = iota
	showOutline  // without the middles of long texts
	showSentence // the first sentence of the close reason
	showTitle
	showCount // only counted as left out
)

// cutDependencies reduces dependencies to a level, the farthest first; among equally far ones,
// the one built first.
func (b *Briefing) cutDependencies(level int, may func(Dependency) bool) cut {
	return cut{"dependencies", func(excess int) string {
		var order []int
		for i, d := range b.ClosedDependencies {
			if may(d) && d.level < level {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(x, y int) int {
			return b.ClosedDependencies[y].Distance - b.ClosedDependencies[x].Distance
		})
		freed := 0
		for _, i := range order {
			if freed < excess {
				freed += b.ClosedDependencies[i].reduce(level)
			}
		}
		b.dropCounted()
		if freed == 0 {
			return ""
		}
		return b.leftOfDependencies()
	}}
}

// dropCounted removes dependencies that are only counted, and the known items from them.
func (b *Briefing) dropCounted() {
	gone := map[string]bool{}
	b.ClosedDependencies = slices.DeleteFunc(b.ClosedDependencies, func(d Dependency) bool {
		if d.level == showCount {
			gone[d.ID] = true
			b.Farther = append(b.Farther, d.ID)
		}
		return d.level == showCount
	})
	b.Known = slices.DeleteFunc(b.Known, func(k Item) bool { return gone[k.From] })
}

// leftOfDependencies returns what is left out of the dependencies so far.
func (b *Briefing) leftOfDependencies() string {
	var words []string
	all, reduced := len(b.ClosedDependencies)+len(b.Farther), 0
	for _, d := range b.ClosedDependencies {
		if d.reduced {
			reduced++
		}
	}
	if len(b.Farther) > 0 {
		words = append(words, partOf(len(b.Farther), all, "closed dependency"))
	}
	if reduced > 0 {
		words = append(words, "parts of "+visible.Counted(reduced, "closed dependency"))
	}
	return strings.Join(words, ", ")
}

// reduce reduces a dependency to a level, and returns the number of freed characters.
func (d *Dependency) reduce(level int) (freed int) {
	had := d.size()
	d.level = level
	switch level {
	case showOutline:
		d.CloseReason = middleOut(d.CloseReason, keptOfReason)
		d.Checkpoint, d.Ran = middleOut(d.Checkpoint, keptOfTrail), middleOut(d.Ran, keptOfTrail)
	case showSentence:
		d.CloseReason, d.Checkpoint, d.Ran = firstSentence(d.CloseReason), "", ""
	case showTitle:
		d.CloseReason, d.Checkpoint, d.Ran = "", "", ""
	case showCount:
		return had
	}
	freed = had - d.size()
	d.reduced = d.reduced || freed > 0
	return freed
}

// firstSentence returns the first sentence of a text, shortened if it is long.
func firstSentence(text string) string {
	line := firstParagraph(text)
	for at := 0; ; {
		stop := strings.IndexAny(line[at:], ".!?;")
		if stop < 0 {
			return clip(line, keptOfSentence)
		}
		if at += stop + 1; at >= leastSentence && strings.HasPrefix(line[at:], " ") {
			return clip(strings.TrimSuffix(line[:at], ";"), keptOfSentence)
		}
	}
}

// dependencies shows the results of finished dependencies, in the order in which they were
// built.
func (b *Briefing) dependencies(w *page, heading string) {
	if len(b.ClosedDependencies) == 0 {
		return
	}
	w.heading(heading)
	if least := b.Upstream.least(); len(b.ClosedDependencies) > 1 && len(least) > 0 {
		w.line(strings.Join(least, " · "))
		w.blank()
	}
	for _, d := range b.ClosedDependencies {
		d.show(w)
	}
}

func (d Dependency) show(w *page) {
	w.linef("- %s (%s)", strings.TrimSpace(d.ID+" "+visible.OneLine(d.Title)), d.facts())
	var texts []string
	if d.CloseReason != "" && !d.wordless {
		texts = append(texts, "Closed: "+d.CloseReason)
	}
	if d.Checkpoint != "" {
		texts = append(texts, d.Checkpoint)
	}
	if d.Ran != "" {
		texts = append(texts, "Evidence: "+d.Ran)
	}
	if len(texts) > 0 {
		w.quote(strings.Join(texts, "\n\n"))
	}
}

// elsewhere lists the issues of other projects that an unclosed issue, or an epic above it,
// depends on.
func (a assembly) elsewhere(i int) (list []Elsewhere) {
	if a.graph.Closed(i) {
		return nil
	}
	for _, at := range a.graph.Above(i) {
		for _, dep := range a.file.At(at).Deps {
			if !dag.Blocks(dep.Type) || !dag.IsExternal(dep.On) {
				continue
			}
			if e := a.file.External(at, dep.On); e.Title != "" {
				list = append(list, Elsewhere{On: dep.On, Project: e.Project, ID: e.Issue, Title: e.Title, Status: e.Status, Done: e.Done, Commit: e.Commit, Why: e.Why,
					CloseReason: middleOut(e.CloseReason, keptOfReason), Checkpoint: middleOut(e.Checkpoint, keptOfTrail)})
			}
		}
	}
	return list
}

// others shows the issues of other projects that the issue depends on.
func (b *Briefing) others(w *page) {
	if len(b.Elsewhere) == 0 {
		return
	}
	w.heading("What it depends on in other projects")
	for _, e := range b.Elsewhere {
		facts := fmt.Sprintf("from project %s, %s", visible.OneLine(e.Project), visible.OneLine(e.Status))
		if e.Done {
			facts += ", published at " + e.Commit
		}
		w.linef("- %s (%s)", visible.OneLine(e.ID+" "+e.Title), facts)
		var texts []string
		if e.CloseReason != "" {
			texts = append(texts, "Closed: "+e.CloseReason)
		}
		if e.Checkpoint != "" {
			texts = append(texts, e.Checkpoint)
		}
		if len(texts) > 0 {
			w.quote(strings.Join(texts, "\n\n"))
		}
	}
}

func (d Dependency) facts() string {
	facts := []string{"direct"}
	if d.Distance > 1 {
		facts[0] = fmt.Sprintf("%d steps away", d.Distance)
	}
	if d.end != beads.EndDone {
		facts = append(facts, "not done: closed as "+d.end.String())
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
	return strings.Join(facts, ", ")
}
