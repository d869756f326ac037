package workers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/cmd/stig/cli"
	"stig/internal/clone"
	"stig/internal/loop/actors"
	"stig/internal/visible"
)

// printActors prints actors as a table without its empty columns.
func printActors(a *cli.App, listed *actors.Listed) error {
	rows := [][]string{{"NAME", "KIND", "STATE", "SEEN", "ISSUE", "LEASE", "DONE", "FAILED", "LAST DONE", "BOOTS", "VERSION", "DESCRIPTION"}}
	for _, one := range listed.Actors {
		last := ""
		if one.Last != nil {
			last = one.Last.Issue + " " + ago(listed.Now, &one.Last.At)
		}
		lease := ""
		if one.Lease != nil {
			lease = visible.Span(time.Duration(one.Left) * time.Second)
		}
		state := one.State
		if one.Problem != "" {
			state += " (bad file)"
		}
		rows = append(rows, []string{visible.OneLine(one.Name), one.Kind, state, ago(listed.Now, one.Seen), one.Issue, lease,
			positive(one.Done), positive(one.Failed), last, positive(one.Boots), cli.CutLine(one.Version, 12), visible.OneLine(one.Description)})
	}
	s := a.Sheet()
	for i, line := range table(rows) {
		style := cli.Plain
		if i == 0 {
			style = cli.Strong
		}
		if len(rows) > 1 {
			s.Line(style, cli.CutLine(line, tableWidth))
		}
	}
	count := visible.Counted(len(listed.Actors), "actor")
	if listed.Hidden > 0 {
		count += fmt.Sprintf(", and %d not seen for a day: stig actor list --all", listed.Hidden)
	}
	s.Line(cli.Plain, count)
	return a.Show(s)
}

// tableWidth is wider than for other lists; what is cut is the description.
const tableWidth = 120

// table aligns columns, and leaves out those with nothing below the heading.
func table(rows [][]string) (lines []string) {
	width := make([]int, len(rows[0]))
	for c := range rows[0] {
		for _, row := range rows[1:] {
			width[c] = max(width[c], utf8.RuneCountInString(row[c]))
		}
		if width[c] > 0 {
			width[c] = max(width[c], len(rows[0][c]))
		}
	}
	for _, row := range rows {
		var cells []string
		for c, text := range row {
			if width[c] > 0 {
				cells = append(cells, text+strings.Repeat(" ", width[c]-utf8.RuneCountInString(text)))
			}
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return lines
}

// printActor prints one actor: facts, the last runs, its own text.
func printActor(a *cli.App, shown *actors.Shown) error {
	one, s := shown.Actor, a.Sheet()
	s.Line(cli.Strong, visible.OneLine(one.Name)+": "+one.State+saidText(one))
	facts := [][2]string{
		{"kind", one.Kind}, {"description", one.Description}, {"file", one.File}, {"roles", strings.Join(one.Roles, ", ")},
		{"seen", ago(shown.Now, one.Seen)}, {"issue", strings.Join(one.Issues, ", ")}, {"today", today(one)},
		{"boots", positive(one.Boots)}, {"version", one.Version},
	}
	if one.Lease != nil {
		facts = append(facts, [2]string{"lease", one.Issue + ", " + visible.Span(time.Duration(one.Left)*time.Second) + " left"})
	}
	if p := shown.Profile; p != nil {
		facts = append(facts, [2]string{"watch", strings.Join(p.Watch, ", ")}, [2]string{"command", p.Command}, [2]string{"setup", p.Setup},
			[2]string{"bounds", boundsText(p)}, [2]string{"dream", "every " + p.Dream})
		if p.Every != "" {
			facts = append(facts, [2]string{"heartbeat", "every " + p.Every})
		}
	}
	for _, fact := range facts {
		if fact[1] != "" {
			s.Wrap(cli.Plain, fmt.Sprintf("%-13s", fact[0]), strings.Repeat(" ", 13), fact[1])
		}
	}
	for i, r := range shown.Runs {
		if i == 0 {
			s.Blank()
			s.Line(cli.Strong, "Last runs")
		}
		s.Line(cli.Plain, cli.CutLine(runLine(r, ""), cli.ListWidth))
	}
	if err := a.Show(s); err != nil || shown.Profile == nil || shown.Profile.Body == "" {
		return err
	}
	return a.PrintMarkdown("\n" + shown.Profile.Body + "\n")
}

func boundsText(p *actors.Settings) string {
	text := fmt.Sprintf("%s a run, %s an issue, %s and %s a run", p.Timeout, counted(p.Passes, "pass", "passes"), counted(p.Traces, "trace", "traces"), counted(p.Issues, "new issue", "new issues"))
	if p.PerHour > 0 {
		text += fmt.Sprintf(", %s an hour", counted(p.PerHour, "run", "runs"))
	}
	if !p.Worktree {
		text += ", no work tree of its own"
	}
	return text
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func today(one *actors.Actor) string {
	var parts []string
	if one.Done > 0 {
		parts = append(parts, visible.Counted(one.Done, "issue")+" closed")
	}
	if one.Failed > 0 {
		parts = append(parts, visible.Counted(one.Failed, "run")+" failed")
	}
	if one.Cost != "" {
		parts = append(parts, one.Cost)
	}
	return strings.Join(parts, ", ")
}

// saidText returns until when a state holds, who set it, and why.
func saidText(one *actors.Actor) string {
	text := ""
	if one.Until != nil {
		text += " until " + visible.Moment(*one.Until)
	}
	if one.By != "" && one.By != one.Name {
		text += ", by " + visible.OneLine(one.By)
	}
	if one.Why != "" {
		text += ": " + visible.OneLine(one.Why)
	}
	return text
}

func printRuns(a *cli.App, list []actors.Run, all bool) error {
	s := a.Sheet()
	for _, r := range list {
		name := ""
		if all {
			name = r.Actor
		}
		s.Line(cli.Plain, cli.CutLine(runLine(r, name), tableWidth))
		for _, text := range (clone.Run{ID: r.ID, Overlaps: r.Overlaps}).SharedText(r.Shared) {
			s.Wrap(cli.Plain, "  ", "  ", visible.OneLine(text))
		}
	}
	s.Wrap(cli.Plain, "", "  ", runTotals(list))
	return a.Show(s)
}

// runTotals returns how many runs there are, how many had each outcome, how long the ended ones
// took, and the cost in each currency.
func runTotals(list []actors.Run) string {
	outcomes := map[string]int{}
	var spent clone.Spent
	var took time.Duration
	for _, r := range list {
		outcomes[outcomeOf(r)]++
		if r.Ended != nil {
			took += max(r.Ended.Sub(r.Started), 0)
		}
		spent.Join(r.Spent())
	}
	text := visible.Counted(len(list), "run")
	if len(list) == 0 {
		return text
	}
	var came []string
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		came = append(came, fmt.Sprintf("%d %s", outcomes[outcome], outcome))
	}
	text += ": " + strings.Join(came, ", ") + "; took " + took.Round(time.Second).String()
	if cost := spent.String(); cost != "" {
		text += "; cost " + strings.TrimPrefix(cost, "cost ")
	}
	return text
}

// outcomeOf returns the outcome of a run; running or cut off if it has none.
func outcomeOf(r actors.Run) string {
	switch {
	case r.Outcome == "" && r.Running:
		return "running"
	case r.Outcome == "":
		return "cut off"
	}
	return r.Outcome
}

// runLine formats a run as a line: id, start, duration, outcome, the actor if name is not "",
// issue, and details.
func runLine(r actors.Run, name string) string {
	took := "-"
	if r.Ended != nil {
		took = visible.Span(r.Ended.Sub(r.Started))
	}
	words := []string{r.ID, r.Started.UTC().Format(time.DateTime + "Z"), fmt.Sprintf("%4s", took), fmt.Sprintf("%-9s", outcomeOf(r))}
	if name != "" {
		words = append(words, visible.OneLine(name))
	}
	if r.Issue != "" {
		words = append(words, r.Issue)
	} else {
		words = append(words, r.Task)
	}
	if r.Exit != 0 {
		words = append(words, fmt.Sprintf("exit %d", r.Exit))
	}
	if r.Price != "" {
		words = append(words, strings.Replace(r.Price, "cost unknown", "cost ?", 1)) // shorter, because long lines are cut
	}
	if r.Bytes > 0 {
		words = append(words, fmt.Sprintf("%d bytes", r.Bytes))
	}
	if r.Commit != "" {
		words = append(words, r.Commit[:min(len(r.Commit), 9)])
	}
	if r.Why != "" {
		words = append(words, visible.OneLine(r.Why))
	}
	if len(r.LeftOut) > 0 {
		words = append(words, "left out: "+visible.OneLine(strings.Join(r.LeftOut, ", ")))
	}
	return strings.Join(words, "  ")
}

// ago returns how long ago a time was, "never" for nil.
func ago(now time.Time, at *time.Time) string {
	if at == nil {
		return "never"
	}
	return visible.Ago(now.Sub(*at))
}

// positive formats n, as "" if it is 0.
func positive(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
