package orient

import (
	"strings"
	"unicode/utf8"

	"stig/internal/visible"
	"stig/signals"
)

const (
	// keptSeen is how many issues and memories a briefing shows of those that are like
	// its issue.
	keptSeen = 3
	// leastAlike is the score from which on they are alike: in stores in use, most issues
	// below it share words and no subject.
	leastAlike = 0.25
	// mostSearched is the size of a store in bytes that a briefing searches; of a larger
	// one it names the command that does. A search takes about as long as to read it.
	mostSearched = 32 << 20
)

// seenBefore asks the whole store about what the issue is about. What the briefing shows
// anyway is not among the answers.
func (a assembly) seenBefore(b *Briefing) ([]Known, error) {
	if b.Depth != signals.PlanningDepthDeep && b.Depth != signals.PlanningDepthProbe {
		return []Known{}, nil
	}
	if a.file.Size() > mostSearched && !a.full {
		b.Omitted = append(b.Omitted, Omission{What: "what was seen before", Argv: []string{"stig", "recall", "--like", b.Issue.ID}})
		return []Known{}, nil
	}
	list, _, err := Recall(a.file, RecallRequest{Like: b.Issue.ID, Except: b.named(), Limit: keptSeen, Least: leastAlike})
	return list, err
}

// named are the ids of the other issues that a briefing shows.
func (b *Briefing) named() (ids []string) {
	ids = append(ids, b.Farther...)
	if b.Epic != nil {
		ids = append(ids, b.Epic.ID)
	}
	for _, d := range b.ClosedDependencies {
		ids = append(ids, d.ID)
	}
	for _, r := range b.Related {
		ids = append(ids, r.ID)
	}
	for _, blocker := range b.OpenBlockers {
		ids = append(ids, blocker.ID)
	}
	for _, r := range b.Dependents {
		ids = append(ids, r.ID)
	}
	if b.Children != nil {
		for _, child := range b.Children.Open {
			ids = append(ids, child.ID)
		}
	}
	return ids
}

// seen shows what the store knows of issues like this one.
func (b *Briefing) seen(w *page) {
	if len(b.Seen) == 0 {
		return
	}
	w.heading("Seen before")
	for _, k := range b.Seen {
		about := k.ID + " " + visible.OneLine(k.Title) + " " + parenthesised(k.Status)
		if k.Kind == KindMemory {
			about = "memory " + k.ID
		}
		if k.Passage != "" {
			about = strings.TrimSpace(about) + ": " + visible.OneLine(k.Passage)
		}
		w.line("- " + strings.TrimSpace(about))
	}
}

func seenSize(k Known) int { return utf8.RuneCountInString(k.ID + k.Title + k.Passage) }
