package checkpoint

import (
	"errors"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/testkit/memory"
	"stig/notes"
	"stig/signals"
)

// A write that loses a section is rejected by the store, whatever caused it, and nothing of its
// edit is written.
func TestSectionsCannotBeLost(t *testing.T) {
	text := strings.Join([]string{
		"<!-- stigmergic-signals -->", "| Signal | Value | Updated |", "|---|---|---|", "| surprise | 0.0 | — |", "<!-- /stigmergic-signals -->", "",
		"<!-- checkpoint-context -->", "What remains: the pier", "<!-- /checkpoint-context -->", "",
		"<!-- escalation-context -->", "## Pending (2026-01-01)", "which stone", "<!-- /escalation-context -->", "",
		"<!-- audit-findings -->", "none", "<!-- /audit-findings -->", "end"}, `\n`)
	store := `{"id":"pier-1","title":"t","notes":"` + text + `"}` + "\n" + `{"id":"pier-2","title":"t","notes":"` + text + `"}` + "\n"
	everything := Update{Estimate: signals.Estimate{Done: "all"}, Question: Question{Text: "what now"}}
	for _, u := range []Update{{}, everything} {
		for _, name := range []string{signals.Section, signals.EstimateSection, signals.EscalationSection, "audit-findings"} {
			s := memory.New(store)
			o := beads.Options{Now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Notes: u.permit().Check}
			_, err := s.Edit(t.Context(), o, func(tx *beads.Tx) error {
				r, err := tx.Record("pier-2")
				if err != nil {
					return err
				}
				d := notes.Parse(r.Text(beads.Notes))
				lost := d.Named(name)[0]
				gone := d.Text()[:lost.Start] + d.Text()[lost.End+1:]
				return errors.Join(
					tx.Set("pier-1", beads.Set{Key: beads.Status, Text: "open"}),
					tx.Set("pier-2", beads.Set{Key: beads.Notes, Text: gone}))
			})
			refused, ok := fault.As(err, fault.Refused)
			if !ok || refused.Line != 2 || !strings.Contains(err.Error(), `pier-2: notes:`) || !strings.Contains(err.Error(), `would lose section "`+name+`"`) {
				t.Errorf("%s: %v", name, err)
			}
			if s.Text() != store {
				t.Errorf("%s: the store is now %q", name, s.Text())
			}
		}
	}
}
