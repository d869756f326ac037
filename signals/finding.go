package signals

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/cue"
)

// Severity of a Finding.
type Severity string

const (
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Finding is something wrong with the signals in notes, with its place.
type Finding struct {
	Rule     string   `json:"rule"` // one of the Rule constants
	Severity Severity `json:"severity"`
	Signal   string   `json:"signal,omitempty"` // name of the row; "" when it is about the table
	Line     int      `json:"line"`             // in the notes, 1-based; 0 for a value that stands nowhere yet
	Column   int      `json:"column"`           // 1-based, in bytes
	Message  string   `json:"message"`          // a sentence without the place
	Hint     string   `json:"hint,omitempty"`   // what to do about it; "" when that is plain
	Fix      string   `json:"fix,omitempty"`    // the value that vet --fix writes, "" when a person must decide
}

// The rules for findings.
const (
	RuleValue    = "signal-value"    // error: a value outside its domain
	RuleVersion  = "schema-version"  // error: a table of another version, which is read but not written
	RuleUnknown  = "signal-unknown"  // warning: a row that is no signal
	RuleRepeated = "signal-repeated" // error: a signal has several rows, of which the last counts
	RuleDate     = "signal-date"     // warning: Updated is neither a date nor a form of none
	RuleSeveral  = "table-several"   // warning: a table that is not live, because a later one is
	RuleMerge    = "table-merge"     // error: tables that differ around a line of dashes
	RuleMissing  = "table-missing"   // error: the section has no table
	RuleHeader   = "table-header"    // error: the columns are not those of a signal table
	RuleOutside  = "table-outside"   // error: a row stands outside the table
)

// unwritable are the rules under which nothing can be written safely.
var unwritable = []string{RuleMerge, RuleMissing, RuleHeader, RuleOutside}

// InvalidError reports why a table was not written. It has the findings that the result would
// have had, or those that prevent any writing. Apply, Canonical and Reconcile return it.
type InvalidError struct {
	Findings []Finding // at least one
}

func (e *InvalidError) Error() string {
	f := e.Findings[0]
	message := f.Message
	if f.Line > 0 {
		message = fmt.Sprintf("notes:%d:%d: %s", f.Line, f.Column, message)
	}
	if more := len(e.Findings) - 1; more > 0 {
		message += fmt.Sprintf(" (and %d more)", more)
	}
	return message
}

// InNotes reports whether the first finding is about existing notes rather than the value to
// write.
func (e *InvalidError) InNotes() bool { return e.Findings[0].Line > 0 }

// Hint is the hint of the first finding.
func (e *InvalidError) Hint() string { return e.Findings[0].Hint }

func sortByPlace(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// violationFinding turns a schema violation into a finding.
func (t *Table) violationFinding(v cue.Violation) Finding {
	f := Finding{Rule: RuleValue, Severity: Error, Line: v.Line, Column: v.Column, Message: v.Message}
	s, ok := Named(v.Name)
	if !ok {
		f.Line, f.Column = t.line, t.column
		return f
	}
	f.Signal = s.String()
	if f.Line == 0 && t.present { // a default that a narrowed schema forbids
		f.Line, f.Column = t.line, t.column
	}
	if s == SchemaVersion {
		f.Rule = RuleVersion
	}
	f.Fix = aliasOf(s, v.Found)
	if v.Allowed != nil && !slices.Contains(v.Allowed, f.Fix) {
		f.Fix = ""
	}
	f.Hint = hint(s, v, f.Fix)
	return f
}

func hint(s Signal, v cue.Violation, fix string) string {
	if fix != "" {
		return fmt.Sprintf("write %q, as stig vet --fix does", fix)
	}
	plain := strings.ToLower(strings.Trim(v.Found, "*_` "))
	if slices.Contains(v.Allowed, plain) {
		return fmt.Sprintf("write %q", plain)
	}
	if s == SchemaVersion && isDecimal(v.Found) {
		return "the table is of a version that this program does not write: use one that does"
	}
	return fmt.Sprintf("stig signals set ID %s=VALUE", s)
}

func aliasOf(s Signal, text string) string {
	for _, a := range aliases {
		if a.signal == s && a.from == text {
			return a.to
		}
	}
	return ""
}
