package night

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// Kinds of decisions.
const (
	DecideAnswer = "question" // a question waits for an answer
	DecideFailed = "failed"   // runs failed at an issue
	DecideLand   = "land"     // work waits to be landed, or for reviewers
)

// Decision is what waits for a person in a project.
type Decision struct {
	Project string `json:"project"`
	Kind    string `json:"kind"`
	ID      string `json:"id"`    // "" for no issue, or several
	Title   string `json:"title"` // of the issue
	By      string `json:"by"`    // "" if unknown
	Since   string `json:"since"` // YYYY-MM-DD; "" if unknown
	Text    string `json:"text"`
	Command string `json:"command"` // the command that decides, or shows more
}

// ProjectNight is what happened in a project since somebody last looked there.
type ProjectNight struct {
	Project string    `json:"project"`
	Path    string    `json:"path"`
	Since   time.Time `json:"since"`
	Done    int       `json:"done"` // closed issues
	Waits   int       `json:"waits"`
	Runs    int       `json:"runs"`
	Cost    string    `json:"cost"` // of the runs
}

// Everywhere is what waits for a person in all projects.
type Everywhere struct {
	Waits      []Decision         `json:"waits"` // oldest first; those of unknown age are the first
	Projects   []ProjectNight     `json:"projects"`
	Unreadable []workspace.Unread `json:"unreadable"`

	here string // this project
}

// Others returns what waits in other projects than this one.
func (e Everywhere) Others() Everywhere {
	e.Waits = slices.DeleteFunc(slices.Clone(e.Waits), func(d Decision) bool { return d.Project == e.here })
	e.Unreadable = slices.DeleteFunc(slices.Clone(e.Unreadable), func(u workspace.Unread) bool { return u.Project == e.here })
	return e
}

// ReadEverywhere reads the mornings of all projects. since is that of ReadMorning.
func ReadEverywhere(ctx context.Context, a *workspace.Run, since string) (*Everywhere, error) {
	all := &Everywhere{Waits: []Decision{}, Projects: []ProjectNight{}, Unreadable: []workspace.Unread{}}
	unread, err := a.Everywhere(ctx, func(in *workspace.Run) error {
		m, err := ReadMorning(ctx, in, since)
		if err != nil {
			return err
		}
		waits := m.decisions(in)
		all.Waits = append(all.Waits, waits...)
		all.Projects = append(all.Projects, ProjectNight{in.Project, cmp.Or(in.Dir, "."), m.Since, len(m.Done), len(waits), m.Cost.Runs, m.Cost.Text})
		return nil
	})
	all.Unreadable, all.here = append(all.Unreadable, unread...), a.Project
	slices.SortStableFunc(all.Waits, func(a, b Decision) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Project, b.Project))
	})
	return all, err
}

// decisions returns what waits in the project of a run.
func (m *Morning) decisions(in *workspace.Run) (list []Decision) {
	for _, q := range m.Waits {
		list = append(list, Decision{in.Project, DecideAnswer, q.ID, q.Title, q.By, q.Since, q.Question, in.Typed(q.Command)})
	}
	for _, f := range m.Failed {
		show := "stig morning"
		if f.ID != "" {
			show = "stig orient " + visible.Quoted(f.ID)
		}
		list = append(list, Decision{in.Project, DecideFailed, f.ID, f.Title, f.By[len(f.By)-1], f.At.UTC().Format(time.DateOnly), f.Why, in.Typed(show)})
	}
	if l := m.ToLand; l.Issues > 0 {
		list = append(list, Decision{in.Project, DecideLand, "", "", "", l.Since, l.Text, in.Typed(l.Command)})
	}
	return list
}
