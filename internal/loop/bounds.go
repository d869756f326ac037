package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
)

// Window is the time in which the runs of an actor are counted.
const Window = 24 * time.Hour

// Bounds is what an actor may use within Window; 0 is no bound.
type Bounds struct {
	Runs int
	Time time.Duration // of its runs together
	Cost float64

	PerHour int // runs within an hour: it waits, and does not end
}

// Used is what an actor used within Window.
type Used struct {
	Runs int
	Time time.Duration
	Cost float64
}

// UsedBy counts the runs of an actor. What has no end counts as one that took no time.
// A run of the future counts, since the clock was set back: one that is further away than
// Window does not, or a clock that once was years ahead would keep the actor from work for as long.
func UsedBy(actor string, runs []clone.Run, now time.Time) (u Used) {
	for _, r := range runs {
		if r.Actor != actor || now.Sub(r.Started).Abs() > Window {
			continue
		}
		u.Runs++
		u.Cost += r.Cost
		if r.Ended.After(r.Started) {
			u.Time += r.Ended.Sub(r.Started)
		}
	}
	return u
}

// Reached names the bound that is used up; "" for none.
func (b Bounds) Reached(u Used) string {
	switch {
	case b.Runs > 0 && u.Runs >= b.Runs:
		return fmt.Sprintf("--max-runs: %d of %d runs within 24 hours", u.Runs, b.Runs)
	case b.Time > 0 && u.Time >= b.Time:
		return fmt.Sprintf("--max-time: its runs took %s of %s within 24 hours", u.Time.Round(time.Second), b.Time)
	case b.Cost > 0 && u.Cost >= b.Cost:
		return fmt.Sprintf("--max-cost: its runs cost %.2f of %.2f within 24 hours", u.Cost, b.Cost)
	}
	return ""
}

// Next is when the bound of runs an hour lets the actor run again; zero for now.
func (b Bounds) Next(actor string, runs []clone.Run, now time.Time) time.Time {
	if b.PerHour <= 0 {
		return time.Time{}
	}
	var starts []time.Time
	for _, r := range runs {
		if r.Actor == actor && r.Started.After(now.Add(-time.Hour)) && !r.Started.After(now) {
			starts = append(starts, r.Started)
		}
	}
	if len(starts) < b.PerHour {
		return time.Time{}
	}
	slices.SortFunc(starts, time.Time.Compare)
	return starts[len(starts)-b.PerHour].Add(time.Hour)
}

// RunLimit is how long a run may take: limit, and no longer than what is left of the time
// of all.
func (b Bounds) RunLimit(limit time.Duration, u Used) time.Duration {
	if left := b.Time - u.Time; b.Time > 0 && (limit <= 0 || left < limit) {
		return left
	}
	return limit
}

// Cost sums the costs in the lines that a command printed for the loop, such as
// "cost=0.42 USD" of the line "stig: cost=0.42 USD".
func Cost(lines []string) (sum float64, currency string) {
	for _, line := range lines {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "cost=")
		if !ok {
			continue
		}
		var cost float64
		unit := ""
		n, _ := fmt.Sscanf(text, "%f %s", &cost, &unit)
		if n > 0 && cost >= 0 && cost < 1e9 { // neither a refund nor no number
			sum += cost
		}
		if n > 1 && len(unit) <= 8 {
			currency = unit
		}
	}
	return sum, currency
}
