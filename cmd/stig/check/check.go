package check

import (
	"context"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/lint"
)

func CheckCommand(a *cli.App) *cobra.Command {
	var o outputs
	var against string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "everything that is wrong with the store, in one pass",
		Long: "Hold the store against every rule: what stig vet, stig cycles and stig lint look for.\n" +
			"With --against also what happened since this branch left the revision: issues closed\n" +
			"past the gate, things that vanished, signals that moved backwards; what is only for\n" +
			"information is left out where this branch did not touch the issue.\n" +
			"stig explain lists the rules.",
		GroupID: "check",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig check\n  stig check --against origin/main\n  stig check --strict --format github --format sarif=stig.sarif",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return examine(cmd.Context(), a, "check", nil, against, o)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "hold the store against that of `REV` too, where this branch left it")
	o.bind(cmd)
	return cmd
}

func LintCommand(a *cli.App) *cobra.Command {
	var o outputs
	cmd := &cobra.Command{
		Use:     "lint [ID…]",
		Short:   "links that mean nothing, trails that say nothing, criteria that nothing can run",
		GroupID: "check",
		Args:    cli.Takes(0, -1, "any number of issues"),
		Example: "  stig lint\n  stig lint demo-1 --strict",
		RunE: func(cmd *cobra.Command, ids []string) error {
			return examine(cmd.Context(), a, "lint", ids, "", o)
		},
	}
	o.bind(cmd)
	return cmd
}

// examine holds the store, or the named issues, against the rules of a command
// and writes what was found; errors, and with --strict warnings, end in exit 1.
func examine(ctx context.Context, a *cli.App, command string, ids []string, against string, o outputs) error {
	to, err := destinations(a, o)
	if err != nil {
		return err
	}
	store, err := a.Discover()
	if err != nil {
		return err
	}
	if err := keepStore(store.Place().Path, to); err != nil {
		return err
	}
	file, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	only, err := app.Indices(file, ids)
	if err != nil {
		return err
	}
	past, forget, err := a.Past(ctx, store.Place(), against)
	if err != nil {
		return err
	}
	defer forget()
	rules, err := a.CheckRules(ctx, store.Place(), past)
	if err != nil {
		return err
	}
	result := outcome{command: command, rules: lint.Of(looksFor(command, past)...), issues: file.Len(), strict: o.strict}
	if command == "check" {
		result.found, err = lint.Check(file, dag.New(file), rules)
	} else {
		result.found, err = lint.Lint(file, only, rules)
	}
	if err == nil {
		result.found, err = a.OpenQuestions(result.found, store.Place())
	}
	if err != nil {
		return err
	}
	if only != nil {
		result.issues = len(only)
	}
	if past != nil {
		result.found = a.OfBranch(result.found, file, past)
	}
	return deliver(a, result, to)
}

// looksFor names the commands whose rules a command looks for.
func looksFor(command string, past *lint.Past) []string {
	switch {
	case command != "check":
		return []string{command}
	case past == nil:
		return []string{"check", "vet", "cycles", "lint"}
	}
	return []string{"check", "vet", "cycles", "lint", "against"}
}
