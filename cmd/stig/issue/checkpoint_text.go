package issue

import (
	"fmt"
	"strings"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/signals"
)

// shownText is the maximum length of a removed text in the output, in characters.
const shownText = 120

// changedLine returns the line for a changed signal or text of the estimate.
func changedLine(c checkpoint.Changed) string {
	if _, is := signals.Named(c.Signal); is {
		return fmt.Sprintf("%s: %s → %s", c.Signal, c.From, c.To)
	}
	what := "replaced"
	if c.To == "" {
		what = "removed"
	}
	return fmt.Sprintf("%s: %s; was %s", c.Signal, what, cli.OneLine(c.From, shownText))
}

// foldedText formats a removed estimate of another branch, indented.
func foldedText(f checkpoint.Folded) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  also learned, on a branch%s; removed:\n", ofDay(f.Date))
	for line := range strings.Lines(f.Text + "\n") {
		text.WriteString(strings.TrimRight("    "+line, " \n") + "\n")
	}
	return text.String()
}

// ofDay returns a day in parentheses, "" for an unknown day.
func ofDay(day string) string {
	if day == "" {
		return ""
	}
	return " (" + day + ")"
}

func printCheckpoint(a *cli.App, r *service.Checkpointed) error {
	var text strings.Builder
	nothing := r.Folded != nil && len(r.Folded) == 0
	switch {
	case len(r.Lines) > 0 && nothing:
		fmt.Fprintf(&text, "%s: checkpoint written\n  nothing to fold\n", r.ID)
	case len(r.Lines) > 0:
		fmt.Fprintf(&text, "%s: checkpoint written\n", r.ID)
	case nothing:
		fmt.Fprintf(&text, "%s: nothing to fold\n", r.ID)
	default:
		fmt.Fprintf(&text, "%s: nothing changed\n", r.ID)
	}
	for _, c := range r.Changed {
		fmt.Fprintf(&text, "  %s\n", changedLine(c))
	}
	for _, name := range r.Sections {
		if name != signals.Section {
			fmt.Fprintf(&text, "  %s: written\n", name)
		}
	}
	for _, f := range r.Folded {
		text.WriteString(foldedText(f))
	}
	for _, alert := range r.Alerts {
		fmt.Fprintf(&text, "alert %s: %s\n", alert.Rule, alert.Message)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&text, "finding %s: %s; %s\n", f.Rule, f.Message, f.Hint)
	}
	for _, d := range r.Dependents {
		fmt.Fprintf(&text, "waiting for it: %s %s\n", d.ID, d.Title)
	}
	if r.Commit != "" {
		fmt.Fprintf(&text, "committed as %s\n", r.Commit)
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	a.WarnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}
