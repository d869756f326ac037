package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/lint"
)

// vetOptions are the flags of vet.
type vetOptions struct{ fix, strict, dryRun bool }

func (a *app) vetCommand() *cobra.Command {
	var o vetOptions
	cmd := &cobra.Command{
		Use:     "vet [ID…]",
		Short:   "hold lines, sections and signal tables against the convention",
		GroupID: "check",
		Args:    takes(0, -1, "any number of issues"),
		Example: "  stig vet\n  stig vet demo-1 --fix --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.fix {
				return a.vetFix(cmd.Context(), args, o)
			}
			if o.dryRun {
				return usage("--dry-run goes with --fix", "")
			}
			return a.vet(args, o)
		},
	}
	cmd.Flags().BoolVar(&o.fix, "fix", false, "rewrite values that have one meaning only")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail on warnings too")
	a.writes(cmd, &o.dryRun)
	return cmd
}

// vet reports what is wrong; errors, and with --strict warnings, end in exit 1.
func (a *app) vet(ids []string, o vetOptions) error {
	found, issues, err := a.findings(ids)
	if err != nil {
		return err
	}
	counts := lint.Count(found)
	if a.json {
		err = a.printJSON("check", map[string]any{"diagnostics": found, "counts": counts, "issues": issues})
	} else {
		err = a.printDiagnostics(found, counts, issues)
	}
	if err != nil {
		return err
	}
	return o.ending(counts)
}

// ending is how vet ends with what it found.
func (o vetOptions) ending(counts lint.Counts) error {
	if counts.Error > 0 || o.strict && counts.Warning > 0 {
		return foundError{}
	}
	return nil
}

// findings vets the named issues, or all, and counts how many were looked at.
func (a *core) findings(ids []string) ([]lint.Diagnostic, int, error) {
	store, err := a.discover()
	if err != nil {
		return nil, 0, err
	}
	file, err := beads.Read(store)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	only, err := indices(file, ids)
	if err != nil {
		return nil, 0, err
	}
	now, err := a.clock()
	if err != nil {
		return nil, 0, err
	}
	found, err := lint.Vet(file, only, lint.Rules{Schema: a.schema, Now: now})
	if err == nil {
		found, err = a.openQuestions(found, store)
	}
	if err != nil {
		return nil, 0, err
	}
	if only == nil {
		return append([]lint.Diagnostic{}, found...), file.Len(), nil
	}
	return append([]lint.Diagnostic{}, found...), len(only), nil
}

func (a *app) printDiagnostics(found []lint.Diagnostic, counts lint.Counts, issues int) error {
	var text strings.Builder
	a.writeDiagnostics(&text, found, counts, issues)
	return a.print(text.String())
}

// writeDiagnostics gives the hint of a rule where it is first of use: the same
// one below every issue of a store would bury what was found.
func (a *app) writeDiagnostics(text *strings.Builder, found []lint.Diagnostic, counts lint.Counts, issues int) {
	given := map[[2]string]bool{}
	for _, d := range found {
		fmt.Fprintf(text, "%s: %s: %s [%s]\n", d.Severity, d.Place(), d.Message, d.Rule)
		if d.Hint != "" && !a.quiet && !given[[2]string{d.Rule, d.Hint}] {
			given[[2]string{d.Rule, d.Hint}] = true
			fmt.Fprintf(text, "  hint: %s\n", strings.ReplaceAll(d.Hint, "\n", "\n  "))
		}
	}
	fmt.Fprintf(text, "%s, %s, %s", counted(issues, "issue"), counted(counts.Error, "error"), counted(counts.Warning, "warning"))
	if counts.Info > 0 {
		fmt.Fprintf(text, ", %d info", counts.Info)
	}
	if counts.Waived > 0 {
		fmt.Fprintf(text, ", %s", counted(counts.Waived, "waiver"))
	}
	text.WriteString("\n")
}

// vetFix fixes what can be fixed, then reports what is left.
func (a *app) vetFix(ctx context.Context, ids []string, o vetOptions) error {
	options, err := a.options(o.dryRun)
	if err != nil {
		return err
	}
	found, _, err := a.findings(ids)
	if err != nil {
		return err
	}
	store, err := a.discover()
	if err != nil {
		return err
	}
	if err := a.refuseUnfinished(ctx, store); err != nil {
		return err
	}
	changes, err := lint.Fix(ctx, store, options, found, lint.Rules{Schema: a.schema})
	if err != nil {
		return err
	}
	if o.dryRun {
		return a.previewFix(store, found, changes, o)
	}
	for _, c := range changes {
		a.note("%s: fixed", c.ID)
	}
	return a.vet(ids, o)
}

// previewFix shows the diff of what would be fixed, and ends as vet would then.
func (a *app) previewFix(store beads.Store, found []lint.Diagnostic, changes []beads.Change, o vetOptions) error {
	if err := a.printChanges(changes, nil, true); err != nil {
		return err
	}
	file, err := beads.Read(store)
	if err != nil {
		return err
	}
	defer file.Close()
	left, err := lint.Left(file, found, changes, lint.Rules{Schema: a.schema})
	if err != nil {
		return err
	}
	counts := lint.Count(left)
	if counts.Error+counts.Warning > 0 {
		a.note("what would be left: %s, %s; type stig vet to see them", counted(counts.Error, "error"), counted(counts.Warning, "warning"))
	}
	return o.ending(counts)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
