// Package signals defines the types, defaults and rules of an issue's signal table: it reads
// the table from the notes, reports what is wrong and where, and writes changes, touching only
// the cells that change. It also decides when the numbers of several issues amount to an alert.
//
// It knows neither issues, files and the clock nor the other sections of the notes. Domains,
// defaults, aliases and thresholds come from the CUE schema: schema_gen.go is generated from
// it, and the schema itself judges what the constants there do not accept.
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

// Section is the name of the section with the table.
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

// String returns the name in the table, as in "planning-depth".
func (s Signal) String() string { return strings.ReplaceAll(s.Key(), "_", "-") }

// Key returns the name in JSON, as in "planning_depth".
func (s Signal) Key() string { return keys[s] }

// Default is the value if the table has no row.
func (s Signal) Default() string { return defaults[s] }

// Domain lists the values of an enumerated signal, in schema order; nil for surprise and
// evidence-freshness.
func (s Signal) Domain() []string { return slices.Clone(domains[s]) }

// firstEvidence is the first evidence signal; these are the last ones.
const firstEvidence = Confidence

// Evidence reports whether a signal is an evidence signal rather than a basic one.
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

// inTable finds a signal by its name in the table only. It is called for every row of every
// table of a store, so it allocates no string.
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

// Schema judges values. It is compiled on first use only.
type Schema = cue.Schema

// alias is a value found in tables with one evident meaning.
type alias struct {
	signal   Signal
	from, to string
}

// Depth is the default planning depth of a Cynefin domain; for anything else that of the
// default domain.
func Depth(cynefin string) string {
	if i := Complexity(cynefin); i >= 0 {
		return depths[i]
	}
	return Depth(Cynefin.Default())
}

// Complexity orders the Cynefin domains from clear, 0, to chaotic; -1 for anything else.
func Complexity(cynefin string) int { return slices.Index(domains[Cynefin], cynefin) }

// Weaker compares two values of confidence: negative if a shows less than b. A regression shows
// least.
func Weaker(a, b string) int {
	strength := func(confidence string) int {
		if confidence == ConfidenceRegressed {
			return -1
		}
		return slices.Index(domains[Confidence], confidence)
	}
	return strength(a) - strength(b)
}

// ThresholdConvergence is θ of a Cynefin domain: a convergence point of that domain raises an
// alert if the mean surprise of its closed blockers is above it. Anything else has the θ of the
// default domain.
func ThresholdConvergence(cynefin string) float64 {
	if i := Complexity(cynefin); i >= 0 {
		return convergence[i]
	}
	return ThresholdConvergence(Cynefin.Default())
}
