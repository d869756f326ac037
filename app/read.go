package app

import (
	"fmt"
	"path/filepath"
	"strings"

	"stig/beads"
	"stig/dag"
	"stig/draw"
	"stig/notes"
	"stig/orient"
	"stig/process"
	"stig/signals"
)

// Picture draws the whole store, or what is around the issue that is named.
func (a *App) Picture(ids []string) (*draw.Picture, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	graph := dag.New(file)
	if len(ids) == 0 {
		return draw.Draw(file, graph, draw.Whole(file, graph), a.Schema)
	}
	issue, err := file.Find(ids[0])
	if err != nil {
		return nil, err
	}
	at, _ := file.Index(issue.ID)
	return draw.Draw(file, graph, draw.Around(file, graph, at), a.Schema)
}

// OpenIssue opens the store and finds an issue in it.
func (a *App) OpenIssue(id string) (*beads.Snapshot, int, error) {
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

// Reading are the rules of whatever reads before work.
func (a *App) Reading(file *beads.Snapshot, staleDays int) (orient.Rules, error) {
	now, err := a.Clock()
	return orient.Rules{
		Schema: a.Schema, Look: process.Finder(filepath.Dir(file.Place().Dir), a.Getenv),
		Now: now, StaleDays: staleDays,
	}, err
}

// ReadyRow is one issue that can be started.
type ReadyRow struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Priority int    `json:"priority"`
	Unblocks int    `json:"unblocks"` // how many unclosed issues wait for it
	Epic     string `json:"epic"`
	Asked    bool   `json:"asked,omitempty"` // waits for a person's answer
}

func (a *App) ReadyRows(file *beads.Snapshot, graph *dag.Graph, ready []int) ([]ReadyRow, error) {
	rows := []ReadyRow{}
	unblocks := graph.Unblocks()
	asked, err := orient.Pending(file, ready, a.Schema)
	if err != nil {
		return nil, err
	}
	for k, i := range ready {
		issue := file.At(i)
		row := ReadyRow{ID: issue.ID, Title: issue.Title, Priority: issue.Priority, Unblocks: unblocks[i], Asked: asked[k]}
		if epic, ok := graph.Epic(i); ok {
			row.Epic = file.At(epic).ID
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Place says what a row belongs to and what waits for it.
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
	if r.Asked {
		parts = append(parts, "asked: waits for an answer")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}

// WithoutTable picks the issues that have no table: among those named, else
// among all that are not closed.
func (a *App) WithoutTable(named []string) ([]string, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var candidates []*beads.Issue
	for _, id := range named {
		issue, err := file.Find(id)
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, issue)
	}
	if len(named) == 0 {
		for _, issue := range file.All() {
			if issue.Status != "closed" && issue.Status != "tombstone" {
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
