package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/dag"
)

func PlanCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:        "plan [EPIC]",
		SuggestFor: []string{"blocked"},
		Short:      "in what order unclosed work can go, and what can go side by side",
		Long: "Sort unclosed work, or that of an epic, into stages: the issues of one stage can\n" +
			"be worked on side by side once the stages before it are closed. An epic stands\n" +
			"after the last of its children. The critical path is the longest chain of issues\n" +
			"that block each other.",
		GroupID: "graph",
		Args:    cli.Takes(0, 1, "one epic at most"),
		Example: "  stig plan\n  stig plan demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			now, err := a.Clock()
			if err != nil {
				return err
			}
			file, err := a.Open()
			if err != nil {
				return err
			}
			defer file.Close()
			p := planner{file: file, graph: dag.New(file)}
			p.within = p.graph.Lasting
			if len(args) == 1 {
				if err := p.only(args[0]); err != nil {
					return err
				}
			}
			if p.worker, err = a.Worker(cmd.Context(), file, p.graph.Ready(now), "", now); err != nil {
				return err
			}
			view := p.plan()
			if a.JSON {
				return a.PrintJSON("plan", view)
			}
			return a.Print(view.text(p.title))
		},
	}
}

// planner plans the issues that within picks.
type planner struct {
	file   *beads.Snapshot
	graph  *dag.Graph
	within func(i int) bool
	worker dag.Worker
	epic   string
}

// planView is a plan with ids for indices.
type planView struct {
	Epic         string         `json:"epic,omitempty"`
	Stages       [][]string     `json:"stages"`
	Ready        []string       `json:"ready"` // what the reader can take now, in the order of stig ready
	Width        int            `json:"width"`
	CriticalPath []string       `json:"critical_path"`
	Outside      []string       `json:"outside"` // what the epic's issues wait for and it does not contain
	Stuck        []string       `json:"stuck"`   // in a deadlock, or waiting for one
	Deadlocks    []deadlockView `json:"deadlocks"`

	standing map[string]string // by id: why what nothing blocks cannot be taken
}

// deadlockView is a circle of issues, and the row whose removal breaks it.
type deadlockView struct {
	Issues []string `json:"issues"`
	Steps  []string `json:"steps"`
	Remove rowView  `json:"remove"`
}

type rowView struct {
	ID   string `json:"id"`
	On   string `json:"on"`
	Type string `json:"type"`
}

// only narrows the plan to an epic and all that it contains.
func (p *planner) only(id string) error {
	issue, err := p.file.Find(id)
	if err != nil {
		return err
	}
	epic, _ := p.file.Index(issue.ID)
	inside := p.graph.Inside(epic)
	if len(inside) == 0 {
		return app.Usage(issue.ID+": contains no issues", "name an epic, or type stig plan for everything")
	}
	picked := map[int]bool{epic: true}
	for _, i := range inside {
		picked[i] = true
	}
	p.epic, p.within = issue.ID, func(i int) bool { return picked[i] }
	return nil
}

func (p *planner) plan() *planView {
	stages, width := p.graph.Stages(p.within)
	view := &planView{
		Epic: p.epic, Stages: [][]string{}, Width: width, Deadlocks: p.deadlocks(),
		CriticalPath: p.ids(p.graph.LongestChainWithin(p.within)),
	}
	view.standing = map[string]string{}
	var free []int
	for _, i := range p.graph.Takeable(p.worker) {
		if p.within(i) {
			free = append(free, i)
		}
	}
	view.Ready = p.ids(free)
	staged := map[int]bool{}
	for _, stage := range stages {
		view.Stages = append(view.Stages, p.ids(stage))
		for _, i := range stage {
			staged[i] = true
			if words := p.standing(i); words != "" {
				view.standing[p.file.At(i).ID] = words
			}
		}
	}
	var stuck, outside []int
	for i := range p.file.Len() {
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
	view.Stuck, view.Outside = p.sorted(stuck), p.sorted(outside)
	return view
}

// deadlocks are those in which a planned issue takes part.
func (p *planner) deadlocks() []deadlockView {
	list := []deadlockView{}
	name := func(i int) string { return p.file.At(i).ID }
	for _, ring := range p.graph.Deadlocks() {
		if !slices.ContainsFunc(ring.Steps, func(s dag.Step) bool { return p.within(s.Issue) }) {
			continue
		}
		d := deadlockView{Remove: rowView{ID: name(ring.Remove.From), On: name(ring.Remove.On), Type: ring.Remove.Type}}
		for _, s := range ring.Steps {
			d.Issues = append(d.Issues, name(s.Issue))
			d.Steps = append(d.Steps, s.Words(name))
		}
		list = append(list, d)
	}
	return list
}

// standing says why an issue that no other one holds up cannot be taken; "" for
// what can be, and for what waits for its stage.
func (p *planner) standing(i int) string {
	issue := p.file.At(i)
	switch p.graph.State(i, p.worker) {
	case dag.StateInProgress:
		return "in progress, " + cmp.Or(app.Folded(issue.Assignee), "nobody named")
	case dag.StateBlocked:
		if !p.graph.Blocked(i) {
			return "status blocked"
		}
	case dag.StateDeferred:
		return "deferred"
	case dag.StateAsked:
		return "waits for an answer"
	case dag.StateAssigned:
		return "assigned to " + app.Folded(issue.Assignee)
	case dag.StateComplete:
		return "all its children are closed: close it"
	case dag.StateUnknown:
		return "status " + app.Folded(issue.Status)
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
	return strings.Join(strings.Fields(p.file.At(i).Title), " ")
}

func (v *planView) text(title func(id string) string) string {
	var b strings.Builder
	planned, widest := 0, 0
	for _, stage := range v.Stages {
		planned += len(stage)
		for _, id := range stage {
			widest = max(widest, len(id))
		}
	}
	of := ""
	if v.Epic != "" {
		of = v.Epic + ": "
	}
	fmt.Fprintf(&b, "%s%s in %s, at most %d side by side; %d ready\n", of, app.Counted(planned, "issue"), app.Counted(len(v.Stages), "stage"), v.Width, len(v.Ready))
	for k, stage := range v.Stages {
		fmt.Fprintf(&b, "\nstage %d\n", k+1)
		for _, id := range stage {
			standing := ""
			if words := v.standing[id]; words != "" {
				standing = "  (" + words + ")"
			}
			fmt.Fprintf(&b, "  %-*s  %s%s\n", widest, id, title(id), standing)
		}
	}
	if len(v.CriticalPath) > 1 {
		fmt.Fprintf(&b, "\ncritical path (%d): %s\n", len(v.CriticalPath), strings.Join(v.CriticalPath, " → "))
	}
	if len(v.Outside) > 0 {
		fmt.Fprintf(&b, "\nwaits for issues outside: %s\n", strings.Join(v.Outside, ", "))
	}
	if len(v.Stuck) > 0 {
		fmt.Fprintf(&b, "\nin no stage, since they are in a dependency cycle: %s\n", strings.Join(v.Stuck, ", "))
		b.WriteString("type stig cycles to see why, and which dependency to remove\n")
	}
	return b.String()
}
