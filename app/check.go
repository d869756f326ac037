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

// CheckRequest says what to validate the store against: every rule, or with Lint the
// rules of stig lint alone.
type CheckRequest struct {
	Lint    bool
	IDs     []string // of Lint: the issues to look at; all where there is none
	Against string   // a revision: the rules about what happened since the branch left it, too
}

// Checked is what a check found.
type Checked struct {
	Store  string      // the file
	Rules  []lint.Rule // all that were looked for
	Found  []lint.Diagnostic
	Issues int // how many were looked at
}

// Output is what was found as data.
func (c *Checked) Output() Output { return CheckOutput(c.Found, c.Issues) }

// CheckOutput is what was found in so many issues as data.
func CheckOutput(found []lint.Diagnostic, issues int) Output {
	return output("check", map[string]any{
		"diagnostics": append([]lint.Diagnostic{}, found...), "counts": lint.Count(found), "issues": issues,
	})
}

// Check validates the store.
func (a *App) Check(ctx context.Context, r CheckRequest) (*Checked, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	file, err := beads.Read(store)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	only, err := indices(file, r.IDs)
	if err != nil {
		return nil, err
	}
	past, forget, err := a.Past(ctx, store, r.Against)
	if err != nil {
		return nil, err
	}
	defer forget()
	rules, err := a.checkRules(ctx, store, past)
	if err != nil {
		return nil, err
	}
	c := &Checked{Store: store.Path, Rules: lint.Of(r.looksFor()...), Issues: file.Len()}
	if r.Lint {
		c.Found, err = lint.Lint(file, only, rules)
	} else {
		c.Found, err = lint.Check(file, dag.New(file), rules)
	}
	if err == nil {
		c.Found, err = a.OpenQuestions(c.Found, store)
	}
	if err != nil {
		return nil, err
	}
	if only != nil {
		c.Issues = len(only)
	}
	if past != nil {
		c.Found = a.ofBranch(c.Found, file, past)
	}
	return c, nil
}

// looksFor names the commands whose rules are looked for.
func (r CheckRequest) looksFor() []string {
	switch {
	case r.Lint:
		return []string{"lint"}
	case r.Against == "":
		return []string{"check", "vet", "cycles", "lint"}
	}
	return []string{"check", "vet", "cycles", "lint", "against"}
}

// ofBranch leaves out what is for information only and of issues that are as they
// were, and says how much that is.
func (a *App) ofBranch(found []lint.Diagnostic, file *beads.File, past *lint.Past) []lint.Diagnostic {
	all := len(found)
	found = slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return untouched(d, file, past.File) })
	if left := all - len(found); left > 0 {
		a.Note("%d more for information, about issues that are as at %s: stig check", left, past.Name)
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

// checkRules are what the store is validated with.
func (a *App) checkRules(ctx context.Context, store beads.Store, past *lint.Past) (lint.Rules, error) {
	unfinished, err := a.Unfinished(ctx, store, true)
	if err != nil {
		return lint.Rules{}, err
	}
	now, err := a.Clock()
	return lint.Rules{Schema: a.Schema, Now: now, Look: process.Finder(filepath.Dir(store.Dir), a.Getenv), Past: past, Unfinished: unfinished}, err
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

// Findings vets the named issues, or all, and counts how many were looked at.
func (a *App) Findings(ids []string) ([]lint.Diagnostic, int, error) {
	store, err := a.Discover()
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
	now, err := a.Clock()
	if err != nil {
		return nil, 0, err
	}
	found, err := lint.Vet(file, only, lint.Rules{Schema: a.Schema, Now: now})
	if err == nil {
		found, err = a.OpenQuestions(found, store)
	}
	if err != nil {
		return nil, 0, err
	}
	if only == nil {
		return append([]lint.Diagnostic{}, found...), file.Len(), nil
	}
	return append([]lint.Diagnostic{}, found...), len(only), nil
}

func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
