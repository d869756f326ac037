package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeOf reads a point in time: a day, a time with its offset, or an age such
// as 24h, 7d, 2w, 1d12h. "" is the beginning of time.
func timeOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	age, err := spanOf(text)
	if err != nil {
		return time.Time{}, usage(fmt.Sprintf("must be a day, a time or an age; found %q", text), "type for example 2026-11-20, 2026-11-20T09:00:00Z, 24h or 7d")
	}
	return now.Add(-age), nil
}

// spanOf reads a span of time as time.ParseDuration does, with days (d) and
// weeks (w) before the rest.
func spanOf(text string) (time.Duration, error) {
	total, rest := time.Duration(0), text
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, ok := strings.Cut(rest, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("must be a span such as 90m, 24h, 7d or 2w; found %q", text)
		}
		total, rest = total+time.Duration(n*float64(unit.length)), after
	}
	if rest == "" && rest != text {
		return total, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, fmt.Errorf("must be a span such as 90m, 24h, 7d or 2w; found %q", text)
	}
	return total + more, nil
}
