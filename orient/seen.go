package orient

import (
	"strings"
	"unicode/utf8"

	"stig/internal/visible"
	"stig/signals"
)

const (
	// keptSeen limits the similar issues and memories in a briefing.
	keptSeen = 3
	// leastAlike is the score from which issues are similar. In stores in use, most issues
	// below it share words but not a subject.
	leastAlike = 0.25
	// MostSearched is the maximum size in bytes of a store that a briefing searches; for a
	// larger one the briefing names the command. A search takes about as long as reading the
	// store.
	MostSearched = 32 << 20
)

// seenBefore searches the whole store, or an earlier copy of it, for issues similar to this one,
// except those that the briefing shows anyway.
func (a assembly) seenBefore(b *Briefing) ([]Known, error) {
	if b.Depth != signals.PlanningDepthDeep && b.Depth != signals.PlanningDepthProbe {
		return []Known{}, nil
	}
	file := a.file
	if file.IsExcerpt() && !a.full {
		if file = nil; a.copied != nil {
			file = a.copied()
		}
	}
	if file == nil || file.Size() > MostSearched && !a.full {
		b.Omitted = append(b.Omitted, Omission{What: "what was seen before", Argv: []string{"stig", "recall", "--like", b.Issue.ID}})
		return []Known{}, nil
	}
	if _, known := file.Index(b.Issue.ID); !known {
		return []Known{}, nil // it is newer than the copy
	}
	list, _, err := Recall(file, RecallRequest{Like: b.Issue.ID, Except: b.named(), Limit: keptSeen, Least: leastAlike})
	return list, err
}

// named returns the ids of the other issues in the briefing.
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

// seen shows what the store knows about similar issues.
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
