package loop

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/git"
	"stig/internal/visible"
)

// Kind is why an issue is taken, the first first.
type Kind int

const (
	KindAnswer Kind = iota // a question on it was answered, or there is feedback on it
	KindOwn                // the loop claimed it before and did not get it done
	KindReady              // nothing holds it
)

// Candidate is an issue that a loop could take.
type Candidate struct {
	Issue string
	Kind  Kind
	Rank  int       // among those of its kind; of answers by how long they wait
	Held  bool      // somebody else works on it
	Until time.Time // it is not tried again before; zero for now
}

// Choose gives the candidates to try, the first first: those that nobody holds and that
// are not to wait. next is when the first of the others need not wait any more; zero for
// none.
func Choose(list []Candidate, now time.Time) (order []Candidate, next time.Time) {
	best := map[string]Candidate{}
	for _, c := range list {
		if known, again := best[c.Issue]; !again || c.compare(known) < 0 {
			best[c.Issue] = c
		}
	}
	for _, c := range best {
		switch {
		case c.Held:
		case c.Until.After(now):
			if next.IsZero() || c.Until.Before(next) {
				next = c.Until
			}
		default:
			order = append(order, c)
		}
	}
	slices.SortFunc(order, Candidate.compare)
	return order, next
}

func (c Candidate) compare(o Candidate) int {
	return cmp.Or(cmp.Compare(c.Kind, o.Kind), cmp.Compare(c.Rank, o.Rank), strings.Compare(c.Issue, o.Issue))
}

// would finds what the loop would take and run now, and writes nothing.
func (l *loop) would(ctx context.Context) error {
	runs, now, err := l.runs()
	if err != nil {
		return err
	}
	l.done.Reason = "nothing would be taken"
	if l.isDone() {
		l.done.Reason += ": " + l.filter.issue + " is closed"
	}
	if reached := l.Bounds.Reached(UsedBy(l.name, runs, now)); reached != "" {
		l.done.Reason = reached
		return nil
	}
	if why := l.busy(); why != "" {
		l.done.Reason = why
		return nil
	}
	s, err := l.sense(ctx)
	if err != nil {
		return err
	}
	l.done.Asked, l.done.Waiting = s.asked, len(s.order) == 0 && s.asked > 0
	if len(s.order) == 0 {
		if items, err := l.waiting(ctx); err == nil && len(items) > 0 && l.filter.issue == "" {
			l.done.Reason = "no issue would be taken; " + visible.Counted(len(items), "item") + " of the inbox of " + l.name + " may start a run without one: stig inbox --actor " + visible.Quoted(l.name)
		}
		return nil
	}
	first := s.order[0]
	record, err := l.recordOf(first.Issue)
	if err != nil || record == nil {
		return err
	}
	why := map[Kind]string{KindAnswer: "an answer or feedback", KindOwn: "begun before", KindReady: "ready"}[first.Kind]
	l.done.Reason = "a dry run takes nothing"
	l.done.Would = &Would{Issue: first.Issue, Title: record.Text(beads.Title), Why: why, Command: l.Command, Worktree: l.root}
	if l.trees != nil {
		l.done.Would.Worktree = l.trees.Dir
		l.done.Would.Branch, l.done.Would.Onto = git.BranchOf(first.Issue, l.trees.Onto), l.trees.Onto
	}
	return nil
}
