package main

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/dag"
	"stig/lint"
	"stig/process"
)

func (a *app) checkCommand() *cobra.Command {
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
		Args:    takes(0, 0, "no arguments"),
		Example: "  stig check\n  stig check --against origin/main\n  stig check --strict --format github --format sarif=stig.sarif",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.examine(cmd.Context(), "check", nil, against, o)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "hold the store against that of `REV` too, where this branch left it")
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
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.examine(cmd.Context(), "lint", ids, "", o)
		},
	}
	o.bind(cmd)
	return cmd
}

// examine holds the store, or the named issues, against the rules of a command
// and writes what was found; errors, and with --strict warnings, end in exit 1.
func (a *app) examine(ctx context.Context, command string, ids []string, against string, o outputs) error {
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
	past, forget, err := a.past(ctx, store, against)
	if err != nil {
		return err
	}
	defer forget()
	rules, err := a.checkRules(ctx, store, past)
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
		result.found, err = a.openQuestions(result.found, store)
	}
	if err != nil {
		return err
	}
	if only != nil {
		result.issues = len(only)
	}
	if past != nil {
		result.found = a.ofBranch(result.found, file, past)
	}
	return a.deliver(result, to)
}

// ofBranch leaves out what is for information only and of issues that are as they
// were, and says how much that is.
func (a *core) ofBranch(found []lint.Diagnostic, file *beads.File, past *lint.Past) []lint.Diagnostic {
	all := len(found)
	found = slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return untouched(d, file, past.File) })
	if left := all - len(found); left > 0 {
		a.note("%d more for information, about issues that are as at %s: stig check", left, past.Name)
	}
	return found
}

// untouched reports whether what was found is for information only and its issue is,
// to the byte, as it was: whoever reads what a branch did has no part in it.
func untouched(d lint.Diagnostic, now, past *beads.File) bool {
	if d.Severity != lint.Info {
		return false
	}
	at, here := now.Index(d.ID)
	was, there := past.Index(d.ID)
	if !here || !there {
		return false
	}
	after, err := now.At(at).Record()
	if err != nil {
		return false
	}
	before, err := past.At(was).Record()
	return err == nil && bytes.Equal(before.Bytes(), after.Bytes())
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

// checkRules are what the store is validated with.
func (a *core) checkRules(ctx context.Context, store beads.Store, past *lint.Past) (lint.Rules, error) {
	unfinished, err := a.unfinished(ctx, store, true)
	if err != nil {
		return lint.Rules{}, err
	}
	now, err := a.clock()
	return lint.Rules{Schema: a.schema, Now: now, Look: process.Finder(filepath.Dir(store.Dir), a.getenv), Past: past, Unfinished: unfinished}, err
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
