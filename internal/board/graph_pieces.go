package board

import (
	"slices"

	"stig/dag"
	"stig/internal/draw"
	"stig/internal/workspace"
)

// GraphRequest asks for the graph of all unclosed issues, or of those that match all fields.
type GraphRequest struct {
	Around string   // the issues related to this one
	Epic   string   // this epic and the issues in it
	Status []string // issues with one of these statuses
	Most   int      // draw at most so many issues; 0 for no limit
}

// Graphed is a graph, and what its page lists besides.
type Graphed struct {
	Picture *draw.Picture // with the critical path marked; nil if there are too many issues
	Issues  int           // that match the request
	Epic    string        // the id of the requested epic
	Epics   []Epic        // the unclosed ones, and the requested one
	Names   []Epic        // unclosed issues, to choose one by name; at most mostNames
	States  []string      // the statuses of unclosed issues
	Path    []string      // the critical path of all unclosed issues
}

// mostNames limits the issues to choose from.
const mostNames = 300

// Epic is an epic, or another issue, that can be requested.
type Epic struct{ ID, Title string }

// Graph lays out the graph of issues. If an issue of the request does not exist, it returns the
// epics with the error.
func Graph(a *workspace.Run, r GraphRequest) (*Graphed, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	shown := &Graphed{}
	for _, i := range graph.Epics() {
		if epic := file.At(i); graph.Lasting(i) && (!graph.Closed(i) || epic.ID == r.Epic) && isPlain(epic.ID) {
			shown.Epics = append(shown.Epics, Epic{epic.ID, epic.Title})
		}
	}
	for i, issue := range file.All() {
		if graph.Lasting(i) && !graph.Closed(i) && isPlain(issue.ID+issue.Status) {
			if len(shown.Names) < mostNames {
				shown.Names = append(shown.Names, Epic{issue.ID, issue.Title})
			}
			if !slices.Contains(shown.States, issue.Status) {
				shown.States = append(shown.States, issue.Status)
			}
		}
	}
	slices.Sort(shown.States)
	chosen := draw.Whole(file, graph)
	if r.Epic != "" {
		issue, err := file.Find(r.Epic)
		if err != nil {
			return shown, err
		}
		shown.Epic = issue.ID
		at, _ := file.Index(issue.ID)
		chosen = append(graph.Inside(at), at)
	}
	if r.Around != "" {
		issue, err := file.Find(r.Around)
		if err != nil {
			return shown, err
		}
		at, _ := file.Index(issue.ID)
		around := draw.Around(file, graph, at)
		if r.Epic != "" {
			around = slices.DeleteFunc(around, func(i int) bool { return !slices.Contains(chosen, i) })
		}
		chosen = around
	}
	if len(r.Status) > 0 {
		chosen = slices.DeleteFunc(chosen, func(i int) bool { return !slices.Contains(r.Status, file.At(i).Status) })
	}
	for _, i := range graph.LongestChain(graph.Lasting) {
		shown.Path = append(shown.Path, file.At(i).ID)
	}
	if shown.Issues = len(chosen); r.Most > 0 && shown.Issues > r.Most {
		return shown, nil
	}
	now, err := a.Clock()
	if err != nil {
		return shown, err
	}
	if shown.Picture, err = draw.Draw(file, graph, chosen, a.Schema, now); err != nil {
		return shown, err
	}
	for _, id := range shown.Path {
		shown.Picture.Mark(id)
	}
	return shown, nil
}
