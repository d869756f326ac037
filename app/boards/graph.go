package boards

import (
	"slices"

	"stig/app"
	"stig/dag"
	"stig/draw"
)

// GraphRequest asks for the graph of the issues that are not closed, or of those that
// fit all that is given.
type GraphRequest struct {
	Around string   // what bears on this issue
	Epic   string   // this epic and what is in it
	Status []string // issues of these states
	Most   int      // draw no more issues than that; 0 for any number
}

// Graph lays the graph of issues out, with the critical path marked. Where they are more
// than the request allows it gives nil, and how many they are.
func Graph(a *app.App, r GraphRequest) (*draw.Picture, int, error) {
	file, err := a.Open()
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	graph := dag.New(file)
	var chosen []int
	switch {
	case r.Around != "":
		issue, err := file.Find(r.Around)
		if err != nil {
			return nil, 0, err
		}
		at, _ := file.Index(issue.ID)
		chosen = draw.Around(file, graph, at)
	case r.Epic != "":
		issue, err := file.Find(r.Epic)
		if err != nil {
			return nil, 0, err
		}
		at, _ := file.Index(issue.ID)
		chosen = append(slices.Clone(graph.Inside(at)), at)
	default:
		chosen = draw.Whole(file, graph)
	}
	if len(r.Status) > 0 {
		chosen = slices.DeleteFunc(chosen, func(i int) bool { return !slices.Contains(r.Status, file.At(i).Status) })
	}
	if r.Most > 0 && len(chosen) > r.Most {
		return nil, len(chosen), nil
	}
	picture, err := draw.Draw(file, graph, chosen, a.Schema)
	if err == nil {
		for _, i := range graph.LongestChain() {
			picture.Mark(file.At(i).ID)
		}
	}
	return picture, len(chosen), err
}
