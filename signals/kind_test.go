package signals

import (
	"slices"
	"testing"
)

func TestKindOf(t *testing.T) {
	merged := MergedEstimateName("2026-11-18", "What was learned: oak swells")
	for name, want := range map[string]string{
		Section:                                  Section,
		EstimateSection:                          EstimateSection,
		merged:                                   MergedSection,
		PropagatedSection + " pier-1 2026-11-18": PropagatedSection,
		MergedSection + " by hand":               "",
		PropagatedSection:                        "",
		EstimateSection + "-final":               "",
		"audit-findings":                         "",
	} {
		if kind := KindOf(name); kind.Name != want {
			t.Errorf("KindOf(%q) is %q, want %q", name, kind.Name, want)
		}
	}
	for _, k := range kinds {
		if got := slices.Contains(United(), k.Name); got != (k.Union != ByPerson) || got && k.Many {
			t.Errorf("%s: united: %v", k.Name, got)
		}
		if (k.Union == Newer) != (k.Date != nil) {
			t.Errorf("%s: a date is for sections of which the newer stays live", k.Name)
		}
	}
}
