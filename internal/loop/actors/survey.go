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
	// silence is after how long without a sign of life an actor is inactive.
	silence = time.Minute
	// recent is how far back runs are read for what an actor did last.
	recent = 7 * 24 * time.Hour
	// failing is how many runs in a row make an actor's state error.
	failing = 3
)

// States that follow from what is seen, beside those that somebody gives.
const (
	stateActive      = "active"
	stateActiveHuman = "active_human"
	stateInactive    = "inactive"
	stateFailing     = "error"
)

// survey is what the clone knows of its actors at one time.
type survey struct {
	root      string
	now       time.Time
	files     []string
	presences map[string]clone.Presence
	sessions  map[string]clone.SessionRecord
	leases    map[string][]clone.Lease // by actor
	runs      map[string][]clone.Run   // by actor, of the last days, by their start
	edits     map[string]*edits        // by actor
	holds     map[string][]string      // issues in progress, by assignee
}

// edits is what the journal has of an actor.
type edits struct {
	last   time.Time
	closed map[string]time.Time
}

// look reads what is known of the actors of the store. What cannot be read is warned of.
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
	all, trouble := place.Presences()
	for _, p := range all {
		s.presences[p.Name] = p
	}
	for _, one := range place.Sessions() { // the last of a name counts
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

// elsewhere notes what actors did on any machine, as the store shows it, in place of what
// the journal of this clone has.
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

// closed notes what actors closed in the last days.
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

// of gives what is noted of the edits of an actor.
func (s *survey) of(name string) *edits {
	e := s.edits[name]
	if e == nil {
		e = &edits{closed: map[string]time.Time{}}
		s.edits[name] = e
	}
	return e
}

// edited notes what an edit of the journal says of its actor.
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

// former are the names that actors with a file had before: the journal has their edits under
// them.
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

// names lists the actors: those with a file, those that gave a sign of life, which each edit
// in the journal is, sessions, and whoever has an issue in progress.
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

// Actor is what is known of one who works here.
type Actor struct {
	Name        string     `json:"name"`
	Kind        string     `json:"kind"`
	Description string     `json:"description"`
	Roles       []string   `json:"roles"`
	State       string     `json:"state"`
	Why         string     `json:"why"`    // of a state that somebody gave
	By          string     `json:"by"`     // who gave it
	Until       *time.Time `json:"until"`  // when it ends by itself
	Seen        *time.Time `json:"seen"`   // the last sign of life
	Signs       int        `json:"signs"`  // how many there were
	Issue       string     `json:"issue"`  // in hand; "" for none
	Issues      []string   `json:"issues"` // all in progress under the name
	Lease       *time.Time `json:"lease"`  // when the claim on the issue in hand ends
	Left        int        `json:"left"`   // seconds until then
	Done        int        `json:"done"`   // issues closed today
	Failed      int        `json:"failed"` // runs today
	Last        *Done      `json:"last"`   // what it closed last, within a week
	Boots       int        `json:"boots"`
	Version     string     `json:"version"` // of the stig that runs its loop
	File        string     `json:"file"`    // below the directory that holds the store's; "" without
	Problem     string     `json:"problem"` // with the file
	Cost        string     `json:"cost"`    // of its runs of today, as people read it; "" where nothing ran

	profile *clone.Profile
}

// Done is an issue that was closed.
type Done struct {
	Issue string    `json:"issue"`
	At    time.Time `json:"at"`
}

// actor is what is known of one.
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
		one.Issue = "" // what the store shows of it counts
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

// filed takes over what the file of an actor says.
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

// did counts what an actor did today, by runs and by the journal.
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

// state is how an actor was told to be, else what is seen of it.
func (s *survey) state(one *Actor, p clone.Presence, ended bool) {
	if given := p.Told(s.now); given != "" && given != clone.Healthy {
		one.State, one.Why, one.By = string(given), p.Why, p.By
		if !p.Until.IsZero() {
			one.Until = &p.Until
		}
		return
	}
	alive := one.Seen != nil && !ended && s.now.Sub(*one.Seen).Abs() < silence
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

// fails reports whether the last three runs failed. What was nobody's fault does not
// count.
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

// hasEnded reports whether a loop is known to be gone.
func hasEnded(p clone.Presence) bool {
	running, known := p.Runs()
	return known && !running
}

// unknown refuses a name that no actor has.
func unknown(name string) error {
	return &fault.Error{Code: fault.Usage, Reason: name + ": no such actor", Err: fs.ErrNotExist, Hint: "type stig actor list --all"}
}
