package orient

import (
	"strings"
	"testing"

	"stig/internal/beads"
)

// Characters special to the shell are within quotes that end correctly.
func TestCommandLine(t *testing.T) {
	for id, want := range map[string]string{"a-1.2": "a-1.2", "$(id)-1": "'$(id)-1'", "a;b": "'a;b'", "it's": `'it'\''s'`, "…": "…", "": "''"} {
		if got := commandLine([]string{"stig", "claim", id}); got != "stig claim "+want {
			t.Errorf("%s: %s", id, got)
		}
	}
}

// Edits that stig cannot make use bd, and edits that bd cannot make are not proposed.
func TestTyped(t *testing.T) {
	steps := func() (list []Step) {
		for _, line := range []string{"stig claim a-1", "stig checkpoint a-1 --fold", "stig checkpoint a-1 --done …", "stig close a-1 --reason …", "stig orient"} {
			list = append(list, Step{Argv: strings.Fields(line)})
		}
		return list
	}
	for mode, want := range map[beads.Mode]string{
		beads.Plain:  "stig claim a-1, stig checkpoint a-1 --fold, stig checkpoint a-1 --done …, stig close a-1 --reason …, stig orient",
		beads.Export: "bd update a-1 --claim, bd update a-1 --append-notes …, stig verify a-1, stig orient",
	} {
		var got []string
		for _, step := range typed(beads.Place{Mode: mode}, steps()) {
			got = append(got, strings.Join(step.Argv, " "))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("mode %d: %s", mode, text)
		}
	}
}
