package loop

import (
	"cmp"
	"slices"
	"strings"
	"time"
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
