package app

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"stig/beads"
	"stig/lint"
	"stig/process"
)

// OfBranch leaves out what is for information only and of issues that are as they
// were, and says how much that is.
func (a *App) OfBranch(found []lint.Diagnostic, file *beads.Snapshot, past *lint.Past) []lint.Diagnostic {
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

// CheckRules are what the store is validated with.
func (a *App) CheckRules(ctx context.Context, store beads.Place, past *lint.Past) (lint.Rules, error) {
	unfinished, err := a.Unfinished(ctx, store, true)
	if err != nil {
		return lint.Rules{}, err
	}
	now, err := a.Clock()
	return lint.Rules{Schema: a.Schema, Now: now, Look: process.Finder(filepath.Dir(store.Dir), a.Getenv), Past: past, Unfinished: unfinished}, err
}

// Indices finds the named issues; nil stands for all.
func Indices(file *beads.Snapshot, ids []string) ([]int, error) {
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
	file, err := store.Snapshot()
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	only, err := Indices(file, ids)
	if err != nil {
		return nil, 0, err
	}
	now, err := a.Clock()
	if err != nil {
		return nil, 0, err
	}
	found, err := lint.Vet(file, only, lint.Rules{Schema: a.Schema, Now: now})
	if err == nil {
		found, err = a.OpenQuestions(found, store.Place())
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
