package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// ReadyRow is one open and unblocked issue, and whether the reader can start it.
type ReadyRow struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Priority int       `json:"priority"`
	Unblocks int       `json:"unblocks"` // number of unclosed issues that wait for it
	Epic     string    `json:"epic"`
	CanTake  bool      `json:"can_take"`
	State    dag.State `json:"state"` // if it cannot be taken: asked, held, assigned, epic or complete
	Assignee string    `json:"assignee,omitempty"`
	Asked    bool      `json:"asked,omitempty"`         // it has an unanswered question
	Children int       `json:"open_children,omitempty"` // number of unclosed children

	Held       *orient.Held `json:"held,omitempty"`       // holder in another work tree
	Holds      []string     `json:"holds,omitempty"`      // why it cannot be taken
	Conditions []string     `json:"conditions,omitempty"` // the request that it is built upon, and other issues that must have failed
	Against    string       `json:"against,omitempty"`    // why it should not be taken first, in its own words

	bare bool // it has nothing but a title
}

// WaitingRow is an issue that waits for something other than an issue.
type WaitingRow struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Holds  []string `json:"holds"`            // what it waits for, to print after its id
	Unread bool     `json:"unread,omitempty"` // part of it is unreadable
}

// ReadyList lists the open and unblocked issues, and counts the unclosed ones.
type ReadyList struct {
	Rows     []ReadyRow // those that the reader can take first
	CanTake  int        // how many of them the reader can take
	Unclosed int
	Waiting  []WaitingRow // in the order of the store
	BD       []BDObject   // if requested: those that the reader can take, as bd's objects
}

// Unread counts the issues with unreadable parts.
func (l *ReadyList) Unread() (n int) {
	for _, w := range l.Waiting {
		if w.Unread {
			n++
		}
	}
	return n
}

// Output returns the list as data, at most limit rows unless that is 0.
func (l *ReadyList) Output(limit int) workspace.Output {
	rows := l.Rows
	if limit > 0 {
		rows = rows[:min(limit, len(rows))]
	}
	return workspace.NewOutput("ready", struct {
		CanTake int          `json:"can_take"`
		Ready   []ReadyRow   `json:"ready"`
		Total   int          `json:"total"`
		Waiting []WaitingRow `json:"waiting,omitempty"`
	}{l.CanTake, rows, len(l.Rows), l.Waiting})
}

// Ready lists the unblocked issues, first those that as, or else the actor, can take.
func Ready(ctx context.Context, a *workspace.Run, as string) (*ReadyList, error) {
	return ready(ctx, a, as, false, 0)
}

// ReadyBD is Ready with at most limit of the takeable issues as bd's objects; 0 for all.
func ReadyBD(ctx context.Context, a *workspace.Run, as string, limit int) (*ReadyList, error) {
	return ready(ctx, a, as, true, limit)
}

func ready(ctx context.Context, a *workspace.Run, as string, bd bool, limit int) (*ReadyList, error) {
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
	free := takeable(rows)
	list := &ReadyList{Rows: rows, CanTake: len(free), Unclosed: unclosed(graph, file.Len()), Waiting: waiting(file, graph)}
	if bd {
		var ids []string
		for k, row := range free {
			if limit == 0 || k < limit {
				ids = append(ids, row.ID)
			}
		}
		list.BD, err = bdList(file, ids, nil)
	}
	return list, err
}

// waiting lists the open issues that wait for something other than an issue.
func waiting(file *beads.Snapshot, graph *dag.Graph) (list []WaitingRow) {
	for _, i := range graph.HeldBeside() {
		if issue := file.At(i); issue.Status == beads.StatusOpen && graph.Lasting(i) {
			beside := graph.Beside(i)
			list = append(list, WaitingRow{ID: issue.ID, Title: issue.Title, Holds: beside.Words(i, namesOf(file)), Unread: !beside.Unread().Free()})
		}
	}
	return list
}

// namesOf returns a function that returns the id at an index.
func namesOf(file *beads.Snapshot) func(i int) string {
	return func(i int) string { return file.At(i).ID }
}

// unclosed counts the unclosed issues, as a survey does.
func unclosed(graph *dag.Graph, lines int) (n int) {
	for i := range lines {
		if graph.Lasting(i) && !graph.Closed(i) {
			n++
		}
	}
	return n
}

// Worker returns the worker that looks for work among ready issues: as, or else the actor. The
// actor is looked up only if an issue is assigned.
func Worker(ctx context.Context, a *workspace.Run, file *beads.Snapshot, ready []int, as string, now time.Time) (dag.Worker, error) {
	w, _, err := worker(ctx, a, file, ready, as, now)
	return w, err
}

// worker is Worker, and also returns what is held elsewhere. A caller that reads the holders
// again later may find them gone.
func worker(ctx context.Context, a *workspace.Run, file *beads.Snapshot, ready []int, as string, now time.Time) (w dag.Worker, held map[string]orient.Held, err error) {
	w = dag.Worker{Now: now, Name: as}
	waits, requests, err := orient.Awaiting(file, ready, as, a.Schema)
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
	w.Reviewed = func(i int) string { return requests[i] }
	if as == "" && assigned {
		w.Name, err = a.ActorName(ctx)
	}
	w.MayTake = a.MayTake(w.Name)
	held = Held(a, file, now)
	w.Held = func(i int) bool { _, ok := held[file.At(i).ID]; return ok }
	return w, held, err
}

// reader returns the reader of a survey: as, or else the actor. The actor is looked up only if
// an open issue is assigned.
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

// readyRows lists the ready issues, first those that the worker can take.
func readyRows(ctx context.Context, a *workspace.Run, file *beads.Snapshot, graph *dag.Graph, now time.Time, as string) ([]ReadyRow, error) {
	ready := graph.Ready(now)
	w, elsewhere, err := worker(ctx, a, file, ready, as, now)
	if err != nil {
		return nil, err
	}
	unblocks := graph.Unblocks()
	var rows, held []ReadyRow
	for _, i := range ready {
		issue, standing := file.At(i), graph.Standing(i, w)
		state := standing.State
		row := ReadyRow{
			ID: issue.ID, Title: issue.Title, Priority: issue.Priority, Unblocks: unblocks[i],
			CanTake: standing.Free(), State: state, Assignee: issue.Assignee, Asked: w.Asked(i), Holds: standing.Words(i, namesOf(file)),
		}
		if u, ok := graph.Upon(i); ok {
			row.Conditions = append(row.Conditions, u.Words(namesOf(file)))
		}
		for _, c := range graph.Conditions(i) {
			row.Conditions = append(row.Conditions, c.Words(namesOf(file)))
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
			if len(rows) < orient.MostWeighed {
				advice, err := orient.AdviceOf(issue)
				if err != nil {
					return nil, err
				}
				row.Against, row.bare = advice.Against, advice.Bare
			}
			rows = append(rows, row)
		} else {
			held = append(held, row)
		}
	}
	return append(append([]ReadyRow{}, rows...), held...), nil
}

// takeable returns the leading rows that can be taken.
func takeable(rows []ReadyRow) []ReadyRow {
	for n, row := range rows {
		if !row.CanTake {
			return rows[:n]
		}
	}
	return rows
}

// advised sorts takeable rows: the recommended one first, and last those that say that they
// should wait.
func advised(rows []ReadyRow) []ReadyRow {
	advice := make([]orient.Advice, min(len(rows), orient.MostWeighed))
	for k := range advice {
		advice[k] = orient.Advice{Priority: rows[k].Priority, Against: rows[k].Against, Bare: rows[k].bare}
	}
	var list []ReadyRow
	for _, at := range orient.Advised(advice) {
		list = append(list, rows[at])
	}
	return append(list, rows[len(advice):]...)
}

// First returns the id of the issue to begin with; "" if none can be taken.
func (l *ReadyList) First() string {
	if l.CanTake == 0 {
		return ""
	}
	return advised(takeable(l.Rows))[0].ID
}

// Place returns a remark on a row: its epic, what waits for it, and why it cannot be taken.
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
	parts = append(parts, r.Conditions...)
	if r.Against != "" {
		parts = append(parts, r.Against)
	}
	switch {
	case r.State == dag.StateAsked:
		parts = append(parts, "waits for an answer")
	case r.State == dag.StateReview:
		parts = append(parts, strings.TrimPrefix(r.Holds[0], "is "))
	case r.State == dag.StateHeld:
		parts = append(parts, r.Held.Words())
	case r.State == dag.StateAssigned:
		parts = append(parts, "assigned to "+visible.OneLine(r.Assignee))
	case r.State == dag.StateEpic && r.Children > 0:
		parts = append(parts, visible.Counted(r.Children, "unclosed child issue"))
	case r.State == dag.StateComplete:
		parts = append(parts, "all its children are closed: close it")
	default:
		parts = append(parts, r.Holds...)
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}

// withoutTable returns the issues without a signal table: among the named ones, or else among
// all unclosed ones.
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

// Next lists the issues that the reader can take, the recommended one first. before is a hint
// of what must be done before one can be claimed; "" for nothing.
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
		before = "it cannot be claimed until the store is fixed: type stig vet"
	}
	return rows, before, err
}

// takeableNow is Next for an actor; without a name it is for the reader.
func takeableNow(ctx context.Context, a *workspace.Run, s beads.Store, now time.Time, actor string) (rows []ReadyRow, canEdit bool, err error) {
	file, err := s.Snapshot()
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	a.WarnOfStore(file)
	rows, err = readyRows(ctx, a, file, dag.New(file), now, actor)
	return advised(takeable(rows)), file.CanEdit(), err
}
