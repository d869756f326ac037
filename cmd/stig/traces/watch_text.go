package traces

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/visible"
	"stig/watch"
)

// eventLine is an event as a line: when, what, which issue, who, and what of it.
func eventLine(e watch.Event) string {
	words := []string{e.At.UTC().Format(time.DateTime), fmt.Sprintf("%-10s", e.Event)}
	if e.ID != "" {
		words = append(words, e.ID)
	}
	if e.By != "" {
		words = append(words, "by "+visible.OneLine(e.By))
	}
	if what := whatOf(e); what != "" {
		words = append(words, what)
	} else if e.Title != "" {
		words = append(words, visible.OneLine(e.Title))
	}
	return app.Visible(cli.CutLine(strings.Join(words, "  "), cli.ListWidth))
}

// whatOf says what of an event its name does not.
func whatOf(e watch.Event) string {
	switch e.Event {
	case watch.Left:
		return e.Type + " " + e.Trace + ": " + visible.OneLine(e.Summary)
	case watch.Signal:
		return e.Signal + ": " + e.Was + " → " + e.Now
	case watch.Dependency:
		return e.Now + ": " + e.Type + " " + e.On
	case watch.Edited:
		return strings.Join(e.Fields, ", ")
	case watch.Vanished:
		return strings.TrimSpace(e.Gone + " " + e.Signal)
	case watch.Switched:
		var counts []string
		for _, name := range slices.Sorted(maps.Keys(e.Counts)) {
			counts = append(counts, fmt.Sprintf("%d %s", e.Counts[name], name))
		}
		return app.Counted(e.Issues, "issue") + ": " + strings.Join(counts, ", ")
	}
	return visible.OneLine(e.Summary)
}
