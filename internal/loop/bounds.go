package loop

import (
	"fmt"
	"slices"
	"time"

	"stig/internal/clone"
	"stig/internal/visible"
)

// Window is the time in which the runs of an actor are counted.
const Window = 24 * time.Hour

// Bounds is what the loops of one stig work may use within Window; 0 is no bound.
type Bounds struct {
	Runs int           // of each actor
	Time time.Duration // of each actor's runs together

	Cost   float64 // of all actors together
	Tokens int64   // of all actors together
	// CostUnknown lets runs go on of which Cost cannot be counted.
	CostUnknown bool

	PerHour int // runs of an actor within an hour: it waits, and does not end
}

// Used is what a loop used within Window.
type Used struct {
	Runs  int
	Time  time.Duration
	Spent clone.Spent // by it and the loops of the same stig work
	// Priced and Unpriced are ended runs of these loops since that began, whose cost is
	// known, and is not.
	Priced, Unpriced int
}

// UsedBy counts the runs of an actor. What has no end counts as one that took no time.
// A run of the future counts, since the clock was set back: one that is further away than
// Window does not, or a clock that once was years ahead would keep the actor from work for as long.
// crew are the actors of all loops of its stig work, which began at that time.
func UsedBy(actor string, crew []string, began time.Time, runs []clone.Run, now time.Time) (u Used) {
	for _, r := range runs {
		if now.Sub(r.Started).Abs() > Window {
			continue
		}
		if r.Actor == actor {
			u.Runs++
			if r.Ended.After(r.Started) {
				u.Time += r.Ended.Sub(r.Started)
			}
		}
		if r.Actor != actor && !slices.Contains(crew, r.Actor) {
			continue
		}
		u.Spent.Add(r)
		switch {
		case r.Ended.IsZero() || r.Started.Before(began) || r.Program.PID == 0:
		case r.IsPriced():
			u.Priced++
		default:
			u.Unpriced++
		}
	}
	return u
}

// Reached names the bound that is used up; "" for none. A bound on the cost is used up where
// it cannot be kept: after the first run without a cost if none has one, else after the second.
func (b Bounds) Reached(u Used) string {
	switch {
	case b.Runs > 0 && u.Runs >= b.Runs:
		return fmt.Sprintf("--max-runs: %d of %d runs within 24 hours", u.Runs, b.Runs)
	case b.Time > 0 && u.Time >= b.Time:
		return fmt.Sprintf("--max-time: its runs took %s of %s within 24 hours", u.Time.Round(time.Second), b.Time)
	case b.Cost > 0 && u.Spent.Sum() >= b.Cost:
		return fmt.Sprintf("--max-cost: its runs cost %s of %s within 24 hours", clone.Amount(u.Spent.Sum()), clone.Amount(b.Cost))
	case b.Tokens > 0 && u.Spent.Tokens >= b.Tokens:
		return fmt.Sprintf("--max-tokens: its runs used %d of %d tokens within 24 hours", u.Spent.Tokens, b.Tokens)
	case b.Cost > 0 && !b.CostUnknown && (u.Unpriced > 1 || u.Unpriced == 1 && u.Priced == 0):
		return "--max-cost: " + visible.Counted(u.Unpriced, "run") + " without a known cost: the bound cannot be kept; " + costHint
	}
	return ""
}

// costHint is what to type where a bound on the cost cannot be kept.
const costHint = `give --max-tokens instead, cost.prices in .stig.cue, or --cost-unknown ok`

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

// used is what this loop used.
func (l *loop) used(runs []clone.Run, now time.Time) Used {
	return UsedBy(l.name, l.Crew, l.began, runs, now)
}
