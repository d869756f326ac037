package stig_test

import (
	"go/ast"
	"strings"
	"testing"
)

// TestOneWayToClose holds the way to close an issue to one caller, which has a
// evidence for it: Tx.Set and Tx.Add refuse the status (package beads), and what
// MarkClosed is given comes from evidence that package verify alone can make.
func TestOneWayToClose(t *testing.T) {
	var callers []string
	for _, p := range module(t) {
		callers = append(callers, closers(p)...)
	}
	if len(callers) != 1 || !strings.HasPrefix(callers[0], "checkpoint/close.go:") || !strings.HasSuffix(callers[0], " in Close") {
		t.Errorf("MarkClosed must be called in Close of checkpoint/close.go alone; it is in %q", callers)
	}
	tests := map[string]int{
		`func f(tx *Tx) { tx.MarkClosed("a", "b") }`:                           1,
		`func f(tx *Tx) { g(tx.MarkClosed) }`:                                  1,
		`func f(tx *Tx) { tx.Set("a"); func() { tx.MarkClosed("a", "b") }() }`: 1,
		`func f(tx *Tx) { tx.Close() }`:                                        0,
	}
	for src, want := range tests {
		if got := closers(pkg{name: "lint", files: []file{parse(t, "x.go", "package x\n"+src)}}); len(got) != want {
			t.Errorf("%s: %q, want %d", src, got, want)
		}
	}
}

// closers are the places that name MarkClosed, each with its function.
func closers(p pkg) (places []string) {
	for _, f := range p.files {
		for _, decl := range f.ast.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				named, ok := n.(*ast.SelectorExpr)
				if !ok || named.Sel.Name != "MarkClosed" {
					return true
				}
				where := "outside of a function"
				if function, ok := decl.(*ast.FuncDecl); ok {
					where = "in " + function.Name.Name
				}
				places = append(places, f.at(named, "%s", where))
				return true
			})
		}
	}
	return places
}
