package service

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/draw"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// Picture draws the whole store, or what is around the issue that is named.
func Picture(a *workspace.Run, ids []string) (*draw.Picture, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	if len(ids) == 0 {
		return draw.Draw(file, graph, draw.Whole(file, graph), a.Schema)
	}
	at, err := placeOf(file, ids[0])
	if err != nil {
		return nil, err
	}
	return draw.Draw(file, graph, draw.Around(file, graph, at), a.Schema)
}

// Ways is every way by which one issue waits for another.
type Ways struct {
	From    string        `json:"from"` // what waits
	To      string        `json:"to"`   // for what
	Ways    []Way         `json:"ways"` // the shortest first
	More    bool          `json:"more"` // there may be others
	Picture *draw.Picture `json:"-"`    // of the issues on them
}

// Way is one of them: the issues in their order, and why each waits for the next.
type Way struct {
	Issues []string `json:"issues"`
	Steps  []string `json:"steps"`
}

// Ways finds how the issue that from names waits for the one that to names.
func WaysBetween(a *workspace.Run, from, to string) (*Ways, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var ends [2]int
	for k, id := range []string{from, to} {
		if ends[k], err = placeOf(file, id); err != nil {
			return nil, err
		}
	}
	name := func(i int) string { return file.At(i).ID }
	w := &Ways{From: name(ends[0]), To: name(ends[1]), Ways: []Way{}}
	if ends[0] == ends[1] {
		return nil, workspace.Usage(fmt.Sprintf("--to: must be another issue than %s", w.From), "type stig cycles to see what waits for itself")
	}
	graph := dag.New(file)
	chosen := ends[:]
	list, more := graph.Ways(ends[0], ends[1])
	for _, steps := range list {
		way := Way{Issues: []string{w.From}}
		for _, step := range steps {
			chosen = append(chosen, step.For)
			way.Issues = append(way.Issues, name(step.For))
			way.Steps = append(way.Steps, step.Words(name))
		}
		w.Ways = append(w.Ways, way)
	}
	slices.Sort(chosen)
	w.More = more
	w.Picture, err = draw.Draw(file, graph, slices.Compact(chosen), a.Schema)
	return w, err
}

// placeOf is where the issue that an id names stands in a store.
func placeOf(file *beads.Snapshot, id string) (int, error) {
	issue, err := file.Find(id)
	if err != nil {
		return 0, err
	}
	at, _ := file.Index(issue.ID)
	return at, nil
}

// OrientRequest asks for what to read before work: on one issue, or without ID for
// the survey of all.
type OrientRequest struct {
	ID        string
	Depth     string // of one issue, instead of its own
	Budget    int    // most characters of the Markdown; 0 is orient.BriefingBudget or orient.SurveyBudget
	Full      bool   // everything
	Whole     bool   // no limit where Budget is 0: for data
	Loop      bool   // who reads it is run by a worker loop
	As        string // of the survey: whose claims come first
	StaleDays *int   // an issue in progress is stale when it was not changed for longer; nil: as the schema says
}

func (r OrientRequest) staleDays() int {
	if r.StaleDays == nil {
		return signals.ThresholdStaleDays
	}
	return *r.StaleDays
}

// check refuses what does not go together.
func (r OrientRequest) check() error {
	switch depths := signals.PlanningDepth.Domain(); {
	case r.Depth != "" && !slices.Contains(depths, r.Depth):
		return workspace.Usage(fmt.Sprintf("--depth: must be one of %s; found %q", strings.Join(depths, ", "), r.Depth), "")
	case r.Budget != 0 && r.Budget < orient.MinBudget:
		return workspace.Usage(fmt.Sprintf("--budget: must be at least %d characters; found %d", orient.MinBudget, r.Budget), "")
	case r.Budget != 0 && r.Full:
		return workspace.Usage("--full and --budget exclude each other", "leave one of them out")
	case r.staleDays() < 0:
		return workspace.Usage(fmt.Sprintf("--stale-days: must not be negative; found %d", r.staleDays()), "")
	case r.ID == "" && r.Depth != "":
		return workspace.Usage("--depth: goes with one issue", "type stig orient ID --depth "+r.Depth)
	case r.ID != "" && r.As != "":
		return workspace.Usage("--as: goes with the survey, which names no issue", "type stig orient --as "+r.As)
	}
	return nil
}

// Orientation is what to read before work: a briefing or a survey.
type Orientation struct {
	Briefing *orient.Briefing
	Survey   *orient.Survey
}

// Markdown is the orientation as text.
func (o *Orientation) Markdown() string {
	if o.Briefing != nil {
		return o.Briefing.Markdown()
	}
	return o.Survey.Markdown()
}

// Output is the orientation as data.
func (o *Orientation) Output() workspace.Output {
	if o.Briefing != nil {
		return workspace.NewOutput("briefing", o.Briefing)
	}
	return workspace.NewOutput("survey", o.Survey)
}

// Orient gives what to read before work.
func Orient(ctx context.Context, a *workspace.Run, r OrientRequest) (*Orientation, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.ID == "" {
		survey, err := survey(ctx, a, r)
		return &Orientation{Survey: survey}, err
	}
	briefing, err := briefing(ctx, a, r)
	return &Orientation{Briefing: briefing}, err
}

func briefing(ctx context.Context, a *workspace.Run, r OrientRequest) (*orient.Briefing, error) {
	file, at, err := OpenIssue(a, r.ID)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rules, err := beforeWork(ctx, a, file, r.staleDays())
	if err != nil {
		return nil, err
	}
	if r.Budget == 0 && !r.Full && !r.Whole {
		r.Budget = orient.BriefingBudget
	}
	request := orient.Request{Depth: r.Depth, Budget: r.Budget, Full: r.Full, Loop: r.Loop || a.Getenv("STIG_RUN") != ""}
	if file.At(at).Assignee != "" {
		if request.Reader, err = a.ActorName(ctx); err != nil {
			return nil, err
		}
		request.MayTake = a.MayTake(request.Reader)
	}
	if held, ok := Held(a, file, rules.Now)[file.At(at).ID]; ok {
		request.Held = &held
	}
	request.Learned = learned(ctx, a, file.Place())
	rules.ReadOnly = Unwritable(ctx, a, file.Place())
	return orient.Brief(file, dag.New(file), at, request, rules)
}

// learned is what the file of the actor says that it learned; "" without a file, and
// for one with a mistake, which others report.
func learned(ctx context.Context, a *workspace.Run, store beads.Place) string {
	root := filepath.Dir(store.Dir)
	if !workspace.Exists(clone.ProfileDir(root)) {
		return "" // before anybody asks git who acts
	}
	name, err := a.ActorName(ctx)
	if err != nil || name == "" {
		return ""
	}
	p, err := clone.LoadProfile(root, name)
	if err != nil {
		return ""
	}
	return p.Section(clone.Learned)
}

func survey(ctx context.Context, a *workspace.Run, r OrientRequest) (*orient.Survey, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rules, err := beforeWork(ctx, a, file, r.staleDays())
	if err != nil {
		return nil, err
	}
	if r.Budget == 0 && !r.Full {
		r.Budget = orient.SurveyBudget
	}
	reader, err := reader(ctx, a, file, r.As)
	if err != nil {
		return nil, err
	}
	graph, items := dag.New(file), 0
	if r.As == "" {
		items = a.InboxCount(ctx, file, graph, reader)
	}
	return orient.NewSurvey(file, graph, orient.SurveyRequest{As: r.As, Actor: reader, Inbox: items, Left: IsLeft(a, file.Place(), rules.Now), Held: Held(a, file, rules.Now), MayTake: a.MayTake(reader), Budget: r.Budget, Full: r.Full, Workers: workers(a)}, rules)
}

// workers lists the actors whose loops run, were paused, or ended with an issue in hand.
// What cannot be read is not listed; doctor names it.
func workers(a *workspace.Run) (list []orient.Worker) {
	r, ok := a.Sessions()
	if !ok {
		return nil
	}
	all, _ := r.Place.Presences()
	for _, p := range all {
		w := orient.Worker{Name: p.Name, State: string(p.State), Issue: p.Issue, Why: p.Why}
		runs, known := p.Runs()
		said := p.State == clone.Paused || p.State == clone.Draining || p.State == clone.Maintenance
		switch {
		case p.State == clone.Dead, p.Process == (process.ID{}) && !said, said && !p.Until.IsZero() && !r.Now.Before(p.Until) && !runs:
			continue
		case p.Process != (process.ID{}) && known && !runs && p.Issue != "":
			w.State = orient.WorkerEnded
		case said && (p.Until.IsZero() || r.Now.Before(p.Until)):
		case !runs:
			continue
		case p.Issue != "":
			w.State, w.Why = orient.WorkerWorking, ""
		default:
			w.State, w.Why = orient.WorkerWaiting, ""
		}
		list = append(list, w)
	}
	return list
}

// beforeWork refuses a store to begin work from that an unfinished merge left,
// warns of values that were lost, and gives the rules to read it by.
func beforeWork(ctx context.Context, a *workspace.Run, file *beads.Snapshot, staleDays int) (orient.Rules, error) {
	if err := a.RefuseUnfinished(ctx, file.Place()); err != nil {
		return orient.Rules{}, err
	}
	warnOfLost(ctx, a, file.Place())
	return Reading(a, file, staleDays)
}

// OpenIssue opens the store and finds an issue in it.
func OpenIssue(a *workspace.Run, id string) (*beads.Snapshot, int, error) {
	file, err := a.Open()
	if err != nil {
		return nil, 0, err
	}
	issue, err := file.Find(id)
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	at, _ := file.Index(issue.ID)
	return file, at, nil
}

// reading are the rules of whatever reads before work.
func Reading(a *workspace.Run, file *beads.Snapshot, staleDays int) (orient.Rules, error) {
	now, err := a.Clock()
	rules := orient.Rules{
		Schema: a.Schema, Look: process.Finder(filepath.Dir(file.Place().Dir), a.Getenv),
		Now: now, StaleDays: staleDays, Digest: a.Config.Traces.Digest,
	}
	if refused := ReadOnly(file.Place()); refused != nil {
		rules.ReadOnly = refused.Error()
	}
	return rules, err
}

// Unwritable is why no edit of a store is possible, by this user; "" where it is. A server is
// asked.
func Unwritable(ctx context.Context, a *workspace.Run, p beads.Place) string {
	var refused error
	if s, ok := a.Bare(p).(interface{ Denied(context.Context) error }); ok && p.Mode == beads.Server {
		ctx, cancel := context.WithTimeout(ctx, patienceOfRights)
		defer cancel()
		refused = s.Denied(ctx)
	} else if e := ReadOnly(p); e != nil {
		refused = e
	}
	if refused == nil {
		return ""
	}
	return refused.Error()
}

// patienceOfRights is how long a server is waited for that is asked for a suggestion alone.
const patienceOfRights = 2 * time.Second

// ReadOnly is why no edit of a store in a file is possible, by this user; nil where it is, and
// for a store elsewhere, which only an edit would ask.
func ReadOnly(p beads.Place) *fault.Error {
	if p.Mode != beads.Plain {
		return nil
	}
	return jsonl.ReadOnly(p)
}

// Review says what an issue is to be built on.
func Review(a *workspace.Run, id string) (*orient.Review, error) {
	file, at, err := OpenIssue(a, id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rules, err := Reading(a, file, signals.ThresholdStaleDays)
	if err != nil {
		return nil, err
	}
	return orient.Assess(file, dag.New(file), at, rules)
}

// ReadyRow is one issue that is open and not blocked, and whether the reader can
// take it.
type ReadyRow struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Priority int       `json:"priority"`
	Unblocks int       `json:"unblocks"` // how many unclosed issues wait for it
	Epic     string    `json:"epic"`
	CanTake  bool      `json:"can_take"`
	State    dag.State `json:"state"` // why not: asked, held, assigned, epic or complete
	Assignee string    `json:"assignee,omitempty"`
	Asked    bool      `json:"asked,omitempty"`         // has an unanswered question
	Children int       `json:"open_children,omitempty"` // unclosed ones

	Held *orient.Held `json:"held,omitempty"` // by whom, in another work tree
}

// ReadyList is what is open and not blocked, of how many unclosed issues.
type ReadyList struct {
	Rows     []ReadyRow // first those that the reader can take
	CanTake  int        // how many of them these are
	Unclosed int
}

// Output is the list as data, the first of it where there is a limit.
func (l *ReadyList) Output(limit int) workspace.Output {
	rows := l.Rows
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return workspace.NewOutput("ready", struct {
		CanTake int        `json:"can_take"`
		Ready   []ReadyRow `json:"ready"`
		Total   int        `json:"total"`
	}{l.CanTake, rows, len(l.Rows)})
}

// Ready lists what the one named as can take, else the actor, and what nothing blocks
// besides.
func Ready(ctx context.Context, a *workspace.Run, as string) (*ReadyList, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	rows, err := readyRows(ctx, a, file, graph, now, as)
	if err != nil {
		return nil, err
	}
	return &ReadyList{Rows: rows, CanTake: len(takeable(rows)), Unclosed: unclosed(graph, file.Len())}, nil
}

// unclosed is how many of so many lines are issues that a survey counts as unclosed.
func unclosed(graph *dag.Graph, lines int) (n int) {
	for i := range lines {
		if graph.Lasting(i) && !graph.Closed(i) {
			n++
		}
	}
	return n
}

// Worker is who looks for work among issues that are ready for somebody: the one
// named as, else the actor. Nobody's name is asked for where nothing is assigned.
func Worker(ctx context.Context, a *workspace.Run, file *beads.Snapshot, ready []int, as string, now time.Time) (dag.Worker, error) {
	w, _, err := worker(ctx, a, file, ready, as, now)
	return w, err
}

// worker is Worker with what somebody has elsewhere: who asks the worker about that and reads
// it once more may find nobody there.
func worker(ctx context.Context, a *workspace.Run, file *beads.Snapshot, ready []int, as string, now time.Time) (w dag.Worker, held map[string]orient.Held, err error) {
	w = dag.Worker{Now: now, Name: as}
	waits, err := orient.Pending(file, ready, a.Schema)
	if err != nil {
		return w, nil, err
	}
	asked := map[int]bool{}
	assigned := false
	for k, i := range ready {
		if waits[k] {
			asked[i] = true
		}
		assigned = assigned || file.At(i).Assignee != ""
	}
	w.Asked = func(i int) bool { return asked[i] }
	if as == "" && assigned {
		w.Name, err = a.ActorName(ctx)
	}
	w.MayTake = a.MayTake(w.Name)
	held = Held(a, file, now)
	w.Held = func(i int) bool { _, ok := held[file.At(i).ID]; return ok }
	return w, held, err
}

// reader is who reads a survey: the one named as, else the actor. Nobody's name is
// asked for where no open issue is assigned.
func reader(ctx context.Context, a *workspace.Run, file *beads.Snapshot, as string) (string, error) {
	if as != "" {
		return as, nil
	}
	for _, issue := range file.All() {
		if issue.Status == beads.StatusOpen && issue.Assignee != "" {
			return a.ActorName(ctx)
		}
	}
	return "", nil
}

// readyRows lists issues that are ready, first those that the worker can take.
func readyRows(ctx context.Context, a *workspace.Run, file *beads.Snapshot, graph *dag.Graph, now time.Time, as string) ([]ReadyRow, error) {
	ready := graph.Ready(now)
	w, elsewhere, err := worker(ctx, a, file, ready, as, now)
	if err != nil {
		return nil, err
	}
	unblocks := graph.Unblocks()
	var rows, held []ReadyRow
	for _, i := range ready {
		issue, state := file.At(i), graph.State(i, w)
		row := ReadyRow{
			ID: issue.ID, Title: issue.Title, Priority: issue.Priority, Unblocks: unblocks[i],
			CanTake: state == dag.StateReady, State: state, Assignee: issue.Assignee, Asked: w.Asked(i),
		}
		if epic, ok := graph.Epic(i); ok {
			row.Epic = file.At(epic).ID
		}
		if state == dag.StateHeld {
			row.Held = new(elsewhere[issue.ID])
		}
		if state == dag.StateEpic {
			closed, total := graph.Progress(i)
			row.Children = total - closed
		}
		if row.CanTake {
			rows = append(rows, row)
		} else {
			held = append(held, row)
		}
	}
	return append(append([]ReadyRow{}, rows...), held...), nil
}

// takeable is the first part of such rows: those that can be taken.
func takeable(rows []ReadyRow) []ReadyRow {
	for n, row := range rows {
		if !row.CanTake {
			return rows[:n]
		}
	}
	return rows
}

// Place says what a row belongs to, what waits for it, and why it cannot be taken.
func (r ReadyRow) Place() string {
	var parts []string
	if r.Epic != "" {
		parts = append(parts, "in "+r.Epic)
	}
	switch r.Unblocks {
	case 0:
	case 1:
		parts = append(parts, "1 issue waits for it")
	default:
		parts = append(parts, fmt.Sprintf("%d issues wait for it", r.Unblocks))
	}
	switch r.State {
	case dag.StateAsked:
		parts = append(parts, "waits for an answer")
	case dag.StateHeld:
		parts = append(parts, r.Held.Words())
	case dag.StateAssigned:
		parts = append(parts, "assigned to "+visible.OneLine(r.Assignee))
	case dag.StateEpic:
		parts = append(parts, visible.Counted(r.Children, "unclosed child issue"))
	case dag.StateComplete:
		parts = append(parts, "all its children are closed: close it")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}

// withoutTable picks the issues that have no table: among those named, else
// among all that are not closed.
func withoutTable(a *workspace.Run, named []string) ([]string, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	candidates, err := file.FindAll(named)
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		for _, issue := range file.All() {
			if !beads.IsClosed(issue.Status) {
				candidates = append(candidates, issue)
			}
		}
	}
	var ids []string
	reader := file.Reader()
	for _, issue := range candidates {
		record, err := reader.Record(issue)
		if err != nil {
			return nil, err
		}
		if len(notes.Parse(record.Text(beads.Notes)).Named(signals.Section)) == 0 {
			ids = append(ids, issue.ID)
		}
	}
	return ids, nil
}

// Next lists the issues that the reader can take, the first one first, and gives a hint of what
// must be done before one can be claimed; "" for nothing.
func Next(ctx context.Context, a *workspace.Run) (rows []ReadyRow, before string, err error) {
	now, err := a.Clock()
	if err != nil {
		return nil, "", err
	}
	store, err := a.Discover()
	if err != nil {
		return nil, "", err
	}
	rows, canEdit, err := takeableNow(ctx, a, store, now, a.Actor)
	if refused := Unwritable(ctx, a, store.Place()); refused != "" {
		before = "it cannot be claimed here: " + refused + "; type stig doctor"
	} else if !canEdit {
		before = "it cannot be claimed before the store is fixed: type stig vet"
	}
	return rows, before, err
}

// takeable is Next for an actor, or without a name for whoever reads.
func takeableNow(ctx context.Context, a *workspace.Run, s beads.Store, now time.Time, actor string) (rows []ReadyRow, canEdit bool, err error) {
	file, err := s.Snapshot()
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	a.WarnOfStore(file)
	rows, err = readyRows(ctx, a, file, dag.New(file), now, actor)
	return takeable(rows), file.CanEdit(), err
}
