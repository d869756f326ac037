package loop

import (
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
