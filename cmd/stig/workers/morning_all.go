package workers

import (
	"fmt"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/service/night"
	"stig/internal/visible"
)

// A screen has 24 lines of 80 columns. One is for the prompt, one for the summary, and one or two
// for the first command.
const (
	screenWidth = 80
	screenRows  = 20 // for unreadable projects and decisions
	unreadRows  = 8  // for unreadable projects
)

// everywhereText formats what waits in all projects for one screen; full leaves nothing out and
// adds the commands.
func everywhereText(e *night.Everywhere, full bool) string {
	w := &morningPage{full: full}
	w.line("%s", everywhereSummary(e))
	unread, decisions := len(e.Unreadable), len(e.Waits)
	if !full {
		unread = fitting(unread, unreadRows)
		decisions = fitting(decisions, screenRows-min(len(e.Unreadable), unreadRows))
	}
	for _, u := range e.Unreadable[:unread] {
		w.cut("unreadable  " + cli.UnreadLine(u))
	}
	w.moreOfAll(len(e.Unreadable)-unread, "unreadable")
	w.decisions(e.Waits[:decisions])
	w.moreOfAll(len(e.Waits)-decisions, "that wait")
	if len(e.Waits) > 0 && !full {
		w.line("the first: %s", e.Waits[0].Command)
	}
	return w.text.String()
}

// fitting returns how many of n rows are shown in at most most lines, one of which counts the
// rest.
func fitting(n, most int) int {
	if n > most {
		return most - 1
	}
	return n
}

func (w *morningPage) moreOfAll(left int, what string) {
	if left > 0 {
		w.line("and %d more %s: stig morning --all --full", left, what)
	}
}

// cut writes a line, cut to the width of a screen unless the page is full.
func (w *morningPage) cut(text string) {
	if !w.full {
		text = visible.ClippedColumns(text, screenWidth)
	}
	w.line("%s", text)
}

// decisions writes each decision on a line: since when it waits, its project and its issue. A
// full page adds the commands.
func (w *morningPage) decisions(list []night.Decision) {
	project, id := 0, 0
	for _, d := range list {
		project, id = max(project, visible.Columns(d.Project)), max(id, visible.Columns(d.ID))
	}
	for _, d := range list {
		w.cut(fmt.Sprintf("%-10s  %s  %s  %s", d.Since, padded(d.Project, project), padded(d.ID, id), decisionText(d)))
		if w.full {
			w.line("    %s", d.Command)
		}
	}
}

func padded(text string, columns int) string {
	return visible.OneLine(text) + strings.Repeat(" ", max(0, columns-visible.Columns(text)))
}

// decisionText returns what a decision is about.
func decisionText(d night.Decision) string {
	switch d.Kind {
	case night.DecideAnswer:
		return visible.OneLine(fmt.Sprintf("%s asks: %s", nameOr(d.By, "somebody"), d.Text))
	case night.DecideFailed:
		return visible.OneLine("failed: " + d.Text)
	}
	return visible.OneLine(d.Text)
}

// everywhereSummary returns how many decisions wait, in how many projects, and what was done.
func everywhereSummary(e *night.Everywhere) string {
	done, runs, waiting, all := 0, 0, 0, map[string]bool{}
	for _, u := range e.Unreadable {
		all[u.Project] = true
	}
	for _, p := range e.Projects {
		done, runs, all[p.Project] = done+p.Done, runs+p.Runs, true
		if p.Waits > 0 {
			waiting++
		}
	}
	text := fmt.Sprintf("%s %s for you in %d of %s; %d done in %s", visible.Counted(len(e.Waits), "decision"), waits(len(e.Waits)), waiting,
		visible.Counted(len(all), "project"), done, visible.Counted(runs, "run"))
	if n := len(e.Unreadable); n > 0 {
		text += fmt.Sprintf("; %d unreadable", n)
	}
	return text
}
