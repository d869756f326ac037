package store

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/merge"
	"stig/internal/service"
	"stig/internal/workspace"
)

// mergeOptions are the flags of one merge.
type mergeOptions struct {
	output  string // the file to write: "" for OURS, "-" for standard output
	resolve bool
	dryRun  bool
}

func MergeCommand(a *cli.App) *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge BASE OURS THEIRS | --resolve [ID KEY=SIDE…]",
		Short: "merge two versions of a store that have a common base",
		Long: "Merge the changes from BASE to THEIRS into OURS, by issue, key, section and signal row, and\n" +
			"write OURS. git calls it as a merge driver: see stig setup git. A conflict, such as two new\n" +
			"descriptions of one issue, becomes conflict markers around that line alone.\n\n" +
			"--resolve lists the conflicts in the store, or resolves those of one issue: KEY=ours or\n" +
			"KEY=theirs for each key, all=ours or all=theirs for the whole line. Both versions stay in\n" +
			"the store until the last conflict is resolved.\n\n" +
			"Exit codes: 0 merged, or resolved; 1 there are conflicts; above 128 nothing was written.",
		Args: func(cmd *cobra.Command, args []string) error {
			if o.resolve {
				return nil
			}
			return cli.Takes(3, 3, "three files")(cmd, args)
		},
		Example: "  stig merge %O %A %B\n  stig merge base.jsonl ours.jsonl theirs.jsonl -o merged.jsonl\n" +
			"  stig merge --resolve\n  stig merge --resolve demo-1 title=ours priority=theirs",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.resolve && o.output != "":
				return workspace.Usage("--resolve writes the store, and excludes --output", "")
			case o.resolve && len(args) == 0:
				return listConflicts(cmd.Context(), a)
			case o.resolve:
				return resolveConflict(cmd.Context(), a, args[0], args[1:], o.dryRun)
			}
			return mergeFiles(a, args, o)
		},
	}
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of OURS; - is standard output")
	cmd.Flags().BoolVar(&o.resolve, "resolve", false, "list the conflicts in the store, or resolve those of an issue")
	a.Writes(cmd, &o.dryRun)
	return cmd
}

func mergeFiles(a *cli.App, files []string, o mergeOptions) error {
	if o.dryRun && o.output == "-" {
		return workspace.Usage("--dry-run and --output - cannot be used together", "give one of them")
	}
	m, err := service.Merge(a.Run, service.MergeRequest{Base: files[0], Ours: files[1], Theirs: files[2], Output: o.output, DryRun: o.dryRun})
	if err != nil {
		return err
	}
	if err := printMerge(a, m, o.dryRun); err != nil {
		return err
	}
	if !a.JSON || m.Output == "-" {
		reportMerge(a, m)
	}
	if len(m.Conflicts) > 0 {
		return workspace.Found()
	}
	return nil
}

// reportMerge prints the warnings of a merge, and which lines a person must merge.
func reportMerge(a *cli.App, m *service.Merged) {
	for _, w := range m.Warnings {
		a.Warn("%s: %s", w.ID, w.Message)
	}
	for _, c := range m.Conflicts {
		what := cmp.Or(c.ID, "a line that is not an issue")
		fmt.Fprintf(a.Err, "stig: line %d: %s: %s\n", c.Line, workspace.Visible(what), workspace.Visible(c.Reason))
	}
	if len(m.Conflicts) > 0 {
		a.Hint("type stig merge --resolve to see both values and how to choose, then git add the store")
	}
}

// merged is the result of a merge, or of resolving conflicts, as JSON.
type merged struct {
	Conflicts []merge.Conflict `json:"conflicts"`
	Diff      *string          `json:"diff,omitempty"`
	DryRun    bool             `json:"dry_run"`
	ID        string           `json:"id,omitempty"`
	Open      []merge.Question `json:"open,omitzero"`
	Warnings  []merge.Warning  `json:"warnings"`
	Written   string           `json:"written"` // "" for a dry run
}

// printMerge prints a merge as JSON, as a diff, or as the merged store.
func printMerge(a *cli.App, m *service.Merged, dryRun bool) error {
	data := merged{
		Conflicts: append([]merge.Conflict{}, m.Conflicts...), Warnings: append([]merge.Warning{}, m.Warnings...),
		Written: m.Output, DryRun: dryRun,
	}
	switch {
	case m.Output == "-":
		if _, err := io.WriteString(a.Out, m.Text); err != nil {
			return workspace.NotMerged(err)
		}
		return nil
	case dryRun && !a.JSON:
		return a.Print(cmp.Or(m.Diff, "nothing would change\n"))
	case dryRun:
		data.Written, data.Diff = "", &m.Diff
	}
	if a.JSON {
		return a.PrintJSON("merge", data)
	}
	return nil
}
