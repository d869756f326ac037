package traces

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stig/cmd/stig/cli"
	"stig/internal/service/traces"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// eventLine formats an event as a line: when, what, which issue, who, and details.
func eventLine(e traces.Event) string {
	words := []string{e.At.UTC().Format(time.DateTime + "Z"), fmt.Sprintf("%-10s", e.Event)}
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
	return workspace.Visible(cli.CutLine(strings.Join(words, "  "), cli.ListWidth))
}

// whatOf returns the details of an event that its name does not tell.
func whatOf(e traces.Event) string {
	switch e.Event {
	case traces.EventLeft:
		return e.Type + " " + e.Trace + ": " + visible.OneLine(e.Summary)
	case traces.EventSignal:
		return e.Signal + ": " + e.Was + " → " + e.Now
	case traces.EventDependency:
		return e.Now + ": " + e.Type + " " + e.On
	case traces.EventEdited:
		return strings.Join(e.Fields, ", ")
	case traces.EventVanished:
		return strings.TrimSpace(e.Gone + " " + e.Signal)
	case traces.EventSwitched:
		var counts []string
		for _, name := range slices.Sorted(maps.Keys(e.Counts)) {
			counts = append(counts, fmt.Sprintf("%d %s", e.Counts[name], name))
		}
		return visible.Counted(e.Issues, "issue") + ": " + strings.Join(counts, ", ")
	}
	return visible.OneLine(e.Summary)
}
