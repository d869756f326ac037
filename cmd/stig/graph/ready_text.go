package graph

import (
	"fmt"
	"strings"

	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/internal/service"
	"stig/internal/visible"
)

// whyNone returns a hint for an empty list.
func whyNone(unclosed int) string {
	if unclosed == 0 {
		return "type stig create TITLE to add an issue"
	}
	return "type stig orient to see what holds people up"
}

// heldWords returns how many unblocked issues cannot be taken, and why.
func heldWords(held []service.ReadyRow) string {
	count := map[dag.State]int{}
	undone := 0
	for _, row := range held {
		if row.State == dag.StateEpic && row.Children == 0 {
			undone++
			continue
		}
		count[row.State]++
	}
	var parts []string
	for _, of := range []struct {
		state dag.State
		words string
	}{
		{dag.StateAssigned, "assigned to others"}, {dag.StateHeld, "held in other work trees"}, {dag.StateAsked, "waiting for an answer"}, {dag.StateReview, "in review"},
		{dag.StateEpic, "with unclosed children"}, {dag.StateComplete, "to close, since all its children are closed"},
	} {
		if n := count[of.state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, of.words))
		}
	}
	if undone > 0 {
		parts = append(parts, fmt.Sprintf("%d whose children were closed but not done", undone))
	}
	return strings.Join(parts, ", ")
}

// waitingText lists the issues that wait for something other than an issue.
func waitingText(list []service.WaitingRow) string {
	const most = 20
	var text strings.Builder
	for _, w := range list[:min(len(list), most)] {
		fmt.Fprintf(&text, "  %s %s\n", w.ID, strings.Join(w.Holds, "; "))
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(&text, "  %d more: stig ready --json\n", more)
	}
	return text.String()
}

// printReady prints rows, the first of total, the number of unclosed issues, what is held, and
// what waits for something other than an issue.
func printReady(a *cli.App, rows, held []service.ReadyRow, total int, all bool, r *service.ReadyList) error {
	unclosed := r.Unclosed
	s := a.Sheet()
	free := total
	if all {
		free -= len(held)
	}
	are := "are"
	if free == 1 || unclosed == 1 {
		are = "is"
	}
	head := fmt.Sprintf("%d of %s %s ready", free, visible.Counted(unclosed, "unclosed issue"), are)
	if unclosed == 0 {
		head = "no unclosed issues"
	}
	if n := r.Unread(); n > 0 {
		head += fmt.Sprintf("; %d cannot be read completely, and %s", n, map[bool]string{true: "waits", false: "wait"}[n == 1])
	}
	s.Line(cli.Strong, head)
	if len(rows) > 0 {
		s.Blank()
	}
	var lines [][]cli.Cell
	for _, row := range rows {
		lines = append(lines, []cli.Cell{cli.Priority(row.Priority), {Style: cli.Strong, Text: row.ID}, {Text: visible.OneLine(row.Title)}, {Style: cli.Faint, Text: row.Place()}})
	}
	s.Rows(lines, 2, 0)
	if len(rows) < total {
		s.Line(cli.Plain, fmt.Sprintf("\n%d more: stig ready%s", total-len(rows), map[bool]string{true: " --all"}[all]))
	}
	if len(held) > 0 && !all {
		s.Line(cli.Plain, "\nnot blocked, but not listed: "+heldWords(held)+": stig ready --all")
	}
	if len(r.Waiting) > 0 {
		s.Put(cli.Plain, "\nwaiting for something other than an issue:\n"+waitingText(r.Waiting))
	}
	if err := a.Show(s); err != nil {
		return err
	}
	if len(rows) == 0 || !rows[0].CanTake {
		a.Hint(whyNone(unclosed))
		return nil
	}
	words := " to read the briefing of the first"
	if r.First() != rows[0].ID {
		words = " to read the briefing of the one to begin with"
	}
	a.Hint("type stig orient " + r.First() + words)
	return nil
}
