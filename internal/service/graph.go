package service

import (
	"fmt"
	"slices"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/draw"
	"stig/internal/workspace"
)

// Picture draws the whole store, or the surroundings of the named issue.
func Picture(a *workspace.Run, ids []string) (*draw.Picture, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	graph := dag.New(file)
	if len(ids) == 0 {
		return draw.Draw(file, graph, draw.Whole(file, graph), a.Schema, now)
	}
	at, err := placeOf(file, ids[0])
	if err != nil {
		return nil, err
	}
	return draw.Draw(file, graph, draw.Around(file, graph, at), a.Schema, now)
}

// Ways are the chains of dependencies by which one issue waits for another.
type Ways struct {
	From    string        `json:"from"` // the waiting issue
	To      string        `json:"to"`   // the issue it waits for
	Ways    []Way         `json:"ways"` // shortest first
	More    bool          `json:"more"` // there may be more
	Picture *draw.Picture `json:"-"`    // of the issues in Ways
}

// Way is one such chain: its issues in order, and why each waits for the next.
type Way struct {
	Issues []string `json:"issues"`
	Steps  []string `json:"steps"`
}

// WaysBetween finds how the issue from waits for the issue to.
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
		return nil, workspace.Usage(fmt.Sprintf("--to: must be an issue other than %s", w.From), "type stig cycles to find dependency cycles")
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
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	w.Picture, err = draw.Draw(file, graph, slices.Compact(chosen), a.Schema, now)
	return w, err
}

// placeOf returns the index of an issue in a store.
func placeOf(file *beads.Snapshot, id string) (int, error) {
	issue, err := file.Find(id)
	if err != nil {
		return 0, err
	}
	at, _ := file.Index(issue.ID)
	return at, nil
}
