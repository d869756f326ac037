package store

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/merge"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func DiffCommand(a *cli.App) *cobra.Command {
	var files, exitCode bool
	cmd := &cobra.Command{
		Use:   "diff [REV]",
		Short: "show what vanished, changed or was added since a commit",
		Long: "Compare the store at a revision (default HEAD) with the present store, by issue, section,\n" +
			"signal, criterion, edge, comment and key, including memories and other lines about no issue.\n" +
			"What vanished comes first. The spelling and order of lines, and updated_at, do not count.",
		Args:    cli.Takes(0, 2, "one revision, or with --files two files"),
		Example: "  stig diff\n  stig diff main~3 --json\n  stig diff --files before.jsonl after.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := service.Diff(cmd.Context(), a.Run, service.DiffRequest{Args: args, Files: files})
			if err != nil {
				return err
			}
			err = a.Result("diff", d.Diff, nil, func() error { return a.Print(diffText(d.Diff, d.Since)) })
			if err == nil && exitCode && len(d.Vanished) > 0 {
				return workspace.Found()
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&files, "files", false, "compare the two given files")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 if something vanished")
	return cmd
}

// diffText formats a diff by issue, what vanished first.
func diffText(d merge.Diff, since string) string {
	if d.Empty() {
		return "nothing differs from " + since + "\n"
	}
	var vanished, changed, added grouped
	for _, v := range d.Vanished {
		vanished.add(v.ID, "%s", named(v.Kind, v.ID, v.Name, v.Was))
	}
	for _, c := range d.Changed {
		changed.add(c.ID, "%s %s: %s → %s", c.Kind, c.Name, cli.OneLine(c.From, 40), cli.OneLine(c.To, 40))
	}
	for _, n := range d.Added {
		added.add(n.ID, "%s", named(n.Kind, n.ID, n.Name, ""))
	}
	var b strings.Builder
	vanished.write(&b, "VANISHED since "+since)
	changed.write(&b, "changed since "+since)
	added.write(&b, "added since "+since)
	return b.String()
}

// named returns the kind and the name of a thing, with the beginning of its text.
func named(kind merge.Kind, id, name, text string) string {
	line := string(kind)
	if name != id {
		line += " " + cli.OneLine(name, 60)
	}
	if text != "" && text != name {
		line += ": " + cli.OneLine(text, 60)
	}
	return line
}

// grouped collects lines by issue, in the order in which they are added.
type grouped struct {
	count int
	ids   []string
	lines map[string][]string
}

func (g *grouped) add(id, format string, args ...any) {
	if g.lines == nil {
		g.lines = map[string][]string{}
	}
	if g.lines[id] == nil {
		g.ids = append(g.ids, id)
	}
	g.lines[id] = append(g.lines[id], fmt.Sprintf(format, args...))
	g.count++
}

func (g *grouped) write(b *strings.Builder, title string) {
	if g.count == 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	issues := len(g.ids)
	if g.lines[""] != nil {
		issues--
	}
	where := visible.Counted(issues, "issue")
	switch {
	case issues == 0:
		where = "no issue"
	case issues < len(g.ids):
		where += " and outside"
	}
	fmt.Fprintf(b, "%s (%d in %s):\n", title, g.count, where)
	for _, id := range g.ids {
		fmt.Fprintf(b, "%s\n", cmp.Or(id, "lines about no issue"))
		for _, line := range g.lines[id] {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}
