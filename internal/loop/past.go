package loop

import (
	"cmp"
	"regexp"
	"slices"
	"sync"
	"time"

	"stig/internal/clone"
)

// Past is the history of one issue from the run records, by worker.
type Past struct {
	By   map[string]*Tries
	Last *clone.Run // the last ended run of any worker; nil for none
}

// Tries are the runs of one worker on one issue since it was closed or waited for an answer.
type Tries struct {
	Attempts int         // failed runs since its last progress, or since a person was asked
	Passes   int         // runs since a person was asked that did not close it
	Until    time.Time   // the worker does not try the issue again before
	Failures []clone.Run // the failed attempts
	Last     *clone.Run  // the last ended run; nil for none
	Asked    bool        // a person was asked about the last run; other workers may still take the issue

	later int // consecutive runs that were delayed or lost their claim
	again int // consecutive rejections with the same message
}

// PastOf returns the history of each issue, without runs beside others. runs are in order of their
// starts.
func PastOf(runs []clone.Run, now time.Time) map[string]*Past {
	all := map[string]*Past{}
	for i, r := range runs {
		if r.Issue == "" || r.Outcome == "" || r.IsBesideOthers() {
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
	if r.Asked && !r.Spared || o == clone.OutcomeClosed || o == clone.OutcomeWaiting || o == clone.OutcomeInReview || p.By == nil {
		p.By = map[string]*Tries{} // what any worker did before no longer counts
	}
	t := p.By[r.Actor]
	if t == nil || r.Asked {
		t = &Tries{}
		p.By[r.Actor] = t
	}
	t.add(r, now)
	p.Last = r
}

func (t *Tries) add(r *clone.Run, now time.Time) {
	o := clone.Outcome(r.Outcome)
	if o != clone.OutcomeLater && o != clone.OutcomeLost {
		t.later = 0
	}
	if t.Last != nil && r.Refused != "" && alike(*t.Last, *r) {
		t.again++
	} else {
		t.again = 0
	}
	t.Last, t.Asked = r, r.Asked && r.Spared
	switch {
	case r.Asked, o == clone.OutcomeClosed, o == clone.OutcomeWaiting, o == clone.OutcomeInReview:
	case o.IsFailure():
		t.Attempts++
		t.Failures = append(t.Failures, *r)
		t.Until = r.Ended.Add(BackOff(t.Attempts))
	case o.IsPass():
		t.Passes++
		t.Attempts, t.Failures, t.Until = 0, nil, time.Time{}
		if t.again > 0 { // no progress: others come first
			t.Until = r.Ended.Add(BackOff(t.again))
		}
	case o == clone.OutcomeLater, o == clone.OutcomeLost: // a command that gives its issue back is not started again at once
		t.later++
		t.Until = r.Ended.Add(BackOff(t.later))
	}
	if r.Ended.After(now) { // the clock was set back since: do not wait
		t.Until = time.Time{}
	}
}

// Of returns the tries of a worker; the zero value for none.
func (p *Past) Of(worker string) Tries {
	if p == nil || p.By[worker] == nil {
		return Tries{}
	}
	return *p.By[worker]
}

// Tried returns the number of attempts and passes of all workers.
func (p *Past) Tried() (attempts, passes int) {
	if p != nil {
		for _, t := range p.By {
			attempts, passes = attempts+t.Attempts, passes+t.Passes
		}
	}
	return attempts, passes
}

// Failures returns the failed attempts of all workers, ordered by start.
func (p *Past) Failures() (list []clone.Run) {
	for _, t := range p.By {
		list = append(list, t.Failures...)
	}
	slices.SortFunc(list, func(a, b clone.Run) int { return a.Started.Compare(b.Started) })
	return list
}

// Limits are how many times one worker tries one issue within Window.
type Limits struct{ Attempts, Passes int }

func (l Limits) reached(attempts, passes int) bool {
	return attempts >= l.Attempts || passes >= l.Passes
}

// Spent reports whether a worker must leave an issue alone: it has used up its own tries, or
// all workers together have used up the tries of two.
func (p *Past) Spent(worker string, l Limits) bool {
	t := p.Of(worker)
	return l.reached(t.Attempts, t.Passes) || p.isSpent(l)
}

// isSpent reports whether all workers together used up the tries of two.
func (p *Past) isSpent(l Limits) bool {
	attempts, passes := p.Tried()
	return l.reached(attempts/2, passes/2)
}

// Turn is who is next on an issue that a worker leaves alone.
type Turn int

const (
	TurnOthers Turn = iota // another worker
	TurnPerson             // a person: nobody else tries it before an answer
	TurnSpared             // a person for this worker; another worker may still take it
)

// TurnAfter returns who is next on an issue after a worker used up its tries: a person, if
// another worker used up its own or all together those of two; another worker, if one is
// running that serves the issue.
func (p *Past) TurnAfter(worker string, l Limits, served bool) Turn {
	if p.isSpent(l) {
		return TurnPerson
	}
	for name, t := range p.By {
		if name != worker && (t.Asked || l.reached(t.Attempts, t.Passes)) {
			return TurnPerson
		}
	}
	if served {
		return TurnOthers
	}
	return TurnSpared
}

// mostBackOff is the maximum back-off after failed attempts.
const mostBackOff = time.Hour

// BackOff returns how long an issue is left alone after failed attempts: 1 minute after the
// first, doubled each time, at most an hour.
func BackOff(attempts int) time.Duration {
	if attempts < 1 {
		return 0
	}
	return min(time.Minute<<min(attempts-1, 6), mostBackOff)
}

const (
	within    = time.Minute      // maximum time between runs that fail in the same way
	active    = time.Hour        // an actor with a run in this time counts as a worker
	mostPause = 15 * time.Minute // maximum pause of all workers
)

// CorrelatedFailures says that every worker fails in the same way.
type CorrelatedFailures struct {
	Until  time.Time   // all workers pause until then; zero for no pause
	Said   string      // the last line of their output, or the message that rejected their work
	Runs   []clone.Run // the consecutive failed runs
	Rounds int         // how many times all failed again
}

// FindCorrelated examines the last runs of all actors. If every active worker failed within a
// minute in the same way, with the same last line or exit code 75, on at least two issues, the
// cause is not an issue. The same holds if their work is rejected with the same message,
// however long that took. All workers then pause: for 1 minute, doubled each time it continues,
// at most 15 minutes.
func FindCorrelated(runs []clone.Run, now time.Time) CorrelatedFailures {
	ended := slices.DeleteFunc(slices.Clone(runs), func(r clone.Run) bool {
		return r.Outcome == "" || r.Task == clone.BestOfTask || r.Outcome == string(clone.OutcomeStopped) || r.Outcome == string(clone.OutcomeLost) || r.Outcome == string(clone.OutcomeRegated)
	})
	slices.SortStableFunc(ended, func(a, b clone.Run) int { return a.Ended.Compare(b.Ended) })
	if len(ended) == 0 {
		return CorrelatedFailures{}
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
		if len(issues) < 2 || len(who) < len(workers) || last.Refused == "" && burst[need-1].Ended.Sub(burst[0].Ended) > within {
			continue
		}
		rounds := (len(streak) - k) / max(1, len(workers))
		pause := min(time.Minute<<min(rounds, 4), mostPause)
		found := CorrelatedFailures{Until: last.Ended.Add(pause), Said: cmp.Or(last.Refused, last.Said), Runs: streak, Rounds: rounds}
		if last.Ended.After(now) {
			found.Until = time.Time{} // the clock was set back
		}
		return found
	}
	return CorrelatedFailures{}
}

var digits = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// alike reports whether two runs failed in the same way: both asked to be delayed, both printed
// the same last line, or the work of both was rejected with the same message. A run without any
// of these matches none.
func alike(a, b clone.Run) bool {
	same := func(a, b string) bool { return digits().ReplaceAllString(a, "0") == digits().ReplaceAllString(b, "0") }
	if a.Refused != "" || b.Refused != "" {
		return same(a.Refused, b.Refused)
	}
	fails := func(r clone.Run) bool {
		return r.Outcome == string(clone.OutcomeFailed) || r.Outcome == string(clone.OutcomeLater)
	}
	if !fails(a) || !fails(b) || a.Exit != b.Exit {
		return false
	}
	return a.Exit == clone.ExitLater || a.Said != "" && same(a.Said, b.Said)
}
