package loop

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/loop/actors"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Kind is the reason why an issue is taken, in order of precedence.
type Kind int

const (
	KindAnswer Kind = iota // its question was answered, or it has feedback
	KindOwn                // the loop claimed it before and did not finish it
	KindReady              // nobody holds it
)

// Candidate is an issue that a loop could take.
type Candidate struct {
	Issue string
	Kind  Kind
	Rank  int // within its kind; for answers, by waiting time
	// Priority is that of the issue. It decides between projects, which have ranks of their own.
	Priority int
	Held     bool      // another worker has it
	Until    time.Time // not tried again before; zero for now
}

// Choose returns the candidates to try now, in order: neither held nor waiting. next is when
// the first waiting one becomes due; zero for none.
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

// would finds what the loop would run now. It writes nothing.
func (l *loop) would(ctx context.Context) error {
	runs, now, err := l.runs()
	if err != nil {
		return err
	}
	l.done.Reason = "nothing to take"
	if l.isDone() {
		l.done.Reason += ": " + l.filter.issue + " is closed"
	}
	if reached := l.Bounds.Reached(l.used(runs, now)); reached != "" {
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
	if l.Plan {
		l.done.Reason = "--plan takes nothing"
		return l.plan(ctx, s)
	}
	if len(s.order) == 0 {
		if items := l.inbox.items; len(items) > 0 && l.filter.issue == "" {
			l.done.Reason = "no issue to take; " + visible.Counted(len(items), "item") + " of the inbox of " + l.name + " may start a run without one: stig inbox --actor " + visible.Quoted(l.name)
		}
		return nil
	}
	first := s.order[0]
	record, err := l.recordOf(first.Issue)
	if err != nil || record == nil {
		return err
	}
	l.done.Reason = "a dry run takes nothing"
	l.done.Would = &Would{Project: l.Project, Issue: first.Issue, Title: record.Text(beads.Title), Why: first.Kind.why(), Command: l.Command, Worktree: l.root}
	if l.trees != nil {
		l.done.Would.Worktree = l.trees.Dir
		l.done.Would.Branch, l.done.Would.Onto = git.BranchOf(first.Issue, l.trees.Onto), l.trees.Onto
		if l.BestOf > 0 {
			l.done.Would.Branch = fmt.Sprintf("%[1]s-%[2]s-1 to %[1]s-%[2]s-%[3]d", l.done.Would.Branch, git.Escaped(l.name), l.BestOf)
		}
	}
	return nil
}

// why returns the reason why an issue is taken.
func (k Kind) why() string {
	return map[Kind]string{KindAnswer: "an answer or feedback", KindOwn: "begun before", KindReady: "ready"}[k]
}

// Plan is what a stig work would do with all issues that can be taken now.
type Plan struct {
	Actors   []string  `json:"actors"` // actors whose loops would run
	Command  []string  `json:"command"`
	Worktree string    `json:"worktree"` // the directory they work in, or the parent of their work trees
	Onto     string    `json:"onto"`     // the branch for results; "" in place
	Review   bool      `json:"review"`   // work gets requests for review on a forge
	Lands    bool      `json:"lands"`    // work is merged, and issues are closed
	Setup    string    `json:"setup"`    // runs first in each new work tree; "" for none
	Trusted  bool      `json:"trusted"`  // commands of this repository run here
	Trust    string    `json:"trust"`    // command that makes them trusted; "" if they are
	Bounds   []string  `json:"bounds"`
	Issues   []Planned `json:"issues"` // in the order in which they are taken
	Asked    int       `json:"asked"`  // issues that wait for an answer
}

// Planned is an issue of a Plan.
type Planned struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Why    string   `json:"why"`
	Checks []string `json:"checks"` // commands that decide whether it is closed; none: a person is asked
}

// plan sets the Plan of the loop. It writes nothing.
func (l *loop) plan(ctx context.Context, s sensed) error {
	code, err := l.app.Code(ctx, l.store.Place())
	if err != nil {
		return err
	}
	p := &Plan{Actors: l.Crew, Command: l.Command, Worktree: l.root, Lands: !l.NoClose, Review: l.byReview(), Setup: l.profile.Setup, Bounds: l.boundsText(), Issues: []Planned{}, Asked: s.asked}
	if len(p.Actors) == 0 {
		p.Actors = []string{l.name}
	}
	if l.trees != nil {
		p.Worktree, p.Onto = l.trees.Dir, l.trees.Onto
	}
	if p.Trusted, err = l.app.Trusted(ctx, code); err != nil {
		return err
	}
	if !p.Trusted {
		p.Trust = "stig trust"
	}
	for _, c := range s.order {
		record, err := l.recordOf(c.Issue)
		if err != nil {
			return err
		}
		if record == nil {
			continue // deleted meanwhile
		}
		one := Planned{ID: c.Issue, Title: record.Text(beads.Title), Why: c.Kind.why(), Checks: []string{}}
		for _, check := range gate.Of(record).Plan() {
			if check.Class == gate.Runnable {
				one.Checks = append(one.Checks, check.Text)
			}
		}
		p.Issues = append(p.Issues, one)
	}
	l.done.Plan = p
	return nil
}

// boundsText describes the limits in effect.
func (l *loop) boundsText() (list []string) {
	b := l.Bounds
	add := func(holds bool, format string, args ...any) {
		if holds {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(b.Runs > 0, "%d runs of each worker within 24 hours (--max-runs)", b.Runs)
	add(b.Time > 0, "%s of runs of each worker within 24 hours (--max-time)", actors.SpanText(b.Time))
	add(l.runTimeout > 0 && l.runTimeout < math.MaxInt64, "%s per run (--run-timeout)", actors.SpanText(l.runTimeout))
	add(true, "%s per issue, then a person is asked (--attempts)", visible.Counted(l.Attempts, "failed run"))
	add(b.PerHour > 0, "%d runs of each worker per hour (per_hour)", b.PerHour)
	add(b.Cost > 0, "cost of %s for all workers within 24 hours (--max-cost)", clone.Amount(b.Cost))
	add(b.Tokens > 0, "%d tokens for all workers within 24 hours (--max-tokens)", b.Tokens)
	add(b.Cost <= 0 && b.Tokens <= 0, "no limit on the cost; set --max-cost or --max-tokens")
	return list
}

// filter selects the issues that a loop takes.
type filter struct {
	issue      string   // only this one; "" for any
	labels     []string // with all of these
	types      []string // with one of these
	priorities []int    // with one of these
	epic       string   // inside this one
	roles      []string // with one of these as a label
}

// readFilter parses the filter of the request. Short ids are completed.
func (l *loop) readFilter() (f filter, err error) {
	f.roles = l.roles
	file, err := l.store.Snapshot()
	if err != nil {
		return f, err
	}
	defer file.Close()
	full := func(id string) (string, error) {
		issue, err := file.Find(id)
		if err != nil {
			return "", err
		}
		return issue.ID, nil
	}
	for _, word := range l.Filter {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok && f.issue != "":
			return f, workspace.Usage("two issues given: "+f.issue+" and "+word, "give one, or a filter such as label=network")
		case !ok:
			if f.issue, err = full(word); err != nil {
				return f, err
			}
			continue
		}
		switch key {
		case "label":
			f.labels = append(f.labels, value)
		case "type":
			f.types = append(f.types, value)
		case "priority":
			n, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(value), "P"))
			if err != nil {
				return f, workspace.Usage(fmt.Sprintf("priority: must be a whole number; found %q", value), "")
			}
			f.priorities = append(f.priorities, n)
		case "parent":
			if f.epic, err = full(value); err != nil {
				return f, err
			}
		default:
			return f, workspace.Usage(fmt.Sprintf("filter: must be an issue, or start with label=, type=, priority= or parent=; found %q", word), "")
		}
	}
	if l.Epic != "" {
		f.epic, err = full(l.Epic)
	}
	return f, err
}

// matcher decides which issues of a snapshot match. It reads an issue's line last.
type matcher struct {
	filter
	file   *beads.Snapshot
	reader *beads.Reader
	within map[int]bool // nil for any
}

func (f filter) over(file *beads.Snapshot, graph *dag.Graph) matcher {
	m := matcher{filter: f, file: file, reader: file.Reader()}
	if f.epic != "" {
		m.within = map[int]bool{}
		if at, ok := file.Index(f.epic); ok {
			for _, i := range graph.Inside(at) {
				m.within[i] = true
			}
		}
	}
	return m
}

func (m matcher) fits(i int) (bool, error) {
	issue := m.file.At(i)
	switch {
	case m.issue != "" && issue.ID != m.issue,
		m.within != nil && !m.within[i],
		len(m.types) > 0 && !slices.Contains(m.types, issue.Type),
		len(m.priorities) > 0 && !slices.Contains(m.priorities, issue.Priority):
		return false, nil
	}
	record, err := m.reader.Record(issue)
	if err != nil {
		return false, err
	}
	has := record.Labels()
	lacks := func(label string) bool { return !slices.Contains(has, label) }
	switch {
	case slices.Contains(has, beads.ChannelLabel), slices.ContainsFunc(m.labels, lacks):
		return false, nil
	case len(m.roles) == 0:
		return true, nil
	}
	return slices.ContainsFunc(m.roles, func(role string) bool { return !lacks(role) }), nil
}
