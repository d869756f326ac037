package load

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Figures are how long the operations of a run took, and how many met others.
type Figures struct {
	Took      []time.Duration // of those that were done
	Conflicts int             // ended because another held it, was before, or wrote all the time
	Elapsed   time.Duration   // of the run
}

// Add notes one that was done.
func (f *Figures) Add(took time.Duration) { f.Took = append(f.Took, took) }

// Rate is how many were done a second.
func (f *Figures) Rate() float64 {
	if f.Elapsed <= 0 {
		return 0
	}
	return float64(len(f.Took)) / f.Elapsed.Seconds()
}

// Percentile gives how long at most so many of a hundred took.
func (f *Figures) Percentile(percent int) time.Duration {
	if len(f.Took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.Took))
	return sorted[(len(sorted)-1)*percent/100]
}

// Row is a row of a table of Markdown: rate, p50, p99, conflicts.
func (f *Figures) Row() string {
	return strings.Join([]string{fmt.Sprintf("%.1f", f.Rate()), millis(f.Percentile(50)), millis(f.Percentile(99)), fmt.Sprint(f.Conflicts)}, " | ")
}

func millis(d time.Duration) string {
	switch ms := float64(d.Microseconds()) / 1000; {
	case ms < 10:
		return fmt.Sprintf("%.1f", ms)
	default:
		return fmt.Sprintf("%.0f", ms)
	}
}
