package load

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Figures are the times of a run's operations, and how many conflicted.
type Figures struct {
	Took      []time.Duration // of the completed ones
	Conflicts int             // refused because another worker held the issue, was first, or kept writing
	Elapsed   time.Duration   // of the run
}

// Add records a completed operation.
func (f *Figures) Add(took time.Duration) { f.Took = append(f.Took, took) }

// Rate returns the completed operations per second.
func (f *Figures) Rate() float64 {
	if f.Elapsed <= 0 {
		return 0
	}
	return float64(len(f.Took)) / f.Elapsed.Seconds()
}

// Percentile returns the time within which that percentage of operations completed.
func (f *Figures) Percentile(percent int) time.Duration {
	if len(f.Took) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.Took))
	return sorted[(len(sorted)-1)*percent/100]
}

// Row returns a row of a Markdown table: rate, p50, p99, conflicts.
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
