package issue

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stig/app"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/criteria"
	"stig/notes"
	"stig/signals"
	"stig/verify"
)

// tell prints a finding for a reader as soon as it is there; data waits for the end.
func tell(a *cli.App, f app.Finding) error {
	if a.JSON {
		return nil
	}
	return printFinding(a, f)
}

// conclude prints what was found as data, one issue by itself and several as a
// list, and ends with the worst of their exit codes.
func conclude(a *cli.App, findings []app.Finding) error {
	worst := app.ExitDone
	list := []map[string]any{}
	for _, f := range findings {
		worst = max(worst, f.Code())
		object := f.Object()
		if f.DryRun && f.Closed != nil {
			diff, err := app.DiffText(f.Closed.Lines)
			if err != nil {
				return err
			}
			object["diff"] = diff
		}
		list = append(list, object)
	}
	var err error
	switch {
	case a.JSON && len(findings) == 1 && findings[0].Trial == nil && findings[0].Err != nil:
		return findings[0].Err
	case a.JSON && len(findings) == 1:
		err = a.PrintJSON("verdict", list[0])
	case a.JSON:
		err = a.PrintJSON("verdicts", map[string]any{"verdicts": list})
	}
	if err == nil && worst != app.ExitDone {
		err = &app.EndedError{Code: worst}
	}
	return err
}

// printFinding prints a finding for a reader.
func printFinding(a *cli.App, f app.Finding) error {
	t := f.Trial
	if t != nil && t.Edited != nil {
		a.WarnOfEdited(t)
	}
	if _, refused := errors.AsType[*app.RefusalError](f.Err); refused {
		text := planText(t)
		if !t.Asks() {
			text += "what could show it:\n" + t.Fence()
		}
		if err := a.Print(text); err != nil {
			return err
		}
	}
	if f.Err != nil {
		said := app.Classify(f.Err)
		a.Complain(said.Message, said.Hint)
		return nil
	}
	if t != nil && t.Reused {
		a.Note("%s: its checks passed on this very tree before, and are not run again", t.Id)
	}
	if t != nil && t.Verdict != nil && f.Closed == nil {
		if err := printVerdict(a, t); err != nil {
			return err
		}
	}
	switch {
	case f.Escalated:
		return a.Printf("%s: put to a person, escalation is pending\n", f.Id)
	case f.Closed == nil && f.DryRun && !f.Failed():
		return a.Printf("%sonce they pass it is closed, with the reason\n  Verified: … All acceptance criteria pass: …\n", planText(t))
	case f.Closed == nil:
		return nil
	case f.DryRun && !f.Closed.Already:
		return a.PrintDiff(f.Closed.Lines)
	}
	return printClosed(a, f.Closed)
}

// printVerdict says how the checks went: in one line when they passed, with
// command, exit code and last lines of those that did not.
func printVerdict(a *cli.App, t *app.Trial) error {
	v := t.Verdict
	if v.Passed() {
		return a.Printf("%s: %s\n", t.Id, v.Summary())
	}
	var text strings.Builder
	failed := 0
	for _, o := range v.Outcomes() {
		if o.Passed() {
			continue
		}
		failed++
		outcomeText(&text, o)
	}
	return a.Printf("%s: %d of %d checks did not pass\n%s", t.Id, failed, len(v.Outcomes()), text.String())
}

func outcomeText(text *strings.Builder, o verify.Outcome) {
	if o.Exit == verify.ExitNotRun {
		fmt.Fprintf(text, "not run: %s\n", app.FirstLine(o.Text))
		return
	}
	fmt.Fprintf(text, "exit %d after %.1fs: %s\n", o.Exit, o.Seconds, app.FirstLine(o.Text))
	if o.Reason != "" {
		fmt.Fprintf(text, "  %s\n", o.Reason)
	}
	text.WriteString(setIn(o.Tail))
	if o.Log != "" {
		fmt.Fprintf(text, "  whole output: %s\n", app.Shortest(o.Log))
	}
}

// planText says what of the criteria would run, and why the rest would not.
func planText(t *app.Trial) string {
	var text strings.Builder
	would := 0
	for _, c := range t.Plan {
		if c.Class == criteria.Runnable {
			would++
		}
	}
	fmt.Fprintf(&text, "%s: %s\n", t.Id, app.Counted(would, "command")+" would run")
	for _, c := range t.Plan {
		fmt.Fprintf(&text, "%s (%s, line %d)", c.Class, c.Origin, c.Line)
		if c.Reason != "" {
			text.WriteString(": " + c.Reason)
		}
		text.WriteString("\n" + setIn(c.Text))
	}
	return text.String()
}

// setIn is a text with each line set in, and a newline at its end.
func setIn(text string) string {
	if text == "" {
		return ""
	}
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

// printClosed says how the issue was closed and what follows.
func printClosed(a *cli.App, c *checkpoint.Closed) error {
	if c.Already {
		if err := a.Printf("%s: closed already, nothing changed\n  %s\n", c.ID, c.Reason); err != nil || c.Unkept == "" {
			return err
		}
		a.Complain(fmt.Sprintf("%s: the reason given now was not kept", c.ID),
			"to keep it too: stig checkpoint "+c.ID+" --learned …")
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: closed\n  %s\n", c.ID, c.Reason)
	for _, ref := range c.Unblocked {
		fmt.Fprintf(&text, "ready now: %s %s\n", ref.ID, ref.Title)
	}
	if c.Nearer > 0 {
		fmt.Fprintf(&text, "nearer: %s\n", app.Counted(c.Nearer, "more issue"))
	}
	if e := c.Epic; e != nil {
		fmt.Fprintf(&text, "epic %s %s: %d of %d closed\n", e.ID, e.Title, e.Closed, e.Total)
	}
	for _, alert := range c.Alerts {
		fmt.Fprintf(&text, "alert %s: %s\n", alert.Rule, alert.Message)
	}
	if c.Epic.Complete() && !a.Quiet {
		fmt.Fprintf(&text, "next: stig close %s --reason …\n", c.Epic.ID)
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	a.WarnOfEdit(c.ID, c.Warnings, c.Lines)
	hintOfEstimate(a, c)
	return nil
}

// hintOfEstimate says when those who wait for a closed issue get no state estimate
// of it.
func hintOfEstimate(a *cli.App, c *checkpoint.Closed) {
	if len(c.Unblocked)+c.Nearer == 0 {
		return
	}
	for _, line := range c.Lines {
		var issue struct {
			Notes string `json:"notes"`
		}
		if line.ID != c.ID || json.Unmarshal(line.After, &issue) != nil {
			continue
		}
		if _, left := signals.LastEstimate(notes.Parse(issue.Notes)); !left {
			a.Hint("for those who wait for it: stig checkpoint " + c.ID + " --done … --learned … --downstream …")
		}
	}
}
