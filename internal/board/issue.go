package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/orient"
	"stig/signals"
)

// issue is the page of one issue: where it stands, its texts and questions, its proof, what
// happened, what it depends on, and the briefing.
func issue(v *view) (page, error) {
	shown, err := service.Issue(v.Run, v.path[1])
	if err != nil {
		return page{}, err
	}
	id := shown.Issue.ID
	p := page{Title: shown.Issue.Title, Section: "Issues", Every: 5 * time.Second}
	depth := v.query.Get("depth")
	found, err := service.Orient(v.ctx, v.Run, service.OrientRequest{ID: id, Depth: depth})
	if err != nil {
		return p, err
	}
	asked, err := v.asked()
	if err != nil {
		return p, err
	}
	mine := func(list []orient.Asked) []orient.Asked {
		return slices.DeleteFunc(slices.Clone(list), func(q orient.Asked) bool { return q.ID != id })
	}
	waits := day{}
	if waits.Questions, err = v.questions(mine(asked.Pending)); err != nil {
		return p, err
	}
	if waits.Answers, err = service.FreshAnswers(v.Run); err != nil {
		return p, err
	}
	waits.Answers = slices.DeleteFunc(waits.Answers, func(one clone.FreshAnswer) bool { return one.Issue != id })
	if waits.Landings, err = v.landings(); err != nil {
		return p, err
	}
	if waits.Landings = waits.Landings.only(id); waits.Landings.Total > 0 && waits.Landings.List[0].Diff == "" {
		waits.Landings.List[0].Diff = v.diffOf(id)
	}
	if waits.Reviews, err = v.reviews(); err != nil {
		return p, err
	}
	events, err := v.timeline(id, shown.Issue.CreatedAt, shown.Issue.ClosedAt, slices.Concat(mine(asked.Pending), mine(asked.Answered)))
	if err != nil {
		return p, err
	}
	head, err := v.head(id, found.Briefing, waits.Questions.List, shown.Issue.ClosedAt)
	if err != nil {
		return p, err
	}
	doing, err := v.doing(id)
	if err != nil {
		return p, err
	}
	if doing != nil {
		p.Every = recheck
	}
	form, err := v.edited()
	if err != nil {
		return p, err
	}
	texts := v.part("texts", shown)
	if form != nil { // it has the texts
		texts = v.part("edit", form)
	}
	done := v.work(id)[id]
	if waits.Questions.Total > 0 { // they show it
		done = Work{}
	} else if waits.Landings.Total > 0 {
		done.Diff = ""
	}
	closed := shown.Issue.Status == beads.StatusClosed
	p.Parts = []part{
		v.top("head", head),
		v.part("doing", doing),
		v.part("waits", waits),
		v.part("reviews", waits.Reviews.only(id)),
		texts,
		v.part("proof", struct{ ID, Gate, Diff, Reason, State string }{id, gateText(done.Gate), done.Diff, shown.Issue.CloseReason, proofState(done, shown.Issue.CloseReason)}),
		v.part("timeline", events),
		v.part("trajectory", v.trajectory(id)),
		v.part("briefing", struct {
			Depths []string
			Depth  string
			Open   bool
			Text   string
		}{signals.PlanningDepth.Domain(), cmp.Or(depth, found.Briefing.Depth), depth != "", found.Markdown()}),
		v.side("facts", shown),
		v.side("acts", struct {
			ID     string
			Closed bool
			Holds  []string // why it cannot be claimed
			Mine   bool     // the viewer has it in progress
		}{id, closed, found.Briefing.Holds, shown.Issue.Status == beads.StatusInProgress && shown.Issue.Assignee == v.Who}),
		v.side("neighbours", v.neighbours(id, shown.DependsOn, shown.Dependents)),
	}
	return p, nil
}

// doing is the run on an issue: who works, and its last lines.
type doing struct {
	Actor string
	actorRuns
}

// doing returns the run on an issue; nil if none runs here.
func (v *view) doing(id string) (*doing, error) {
	runs, err := v.liveRuns()
	run, live := runs[id]
	if !live {
		return nil, err
	}
	return &doing{run.Actor, actorRuns{Live: true, Words: tail(run.Log, liveWords)}}, nil
}

// issueHead is where an issue stands.
type issueHead struct {
	ID, Tone, Words string
	Held            string // a further reason why it waits; "" for none
	Swarm           bool
}

// head puts into words where an issue stands.
func (v *view) head(id string, b *orient.Briefing, asked []question, closed string) (h issueHead, err error) {
	all, err := v.standings()
	if err != nil {
		return h, err
	}
	live, err := v.liveRuns()
	if err != nil {
		return h, err
	}
	did, err := v.workOf()
	if err != nil {
		return h, err
	}
	at := all.Of[id]
	h = issueHead{ID: id, Tone: at.Tone, Words: at.Words, Swarm: v.hasSwarm(id)}
	switch run, runs := live[id]; {
	case at.Tone == "you":
		h.Words = "waits for your answer"
		if len(asked) > 0 && asked[0].When != "" {
			h.Words += ", asked " + asked[0].When
		}
	case runs:
		h.Words = "running: " + run.Actor + ", for " + cmp.Or(v.Span(v.now.Sub(run.Started)), "a moment")
	case at.Column == columnRunning:
		h.Words = "in progress"
	case at.Words == toLand && did[id].by != "":
		h.Words = "done by " + did[id].by + ", to land"
	case at.Column == columnClosed:
		if when, err := time.Parse(time.RFC3339Nano, closed); err == nil {
			h.Words = "closed " + v.Ago(when)
		}
	}
	if b.Held != nil {
		h.Held = b.Held.Words()
	}
	return h, nil
}

// proofState says in short what proves an issue: its close reason, or the last run of its
// checks; "" if there is neither.
func proofState(w Work, reason string) string {
	if reason != "" {
		return proofOf(reason)
	}
	if w.Gate == nil {
		return ""
	}
	passed, all := 0, 0
	for _, o := range w.Gate.Outcomes() {
		if all++; o.Passed() {
			passed++
		}
	}
	return fmt.Sprintf("%d of %s passed when they last ran", passed, visible.Counted(all, "check"))
}

// neighbour is an issue beside another one in the graph.
type neighbour struct {
	ID, Title, Tone, Words string
}

// beside is a group of neighbours.
type beside struct {
	Name string
	List []neighbour
	More int
}

// mostNeighbours limits the neighbours of one kind on a page.
const mostNeighbours = 20

// neighbours groups the links of an issue by what they mean for it.
func (v *view) neighbours(id string, on, of []service.LinkRow) (groups []beside) {
	all, err := v.standings()
	if err != nil {
		return nil // head has returned the error
	}
	add := func(name string, l service.LinkRow) {
		at := slices.IndexFunc(groups, func(g beside) bool { return g.Name == name })
		if at < 0 {
			at = len(groups)
			groups = append(groups, beside{Name: name})
		}
		g := &groups[at]
		if len(g.List) == mostNeighbours {
			g.More++
			return
		}
		s := all.Of[l.ID]
		g.List = append(g.List, neighbour{l.ID, l.Title, cmp.Or(s.Tone, toneOf(l.Status)), cmp.Or(s.Words, l.Status)})
	}
	for _, l := range on {
		add(map[string]string{"blocks": "Waits for", "parent-child": "Part of"}[l.Type], l)
	}
	for _, l := range of {
		add(map[string]string{"blocks": "Needed by", "parent-child": "Contains"}[l.Type], l)
	}
	for i := range groups {
		groups[i].Name = cmp.Or(groups[i].Name, "Related")
	}
	return groups
}

// plot is the surprise of an issue over its commits, as a line.
type plot struct {
	Points []orient.Point
	Line   string // an SVG path, within 600 by 80
	Dots   []dot
}

type dot struct {
	X, Y float64
	Tip  string
}

// trajectory plots the surprise of an issue; nil if the history has fewer than two values.
func (v *view) trajectory(id string) *plot {
	last, err := looked(v, "trajectory "+id, rarely, false, func(v *view) ([]orient.Point, error) {
		store, err := v.Discover()
		if err != nil {
			return nil, err
		}
		return service.Trajectory(v.ctx, v.Run, store.Place(), id, "")
	})
	points := slices.DeleteFunc(slices.Clone(last.Value), func(p orient.Point) bool { return p.Surprise == nil })
	if err != nil || len(points) < 2 {
		return nil
	}
	points = points[max(0, len(points)-100):]
	p := &plot{Points: points}
	var line strings.Builder
	for i, at := range points {
		x, y := 10+580*float64(i)/float64(len(points)-1), 70-60**at.Surprise
		fmt.Fprintf(&line, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], x, y)
		p.Dots = append(p.Dots, dot{x, y, fmt.Sprintf("%s: surprise %.2f, %s (%s)", at.Time, *at.Surprise, *at.Progress, at.Subject)})
	}
	p.Line = line.String()
	return p
}
