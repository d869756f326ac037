package checkpoint

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseSpan parses a duration as time.ParseDuration does, and also accepts leading weeks (w)
// and days (d), where a day is 24 hours. It refuses negative durations and those over 292
// years, the limit of time.Duration.
func ParseSpan(text string) (time.Duration, error) {
	wrong := fmt.Errorf("must be a span such as 90m, 24h, 7d or 2w; found %q", text)
	total, rest := 0.0, text // nanoseconds
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, ok := strings.Cut(rest, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || !(n >= 0) {
			return 0, wrong
		}
		total, rest = total+n*float64(unit.length), after
	}
	more := time.Duration(0)
	if rest != "" || text == "" {
		var err error
		if more, err = time.ParseDuration(rest); err != nil || more < 0 {
			return 0, wrong
		}
	}
	if total+float64(more) >= math.MaxInt64 {
		return 0, fmt.Errorf("must be a span below 292 years; found %q", text)
	}
	return time.Duration(total) + more, nil
}

// ParseDay parses a field such as defer or due: a day, a time, or a duration from now. "" and
// none return the zero time, which removes the field.
func ParseDay(field, text string, now time.Time) (time.Time, error) {
	if text == "" || text == "none" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	span, err := ParseSpan(strings.TrimPrefix(text, "+"))
	if err != nil {
		return time.Time{}, usage(fmt.Sprintf("%s: must be a day, a time, a span from now on, or none; found %q", field, text),
			"for example 2026-12-01, 2026-12-01T09:00:00Z, 3d or none")
	}
	return now.UTC().Add(span).Truncate(time.Second), nil
}

// dayOf is ParseDay for an optional text; it returns nil for nil.
func dayOf(field string, text *string, now time.Time) (*time.Time, error) {
	if text == nil {
		return nil, nil
	}
	t, err := ParseDay(field, *text, now)
	return &t, err
}

// ParseEstimate parses an estimate in minutes: a whole number, or a duration. "" and none
// return 0, which removes the estimate.
func ParseEstimate(text string) (minutes int, err error) {
	if text == "" || text == "none" {
		return 0, nil
	}
	if minutes, err = strconv.Atoi(text); err == nil && minutes >= 0 {
		return minutes, nil
	}
	span, err := ParseSpan(text)
	if err != nil || span%time.Minute != 0 {
		return 0, usage(fmt.Sprintf("estimate: must be minutes, a span of whole minutes, or none; found %q", text), "for example 90, 90m or 1h30m")
	}
	return int(span / time.Minute), nil
}
