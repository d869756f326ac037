package orient

import (
	"fmt"
	"slices"
	"strings"

	"stig/signals"
)

// widest is how many characters of a title or a first line a survey shows.
const widest = 100

// clip shortens a line and says so with its last character.
func clip(line string, most int) string {
	runes := []rune(line)
	if len(runes) <= most {
		return line
	}
	return strings.TrimSpace(string(runes[:most-1])) + "…"
}

func title(text string) string { return clip(oneLine(text), widest) }

// Markdown renders a survey, in the order in which it is acted on.
func (s *Survey) Markdown() string {
	w := &page{}
	c := s.Counts
	w.linef("# %s, %d unclosed", count(c.Total, "issue"), c.Unclosed)
	w.blank()
	w.linef("%d ready · %d in progress · %d blocked · %d deferred · %d open · %d closed",
		c.Ready, c.InProgress, c.Blocked, c.Deferred, c.Open, c.Closed)
	own, others := s.claims()
	if s.As != "" {
		w.heading("Held by " + oneLine(s.As))
		w.claims(own)
		if len(own) == 0 {
			w.line("Nothing.")
		}
	}
	s.attentionPart(w)
	if len(others) > 0 {
		w.heading("In progress")
		w.claims(others)
	}
	if s.Scale == Large { // so many issues are first seen as epics
		s.epicsPart(w)
		s.readyPart(w)
	} else {
		s.readyPart(w)
		s.epicsPart(w)
	}
	s.convergencePart(w)
	s.pathPart(w)
	w.next(s.Next)
	w.omitted(s.Omitted)
	return w.String()
}

// claims parts those of the reader from those of others.
func (s *Survey) claims() (own, others []Claim) {
	for _, c := range s.InProgress {
		if s.As != "" && c.Assignee == s.As {
			own = append(own, c)
			continue
		}
		others = append(others, c)
	}
	return own, others
}

func (p *page) claims(claims []Claim) {
	for _, c := range claims {
		who := "nobody"
		if c.Assignee != "" {
			who = oneLine(c.Assignee)
		}
		p.linef("- %s %s (%s, %s)", c.ID, title(c.Title), who, c.Progress)
	}
}

func (s *Survey) attentionPart(w *page) {
	w.heading("Needs attention")
	if len(s.Attention) < s.there.attention {
		var counts []string
		for _, c := range s.Rules {
			counts = append(counts, fmt.Sprintf("%d %s", c.Count, c.Rule))
		}
		w.line(strings.Join(counts, " · "))
		w.blank()
	}
	for _, a := range s.Attention {
		place := a.Rule
		if a.ID != "" {
			place += ": " + a.ID
		}
		w.linef("- %s: %s (`%s`)", place, oneLine(a.Message), commandLine(a.Argv))
	}
	if s.there.attention == 0 {
		w.line("Nothing.")
	}
}

func (s *Survey) readyPart(w *page) {
	if len(s.Ready) == 0 {
		return
	}
	w.heading("Ready")
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

func (p *page) entry(e Entry, epic string) {
	standing := ""
	if e.Unblocks > 0 {
		standing = fmt.Sprintf(", %d waiting for it", e.Unblocks)
	}
	if e.Asked {
		standing += ", asked: waits for an answer"
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
	w.heading("Epics")
	for _, e := range s.Epics {
		facts := []string{fmt.Sprintf("%d of %d closed", e.Closed, e.Total)}
		for _, n := range []struct {
			number int
			what   string
		}{{e.Ready, "ready"}, {e.InProgress, "in progress"}, {e.Blocked, "blocked"}} {
			if n.number > 0 {
				facts = append(facts, fmt.Sprintf("%d %s", n.number, n.what))
			}
		}
		facts = append(facts, "surprise "+signals.Decimal(e.Surprise))
		if state := e.state(); state != "" {
			facts = append(facts, state)
		}
		w.linef("- %s %s: %s", e.ID, title(e.Title), strings.Join(facts, ", "))
	}
}

func (s *Survey) convergencePart(w *page) {
	if len(s.Convergence) == 0 {
		return
	}
	w.heading("Convergence points")
	for _, c := range s.Convergence {
		w.linef("- %s %s: %s closed, surprise %s of at most %s", c.ID, title(c.Title),
			count(c.Blockers, "blocker"), signals.Decimal(c.Surprise), signals.Decimal(c.Limit))
	}
}

// pathEnds is how many issues of a path are shown at each end when it is not
// shown whole.
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
	w.linef("%s: %s", count(len(s.CriticalPath), "step"), strings.Join(path, " → "))
}

func (s *Survey) cutsPath() bool { return !s.wholePath && len(s.CriticalPath) > 2*pathEnds }
