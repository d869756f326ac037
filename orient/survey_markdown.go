package orient

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stig/internal/clone"
	"stig/internal/visible"
	"stig/signals"
)

// widest is the maximum length of a title or a first line in a survey, in characters.
const widest = 100

// clip shortens a line, and ends a shortened one with "…".
func clip(line string, most int) string {
	runes := []rune(line)
	if len(runes) <= most {
		return line
	}
	return strings.TrimSpace(string(runes[:most-1])) + "…"
}

func title(text string) string { return clip(visible.OneLine(text), widest) }

// Markdown renders a survey in the order of action: the next step with its reason, what holds
// people up, what can be taken, then the rest.
func (s *Survey) Markdown() string {
	w := &page{}
	for _, step := range s.Next {
		w.linef("Next: `%s`: %s", commandLine(step.Argv), visible.OneLine(step.Why))
	}
	w.blank()
	w.linef("# %s: %d unclosed, %d closed", visible.Counted(s.Counts.Total, "issue"), s.Counts.Unclosed, s.Counts.Closed)
	s.countsPart(w)
	if s.Inbox > 0 {
		w.blank()
		w.linef("%s in your inbox: `stig inbox`", visible.Counted(s.Inbox, "item"))
	}
	if s.ToLand != "" {
		w.blank()
		w.line(s.ToLand)
	}
	own, others := s.claims()
	if s.As != "" {
		w.heading("Held by " + visible.OneLine(s.As))
		w.claims(own)
		if len(own) == 0 {
			w.line("Nothing.")
		}
	}
	s.attentionPart(w, "What holds people up", Attention.holds)
	s.readyPart(w)
	s.epicsPart(w)
	if others = slices.DeleteFunc(others, func(c Claim) bool { return c.Stale }); len(others) > 0 { // stale ones are shown above
		w.heading("In progress")
		w.claims(others)
	}
	s.workersPart(w)
	s.attentionPart(w, "Worth knowing", func(a Attention) bool { return !a.holds() })
	s.convergencePart(w)
	s.pathPart(w)
	w.omitted(s.Omitted)
	return w.String()
}

// countsPart shows the unclosed issues by state; the numbers add up to their total.
func (s *Survey) countsPart(w *page) {
	c := s.Counts
	if c.Unclosed > 0 {
		w.blank()
		standing := []number{
			{c.Ready, "ready"}, {c.InProgress, "in progress"}, {c.Asked, "waiting only for an answer"}, {c.Assigned, "assigned to others"},
			{c.Blocked, "blocked"}, {c.Deferred, "deferred"}, {c.Epics, "other epic"},
		}
		for _, status := range slices.Sorted(maps.Keys(s.statuses)) {
			standing = append(standing, number{s.statuses[status], "of status " + cmp.Or(visible.OneLine(status), `""`)})
		}
		standing = append(standing, number{c.Other, "pinned, channels or records of other programs"})
		w.line(strings.Join(numbers(standing), " · "))
	}
	if c.Uncounted > 0 {
		w.blank()
		w.linef("Not counted: %d unclosed that are ephemeral or templates.", c.Uncounted)
	}
}

// number is a count with its noun.
type number struct {
	n    int
	what string
}

// numbers returns the nonzero counts in words.
func numbers(list []number) (words []string) {
	for _, n := range list {
		switch {
		case n.n > 0 && n.what == "other epic": // other than those that are blocked, deferred or in progress
			words = append(words, visible.Counted(n.n, n.what))
		case n.n > 0:
			words = append(words, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return words
}

// claims separates the reader's claims from those of others.
func (s *Survey) claims() (own, others []Claim) {
	for _, c := range s.InProgress {
		if clone.BelongsTo(c.Assignee, s.As) {
			own = append(own, c)
			continue
		}
		others = append(others, c)
	}
	return own, others
}

func (p *page) claims(claims []Claim) {
	for _, c := range claims {
		who := cmp.Or(visible.OneLine(c.Assignee), nobody)
		if c.noted {
			who += ", " + c.Progress
		}
		if c.Held != nil {
			who = c.Held.Words()
		}
		p.linef("- %s %s: %s", c.ID, title(c.Title), who)
	}
}

// attentionPart lists the entries that sort selects; if rows are left out, it begins with the
// number of each rule.
func (s *Survey) attentionPart(w *page, heading string, sort func(Attention) bool) {
	shown := map[string]int{}
	var rows []Attention
	for _, a := range s.Attention {
		if sort(a) {
			rows = append(rows, a)
			shown[a.Rule]++
		}
	}
	var all []string
	cut := false
	for _, c := range s.Rules {
		if sort(Attention{Rule: c.Rule}) {
			all = append(all, fmt.Sprintf("%d × %s", c.Count, ruleWords(c.Rule)))
			cut = cut || shown[c.Rule] < c.Count
		}
	}
	if len(all) == 0 {
		return
	}
	w.heading(heading)
	if cut {
		w.line("In all: " + strings.Join(all, ", ") + ".")
		w.blank()
	}
	for _, a := range rows {
		w.linef("- %s (`%s`)", a.words(), commandLine(a.Argv))
	}
}

func (s *Survey) readyPart(w *page) {
	if len(s.Ready) == 0 {
		return
	}
	w.heading(partHeading("Ready", len(s.Ready), s.there.ready))
	if s.Scale != Medium {
		for _, e := range s.Ready {
			epic := ""
			if e.Epic != "" {
				epic = ", in " + e.Epic
			}
			w.entry(e, epic)
		}
		return
	}
	var epics []string // in the order of their best entries
	for _, e := range s.Ready {
		if !slices.Contains(epics, e.Epic) {
			epics = append(epics, e.Epic)
		}
	}
	for _, epic := range epics {
		first := slices.IndexFunc(s.Ready, func(e Entry) bool { return e.Epic == epic })
		w.blank()
		if epic == "" {
			w.line("In no epic:")
		} else {
			w.linef("In %s %s:", epic, title(s.Ready[first].epicTitle))
		}
		w.blank()
		for _, e := range s.Ready {
			if e.Epic == epic {
				w.entry(e, "")
			}
		}
	}
}

// partHeading returns the heading of a part, with how many of how many are shown if it is not
// complete.
func partHeading(name string, shown, all int) string {
	if shown == all {
		return name
	}
	return fmt.Sprintf("%s: %d of %d", name, shown, all)
}

func (p *page) entry(e Entry, epic string) {
	standing := ""
	if e.Unblocks > 0 {
		standing = fmt.Sprintf(", %d waiting for it", e.Unblocks)
	}
	if e.Upon != "" {
		standing += ", " + e.Upon
	}
	if e.Against != "" {
		standing += ", " + e.Against
	}
	p.linef("- P%d %s %s%s%s", e.Priority, e.ID, title(e.Title), standing, epic)
	if e.FirstLine != "" {
		p.linef("  > %s", e.FirstLine)
	}
}

func (s *Survey) epicsPart(w *page) {
	if len(s.Epics) == 0 {
		return
	}
	w.heading(partHeading("Epics", len(s.Epics), s.there.epics))
	for _, e := range s.Epics {
		w.linef("- %s %s: %s", e.ID, title(e.Title), e.words())
	}
}

// words returns the states of an epic's children, and what to do about them.
func (e EpicState) words() string {
	words := fmt.Sprintf("%d of %d closed", e.Closed, e.Total)
	switch {
	case e.Complete && e.Total == 1:
		words = fmt.Sprintf("its only child is closed: close the epic (`stig orient %s`)", e.ID)
	case e.Complete:
		words = fmt.Sprintf("all %d children are closed: close it (`stig orient %s`)", e.Total, e.ID)
	}
	if e.Undone != "" {
		words += "; " + e.Undone
	}
	rest := numbers([]number{
		{e.Ready, "ready"}, {e.InProgress, "in progress"}, {e.Asked, "waiting only for an answer"}, {e.Assigned, "assigned to others"},
		{e.Blocked, "blocked"}, {e.Deferred, "deferred"}, {e.Epics, "other epic"}, {e.Unknown, "of another status"},
		{e.Other, "no work"},
	})
	if len(rest) > 0 {
		words += "; " + strings.Join(rest, ", ")
	}
	if e.Surprise > 0 {
		words += "; surprise " + signals.Decimal(e.Surprise) + " in sum over " + fmt.Sprint(e.Rated)
	}
	return words
}

func (s *Survey) convergencePart(w *page) {
	if len(s.Convergence) == 0 {
		return
	}
	w.heading(partHeading("Convergence points", len(s.Convergence), s.there.convergence))
	for _, c := range s.Convergence {
		w.linef("- %s %s: %s closed, surprise %s of at most %s", c.ID, title(c.Title),
			visible.Counted(c.Blockers, "blocker"), signals.Decimal(c.Surprise), signals.Decimal(c.Limit))
	}
}

// pathEnds is the number of issues shown at each end of a path that is not shown in full.
const pathEnds = 3

func (s *Survey) pathPart(w *page) {
	if len(s.CriticalPath) < 2 {
		return
	}
	w.heading("Critical path")
	path := s.CriticalPath
	if s.cutsPath() {
		path = slices.Concat(path[:pathEnds], []string{"…"}, path[len(path)-pathEnds:])
	}
	w.linef("%s: %s", visible.Counted(len(s.CriticalPath), "step"), strings.Join(path, " → "))
}

func (s *Survey) cutsPath() bool { return !s.wholePath && len(s.CriticalPath) > 2*pathEnds }
