package loop

import (
	"fmt"
	"slices"
	"time"

	"stig/internal/clone"
	"stig/internal/visible"
)

// Window is the period in which an actor's runs are counted.
const Window = 24 * time.Hour

// Bounds are the limits of the loops of one stig work within Window; 0 is no limit.
type Bounds struct {
	Runs int           // per actor
	Time time.Duration // total of each actor's runs

	Cost   float64 // total of all actors
	Tokens int64   // total of all actors
	// CostUnknown allows runs whose cost is unknown despite a limit on Cost.
	CostUnknown bool

	PerHour int // runs of an actor per hour; at the limit it waits and does not end
}

// Used is what a loop has used within Window.
type Used struct {
	Runs  int
	Time  time.Duration
	Spent clone.Spent // by this loop and the others of the same stig work
	// Priced and Unpriced count the ended runs of these loops since stig work began, with and
	// without a known cost.
	Priced, Unpriced int
}

// UsedBy returns what an actor has used. A run without an end counts with no time. If the clock
// was set back, runs may lie in the future; they count, but only within Window, since otherwise
// a clock that was once years ahead would block the actor for years. crew are the actors of all
// loops of its stig work, which started at began.
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

// Reached returns which limit is reached; "" for none. A cost limit also counts as reached once
// it cannot be enforced: after the first run of unknown cost if no run has a cost, otherwise
// after the second.
func (b Bounds) Reached(u Used) string {
	switch {
	case b.Runs > 0 && u.Runs >= b.Runs:
		return fmt.Sprintf("--max-runs: %d of %d runs within 24 hours", u.Runs, b.Runs)
	case b.Time > 0 && u.Time >= b.Time:
		return fmt.Sprintf("--max-time: runs took %s of %s within 24 hours", u.Time.Round(time.Second), b.Time)
	case b.Cost > 0 && u.Spent.Sum() >= b.Cost:
		return fmt.Sprintf("--max-cost: runs cost %s of %s within 24 hours", clone.Amount(u.Spent.Sum()), clone.Amount(b.Cost))
	case b.Tokens > 0 && u.Spent.Tokens >= b.Tokens:
		return fmt.Sprintf("--max-tokens: runs used %d of %d tokens within 24 hours", u.Spent.Tokens, b.Tokens)
	case b.Cost > 0 && !b.CostUnknown && (u.Unpriced > 1 || u.Unpriced == 1 && u.Priced == 0):
		return "--max-cost: " + visible.Counted(u.Unpriced, "run") + " without a known cost: the limit cannot be enforced; " + costHint
	}
	return ""
}

// costHint is the hint for a cost limit that cannot be enforced.
const costHint = `give --max-tokens instead, cost.prices in .stig.cue, or --cost-unknown ok`

// Next returns when the hourly limit lets the actor run again; zero for now.
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

// RunLimit returns the time limit of the next run: limit, or the rest of the total time if that
// is less.
func (b Bounds) RunLimit(limit time.Duration, u Used) time.Duration {
	if left := b.Time - u.Time; b.Time > 0 && (limit <= 0 || left < limit) {
		return left
	}
	return limit
}

// used returns what this loop has used, in all projects that it works in.
func (l *loop) used(runs []clone.Run, now time.Time) Used {
	for _, other := range l.peers {
		more, _, err := other.runs()
		if err != nil {
			other.once(err.Error())
		}
		runs = slices.Concat(runs, more)
	}
	return UsedBy(l.name, l.Crew, l.began, runs, now)
}
