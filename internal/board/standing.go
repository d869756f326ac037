package board

import (
	"fmt"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/service"
	"stig/internal/visible"
)

// column is how far an issue is on its way to be closed and landed.
type column string

const (
	columnReady   column = "ready"
	columnRunning column = "running"
	columnWaits   column = "waits"
	columnLand    column = toLand
	columnClosed  column = "closed"
)

// columns returns the columns in order.
func columns() []column {
	return []column{columnReady, columnRunning, columnWaits, columnLand, columnClosed}
}

// Choices of the state menu: the columns, of which that of waiting issues is split.
const (
	waitsForYou = "waits for you"
	blocked     = "blocked" // waits for something else
)

// states returns the values of the state menu.
func states() []string {
	return []string{string(columnReady), string(columnRunning), waitsForYou, blocked, string(columnLand), string(columnClosed)}
}

// Is reports whether a choice of the state menu, or a column, includes the standing.
func (s standing) Is(state string) bool {
	switch state {
	case waitsForYou:
		return s.Words == waitsForYou
	case blocked:
		return s.Column == columnWaits && s.Words != waitsForYou
	}
	return string(s.Column) == state
}

// toLand is the state of finished work.
const toLand = "to land"

// standing is where an issue stands.
type standing struct {
	Column column // "" for what is no work, and for epics with unclosed children, which are lanes
	Words  string // such as "blocked by 2"
	Tone   string // a class of .state
	Epic   string // id of the epic that contains it; "" for none
}

// standings is where all issues of a store stand, and its epics with children.
type standings struct {
	Of    map[string]standing
	Epics map[string]lane // without cells
}

// standings returns where all issues stand for the viewer.
func (v *view) standings() (*standings, error) {
	return kept(v, "standings", shortly, func(v *view) (*standings, error) {
		asked, err := v.asked()
		if err != nil {
			return nil, err
		}
		waits := map[string]bool{}
		for _, q := range asked.Pending {
			waits[q.ID] = true
		}
		file, err := v.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		graph := dag.New(file)
		worker, err := service.Worker(v.ctx, v.Run, file, graph.Ready(v.now), v.Who, v.now)
		if err != nil {
			return nil, err
		}
		worker.Asked = nil // see waits
		requests, err := v.inReview()
		if err != nil {
			return nil, err
		}
		did, err := v.workOf()
		if err != nil {
			return nil, err
		}
		unlanded := v.unlanded(file.Place())
		all := &standings{Of: map[string]standing{}, Epics: map[string]lane{}}
		for i, issue := range file.All() {
			if at, ok := file.Index(issue.ID); !ok || at != i || issue.Status == beads.StatusTombstone {
				continue
			}
			state := graph.State(i, worker)
			s := standingOf(graph, i, issue, state, waits[issue.ID], unlanded[issue.ID])
			if state == dag.StateReview {
				s = standing{Column: columnLand, Words: requests[issue.ID], Tone: "work"}
			}
			if failed := did[issue.ID].Failed(); failed != "" && s.Column == columnReady {
				s.Words, s.Tone = s.Words+", "+failed, "warn"
			}
			if epic, ok := graph.Epic(i); ok {
				s.Epic = file.At(epic).ID
			}
			all.Of[issue.ID] = s
			if closed, total := graph.Progress(i); total > 0 {
				all.Epics[issue.ID] = lane{ID: issue.ID, Title: issue.Title, Closed: closed, Total: total}
			}
		}
		return all, nil
	})
}

// unlanded returns the issues with work to land.
func (v *view) unlanded(store beads.Place) map[string]bool {
	if v.Config.ByReview() { // requests say what is to land
		return nil
	}
	found, err := service.FindUnlanded(v.ctx, v.Run, store, "", false)
	if err != nil { // without a repository there is nothing to land
		return nil
	}
	ids := map[string]bool{}
	for _, one := range found.Issues {
		ids[one.ID] = true
	}
	return ids
}

func standingOf(graph *dag.Graph, i int, issue *beads.Issue, state dag.State, asked, unlanded bool) standing {
	switch {
	case state == dag.StateClosed && unlanded:
		return standing{Column: columnLand, Words: toLand, Tone: "work"}
	case state == dag.StateClosed:
		return standing{Column: columnClosed, Words: "closed", Tone: "good"}
	case asked:
		return standing{Column: columnWaits, Words: waitsForYou, Tone: "you"}
	}
	if closed, total := graph.Progress(i); closed < total {
		return standing{Words: fmt.Sprintf("%d of %s closed", closed, visible.Counted(total, "issue")), Tone: "idle"}
	}
	switch state {
	case dag.StateInProgress, dag.StateHeld:
		return standing{Column: columnRunning, Words: "running", Tone: "work"}
	case dag.StateReady, dag.StateAssigned:
		return standing{Column: columnReady, Words: "ready", Tone: "idle"}
	case dag.StateComplete:
		return standing{Column: columnReady, Words: "ready to close", Tone: "idle"}
	case dag.StateBlocked:
		if n := len(graph.OpenBlockers(i)); n > 0 {
			return standing{Column: columnWaits, Words: fmt.Sprintf("blocked by %d", n), Tone: "warn"}
		}
		return standing{Column: columnWaits, Words: "blocked", Tone: "warn"}
	case dag.StateDeferred:
		return standing{Column: columnWaits, Words: "deferred", Tone: "idle"}
	case dag.StateUnknown:
		return standing{Column: columnWaits, Words: issue.Status, Tone: "idle"}
	}
	return standing{Words: issue.Status, Tone: "idle"}
}
