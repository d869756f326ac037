// Package signals gives the signal table of an issue its types, defaults and
// rules: it reads the table out of the notes, says what is wrong with it and
// where, and writes changes of it, touching only the cells that change. It also
// says when such numbers of several issues amount to an alert.
//
// It does not know issues, files, the clock or the other sections of the
// notes. Domains, defaults, aliases and thresholds come from the CUE schema:
// schema_gen.go is generated from it, and what the constants there do not
// take is put to the schema itself.
//
//	t := signals.Read(notes.Parse(text), schema)
//	fmt.Println(t.Value(signals.Cynefin), t.Number())
package signals

import (
	"slices"
	"strings"

	"stig/cue"
)

//go:generate go test ../internal/testkit/gen -update

// Section is the name of the section that holds the table.
const Section = "stigmergic-signals"

// Signal is one row of the table, in canonical order.
type Signal int

const (
	SchemaVersion Signal = iota
	Cynefin
	Surprise
	Progress
	Escalation
	PlanningDepth
	Confidence
	EvidenceFreshness
	RegressionGuard
	count
)

// String is the name in the table, as in "planning-depth".
func (s Signal) String() string { return strings.ReplaceAll(s.Key(), "_", "-") }

// Key is the name in JSON, as in "planning_depth".
func (s Signal) Key() string { return keys[s] }

// Default is the value where the table has no row.
func (s Signal) Default() string { return defaults[s] }

// Domain lists the values of a signal that is a choice, in the order of the
// schema; nil for surprise and evidence-freshness.
func (s Signal) Domain() []string { return slices.Clone(domains[s]) }

// firstEvidence is the signal with which those of evidence begin, which are the last.
const firstEvidence = Confidence

// Evidence tells the evidence signals from the basic ones.
func (s Signal) Evidence() bool { return s >= firstEvidence }

// All lists the signals in canonical order.
func All() []Signal {
	all := make([]Signal, count)
	for i := range all {
		all[i] = Signal(i)
	}
	return all
}

// Named finds a signal by its name in the table or in JSON.
func Named(name string) (Signal, bool) {
	i := slices.Index(keys[:], strings.ReplaceAll(name, "-", "_"))
	return Signal(i), i >= 0
}

// inTable finds a signal by its name in the table only. It is asked for every
// row of every table of a store, and so it makes no text.
func inTable(name string) (Signal, bool) {
	i := slices.IndexFunc(keys[:], func(key string) bool { return named(key, name) })
	return Signal(i), i >= 0
}

// named reports whether a name in the table is that of a key.
func named(key, name string) bool {
	if len(name) != len(key) {
		return false
	}
	for i := range len(key) {
		c := key[i]
		if c == '_' {
			c = '-'
		}
		if name[i] != c {
			return false
		}
	}
	return true
}

// Schema decides about values. It is compiled on first use only.
type Schema = cue.Schema

// alias is a value that was found in tables and has one evident meaning.
type alias struct {
	signal   Signal
	from, to string
}

// Depth is the default planning depth of a cynefin domain; that of the
// default domain for anything else.
func Depth(cynefin string) string {
	if i := Complexity(cynefin); i >= 0 {
		return depths[i]
	}
	return Depth(Cynefin.Default())
}

// Complexity orders the cynefin domains from clear, which is 0, to chaotic. It
// is -1 for anything else.
func Complexity(cynefin string) int { return slices.Index(domains[Cynefin], cynefin) }

// Weaker compares two values of confidence: negative when a shows less than b.
// What regressed shows least of all.
func Weaker(a, b string) int {
	strength := func(confidence string) int {
		if confidence == ConfidenceRegressed {
			return -1
		}
		return slices.Index(domains[Confidence], confidence)
	}
	return strength(a) - strength(b)
}

// ThresholdConvergence is θ of a cynefin domain: a convergence point of that
// domain is an alert when the mean surprise of its closed blockers is above.
// Anything else has the θ of the default domain.
func ThresholdConvergence(cynefin string) float64 {
	if i := Complexity(cynefin); i >= 0 {
		return convergence[i]
	}
	return ThresholdConvergence(Cynefin.Default())
}
