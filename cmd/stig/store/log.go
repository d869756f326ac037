package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/diff"
	"stig/live"
)

// logOptions are the flags of stig log.
type logOptions struct {
	actor, since string
	forget       bool
}

func LogCommand(a *cli.App) *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log [ID]",
		Short: "list the edits that stig made in this clone",
		Long: "log lists who changed what, in all work trees of this clone, the oldest first. It reads\n" +
			"the journal that stig keeps in git's directory (without git, beside the store): every\n" +
			"edit of the last 90 days, 64 MB at most. Other clones have journals of their own.\n\n" +
			"--forget removes what the journal holds of the issue, or of all issues, and nothing\n" +
			"from the store.",
		GroupID: "store",
		Args:    cli.Takes(0, 1, "one ID at most"),
		Example: "  stig log\n  stig log demo-1 --since 7d\n  stig log --actor mara --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.forget {
				return forgetLog(a, args)
			}
			return log(cmd.Context(), a, args, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.actor, "actor", "", "only edits by `NAME`")
	flags.StringVar(&o.since, "since", "", "only edits since `WHEN`: a day, a time, or an age such as 24h, 7d, 2w")
	flags.BoolVar(&o.forget, "forget", false, "remove the issue, or all, from the journal")
	return cmd
}

// logged is an edit as log prints it.
type logged struct {
	At       time.Time     `json:"at"`
	Actor    string        `json:"actor"`
	Command  string        `json:"command"`
	Worktree string        `json:"worktree"`
	Branch   string        `json:"branch"`
	Head     string        `json:"head"`
	Result   live.Result   `json:"result"` // "unfinished", "written" or "failed"
	Issues   []string      `json:"issues"`
	Changes  []live.Change `json:"changes"`
}

func log(ctx context.Context, a *cli.App, ids []string, o logOptions) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	since, err := app.TimeOf(o.since, now)
	if err != nil {
		return err
	}
	place, err := a.LivePlace()
	if err != nil {
		return err
	}
	journal, err := place.Journal()
	if err != nil {
		return err
	}
	a.WarnOfJournal(journal)
	edits := []logged{}
	for _, r := range journal.Records {
		if r.At.Before(since) || o.actor != "" && r.Actor != o.actor {
			continue
		}
		if e := loggedOf(r, ids); len(e.Changes) > 0 {
			edits = append(edits, e)
		}
	}
	if a.JSON {
		return a.PrintJSON("log", map[string]any{"edits": edits})
	}
	if len(edits) == 0 {
		return a.Print("no edits\n")
	}
	var text strings.Builder
	for _, e := range edits {
		e.write(&text)
	}
	return a.Print(text.String())
}

// loggedOf is a record with the changes of those issues, of all where none is
// named. An id may stand without its prefix.
func loggedOf(r live.Record, ids []string) logged {
	e := logged{At: r.At, Actor: r.Actor, Command: r.Command, Worktree: r.Worktree, Branch: r.Branch, Head: r.Head,
		Result: r.Result, Issues: []string{}, Changes: []live.Change{}}
	if r.Result == live.Unfinished {
		e.Result = "unfinished"
	}
	for _, c := range r.Changes {
		if !app.IsNamed(ids, c.Issue) {
			continue
		}
		e.Changes = append(e.Changes, c)
		if n := len(e.Issues); n == 0 || e.Issues[n-1] != c.Issue {
			e.Issues = append(e.Issues, c.Issue)
		}
	}
	return e
}

func (e logged) write(text *strings.Builder) {
	fmt.Fprintf(text, "%s  %s", e.At.UTC().Format(time.RFC3339), e.Command)
	if e.Actor != "" {
		fmt.Fprintf(text, " by %s", e.Actor)
	}
	if e.Branch != "" {
		fmt.Fprintf(text, " on %s", e.Branch)
	}
	if e.Result != live.Written {
		fmt.Fprintf(text, " (%s)", e.Result)
	}
	text.WriteString("\n")
	for _, c := range e.Changes {
		fmt.Fprintf(text, "  %s  %s\n", c.Issue, changeLine(c))
	}
}

// changeLine is a change on one line: what it is, and its two texts in short.
func changeLine(c live.Change) string {
	if c.Kind == string(diff.Issue) {
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

// titleIn is the title in the line of an issue.
func titleIn(line string) string {
	r, err := beads.ParseRecord([]byte(line))
	if err != nil {
		return cli.OneLine(line, 60)
	}
	return cli.OneLine(r.Text(beads.Title), 60)
}

// shortText is the text of a part in short: of a signal the value alone.
func shortText(kind, text string) string {
	if kind == string(diff.Signal) {
		text, _ = diff.CutSignal(text)
	}
	return cli.OneLine(text, 40)
}

func forgetLog(a *cli.App, ids []string) error {
	place, err := a.LivePlace()
	if err != nil {
		return err
	}
	journal, err := place.Journal()
	if err != nil {
		return err
	}
	var issues []string
	for _, r := range journal.Records {
		for _, c := range r.Changes {
			if len(ids) > 0 && app.IsNamed(ids, c.Issue) {
				issues = append(issues, c.Issue)
			}
		}
	}
	count := 0
	if len(ids) == 0 || len(issues) > 0 {
		if count, err = place.Forget(issues...); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.PrintJSON("log", map[string]any{"edits": []logged{}, "forgotten": count})
	}
	return a.Printf("%s forgotten\n", app.Counted(count, "edit"))
}
