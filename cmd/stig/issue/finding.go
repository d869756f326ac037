package issue

import (
	"errors"
	"fmt"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/gate"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// printFinding prints a finding as text.
func printFinding(a *cli.App, f service.Finding) error {
	t := f.GateRun
	if t != nil && t.Edited != nil {
		service.WarnOfEdited(a.Run, t)
	}
	if f.Err != nil && t != nil && (!t.Asks() || errors.Is(f.Err, workspace.ErrNotRun)) {
		text := planText(t)
		if !t.Asks() {
			text += "what could show that it is done:\n" + t.Fence()
		}
		if err := a.Print(text); err != nil {
			return err
		}
	}
	if f.Err != nil {
		said := workspace.Classify(f.Err)
		a.Complain(said.Message, said.Hint)
		return nil
	}
	if t != nil && t.Reused {
		a.Note("%s: its checks passed on this tree before, and are not run again", t.Id)
	}
	if t != nil && t.Verdict != nil && f.Closed == nil {
		if err := printVerdict(a, t); err != nil {
			return err
		}
	}
	switch {
	case f.Escalated:
		return a.Printf("%s: escalated: a question waits for an answer\n", f.Id)
	case f.Closed == nil && f.DryRun && !f.Failed():
		return a.Printf("%sif they pass, it is closed with the reason\n  Verified: … All acceptance criteria pass: …\n", planText(t))
	case f.Closed == nil:
		return nil
	case f.DryRun && !f.Closed.Already:
		return a.PrintDiff(f.Closed.Lines)
	}
	return printClosed(a, f.Closed)
}

// printVerdict prints how the checks went: one line if they passed, else command, exit code and
// last lines of each that failed.
func printVerdict(a *cli.App, t *service.GateRun) error {
	v := t.Verdict
	var text strings.Builder
	if v.Passed() {
		fmt.Fprintf(&text, "%s: %s\n", t.Id, v.Summary())
		verdictText(&text, v)
		return a.Print(text.String())
	}
	for _, o := range v.Outcomes() {
		if !o.Passed() {
			outcomeText(&text, o)
		}
	}
	verdictText(&text, v)
	return a.Printf("%s: %s\n%s", t.Id, v.Counts(), text.String())
}

func outcomeText(text *strings.Builder, o gate.Outcome) {
	if o.Exit == gate.ExitNotRun {
		fmt.Fprintf(text, "not run: %s\n", visible.FirstLine(o.Text))
		return
	}
	fmt.Fprintf(text, "exit %d after %.1fs: %s\n", o.Exit, o.Seconds, o.Named())
	if o.Reason != "" {
		fmt.Fprintf(text, "  %s\n", o.Reason)
	}
	text.WriteString(setIn(o.Tail))
	if o.Log != "" {
		fmt.Fprintf(text, "  whole output: %s\n", workspace.Shortest(o.Log))
	}
}

// planText lists which commands of the criteria would run, and why the rest would not.
func planText(t *service.GateRun) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s would run\n", t.Id, visible.Counted(t.Runs(), "command"))
	for _, c := range t.Plan {
		checkText(&text, c.Class, c)
	}
	return text.String()
}

// verdictText lists the criteria that a verdict does not cover, with the reason, and the files
// that a fresh checkout would lack.
func verdictText(text *strings.Builder, v *gate.Verdict) {
	for _, c := range v.NotRun() {
		checkText(text, "manual", c)
	}
	if ignored := v.Ignored(); len(ignored) > 0 {
		fmt.Fprintf(text, "here, but not in a fresh checkout: %s\n", visible.Text(strings.Join(ignored, ", ")))
	}
}

// checkText formats a check: what happens to it, its place, the reason, and its text.
func checkText(text *strings.Builder, fate string, c gate.Check) {
	place := c.Place()
	if c.Field == gate.FieldAcceptance {
		place = fmt.Sprintf("line %d", c.Line)
	}
	fmt.Fprintf(text, "%s (%s, %s)", fate, c.Origin, place)
	if c.Reason != "" {
		text.WriteString(": " + c.Reason)
	}
	if c.Expect.How != "" {
		text.WriteString(": wants " + c.Expect.String())
	}
	if c.CannotFail != "" {
		text.WriteString(": cannot fail: " + c.CannotFail)
	}
	text.WriteString("\n" + setIn(c.Text))
}

// setIn returns text with each line indented, ending in a newline.
func setIn(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}
