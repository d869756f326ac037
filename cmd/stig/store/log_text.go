package store

import (
	"fmt"
	"strings"
	"time"

	"stig/cmd/stig/cli"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/internal/service"
)

// writeEdit writes an edit: time, command, actor and branch, then a line for each change.
func writeEdit(text *strings.Builder, e service.Logged) {
	fmt.Fprintf(text, "%s  %s", e.At.UTC().Format(time.RFC3339), e.Command)
	if e.Actor != "" {
		fmt.Fprintf(text, " by %s", e.Actor)
	}
	if e.Branch != "" {
		fmt.Fprintf(text, " on %s", e.Branch)
	}
	if e.Result != clone.Written {
		fmt.Fprintf(text, " (%s)", e.Result)
	}
	text.WriteString("\n")
	for _, c := range e.Changes {
		fmt.Fprintf(text, "  %s  %s\n", c.Issue, changeLine(c))
	}
}

// changeLine returns a change on one line: its kind, and the old and the new text, shortened.
func changeLine(c clone.Change) string {
	if c.Kind == string(merge.KindIssue) {
		return "issue: " + titleIn(c.Now)
	}
	what := c.Kind + " " + cli.OneLine(c.Name, 60)
	switch was, now := shortText(c.Kind, c.Was), shortText(c.Kind, c.Now); {
	case c.Was == "":
		return what + ": " + now
	case c.Now == "":
		return what + ": removed; was " + was
	default:
		return what + ": " + was + " → " + now
	}
}

// titleIn returns the title in an issue's line.
func titleIn(line string) string {
	r, err := beads.ParseRecord([]byte(line))
	if err != nil {
		return cli.OneLine(line, 60)
	}
	return cli.OneLine(r.Text(beads.Title), 60)
}

// shortText returns the text of a part, shortened; for a signal only its value.
func shortText(kind, text string) string {
	if kind == string(merge.Signal) {
		text, _ = merge.CutSignal(text)
	}
	return cli.OneLine(text, 40)
}
