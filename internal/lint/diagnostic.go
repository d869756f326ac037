// Package lint finds problems in a store, and says where each is, why it is one, and what to do
// about it.
//
// It never writes: a diagnostic that can be fixed safely carries the fixed value, and the
// caller decides. It does not know how diagnostics are printed.
//
//	diagnostics, err := lint.Vet(file, nil, rules)
//	for _, d := range diagnostics {
//		fmt.Println(d.Place(), d.Message)
//	}
package lint

import (
	"cmp"
	"fmt"
	"slices"

	"stig/internal/beads"
)

// Severity says how serious a diagnostic is.
type Severity string

const (
	Error   Severity = "error"   // a check fails
	Warning Severity = "warning" // a strict check fails
	Info    Severity = "info"    // no check fails
)

// Diagnostic is one problem, with its place.
type Diagnostic struct {
	Rule        string   `json:"rule"`
	Severity    Severity `json:"severity"`
	ID          string   `json:"id,omitempty"`           // the issue, if one is known
	File        string   `json:"file"`                   // the store
	Line        int      `json:"line"`                   // 1-based line of the store; 0 if the issue is gone from it
	Column      int      `json:"column,omitempty"`       // 1-based byte, for lines that do not parse
	NotesLine   int      `json:"notes_line,omitempty"`   // 1-based line within the notes
	NotesColumn int      `json:"notes_column,omitempty"` // 1-based byte within that line
	Message     string   `json:"message"`
	Hint        string   `json:"hint,omitempty"`

	fix *fix
}

// breach returns a diagnostic about a line of the store. The table of rules has its severity.
func breach(f *beads.Snapshot, rule, id string, line int, message, hint string) Diagnostic {
	known, _ := Named(rule)
	return Diagnostic{
		Rule: rule, Severity: known.Severity, ID: id, File: f.Place().Name(), Line: line,
		Message: message, Hint: hint,
	}
}

// Place returns the place as messages show it: "demo-1 notes:5:13", or the line of the store.
func (d Diagnostic) Place() string {
	switch {
	case d.ID != "" && d.NotesLine > 0:
		return fmt.Sprintf("%s notes:%d:%d", d.ID, d.NotesLine, d.NotesColumn)
	case d.ID != "":
		return d.ID
	case d.Line == 0:
		return d.File
	case d.Column > 0:
		return fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
	}
	return fmt.Sprintf("%s:%d", d.File, d.Line)
}

// WorstFirst returns the diagnostics sorted by severity, then by the weight of their rules.
// Diagnostics of the same rule keep their order.
func WorstFirst(found []Diagnostic) []Diagnostic {
	severities := []Severity{Error, Warning, Info}
	weights := weights()
	sorted := slices.Clone(found)
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int {
		return cmp.Or(
			slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity),
			weights[a.Rule]-weights[b.Rule],
		)
	})
	return sorted
}

// ByRule returns the diagnostics in the order of WorstFirst, grouped by rule and severity.
func ByRule(found []Diagnostic) (groups [][]Diagnostic) {
	for _, d := range WorstFirst(found) {
		if n := len(groups) - 1; n >= 0 && groups[n][0].Rule == d.Rule && groups[n][0].Severity == d.Severity {
			groups[n] = append(groups[n], d)
			continue
		}
		groups = append(groups, []Diagnostic{d})
	}
	return groups
}

// Counts are the numbers of diagnostics by severity, and the number of waivers.
type Counts struct {
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Info    int `json:"info"`
	Waived  int `json:"waived"` // issues closed by a waiver
}

// Count counts diagnostics.
func Count(diagnostics []Diagnostic) Counts {
	var c Counts
	for _, d := range diagnostics {
		if d.Rule == RuleWaived {
			c.Waived++
		}
		switch d.Severity {
		case Error:
			c.Error++
		case Warning:
			c.Warning++
		case Info:
			c.Info++
		}
	}
	return c
}

// inOrder sorts by place in the store, then by place in the notes, then by rule.
func inOrder(diagnostics []Diagnostic) []Diagnostic {
	slices.SortStableFunc(diagnostics, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.NotesLine, b.NotesLine),
			cmp.Compare(a.NotesColumn, b.NotesColumn),
			cmp.Compare(a.Rule, b.Rule),
		)
	})
	return diagnostics
}
