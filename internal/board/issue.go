package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/orient"
	"stig/signals"
)

// issue is the page of one issue: questions, briefing, texts, traces, the history of its
// surprise, and proof.
func issue(v *view) (page, error) {
	id := v.path[1]
	shown, err := service.Issue(v.Run, id)
	if err != nil {
		return page{}, err
	}
	id = shown.Issue.ID
	p := page{Title: id + " " + shown.Issue.Title, Section: "Issues", Every: 5 * time.Second}
	depth := v.query.Get("depth")
	found, err := service.Orient(v.ctx, v.Run, service.OrientRequest{ID: id, Depth: depth})
	if err != nil {
		return p, err
	}
	asked, err := v.asked()
	if err != nil {
		return p, err
	}
	left, err := traces.List(v.ctx, v.Run, traces.ListRequest{Issue: id, Types: v.types()})
	if err != nil {
		return p, err
	}
	mine := func(list []orient.Asked) []orient.Asked {
		return slices.DeleteFunc(slices.Clone(list), func(q orient.Asked) bool { return q.ID != id })
	}
	p.Parts = []part{
		v.part("head", struct {
			Shown    any
			Briefing *orient.Briefing
			State    string
			Claimed  bool
			Closed   bool
			Swarm    bool
		}{shown, found.Briefing, shown.Issue.Status, shown.Issue.Status == beads.StatusInProgress, shown.Issue.Status == beads.StatusClosed, v.hasSwarm(id)}),
		v.part("questions", v.questions(mine(asked.Pending))),
		v.part("answers", mine(asked.Answered)),
		v.part("briefing", struct {
			Depths []string
			Depth  string
			Text   string
		}{signals.PlanningDepth.Domain(), cmp.Or(depth, found.Briefing.Depth), found.Markdown()}),
		v.part("texts", shown),
		v.part("timeline", struct {
			Types []string
			Type  string
			Left  []entry
			Total int
		}{trace.Types(), v.query.Get("type"), entriesOf(left), len(left)}),
		v.part("trajectory", v.trajectory(id)),
		v.part("proof", gateText(v.work(id)[id].Gate)),
		v.part("acts", struct {
			ID     string
			Closed bool
			Holds  []string // why it cannot be claimed
		}{id, shown.Issue.Status == beads.StatusClosed, found.Briefing.Holds}),
	}
	return p, nil
}

// types returns the trace types that the query selects; nil for all.
func (v *view) types() []string {
	if one := v.query.Get("type"); slices.Contains(trace.Types(), one) {
		return []string{one}
	}
	return nil
}

// entry is one trace on the timeline.
type entry struct {
	Name, Type, Source, Body string
	At                       string
	Facts                    []fact
}

type fact struct{ Name, Value string }

// mostEntries limits the traces of an issue on its page.
const mostEntries = 80

// entriesOf returns the newest traces, newest first.
func entriesOf(list []trace.Entry) (all []entry) {
	for _, l := range slices.Backward(list[max(0, len(list)-mostEntries):]) {
		one := entry{Name: l.Name, Type: l.Type, Source: l.Source}
		if !l.At.IsZero() {
			one.At = visible.Moment(l.At)
		}
		content, body := l.Content()
		one.Body = body
		for name, value := range content {
			one.Facts = append(one.Facts, fact{name, fmt.Sprint(value)})
		}
		slices.SortFunc(one.Facts, func(a, b fact) int { return strings.Compare(a.Name, b.Name) })
		all = append(all, one)
	}
	return all
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
