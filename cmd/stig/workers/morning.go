package workers

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service/night"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// MorningCommand returns stig morning.
func MorningCommand(a *cli.App) *cobra.Command {
	since, full, all := "", false, false
	cmd := &cobra.Command{
		Use:   "morning",
		Short: "show what worker loops did since you last looked",
		Long: "Show what was done since somebody last looked, by whom, with which proof and at what cost;\n" +
			"what waits for a person, with the command that answers; what failed and why; why each loop\n" +
			"ended; and what is to land. Runs count if they ended in that time.\n\n" +
			"stig remembers a look only if the output goes to a terminal. Without an earlier look, it goes\n" +
			"back 24 hours.\n\n" +
			"--all shows what waits for a person in this repository and in those that projects names in\n" +
			"the configuration, oldest first. It names each repository that it cannot read, and it\n" +
			"remembers no look.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig morning\n  stig morning --since 8h\n  stig morning --all\n  stig morning --json | jq .cost",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all {
				e, err := night.ReadEverywhere(cmd.Context(), a.Run, since)
				return a.Result("morning-all", e, err, func() error { return a.Print(everywhereText(e, full)) })
			}
			m, err := night.ReadMorning(cmd.Context(), a.Run, since)
			return a.Result("morning", m, err, func() error {
				if err := a.Print(morningText(m, full)); err != nil || !a.ToTerminal() {
					return err
				}
				return night.MorningRead(a.Run, m)
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "start at `WHEN`: a day, a time or an age such as 8h")
	cmd.Flags().BoolVar(&full, "full", false, "show everything; fold nothing")
	cmd.Flags().BoolVar(&all, "all", false, "show what waits for a person in all projects")
	cli.Filters(cmd, "since")
	return cmd
}

// How much a morning shows before it folds: done issues, done issues of one epic if there are
// more, and rows of every other part.
const (
	mostDone   = 16
	mostInEpic = 4
	mostRows   = 8
)

// morningText formats a morning for one screen; full leaves nothing out.
func morningText(m *night.Morning, full bool) string {
	w := &morningPage{full: full}
	w.line("since %s: %d done, %d %s for you, %d failed, %d to land; %s", visible.Moment(m.Since), len(m.Done), len(m.Waits), waits(len(m.Waits)), len(m.Failed), m.ToLand.Issues, runsText(m.Cost))
	w.done(m.Done)
	w.part("Waits for you", len(m.Waits), func(i int) {
		q := m.Waits[i]
		w.row(q.ID, "%s; %s asks: %s", visible.ClippedColumns(q.Title, mostTitle), nameOr(q.By, "somebody"), q.Question)
		w.line("      %s", q.Command)
	})
	w.part("Failed", len(m.Failed), func(i int) {
		f := m.Failed[i]
		w.row(nameOr(f.ID, "(no issue)"), "%s: %s by %s; %s", f.Title, visible.Counted(f.Times, "run"), strings.Join(f.By, ", "), f.Why)
	})
	w.part("Loops", len(m.Loops), func(i int) { w.row(m.Loops[i].Name, "%s", loopText(m.Loops[i])) })
	w.part("In review", len(m.InReview), func(i int) {
		one := m.InReview[i]
		w.row(one.ID, "#%d %s: %s", one.Request, one.Turn(), one.Title)
		w.text.WriteString(strangersText(one))
	})
	if m.ToLand.Text != "" {
		w.line("\nTo land\n  %s", m.ToLand.Text+": "+m.ToLand.Command)
	}
	return w.text.String()
}

// morningPage is a page that is written from top to bottom.
type morningPage struct {
	text strings.Builder
	full bool
}

func (w *morningPage) line(format string, args ...any) {
	w.text.WriteString(workspace.Visible(fmt.Sprintf(format, args...)) + "\n")
}

// row writes a line about an issue or an actor, cut to the width of a screen unless the page is
// full.
func (w *morningPage) row(name, format string, args ...any) {
	text := "  " + visible.OneLine(name) + "  " + visible.OneLine(fmt.Sprintf(format, args...))
	if !w.full {
		text = cli.CutLine(text, cli.ListWidth)
	}
	w.line("%s", text)
}

// part writes a title and its rows. Unless the page is full, it folds all but the first.
func (w *morningPage) part(title string, rows int, show func(i int)) {
	if rows == 0 {
		return
	}
	w.line("\n%s", title)
	most := rows
	if !w.full {
		most = min(rows, mostRows)
	}
	for i := range most {
		show(i)
	}
	w.more(rows - most)
}

func (w *morningPage) more(left int) {
	if left > 0 {
		w.line("  and %d more: stig morning --full", left)
	}
}

// done writes what was done, by epic if there are many issues.
func (w *morningPage) done(list []night.Done) {
	if len(list) == 0 {
		return
	}
	w.line("\nDone")
	if w.full || len(list) <= mostDone {
		for _, one := range list {
			w.row(one.ID, "%s", doneText(one))
		}
		return
	}
	var epics []string
	byEpic := map[string][]night.Done{}
	for _, one := range list {
		if byEpic[one.Epic] == nil {
			epics = append(epics, one.Epic)
		}
		byEpic[one.Epic] = append(byEpic[one.Epic], one)
	}
	left := 0
	for i, epic := range epics {
		of := byEpic[epic]
		if i >= mostRows {
			left += len(of)
			continue
		}
		w.line("  %s: %d done", visible.OneLine(nameOr(epic, "in no epic")), len(of))
		shown := min(len(of), max(1, min(mostInEpic, mostDone/len(epics))))
		for _, one := range of[:shown] {
			w.row(one.ID, "%s", doneText(one))
		}
		left += len(of) - shown
	}
	w.more(left)
}

// doneText returns who did an issue, the proof, how much it changed, and what it cost.
func doneText(d night.Done) string {
	parts := []string{nameOr(d.By, "nobody named"), d.Proof}
	if d.Files > 0 {
		parts = append(parts, fmt.Sprintf("+%d -%d", d.Added, d.Deleted))
	}
	if d.Cost != "" {
		parts = append(parts, d.Cost)
	}
	return visible.ClippedColumns(visible.OneLine(d.Title), mostTitle) + ": " + strings.Join(parts, ", ")
}

func loopText(l night.Loop) string {
	text := l.State
	if l.Ended != nil {
		text += " " + l.Ended.UTC().Format("15:04Z")
	}
	if l.Issue != "" {
		text += " at " + l.Issue
	}
	if l.Why != "" {
		text += ": " + l.Why
	}
	if l.Runs > 0 {
		text += fmt.Sprintf(" (%s, %s)", visible.Counted(l.Runs, "run"), l.Cost)
	}
	return text
}

func runsText(c night.Cost) string {
	if c.Text == "" {
		return visible.Counted(c.Runs, "run")
	}
	return visible.Counted(c.Runs, "run") + ", " + c.Text
}

func waits(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

func nameOr(name, other string) string {
	if name == "" {
		return other
	}
	return name
}
