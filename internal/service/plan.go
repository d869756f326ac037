package service

import (
	"cmp"
	"context"
	"slices"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Plan is the order in which unclosed work can be done, with ids.
type Plan struct {
	Epic         string     `json:"epic,omitempty"`
	Stages       [][]string `json:"stages"`
	Ready        []string   `json:"ready"` // what the reader can take now, in the order of stig ready
	Width        int        `json:"width"`
	CriticalPath []string   `json:"critical_path"`
	Outside      []string   `json:"outside"` // issues outside of the epic that it waits for
	Stuck        []string   `json:"stuck"`   // in a deadlock or waiting for one
	Deadlocks    []Deadlock `json:"deadlocks"`

	Titles   map[string]string `json:"-"` // by id: one-line titles of the issues in stages
	Standing map[string]string `json:"-"` // by id: why an unblocked issue cannot be taken
}

// Deadlock is a dependency cycle, and the row whose removal breaks it.
type Deadlock struct {
	Issues []string    `json:"issues"`
	Steps  []string    `json:"steps"`
	Remove DeadlockRow `json:"remove"`
}

// DeadlockRow is a dependency row of an issue.
type DeadlockRow struct {
	ID   string `json:"id"`
	On   string `json:"on"`
	Type string `json:"type"`
}

// PlanStages sorts unclosed work into stages, or only that of the named epic.
func PlanStages(ctx context.Context, a *workspace.Run, ids []string) (*Plan, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := planner{file: file, graph: dag.New(file)}
	p.within = p.graph.Lasting
	if len(ids) > 0 {
		if err := p.only(ids[0]); err != nil {
			return nil, err
		}
	}
	if p.worker, err = Worker(ctx, a, file, p.graph.Ready(now), "", now); err != nil {
		return nil, err
	}
	return p.plan(), nil
}

// planner plans the issues for which within returns true.
type planner struct {
	file   *beads.Snapshot
	graph  *dag.Graph
	within func(i int) bool
	worker dag.Worker
	epic   string
}

// only restricts the plan to an epic and all that it contains.
func (p *planner) only(id string) error {
	issue, err := p.file.Find(id)
	if err != nil {
		return err
	}
	epic, _ := p.file.Index(issue.ID)
	inside := p.graph.Inside(epic)
	if len(inside) == 0 {
		return workspace.Usage(issue.ID+": contains no issues", "name an epic, or type stig plan for everything")
	}
	picked := map[int]bool{epic: true}
	for _, i := range inside {
		picked[i] = true
	}
	p.epic, p.within = issue.ID, func(i int) bool { return picked[i] }
	return nil
}

func (p *planner) plan() *Plan {
	stages, width := p.graph.Stages(p.within)
	plan := &Plan{
		Epic: p.epic, Stages: [][]string{}, Width: width, Deadlocks: p.deadlocks(),
		CriticalPath: p.ids(p.graph.LongestChain(p.within)),
	}
	plan.Titles, plan.Standing = map[string]string{}, map[string]string{}
	var free []int
	for _, i := range p.graph.Takeable(p.worker) {
		if p.within(i) {
			free = append(free, i)
		}
	}
	plan.Ready = p.ids(free)
	staged := map[int]bool{}
	for _, stage := range stages {
		plan.Stages = append(plan.Stages, p.ids(stage))
		for _, i := range stage {
			staged[i] = true
			plan.Titles[p.file.At(i).ID] = p.title(p.file.At(i).ID)
			if words := p.standing(i); words != "" {
				plan.Standing[p.file.At(i).ID] = words
			}
		}
	}
	var stuck, outside []int
	for i := range p.file.All() {
		if !p.within(i) || !p.graph.Outstanding(i) {
			continue
		}
		if !staged[i] {
			stuck = append(stuck, i)
		}
		for _, b := range p.graph.OpenBlockers(i) {
			if !p.within(b) {
				outside = append(outside, b)
			}
		}
	}
	plan.Stuck, plan.Outside = p.sorted(stuck), p.sorted(outside)
	return plan
}

// deadlocks returns the dependency cycles that involve a planned issue.
func (p *planner) deadlocks() []Deadlock {
	list := []Deadlock{}
	name := func(i int) string { return p.file.At(i).ID }
	for _, ring := range p.graph.Deadlocks() {
		if !slices.ContainsFunc(ring.Steps, func(s dag.Step) bool { return p.within(s.Issue) }) {
			continue
		}
		d := Deadlock{Remove: DeadlockRow{ID: name(ring.Remove.From), On: name(ring.Remove.On), Type: ring.Remove.Type}}
		for _, s := range ring.Steps {
			d.Issues = append(d.Issues, name(s.Issue))
			d.Steps = append(d.Steps, s.Words(name))
		}
		list = append(list, d)
	}
	return list
}

// standing returns why an unblocked issue cannot be started; "" if it can, or if it waits for
// its stage.
func (p *planner) standing(i int) string {
	issue := p.file.At(i)
	switch p.graph.State(i, p.worker) {
	case dag.StateInProgress:
		return "in progress, " + cmp.Or(visible.OneLine(issue.Assignee), "nobody named")
	case dag.StateBlocked:
		switch beside := p.graph.Beside(i); {
		case !beside.Free():
			return beside.Words(i, namesOf(p.file))[0]
		case !p.graph.Blocked(i):
			return "status blocked"
		}
	case dag.StateDeferred:
		return "deferred"
	case dag.StateAsked:
		return "waits for an answer"
	case dag.StateReview:
		return "in review"
	case dag.StateHeld:
		return "held in another work tree"
	case dag.StateAssigned:
		return "assigned to " + visible.OneLine(issue.Assignee)
	case dag.StateComplete:
		return "all its children are closed: close it"
	case dag.StateUnknown:
		return "status " + visible.OneLine(issue.Status)
	case dag.StateOther:
		return "no work"
	}
	return ""
}

func (p *planner) ids(indices []int) []string {
	list := []string{}
	for _, i := range indices {
		list = append(list, p.file.At(i).ID)
	}
	return list
}

func (p *planner) sorted(indices []int) []string {
	list := p.ids(indices)
	slices.Sort(list)
	return slices.Compact(list)
}

func (p *planner) title(id string) string {
	i, _ := p.file.Index(id)
	return visible.OneLine(p.file.At(i).Title)
}
