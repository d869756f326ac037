package loop

import (
	"regexp"
	"slices"
	"sync"
	"time"

	"stig/internal/clone"
)

// Past is what the run records say of one issue, whichever actor ran.
type Past struct {
	Attempts int         // failed ones since it last got on, or since a person was asked
	Passes   int         // that did not get it closed since a person was asked
	Until    time.Time   // it is not tried again before
	Failures []clone.Run // the failed attempts
	Last     *clone.Run  // the last that ended; nil for none

	later int // runs in a row that were to be started later, or lost their claim
}

// PastOf reads the runs of each issue, but for those of explorers of a swarm. They are in the order of their starts.
func PastOf(runs []clone.Run, now time.Time) map[string]*Past {
	all := map[string]*Past{}
	for i, r := range runs {
		if r.Issue == "" || r.Outcome == "" || r.Task == clone.SwarmTask {
			continue
		}
		p := all[r.Issue]
		if p == nil {
			p = &Past{}
			all[r.Issue] = p
		}
		p.add(&runs[i], now)
	}
	return all
}

func (p *Past) add(r *clone.Run, now time.Time) {
	o := clone.Outcome(r.Outcome)
	if o != clone.OutcomeLater && o != clone.OutcomeLost {
		p.later = 0
	}
	switch {
	case r.Asked, o == clone.OutcomeClosed, o == clone.OutcomeWaiting:
		*p = Past{}
	case o.IsFailure():
		p.Attempts++
		p.Failures = append(p.Failures, *r)
		p.Until = r.Ended.Add(BackOff(p.Attempts))
	case o.IsPass():
		p.Passes++
		p.Attempts, p.Failures, p.Until = 0, nil, time.Time{}
	case o == clone.OutcomeLater, o == clone.OutcomeLost: // a command that gives its issue back is not started again at once
		p.later++
		p.Until = r.Ended.Add(BackOff(p.later))
	}
	if r.Ended.After(now) { // the clock was set back since: what was to wait waits no more
		p.Until = time.Time{}
	}
	p.Last = r
}

// mostBackOff is the longest time that an issue is left alone after a failed attempt.
const mostBackOff = time.Hour

// BackOff is how long an issue is left alone after so many failed attempts: 1 minute,
// and twice as long each time, an hour at most.
func BackOff(attempts int) time.Duration {
	if attempts < 1 {
		return 0
	}
	return min(time.Minute<<min(attempts-1, 6), mostBackOff)
}

const (
	within    = time.Minute      // of each other runs fail alike
	active    = time.Hour        // an actor that ran within it counts as a worker
	mostPause = 15 * time.Minute // that all workers pause
)

// Alike is that every worker fails in the same way.
type Alike struct {
	Until time.Time // all pause until then; zero where they need not
	Said  string    // the last line of their output
}

// FailsAlike looks at the last runs of all actors: where every worker that was active
// failed within a minute in the same way, with the same last line or exit code 75, on two
// issues at least, something is wrong that is not the fault of an issue. All pause: 1 minute, and
// twice as long each time it goes on, 15 minutes at most.
func FailsAlike(runs []clone.Run, now time.Time) Alike {
	ended := slices.DeleteFunc(slices.Clone(runs), func(r clone.Run) bool {
		return r.Outcome == "" || r.Outcome == string(clone.OutcomeStopped) || r.Outcome == string(clone.OutcomeLost)
	})
	slices.SortStableFunc(ended, func(a, b clone.Run) int { return a.Ended.Compare(b.Ended) })
	if len(ended) == 0 {
		return Alike{}
	}
	last := ended[len(ended)-1]
	from := len(ended)
	for from > 0 && alike(ended[from-1], last) {
		from--
	}
	streak := ended[from:]
	workers, issues := map[string]bool{}, map[string]bool{}
	for _, r := range ended {
		if r.Ended.After(last.Ended.Add(-active)) {
			workers[r.Actor] = true
		}
	}
	need := max(2, len(workers))
	for k := need; k <= len(streak); k++ {
		burst := streak[k-need : k]
		clear(issues)
		who := map[string]bool{}
		for _, r := range burst {
			issues[r.Issue], who[r.Actor] = true, true
		}
		if len(issues) < 2 || len(who) < len(workers) || burst[need-1].Ended.Sub(burst[0].Ended) > within {
			continue
		}
		rounds := (len(streak) - k) / max(1, len(workers))
		pause := min(time.Minute<<min(rounds, 4), mostPause)
		found := Alike{Until: last.Ended.Add(pause), Said: last.Said}
		if last.Ended.After(now) {
			found.Until = time.Time{} // the clock was set back
		}
		return found
	}
	return Alike{}
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// alike reports whether two runs failed in the same way: both asked to be started later, or
// both said the same. What says nothing else is like nothing.
func alike(a, b clone.Run) bool {
	fails := func(r clone.Run) bool {
		return r.Outcome == string(clone.OutcomeFailed) || r.Outcome == string(clone.OutcomeLater)
	}
	if !fails(a) || !fails(b) || a.Exit != b.Exit {
		return false
	}
	return a.Exit == clone.ExitLater || a.Said != "" && digits().ReplaceAllString(a.Said, "0") == digits().ReplaceAllString(b.Said, "0")
}
