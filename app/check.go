package app

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stig/beads"
	"stig/dag"
	"stig/lint"
	"stig/process"
)

// CheckRequest says what to look for, and where.
type CheckRequest struct {
	Command string   // whose rules: check, vet, cycles or lint; check is all of them
	IDs     []string // of vet and lint: the issues; none stand for all
	Against string   // of check: a revision to compare the store with; may be empty
}

// Checked is what a check found.
type Checked struct {
	Command string
	Rules   []lint.Rule // all that were looked for
	Found   []lint.Diagnostic
	Issues  int    // that were looked at
	Store   string // its path
}

// Check validates the store, or some of its issues.
func (a *App) Check(ctx context.Context, r CheckRequest) (*Checked, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	only, err := indices(file, r.IDs)
	if err != nil {
		return nil, err
	}
	past, forget, err := a.Past(ctx, store.Place(), r.Against)
	if err != nil {
		return nil, err
	}
	defer forget()
	c := &Checked{Command: r.Command, Rules: lint.Of(looksFor(r.Command, past)...), Issues: file.Len(), Store: store.Place().Path}
	if only != nil {
		c.Issues = len(only)
	}
	c.Found, err = a.look(ctx, r.Command, file, only, past)
	if err == nil && r.Command != "cycles" {
		c.Found, err = a.openQuestions(c.Found, store.Place())
	}
	if err != nil {
		return nil, err
	}
	if past != nil {
		c.Found = a.ofBranch(c.Found, file, past)
	}
	return c, nil
}

// look looks for what the rules of a command are about.
func (a *App) look(ctx context.Context, command string, file *beads.Snapshot, only []int, past *lint.Past) ([]lint.Diagnostic, error) {
	switch command {
	case "vet":
		now, err := a.Clock()
		if err != nil {
			return nil, err
		}
		return lint.Vet(file, only, lint.Rules{Schema: a.Schema, Now: now})
	case "cycles":
		a.warnOfStore(file) // no rule of cycles is about lines that cannot be read
		return lint.Cycles(file, dag.New(file)), nil
	}
	rules, err := a.checkRules(ctx, file.Place(), past)
	if err != nil {
		return nil, err
	}
	if command == "lint" {
		return lint.Lint(file, only, rules)
	}
	return lint.Check(file, dag.New(file), rules)
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

// Fixed is what fixing changed.
type Fixed struct {
	Changes []beads.Change
	Left    []lint.Diagnostic // of a dry run: what vet would find then
}

// Fix rewrites values that have one meaning only, in the named issues or in all.
func (a *App) Fix(ctx context.Context, ids []string, dryRun bool) (*Fixed, error) {
	options, err := a.Options(dryRun)
	if err != nil {
		return nil, err
	}
	checked, err := a.Check(ctx, CheckRequest{Command: "vet", IDs: ids})
	if err != nil {
		return nil, err
	}
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	if err := a.RefuseUnfinished(ctx, store.Place()); err != nil {
		return nil, err
	}
	rules := lint.Rules{Schema: a.Schema}
	f := &Fixed{}
	if f.Changes, err = lint.Fix(ctx, store, options, checked.Found, rules); err != nil || !dryRun {
		return f, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	f.Left, err = lint.Left(file, checked.Found, f.Changes, rules)
	return f, err
}

// ofBranch leaves out what is for information only and of issues that are as they
// were, and says how much that is.
func (a *App) ofBranch(found []lint.Diagnostic, file *beads.Snapshot, past *lint.Past) []lint.Diagnostic {
	all := len(found)
	found = slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return untouched(d, file, past.File) })
	if left := all - len(found); left > 0 {
		a.Note("%d more for information, about issues that are as at %s: stig check", left, past.Name)
	}
	return found
}

// untouched reports whether what was found is for information only and its issue is,
// to the byte, as it was: whoever reads what a branch did has no part in it.
func untouched(d lint.Diagnostic, now, past *beads.Snapshot) bool {
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

// checkRules are what the store is validated with.
func (a *App) checkRules(ctx context.Context, store beads.Place, past *lint.Past) (lint.Rules, error) {
	unfinished, err := a.Unfinished(ctx, store, true)
	if err != nil {
		return lint.Rules{}, err
	}
	now, err := a.Clock()
	return lint.Rules{Schema: a.Schema, Now: now, Look: process.Finder(filepath.Dir(store.Dir), a.Getenv), Past: past, Unfinished: unfinished}, err
}

// indices finds the named issues; nil stands for all.
func indices(file *beads.Snapshot, ids []string) ([]int, error) {
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

// Counted is a number of things: "1 issue", "2 issues".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
