package check

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/lint"
)

// vetOptions are the flags of vet.
type vetOptions struct{ fix, strict, dryRun bool }

func VetCommand(a *cli.App) *cobra.Command {
	var o vetOptions
	cmd := &cobra.Command{
		Use:     "vet [ID…]",
		Short:   "hold lines, sections and signal tables against the convention",
		GroupID: "check",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig vet\n  stig vet demo-1 --fix --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.fix {
				return vetFix(cmd.Context(), a, args, o)
			}
			if o.dryRun {
				return app.Usage("--dry-run goes with --fix", "")
			}
			return vet(a, args, o)
		},
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "rewrite values that have one meaning only")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings too")
	a.Writes(cmd, &o.dryRun)
	return cmd
}

// vet reports what is wrong; errors, and with --strict warnings, end in exit 1.
func vet(a *cli.App, ids []string, o vetOptions) error {
	found, issues, err := a.Findings(ids)
	if err != nil {
		return err
	}
	counts := lint.Count(found)
	if a.JSON {
		err = a.PrintOutput(app.CheckOutput(found, issues), nil)
	} else {
		err = printDiagnostics(a, found, counts, issues)
	}
	if err != nil {
		return err
	}
	return o.ending(counts)
}

// ending is how vet ends with what it found.
func (o vetOptions) ending(counts lint.Counts) error {
	if counts.Error > 0 || o.strict && counts.Warning > 0 {
		return app.FoundError{}
	}
	return nil
}

func printDiagnostics(a *cli.App, found []lint.Diagnostic, counts lint.Counts, issues int) error {
	var text strings.Builder
	writeDiagnostics(a, &text, found, counts, issues)
	return a.Print(text.String())
}

// writeDiagnostics gives the hint of a rule where it is first of use: the same
// one below every issue of a store would bury what was found.
func writeDiagnostics(a *cli.App, text *strings.Builder, found []lint.Diagnostic, counts lint.Counts, issues int) {
	given := map[[2]string]bool{}
	for _, d := range found {
		fmt.Fprintf(text, "%s: %s: %s [%s]\n", d.Severity, d.Place(), d.Message, d.Rule)
		if d.Hint != "" && !a.Quiet && !given[[2]string{d.Rule, d.Hint}] {
			given[[2]string{d.Rule, d.Hint}] = true
			fmt.Fprintf(text, "  hint: %s\n", strings.ReplaceAll(d.Hint, "\n", "\n  "))
		}
	}
	fmt.Fprintf(text, "%s, %s, %s", app.Counted(issues, "issue"), app.Counted(counts.Error, "error"), app.Counted(counts.Warning, "warning"))
	if counts.Info > 0 {
		fmt.Fprintf(text, ", %d info", counts.Info)
	}
	if counts.Waived > 0 {
		fmt.Fprintf(text, ", %s", app.Counted(counts.Waived, "waiver"))
	}
	text.WriteString("\n")
}

// vetFix fixes what can be fixed, then reports what is left.
func vetFix(ctx context.Context, a *cli.App, ids []string, o vetOptions) error {
	options, err := a.Options(o.dryRun)
	if err != nil {
		return err
	}
	found, _, err := a.Findings(ids)
	if err != nil {
		return err
	}
	store, err := a.Discover()
	if err != nil {
		return err
	}
	if err := a.RefuseUnfinished(ctx, store); err != nil {
		return err
	}
	changes, err := lint.Fix(ctx, store, options, found, lint.Rules{Schema: a.Schema})
	if err != nil {
		return err
	}
	if o.dryRun {
		return previewFix(a, store, found, changes, o)
	}
	for _, c := range changes {
		a.Note("%s: fixed", c.ID)
	}
	return vet(a, ids, o)
}

// previewFix shows the diff of what would be fixed, and ends as vet would then.
func previewFix(a *cli.App, store beads.Store, found []lint.Diagnostic, changes []beads.Change, o vetOptions) error {
	if err := a.PrintChanges(changes, nil, true); err != nil {
		return err
	}
	file, err := beads.Read(store)
	if err != nil {
		return err
	}
	defer file.Close()
	left, err := lint.Left(file, found, changes, lint.Rules{Schema: a.Schema})
	if err != nil {
		return err
	}
	counts := lint.Count(left)
	if counts.Error+counts.Warning > 0 {
		a.Note("what would be left: %s, %s; type stig vet to see them", app.Counted(counts.Error, "error"), app.Counted(counts.Warning, "warning"))
	}
	return o.ending(counts)
}
