package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/orient"
	"stig/signals"
)

// sensed is what a loop can do now, found without starting anything.
type sensed struct {
	order     []Candidate // to try, in order
	next      time.Time   // when the first waiting one becomes due; zero for none
	exhausted []string    // issues to ask a person about, since all attempts failed
	past      map[string]*Past
	asked     int            // issues that wait for an answer
	left      []string       // issues that this worker leaves to others after its tries
	others    []clone.Lease  // of other loops on their issues
	inReview  int            // issues that wait for reviewers
	full      bool           // as many requests are open as the configuration allows
	marked    map[string]int // branch → number of issues closed there that this store does not show yet
}

// mostCandidates is how many ready issues are examined further. The next look finds the rest.
const mostCandidates = 16

// sense reads the store once. It releases ended claims, unless in a dry run, and asks for no
// work.
func (l *loop) sense(ctx context.Context) (s sensed, err error) {
	a := l.fresh(ctx, "")
	sweep := service.SweepEnded
	if l.DryRun {
		sweep = service.WouldSweep
	}
	returned, err := sweep(ctx, a)
	if err != nil {
		return s, err
	}
	if l.DryRun {
		for _, id := range returned {
			l.tell(id, "would be released first, since its claim has ended, and can then be taken")
		}
	}
	runs, now, err := l.runs()
	if err != nil {
		return s, err
	}
	began := l.app.Now()
	file, err := l.store.Snapshot()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	l.reading = l.app.Now().Sub(began)
	graph := dag.New(file)
	l.acknowledge(ctx, file, graph)
	l.inboxIn(ctx, file, graph)
	worker, err := service.Worker(ctx, a, file, nil, l.name, now)
	if err != nil {
		return s, err
	}
	claims, judge, err := service.Judge(l.app, l.place, now).AsRead(func() (clone.Claims, error) { return l.place.Claims() })
	if err != nil {
		l.once(err.Error()) // the unreadable part was set aside
	}
	judge.InStore = service.Shows(file)
	requested, err := l.requested(file)
	if err != nil {
		return s, err
	}
	s.full = l.isFull(requested, claims, judge, nil)
	p := picker{requested: requested, loop: l, sensed: &s, now: now, matcher: l.filter.over(file, graph), own: ownRuns(runs, l.name), leases: map[string]clone.Lease{}, held: map[string]bool{}, fresh: map[string]time.Time{}, probation: clone.OnProbation(runs, l.name)}
	for _, lease := range claims.Leases {
		p.leases[lease.Issue] = lease
		p.held[lease.Issue] = lease.Actor != l.name && judge.Holds(lease)
		if lease.Run != "" && p.held[lease.Issue] {
			s.others = append(s.others, lease)
		}
	}
	if p.closed, err = service.ClosedElsewhere(a, l.store.Place(), &claims); err != nil {
		return s, err
	}
	answers, err := l.place.FreshAnswers()
	if err != nil {
		l.once(err.Error()) // without them their issues are taken at once
	}
	for _, fresh := range answers {
		p.fresh[fresh.Issue] = fresh.At.Add(clone.Reconsider)
	}
	s.past, s.marked = PastOf(runs, now), map[string]int{}
	list, err := p.pick(graph, worker)
	if err == nil {
		list, err = p.unfinished(list)
	}
	s.order, s.next = Choose(list, now)
	return s, err
}

// unmerged describes issues closed on other branches that have to be merged; "" for none.
func (s sensed) unmerged() string {
	var said []string
	for _, branch := range slices.Sorted(maps.Keys(s.marked)) {
		n, were := s.marked[branch], "were"
		if n == 1 {
			were = "was"
		}
		said = append(said, fmt.Sprintf("%s %s closed on branch %s, which this store does not show yet: merge %[3]s", visible.Counted(n, "issue"), were, branch))
	}
	return strings.Join(said, "; ")
}

// ownRuns returns the last ended run of an actor on each issue.
func ownRuns(runs []clone.Run, name string) map[string]clone.Run {
	own := map[string]clone.Run{}
	for _, r := range runs {
		if r.Actor == name && r.Issue != "" && r.Outcome != "" {
			own[r.Issue] = r
		}
	}
	return own
}

// picker creates candidates from ready issues.
type picker struct {
	*loop
	*sensed
	now    time.Time
	own    map[string]clone.Run // the actor's last run on each issue
	leases map[string]clone.Lease

	probation bool                      // the worker is on probation
	held      map[string]bool           // issues held by others, here or in another work tree
	requested map[string]signals.Review // issues with an open request
	fresh     map[string]time.Time      // until when a person may undo their answer on an issue
	closed    func(issue string) (clone.Done, bool)
	matcher
}

// pick creates candidates from ready issues, in graph order. It reads the texts of as few
// issues as possible.
func (p *picker) pick(graph *dag.Graph, worker dag.Worker) (list []Candidate, err error) {
	worker.Asked = func(i int) bool {
		waits, e := orient.Pending(p.file, []int{i}, p.name, p.app.Schema)
		err = errors.Join(err, e)
		return e == nil && waits[0]
	}
	worker.Reviewed = func(i int) string {
		if r := p.requested[p.file.At(i).ID]; r.Waits() {
			return r.Words()
		}
		return ""
	}
	free := 0
	for rank, i := range graph.Ready(p.now) {
		id := p.file.At(i).ID
		_, mine := p.own[id]
		if free >= mostCandidates && !p.Plan && !mine && p.sensed.past[id] == nil {
			continue
		}
		fits, e := p.fits(i)
		if err = errors.Join(err, e); err != nil {
			return nil, err
		}
		if !fits {
			continue
		}
		switch graph.State(i, worker) {
		case dag.StateAsked:
			p.asked++
		case dag.StateReview:
			p.inReview++
		case dag.StateHeld:
			if mark, closed := p.closed(id); closed && !p.held[id] {
				p.marked[mark.Branch]++
			}
		case dag.StateReady:
			if _, answers := p.requested[id]; p.full && !answers {
				continue
			}
			if c, ok := p.candidate(id, rank, KindReady); ok {
				if !c.Held && !c.Until.After(p.now) {
					free++
				}
				list = append(list, c)
			}
		}
	}
	return list, errors.Join(err, p.advise(list))
}

// advise ranks candidates by their own texts, as a survey recommends them.
func (p *picker) advise(list []Candidate) error {
	advice := make([]orient.Advice, len(list))
	for k, c := range list {
		at, _ := p.file.Index(c.Issue)
		var err error
		if advice[k], err = orient.AdviceOf(p.file.At(at)); err != nil {
			return err
		}
	}
	for rank, at := range orient.Advised(advice) {
		list[at].Rank = rank
	}
	return nil
}

// candidate returns when and why an issue is taken; kind is the reason if the actor had no run
// on it. ok is false if a person has to be asked first.
func (p *picker) candidate(id string, rank int, kind Kind) (c Candidate, ok bool) {
	c = Candidate{Issue: id, Kind: kind, Rank: rank, Held: p.held[id]}
	if at, ok := p.file.Index(id); ok {
		c.Priority = p.file.At(at).Priority
	}
	_, ran := p.own[id]
	past := p.sensed.past[id]
	if c.Until = p.until(past); c.Until.Before(p.fresh[id]) {
		c.Until = p.fresh[id]
	}
	switch {
	case p.isLeft(past):
		c.Held = true
	case past.Spent(p.name, p.limits()):
		if p.turnAfter(past, id) != TurnOthers {
			p.exhausted = append(p.exhausted, id)
			return c, false
		}
		c.Held = true
		p.left = append(p.left, id)
	case !ran && kind == KindReady && p.probation && p.served(id):
		c.Held = true
		p.once("on probation after failing three issues that others closed; taking no new issue while another worker runs")
	}
	if last, ran := p.own[id]; ran {
		c.Kind = KindOwn
		if o := clone.Outcome(last.Outcome); o == clone.OutcomeWaiting || o == clone.OutcomeInReview || last.Asked || o == clone.OutcomeRejected || o == clone.OutcomeRegated {
			c.Kind = KindAnswer
		}
	}
	return c, true
}

// until returns the time before which this worker does not try an issue again; zero for now. It is
// also zero if its work was rejected and the branch for results has moved since.
func (l *loop) until(past *Past) time.Time {
	if past != nil && past.Last.Onto != "" && l.trees != nil {
		if tip, known := l.code.Ref("refs/heads/" + l.trees.Onto); known && tip != past.Last.Onto {
			return time.Time{}
		}
	}
	return past.Of(l.name).Until
}

// limits returns how many times this worker tries one issue.
func (l *loop) limits() Limits { return Limits{Attempts: l.Attempts, Passes: l.passes()} }

// turnAfter returns who is next on an issue after this worker used up its tries.
func (l *loop) turnAfter(past *Past, issue string) Turn {
	return past.TurnAfter(l.name, l.limits(), l.served(issue))
}

// served reports whether the loop of another worker is running whose roles include the issue.
func (l *loop) served(issue string) bool {
	all, err := l.place.Presences()
	if err != nil {
		l.once(err.Error()) // use the readable ones
	}
	var labels []string
	if record, err := l.recordOf(issue); err == nil && record != nil {
		labels = record.Labels()
	}
	return slices.ContainsFunc(all, func(one clone.Presence) bool {
		runs, _ := one.Runs()
		told := one.Told(l.now())
		if one.Name == l.name || !runs || told != "" && told != clone.Healthy && told != clone.Provisioning {
			return false
		}
		p, err := clone.LoadProfile(l.files, one.Name)
		return err != nil || len(p.Roles) == 0 || slices.ContainsFunc(p.Roles, func(role string) bool { return slices.Contains(labels, role) })
	})
}

// isLeft reports whether the work on an issue waits on its branch for a person, as with
// --no-close.
func (l *loop) isLeft(past *Past) bool {
	return l.NoClose && past != nil && past.Last != nil && clone.Outcome(past.Last.Outcome) == clone.OutcomeAdvanced
}

func (l *loop) passes() int { return max(1, l.profile.Passes) }

// unfinished adds the issues that the actor has in progress from a loop's run. Issues that
// somebody claimed by hand under this name are not the loop's.
func (p *picker) unfinished(list []Candidate) ([]Candidate, error) {
	var held []int
	for i, issue := range p.file.All() {
		if issue.Status != beads.StatusInProgress {
			continue
		}
		_, ran := p.own[issue.ID]
		if lease, ok := p.leases[issue.ID]; issue.Assignee != p.name || !ran && (!ok || lease.Run == "") {
			continue
		}
		if at, ok := p.file.Index(issue.ID); ok && at == i {
			held = append(held, i)
		}
	}
	asked, err := orient.Pending(p.file, held, p.name, p.app.Schema)
	if err != nil {
		return nil, err
	}
	for k, i := range held {
		fits, err := p.fits(i)
		switch {
		case err != nil:
			return nil, err
		case !fits:
		case asked[k]:
			p.asked++
		default:
			if c, ok := p.candidate(p.file.At(i).ID, i, KindOwn); ok {
				list = append(list, c)
			}
		}
	}
	return list, nil
}

// isClosed reports whether an issue is closed; false for nil.
func isClosed(record *beads.Record) bool {
	return record != nil && beads.IsClosed(record.Text(beads.Status))
}

// recordOf returns the current record of an issue; nil if it does not exist.
func (l *loop) recordOf(id string) (*beads.Record, error) {
	file, err := l.store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	i, ok := file.Index(id)
	if !ok {
		return nil, nil
	}
	return file.At(i).Record()
}
