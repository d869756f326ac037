package stig_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestOneWayToClose validates that issues are closed in one place, which has
// evidence for it: Tx.Set and Tx.Add refuse the status (package beads), and what
// MarkClosed is given comes from evidence that package verify alone can make.
// PutBack writes what the journal says that the store held: recovery alone
// calls it.
func TestOneWayToClose(t *testing.T) {
	var callers []string
	for _, p := range module(t) {
		callers = append(callers, closers(p)...)
	}
	callers = slices.DeleteFunc(callers, func(c string) bool { return strings.HasPrefix(c, "recovery/") && strings.Contains(c, "PutBack") })
	if len(callers) != 1 || !strings.HasPrefix(callers[0], "checkpoint/close.go:") || !strings.HasSuffix(callers[0], " in Close") {
		t.Errorf("issues must be closed in Close of checkpoint/close.go alone; they are in %q", callers)
	}
	tests := map[string]int{
		`func f(tx *Tx) { tx.MarkClosed("a", "b") }`:                           1,
		`func f(tx *Tx) { g(tx.MarkClosed) }`:                                  1,
		`func f(tx *Tx) { tx.Set("a"); func() { tx.MarkClosed("a", "b") }() }`: 1,
		`func f(tx *Tx) { tx.PutBack("a", g) }`:                                1,
		`func f(tx *Tx) { tx.Close() }`:                                        0,
	}
	for src, want := range tests {
		if got := closers(pkg{name: "lint", files: []file{parse(t, "x.go", "package x\n"+src)}}); len(got) != want {
			t.Errorf("%s: %q, want %d", src, got, want)
		}
	}
}

// closers are the places that name MarkClosed or PutBack, each with its function.
func closers(p pkg) (places []string) {
	for _, f := range p.files {
		for _, decl := range f.ast.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				named, ok := n.(*ast.SelectorExpr)
				if !ok || named.Sel.Name != "MarkClosed" && named.Sel.Name != "PutBack" {
					return true
				}
				where := "outside of a function"
				if function, ok := decl.(*ast.FuncDecl); ok {
					where = "in " + function.Name.Name
				}
				places = append(places, f.at(named, "%s %s", named.Sel.Name, where))
				return true
			})
		}
	}
	return places
}

// TestOneWayToOpen validates that commands get stores from one place: what opened a
// file itself would write without the journal, and without telling bd.
func TestOneWayToOpen(t *testing.T) {
	var places []string
	for _, p := range module(t) {
		places = append(places, openers(p)...)
	}
	if len(places) != 1 || !strings.HasPrefix(places[0], "app/store.go:") {
		t.Errorf("stores must be opened in app/store.go alone; they are in %q", places)
	}
	if got := openers(pkg{name: "lint", files: []file{parse(t, "x.go", "package x\nvar s = jsonl.Open(p)")}}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// openers are the places that name jsonl.Open.
func openers(p pkg) (places []string) {
	for _, f := range p.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if named, ok := n.(*ast.SelectorExpr); ok && named.Sel.Name == "Open" {
				if from, ok := named.X.(*ast.Ident); ok && from.Name == "jsonl" {
					places = append(places, f.at(named, "jsonl.Open"))
				}
			}
			return true
		})
	}
	return places
}
