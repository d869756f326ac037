package workers

import (
	"fmt"
	"strings"
	"time"

	"stig/internal/loop"
	"stig/internal/loop/actors"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// mostTitle is the maximum length of a title in a line of the log, in characters.
const mostTitle = 40

// eventLine formats an event as a line: when, who, which issue, what, how long it took, what it
// cost, why.
func eventLine(e loop.Event) string {
	text := e.At.UTC().Format("15:04:05Z")
	for _, name := range []string{e.Project, e.Actor} {
		if name != "" {
			text += " " + visible.OneLine(name)
		}
	}
	if e.Issue != "" {
		text += " " + visible.OneLine(e.Issue)
		if e.Title != "" {
			text += " " + visible.Clipped(visible.OneLine(e.Title), mostTitle)
		}
	}
	text += ": "
	reason := e.Text
	if e.Event != loop.EventSaid {
		text += e.Event
		if e.Event == loop.EventClaimed && reason != "" {
			text += ", "
		}
	}
	if r := e.Run; r != nil {
		text += ran(actors.RunOf(*r))
		if reason != "" {
			text += ": "
		}
	}
	return workspace.Visible(text+visible.OneLine(reason)) + "\n"
}

// ran returns how long a run took and what it cost, each after a comma.
func ran(r actors.Run) (text string) {
	if r.Ended != nil {
		text = ", " + r.Ended.Sub(r.Started).Round(time.Second).String()
	}
	if r.Price != "" {
		text += ", " + r.Price
	}
	return text
}

// eventJSON returns an event as JSON.
func eventJSON(e loop.Event) any {
	data := struct {
		At      time.Time   `json:"at"`
		Actor   string      `json:"actor"`
		Project string      `json:"project,omitempty"`
		Issue   string      `json:"issue"`
		Title   string      `json:"title"`
		Event   string      `json:"event"`
		Text    string      `json:"text"`
		Run     *actors.Run `json:"run,omitempty"`
	}{At: e.At, Actor: e.Actor, Project: e.Project, Issue: e.Issue, Title: e.Title, Event: e.Event, Text: e.Text}
	if e.Run != nil {
		one := actors.RunOf(*e.Run)
		data.Run = &one
	}
	return data
}

// endText returns why the loops ended and what they did, or what a dry run found.
func endText(d *loop.Done) string {
	switch {
	case d.Plan != nil:
		return planText(d.Plan)
	case d.Would != nil:
		return wouldText(d.Would)
	}
	text, s := d.Reason+"\n", d.Summary
	if len(d.Runs) == 0 {
		return text
	}
	var came []string
	for _, list := range []struct {
		what string
		ids  []string
	}{{"closed", s.Closed}, {"waiting", s.Waiting}, {"in review", s.Review}, {"failed", s.Failed}} {
		if n := len(list.ids); n > 0 {
			came = append(came, fmt.Sprintf("%d %s (%s)", n, list.what, idsText(list.ids)))
		}
	}
	came = append(came, visible.Counted(len(d.Runs), "run")+", "+(time.Duration(s.Seconds)*time.Second).String())
	text += strings.Join(came, "; ")
	if s.Cost != "" {
		text += "; cost " + strings.TrimPrefix(s.Cost, "cost ")
	}
	if len(s.Next) > 0 {
		text += "\nnext: " + strings.Join(s.Next, ", ")
	}
	return workspace.Visible(text) + "\n"
}

// idsText lists the first few issues, and how many more there are.
func idsText(ids []string) string {
	const most = 6
	text := strings.Join(ids[:min(len(ids), most)], " ")
	if more := len(ids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func wouldText(w *loop.Would) string {
	var text strings.Builder
	of := ""
	if w.Project != "" {
		of = ", in project " + visible.OneLine(w.Project)
	}
	fmt.Fprintf(&text, "would take %s: %s (%s%s)\n", visible.OneLine(w.Issue), workspace.Visible(visible.OneLine(w.Title)), w.Why, of)
	fmt.Fprintf(&text, "would run %s\n", workspace.Visible(strings.Join(quoted(w.Command), " ")))
	fmt.Fprintf(&text, "  in %s", workspace.Shortest(w.Worktree))
	if w.Branch != "" {
		fmt.Fprintf(&text, ", on %s, for %s", w.Branch, w.Onto)
	}
	return text.String() + "\n"
}

// planText formats a plan for one page.
func planText(p *loop.Plan) string {
	var text strings.Builder
	row := func(key, value string) {
		fmt.Fprintf(&text, "%-9s%s\n", key, workspace.Visible(visible.OneLine(value)))
	}
	row("workers", strings.Join(p.Actors, ", "))
	row("command", strings.Join(quoted(p.Command), " "))
	row("in", workspace.Shortest(p.Worktree))
	if p.Setup != "" {
		row("setup", p.Setup)
	}
	switch {
	case p.Onto == "":
		row("lands", "in the directory itself")
	case p.Review:
		row("lands", "by review: each issue gets a request on the forge")
	case p.Lands:
		row("lands", "on branch "+p.Onto+"; stig land brings it to yours")
	default:
		row("lands", "nowhere: work stays on stig/ID, and no issue is closed")
	}
	for i, bound := range p.Bounds {
		row([]string{"bounds", ""}[min(i, 1)], bound)
	}
	if p.Trusted {
		row("trust", "given: the commands below run on this machine")
	} else {
		row("trust", "missing: read the commands below, then type "+p.Trust)
	}
	fmt.Fprintf(&text, "\n%s can be taken now\n", visible.Counted(len(p.Issues), "issue"))
	for _, one := range p.Issues {
		fmt.Fprintf(&text, "%s %s (%s)\n", visible.OneLine(one.ID), workspace.Visible(visible.OneLine(one.Title)), one.Why)
		for _, check := range one.Checks {
			for i, line := range strings.Split(workspace.Visible(strings.TrimRight(check, "\n")), "\n") {
				text.WriteString([]string{"  $ ", "    "}[min(i, 1)] + line + "\n")
			}
		}
		if len(one.Checks) == 0 {
			text.WriteString("  no commands to run: a person is asked whether it is done\n")
		}
	}
	if p.Asked > 0 {
		fmt.Fprintf(&text, "%s for an answer: type stig resolve --list\n", visible.Counted(p.Asked, "issue")+" wait"+map[bool]string{true: "s"}[p.Asked == 1])
	}
	return text.String()
}

// quoted returns words as they would be typed.
func quoted(words []string) (list []string) {
	for _, word := range words {
		list = append(list, visible.Quoted(word))
	}
	return list
}
