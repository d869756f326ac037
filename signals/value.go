package signals

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/cue"
)

// absent is how a table writes a missing evidence-freshness.
const absent = "absent"

// NoDate is how a table writes a missing date.
const NoDate = "—"

// isNoDate accepts the forms of a missing date. The last one is the dash of NoDate, encoded
// twice.
func isNoDate(text string) bool {
	switch text {
	case "", NoDate, "–", "-", "--", "â€\u201d":
		return true
	}
	return false
}

// Day is the day of a time as stig writes it: in UTC, so that of two writers in different zones
// the later never writes the earlier day.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// IsDate reports whether a text is a day, YYYY-MM-DD.
func IsDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// isDecimal reports whether text is a JSON number without an exponent. Everything else is a
// string in JSON, which no number in the schema accepts.
func isDecimal(text string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	return isDigits(whole) && (len(whole) == 1 || whole[0] != '0') && (!point || isDigits(fraction))
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// maxExact is the length up to which float64 distinguishes a decimal from the limits of its
// range.
const maxExact = 15

// accepts is the fast path: values that it accepts are valid by the embedded schema. The schema
// decides about the others.
func accepts(s Signal, text string) bool {
	switch s {
	case Surprise:
		number, err := strconv.ParseFloat(text, 64)
		return isDecimal(text) && len(text) <= maxExact && err == nil && surpriseLow <= number && number <= surpriseHigh
	case EvidenceFreshness:
		return text == absent || isNoDate(text) || IsDate(text)
	default:
		return slices.Contains(domains[s], text)
	}
}

// canonical is the form in which stig writes and compares a value. Invalid values stay as they
// are.
func canonical(s Signal, text string) string {
	switch {
	case s == Surprise && isDecimal(text):
		whole, fraction, _ := strings.Cut(text, ".")
		fraction = strings.TrimRight(fraction, "0")
		if whole == "-0" && fraction == "" {
			whole = "0"
		}
		return whole + "." + cmp.Or(fraction, "0")
	case s == EvidenceFreshness && isNoDate(text):
		return absent
	}
	return text
}

// Canonical returns a typed value in the form that tables have and Table.Value returns. A value
// that the schema rejects is an *InvalidError; a nil schema is the embedded one.
func Canonical(s Signal, text string, schema *Schema) (string, error) {
	text, err := typed(s, text)
	if err != nil {
		return "", err
	}
	t := &Table{present: true}
	t.cells[s] = cell{found: true, raw: text}
	t.judge(schema)
	if len(t.findings) > 0 {
		return "", &InvalidError{t.findings}
	}
	return t.values[s], nil
}

// typed returns a typed value in canonical form, which may be invalid.
func typed(s Signal, text string) (string, error) {
	if strings.ContainsAny(text, "\r\n") {
		return "", fmt.Errorf("%s: must be one line; found %q", s, text)
	}
	text = strings.TrimSpace(text)
	if s == Surprise && strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	return canonical(s, text), nil
}

// kind is the JSON type of a value.
func kind(s Signal, text string) cue.Kind {
	switch {
	case (s == Surprise || s == SchemaVersion) && isDecimal(text):
		return cue.Number
	case s == EvidenceFreshness && (text == absent || isNoDate(text)):
		return cue.Null
	}
	return cue.String
}
