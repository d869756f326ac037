package actors

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/service/traces"
	"stig/internal/workspace"
)

const (
	// recent is how far back runs are read.
	recent = 7 * 24 * time.Hour
	// failing is how many failed runs in a row put an actor in state error.
	failing = 3
)

// Observed states, in addition to those that are set.
const (
	stateActive      = "active"
	stateActiveHuman = "active_human"
	stateInactive    = "inactive"
	stateFailing     = "error"
)

// survey is a snapshot of what the clone knows of its actors.
type survey struct {
	root      string
	now       time.Time
	silence   time.Duration // after the last sign of life of an active actor
	files     []string
	presences map[string]clone.Presence
	sessions  map[string]clone.SessionRecord
	leases    map[string][]clone.Lease // by actor
	runs      map[string][]clone.Run   // by actor, of the last 7 days, by start
	edits     map[string]*edits        // by actor
	holds     map[string][]string      // issues in progress, by assignee
}

// edits is what the journal says of an actor.
type edits struct {
	last   time.Time
	closed map[string]time.Time
}

// look returns a survey of the store's actors. It warns about what cannot be read.
func look(a *workspace.Run) (s *survey, err error) {
	s = &survey{presences: map[string]clone.Presence{}, sessions: map[string]clone.SessionRecord{}, leases: map[string][]clone.Lease{},
		runs: map[string][]clone.Run{}, edits: map[string]*edits{}, holds: map[string][]string{}}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if s.now, err = a.Clock(); err != nil {
		return nil, err
	}
	if s.root, err = Root(a); err != nil {
		return nil, err
	}
	for _, issue := range file.All() {
		if issue.IsClaimed() {
			s.holds[issue.Assignee] = append(s.holds[issue.Assignee], issue.ID)
		}
	}
	s.files, err = clone.ProfileNames(s.root)
	if err != nil {
		a.Warn("%s", err)
	}
	return s, s.read(a, file)
}

// read reads the live state.
func (s *survey) read(a *workspace.Run, file *beads.Snapshot) error {
	place, err := a.Live(file.Place())
	if err != nil {
		return err
	}
	s.silence = place.Silence()
	all, trouble := place.Presences()
	for _, p := range all {
		s.presences[p.Name] = p
	}
	for _, one := range place.Sessions() { // the last one of a name counts
		s.sessions[one.Name] = one
	}
	claims, err := place.Claims()
	trouble = errors.Join(trouble, err)
	for _, l := range claims.Leases {
		s.leases[l.Actor] = append(s.leases[l.Actor], l)
	}
	runs, _, err := place.Runs(s.now.Add(-recent))
	trouble = errors.Join(trouble, err)
	for _, r := range runs {
		s.runs[r.Actor] = append(s.runs[r.Actor], r)
	}
	journal, err := place.Recent()
	if trouble = errors.Join(trouble, err); trouble != nil {
		a.Warn("%s", trouble)
	}
	for _, r := range journal.Records {
		s.edited(r)
	}
	if place.Documents != nil {
		return s.elsewhere(a, file)
	}
	return nil
}

// elsewhere records what actors did on any machine, from the store, instead of this clone's
// journal.
func (s *survey) elsewhere(a *workspace.Run, file *beads.Snapshot) error {
	last, err := a.LastEdits(a.Ctx, file.Place())
	if err != nil {
		return err
	}
	for name, at := range last {
		s.of(name).last = at
	}
	for _, e := range s.edits {
		clear(e.closed)
	}
	return s.closed(file)
}

// closed records which issues actors closed within the last 7 days.
func (s *survey) closed(file *beads.Snapshot) error {
	for i, issue := range file.All() {
		if issue.Status != beads.StatusClosed || issue.Assignee == "" || s.now.Sub(issue.UpdatedAt) > recent {
			continue
		}
		record, err := file.At(i).Record()
		if err != nil {
			return err
		}
		s.of(issue.Assignee).closed[issue.ID] = traces.ClosedAt(issue, record)
	}
	return nil
}

// of returns the edits of an actor, creating the entry if needed.
func (s *survey) of(name string) *edits {
	e := s.edits[name]
	if e == nil {
		e = &edits{closed: map[string]time.Time{}}
		s.edits[name] = e
	}
	return e
}

// edited records an edit of the journal for its actor.
func (s *survey) edited(r clone.Record) {
	if r.Actor == "" || r.Result != clone.Written {
		return
	}
	e := s.of(r.Actor)
	e.last = r.At
	for _, c := range r.Changes {
		if c.Kind == "key" && c.Name == "status" && c.Now == `"`+beads.StatusClosed+`"` {
			e.closed[c.Issue] = r.At
		}
	}
}

// former returns the earlier names of actors with a file. The journal has edits under them.
func (s *survey) former() map[string]bool {
	names := map[string]bool{}
	for _, name := range s.files {
		p, err := clone.LoadProfile(s.root, name)
		if err != nil {
			continue
		}
		for line := range strings.Lines(p.Section(clone.Evolution)) {
			if _, rest, ok := strings.Cut(line, ": "+renamedFrom); ok {
				was, _, _ := strings.Cut(strings.TrimSpace(rest), ",")
				names[was] = true
			}
		}
	}
	return names
}

// names returns the sorted names of all actors: those with a file, a sign of life (each edit in
// the journal counts), a session, or an issue in progress.
func (s *survey) names() []string {
	names := slices.Concat(s.files, slices.Collect(maps.Keys(s.presences)), slices.Collect(maps.Keys(s.sessions)), slices.Collect(maps.Keys(s.holds)))
	former := s.former()
	for name, e := range s.edits {
		if !e.last.IsZero() && name != traces.GateName && !former[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Actor is what is known of an actor.
type Actor struct {
	Name        string     `json:"name"`
	Kind        string     `json:"kind"`
	Description string     `json:"description"`
	Roles       []string   `json:"roles"`
	State       string     `json:"state"`
	Why         string     `json:"why"`    // reason for a state that was set
	By          string     `json:"by"`     // who set it
	Until       *time.Time `json:"until"`  // when it expires
	Seen        *time.Time `json:"seen"`   // last sign of life
	Signs       int        `json:"signs"`  // number of signs of life
	Issue       string     `json:"issue"`  // in hand; "" for none
	Issues      []string   `json:"issues"` // all in progress under this name
	Lease       *time.Time `json:"lease"`  // end of the claim on the issue in hand
	Left        int        `json:"left"`   // seconds until Lease
	Done        int        `json:"done"`   // issues closed today
	Failed      int        `json:"failed"` // failed runs today
	Last        *Done      `json:"last"`   // the issue it closed last, within a week
	Boots       int        `json:"boots"`
	Version     string     `json:"version"` // version of stig in its loop
	File        string     `json:"file"`    // relative to Root; "" for none
	Problem     string     `json:"problem"` // error in the file
	Cost        string     `json:"cost"`    // of today's runs, formatted; "" if there were none

	profile *clone.Profile
}

// Done is a closed issue.
type Done struct {
	Issue string    `json:"issue"`
	At    time.Time `json:"at"`
}

// actor returns what is known of one actor.
func (s *survey) actor(name string) *Actor {
	p, signed := s.presences[name]
	one := &Actor{Name: name, Boots: p.Boots, Version: p.Version, Signs: p.Signs, Roles: []string{}, Issues: s.holds[name]}
	if one.Issues == nil {
		one.Issues = []string{}
	}
	session, isSession := s.sessions[clone.ParentActor(name)]
	one.Kind = cmp.Or(p.Kind, clone.Unknown)
	if p.Kind == "" && (isSession || clone.IsSession(name) || len(s.runs[name]) > 0) {
		one.Kind = clone.Agent
	}
	s.filed(one)
	seen := p.Seen
	if isSession && name == session.Name && session.Seen.After(seen) {
		seen = session.Seen
	}
	if last := s.of(name).last; last.After(seen) {
		seen = last
	}
	if !seen.IsZero() {
		one.Seen = &seen
	}
	if one.Issue = p.Issue; signed && hasEnded(p) {
		one.Issue = "" // only what the store shows counts
	}
	if one.Issue == "" && len(one.Issues) > 0 {
		one.Issue = one.Issues[0]
	}
	for _, l := range s.leases[name] {
		if l.Issue == one.Issue && l.Until.After(s.now) {
			one.Lease, one.Left = &l.Until, int(l.Until.Sub(s.now).Seconds())
		}
	}
	s.did(one)
	ended := isSession && session.Ended || signed && hasEnded(p) && !seen.After(p.Seen)
	s.state(one, p, ended)
	return one
}

// filed adds what the actor's file says.
func (s *survey) filed(one *Actor) {
	p, err := clone.LoadProfile(s.root, one.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	one.File = below(s.root, clone.ProfilePath(s.root, one.Name))
	if err != nil {
		one.Problem = err.Error()
		return
	}
	one.profile, one.Kind, one.Description = p, p.Kind, p.Description
	one.Roles = append(one.Roles, p.Roles...)
}

// did counts what an actor did today, from its runs and the journal.
func (s *survey) did(one *Actor) {
	midnight := s.now.Truncate(24 * time.Hour)
	closed := map[string]time.Time{}
	var spent clone.Spent
	defer func() { one.Cost = spent.String() }()
	for _, r := range s.runs[one.Name] {
		if !r.Ended.Before(midnight) {
			spent.Add(r)
		}
		switch at := r.Ended; {
		case clone.Outcome(r.Outcome) == clone.OutcomeClosed && at.After(closed[r.Issue]):
			closed[r.Issue] = at
		case clone.Outcome(r.Outcome).IsFailure() && !at.Before(midnight):
			one.Failed++
		}
	}
	for issue, at := range s.of(one.Name).closed {
		if at.After(closed[issue]) && s.now.Sub(at) < recent {
			closed[issue] = at
		}
	}
	for _, issue := range slices.Sorted(maps.Keys(closed)) {
		at := closed[issue]
		if !at.Before(midnight) {
			one.Done++
		}
		if one.Last == nil || at.After(one.Last.At) {
			one.Last = &Done{issue, at}
		}
	}
}

// state sets the actor's state: the one that was set, otherwise the observed one.
func (s *survey) state(one *Actor, p clone.Presence, ended bool) {
	if given := p.Told(s.now); given != "" && given != clone.Healthy {
		one.State, one.Why, one.By = string(given), p.Why, p.By
		if !p.Until.IsZero() {
			one.Until = &p.Until
		}
		return
	}
	alive := one.Seen != nil && !ended && s.now.Sub(*one.Seen).Abs() < s.silence
	switch {
	case s.fails(one.Name):
		one.State = stateFailing
	case alive && one.Kind == clone.Human:
		one.State = stateActiveHuman
	case alive:
		one.State = stateActive
	default:
		one.State = stateInactive
	}
}

// fails reports whether the last three runs failed. Runs that failed for other reasons, such as
// a lost claim or a stop, do not count.
func (s *survey) fails(name string) bool {
	n := 0
	for _, r := range slices.Backward(s.runs[name]) {
		switch o := clone.Outcome(r.Outcome); {
		case o == "" || o == clone.OutcomeLater || o == clone.OutcomeLost || o == clone.OutcomeStopped:
		case !o.IsFailure():
			return false
		default:
			if n++; n == failing {
				return true
			}
		}
	}
	return false
}

// hasEnded reports whether a loop is known to have ended.
func hasEnded(p clone.Presence) bool {
	running, known := p.Runs()
	return known && !running
}

// unknown returns the error for a name that no actor has.
func unknown(name string) error {
	return &fault.Error{Code: fault.Usage, Reason: name + ": no such actor", Err: fs.ErrNotExist, Hint: "type stig actor list --all"}
}
