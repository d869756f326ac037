package orient

import (
	"fmt"
	"strings"
	"time"

	"stig/internal/visible"
	"stig/signals"
)

// Shown is the last evidence run for the claims of an issue.
type Shown struct {
	Date    string `json:"date,omitempty"`     // YYYY-MM-DD
	AgeDays int    `json:"age_days,omitempty"` // whole days since Date
	Text    string `json:"text"`

	toCome bool // Date is in the future
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
		when = "in the future"
	}
	return fmt.Sprintf("What was run to show it (%s, %s)", s.Date, when)
}

// Evidence summarises how well the claims of the dependencies are verified, according to their
// signal tables.
type Evidence struct {
	Weakest    string   `json:"weakest,omitempty"` // confidence
	WeakestIn  []string `json:"weakest_in"`        // ids
	Oldest     string   `json:"oldest,omitempty"`  // YYYY-MM-DD
	OldestIn   []string `json:"oldest_in"`
	OldestDays int      `json:"oldest_days"`
	Unrecorded []string `json:"unrecorded"` // ids whose tables have no confidence
	Undated    []string `json:"undated"`    // ids with a confidence but no evidence date
}

// evidenceOf finds the weakest and the oldest evidence of finished dependencies.
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

// keepLeast keeps the least value and the ids that have it.
func keepLeast(least *string, in *[]string, value, id string, compare func(a, b string) int) {
	switch order := compare(value, *least); {
	case *least == "" || order < 0:
		*least, *in = value, []string{id}
	case order == 0:
		*in = append(*in, id)
	}
}

// least returns a line for the weakest confidence and one for the oldest evidence.
func (e Evidence) least() (lines []string) {
	if e.Weakest != "" {
		lines = append(lines, fmt.Sprintf("weakest confidence: %s (%s)", e.Weakest, strings.Join(e.WeakestIn, ", ")))
	}
	if e.Oldest != "" {
		lines = append(lines, fmt.Sprintf("oldest evidence: %s, %s (%s)", e.Oldest, ago(e.OldestDays), strings.Join(e.OldestIn, ", ")))
	}
	return lines
}

// evidenceDay says when a dependency was last verified; "" if its table does not say.
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

// age returns the number of whole days since the start of a UTC day. It is 0 for tomorrow,
// which may have begun in another time zone. ok is false for later and invalid days.
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
