package orient

import (
	"fmt"
	"strings"
	"time"

	"stig/internal/visible"
	"stig/signals"
)

// Shown is what was run last to show that the claims of an issue hold.
type Shown struct {
	Date    string `json:"date,omitempty"`     // YYYY-MM-DD
	AgeDays int    `json:"age_days,omitempty"` // whole days since Date
	Text    string `json:"text"`

	toCome bool // Date is
}

func (a assembly) shown() *Shown {
	e, ok := signals.LastEvidence(a.doc)
	if !ok {
		return nil
	}
	s := &Shown{Date: e.Date, Text: e.Text}
	days, ok := age(e.Date, a.rules.Now)
	s.AgeDays, s.toCome = days, !ok && e.Date != ""
	return s
}

func (s *Shown) heading() string {
	if s.Date == "" {
		return "What was run to show it"
	}
	when := ago(s.AgeDays)
	if s.toCome {
		when = "a day to come"
	}
	return fmt.Sprintf("What was run to show it (%s, %s)", s.Date, when)
}

// Evidence is how well the claims of the dependencies are shown to hold, as
// far as their tables say.
type Evidence struct {
	Weakest    string   `json:"weakest,omitempty"` // confidence
	WeakestIn  []string `json:"weakest_in"`        // ids
	Oldest     string   `json:"oldest,omitempty"`  // YYYY-MM-DD
	OldestIn   []string `json:"oldest_in"`
	OldestDays int      `json:"oldest_days"`
	Unrecorded []string `json:"unrecorded"` // ids whose tables name no confidence
	Undated    []string `json:"undated"`    // ids that name one, and no day of their evidence
}

// evidenceOf finds what of finished work is shown least.
func evidenceOf(dependencies []Dependency, now time.Time) Evidence {
	e := Evidence{WeakestIn: []string{}, OldestIn: []string{}, Unrecorded: []string{}, Undated: []string{}}
	for _, d := range dependencies {
		if d.Confidence == "" {
			e.Unrecorded = append(e.Unrecorded, d.ID)
			continue
		}
		keepLeast(&e.Weakest, &e.WeakestIn, d.Confidence, d.ID, signals.Weaker)
		if !d.aged {
			e.Undated = append(e.Undated, d.ID)
			continue
		}
		keepLeast(&e.Oldest, &e.OldestIn, d.Freshness, d.ID, strings.Compare)
	}
	e.OldestDays, _ = age(e.Oldest, now)
	return e
}

// keepLeast keeps the least value and who has it.
func keepLeast(least *string, in *[]string, value, id string, compare func(a, b string) int) {
	switch order := compare(value, *least); {
	case *least == "" || order < 0:
		*least, *in = value, []string{id}
	case order == 0:
		*in = append(*in, id)
	}
}

// least names the weakest confidence and the oldest evidence, a line for each.
func (e Evidence) least() (lines []string) {
	if e.Weakest != "" {
		lines = append(lines, fmt.Sprintf("weakest confidence: %s (%s)", e.Weakest, strings.Join(e.WeakestIn, ", ")))
	}
	if e.Oldest != "" {
		lines = append(lines, fmt.Sprintf("oldest evidence: %s, %s (%s)", e.Oldest, ago(e.OldestDays), strings.Join(e.OldestIn, ", ")))
	}
	return lines
}

// evidenceDay says when the evidence for a dependency was last seen; "" when
// its table does not.
func (d Dependency) evidenceDay() string {
	if d.Freshness == "" || d.Freshness == signals.EvidenceFreshness.Default() {
		return ""
	}
	text := "evidence of " + d.Freshness
	if d.aged {
		text += ", " + ago(d.ageDays)
	}
	return text
}

// age is how many whole days ago a day began, in UTC, 0 for the next one, which may have
// begun elsewhere; false for what is no day, and for later ones.
func age(day string, now time.Time) (days int, ok bool) {
	began, err := time.Parse(time.DateOnly, day)
	if err != nil || began.Sub(now) > 24*time.Hour {
		return 0, false
	}
	return max(0, int(now.Sub(began)/(24*time.Hour))), true
}

func ago(days int) string {
	if days == 0 {
		return "today"
	}
	return visible.Counted(days, "day") + " ago"
}
