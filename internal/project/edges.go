package project

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"stig/internal/beads"
	"stig/internal/git"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// Host is what Edges need of the run of stig that asks.
type Host struct {
	Ctx      func() context.Context
	Now      func() time.Time
	Projects func() map[string]Setting // of the configuration
	Open     func(beads.Place) beads.Store
	Git      func(dir string) git.Client

	// Command returns the command that proves a dependency, by PROJECT:ID or
	// PROJECT:CAPABILITY; "" for none. Prove runs it; an error says why it was not run.
	Command func(edge string) string
	Prove   func(ctx context.Context, id, command string) (passed bool, err error)

	// Requests returns the function that answers beads.Snapshot.Requests; nil for no requests.
	Requests func() func(*beads.Issue) (number int, waits bool)
}

// Edges answers how the dependencies of one store on other projects stand. Each project is read,
// and each command run, at most once every freshFor, and only if a row needs it. It is safe for
// concurrent use.
type Edges struct {
	host  Host
	place beads.Place // of the store that depends

	mu        sync.Mutex
	since     time.Time
	answers   map[string]answer // by the id in the row
	upstreams map[string]*upstream
}

// freshFor is how long answers of other projects are used.
const freshFor = 5 * time.Second

// NewEdges returns the dependencies of the store at a place.
func NewEdges(h Host, place beads.Place) *Edges { return &Edges{host: h, place: place} }

// Wrap returns a store whose snapshots answer beads.Snapshot.External and Requests.
func (e *Edges) Wrap(s beads.Store) beads.Store { return asking{s, e} }

type asking struct {
	beads.Store
	edges *Edges
}

// Snapshot implements beads.Store.
func (s asking) Snapshot() (*beads.Snapshot, error) {
	file, err := s.Store.Snapshot()
	if err != nil {
		return nil, err
	}
	return s.edges.In(file), nil
}

// Edit asks other projects before the edit and not during it, since their commands may take
// long: an edit that needs an unknown answer starts over.
func (s asking) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	type row struct {
		issue *beads.Issue
		id    string
	}
	s.edges.expire()
	for {
		var unknown []row
		changes, err := s.Store.Edit(ctx, o, func(tx *beads.Tx) error {
			unknown = nil
			tx.Ask(func(issue *beads.Issue, id string) beads.External {
				is, known := s.edges.answered(issue, id)
				if !known {
					unknown = append(unknown, row{issue, id})
				}
				return is
			}, s.edges.host.Requests())
			if err := fn(tx); unknown == nil {
				return err
			}
			return errUnknown
		})
		if !errors.Is(err, errUnknown) {
			return changes, err
		}
		for _, r := range unknown {
			s.edges.ask(r.issue, r.id)
		}
	}
}

// errUnknown ends an edit that needs an answer of another project.
var errUnknown = errors.New("another project was not asked yet")

// In returns a new snapshot of the store as one that answers External.
func (e *Edges) In(file *beads.Snapshot) *beads.Snapshot {
	e.expire()
	return file.Asking(func(issue *beads.Issue, id string) beads.External {
		is, known := e.answered(issue, id)
		if !known {
			is = e.ask(issue, id)
		}
		return is
	}, e.host.Requests())
}

// expire forgets old answers.
func (e *Edges) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := e.host.Now(); now.Sub(e.since).Abs() >= freshFor {
		for _, u := range e.upstreams {
			u.close()
		}
		e.since, e.answers, e.upstreams = now, map[string]answer{}, map[string]*upstream{}
	}
}

// answered returns the answer for a dependency if it is known.
func (e *Edges) answered(issue *beads.Issue, id string) (is beads.External, known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, known := e.answers[id]
	return a.with(issue, id), known
}

// ask asks the other project.
func (e *Edges) ask(issue *beads.Issue, id string) beads.External {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.answers[id]; !known {
		a := e.answer(e.host.Ctx(), id)
		a.Why = visible.OneLine(a.Why)
		e.answers[id] = a
	}
	return e.answers[id].with(issue, id)
}

// answer is how another project answers, whatever is recorded here.
type answer struct {
	beads.External
	unknown bool // the project or its command cannot be asked on this machine
}

// answer asks the project, or runs the command that stands for it.
func (e *Edges) answer(ctx context.Context, id string) (a answer) {
	name, of, err := beads.ParseExternal(id)
	if err != nil {
		return answer{External: beads.External{Why: err.Error()}}
	}
	if command := e.host.Command(name + ":" + of); command != "" {
		a = e.proved(ctx, id, command)
	} else if u := e.upstream(ctx, name); u.unread != "" {
		a = answer{External: beads.External{Why: u.unread}, unknown: u.away}
	} else {
		a = u.find(of)
	}
	a.Project = name
	return a
}

// upstream returns the project of that name.
func (e *Edges) upstream(ctx context.Context, name string) *upstream {
	if e.upstreams[name] == nil {
		list := List(e.host.Projects(), e.place)
		u := &upstream{away: true, unread: fmt.Sprintf("no project %q is configured; add projects: %[1]q: path: … to .stig.cue", name)}
		if i := slices.IndexFunc(list, func(p Project) bool { return p.Name == name }); i >= 0 {
			u = openUpstream(ctx, e.host, list[i])
		}
		e.upstreams[name] = u
	}
	return e.upstreams[name]
}

// proved returns the answer of a command.
func (e *Edges) proved(ctx context.Context, id, command string) answer {
	passed, err := e.host.Prove(ctx, id, command)
	switch {
	case err != nil:
		return answer{External: beads.External{Why: err.Error()}, unknown: true}
	case !passed: // a command that fails later says nothing about what was released
		return answer{External: beads.External{Why: "its command fails: " + visible.OneLine(command)}, unknown: true}
	}
	return answer{External: beads.External{Done: true}}
}

// with combines an answer with what the notes of the issue record: the record counts while the
// project cannot be asked.
func (a answer) with(issue *beads.Issue, id string) beads.External {
	e := a.External
	kept, recorded := recordOf(issue, id)
	switch {
	case !recorded:
	case e.Done:
		e.Recorded = kept.Issue == e.Issue && kept.Commit == e.Commit
	case a.unknown:
		e.Done, e.Recorded, e.Issue, e.Commit = true, true, kept.Issue, kept.Commit
	default:
		e.Stale, e.Why = true, "recorded as done on "+kept.Day+", but "+e.Why
	}
	return e
}

func recordOf(issue *beads.Issue, id string) (signals.Elsewhere, bool) {
	if !issue.HasNotes {
		return signals.Elsewhere{}, false
	}
	record, err := issue.Record()
	if err != nil {
		return signals.Elsewhere{}, false
	}
	return signals.LastElsewhere(notes.Parse(record.Text(beads.Notes)), id)
}
