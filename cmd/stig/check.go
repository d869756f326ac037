package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/dag"
	"stig/gate"
	"stig/lint"
)

func (a *app) checkCommand() *cobra.Command {
	var o outputs
	cmd := &cobra.Command{
		Use:   "check",
		Short: "everything that is wrong with the store, in one pass",
		Long: "Hold the store against every rule: what stig vet, stig cycles and stig lint look for.\n" +
			"stig explain lists the rules.",
		GroupID: "check",
		Args:    takes(0, 0, "no arguments"),
		Example: "  stig check\n  stig check --strict --format github --format sarif=stig.sarif",
		RunE: func(*cobra.Command, []string) error {
			return a.examine("check", nil, o)
		},
	}
	o.bind(cmd)
	return cmd
}

func (a *app) lintCommand() *cobra.Command {
	var o outputs
	cmd := &cobra.Command{
		Use:     "lint [ID…]",
		Short:   "links that mean nothing, trails that say nothing, criteria that nothing can run",
		GroupID: "check",
		Args:    takes(0, -1, "any number of issues"),
		Example: "  stig lint\n  stig lint demo-1 --strict",
		RunE: func(_ *cobra.Command, ids []string) error {
			return a.examine("lint", ids, o)
		},
	}
	o.bind(cmd)
	return cmd
}

// examine holds the store, or the named issues, against the rules of a command
// and writes what was found; errors, and with --strict warnings, end in exit 1.
func (a *app) examine(command string, ids []string, o outputs) error {
	to, err := a.destinations(o)
	if err != nil {
		return err
	}
	store, err := a.discover()
	if err != nil {
		return err
	}
	if err := keepStore(store.Path, to); err != nil {
		return err
	}
	file, err := beads.Read(store)
	if err != nil {
		return err
	}
	defer file.Close()
	only, err := indices(file, ids)
	if err != nil {
		return err
	}
	rules := lint.Rules{Schema: a.schema, Look: gate.Here(filepath.Dir(store.Dir), a.getenv)}
	result := outcome{command: command, issues: file.Len(), strict: o.strict}
	if command == "check" {
		result.rules = lint.All()
		result.found, err = lint.Check(file, dag.New(file), rules)
	} else {
		result.rules = lint.Of(command)
		result.found, err = lint.Lint(file, only, rules)
	}
	if err != nil {
		return err
	}
	if only != nil {
		result.issues = len(only)
	}
	return a.deliver(result, to)
}

// indices finds the named issues; nil stands for all.
func indices(file *beads.File, ids []string) ([]int, error) {
	var only []int
	for _, id := range ids {
		issue, err := file.Find(id)
		if err != nil {
			return nil, err
		}
		at, _ := file.Index(issue.ID)
		only = append(only, at)
	}
	return only, nil
}
