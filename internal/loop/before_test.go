//go:build unix

package loop_test

import (
	"strings"
	"testing"

	"stig/internal/clone"
)

// In place, the work of one issue stays for the next, so checks run before the work each time:
// if two issues have the same check, it shows nothing for the second.
func TestHeldInPlace(t *testing.T) {
	for name, git := range map[string]bool{"without git": false, "with git": true} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t, "pier-1", "pier-2")
			y.replace(t, "test -f pier-2", "test -f pier-1")
			if git {
				y.inGit(t)
			}
			if _, err := y.work(t, "touch pier-1 stray-$STIG_ISSUE", nil); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range y.runs(t) {
				got = append(got, r.Issue+" "+r.Outcome)
			}
			if want := "pier-1 " + string(clone.OutcomeClosed) + ", pier-2 " + string(clone.OutcomeUnproven); strings.Join(got, ", ") != want {
				t.Errorf("got %v, want %s", got, want)
			}
			if !strings.Contains(y.text(t), "1/1 (1 turned) [test -f pier-1 ") {
				t.Error(y.text(t))
			}
		})
	}
}
