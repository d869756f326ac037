package signals_test

import (
	"strings"
	"testing"

	"stig/notes"
	"stig/signals"
)

func TestFoldEstimates(t *testing.T) {
	merged := func(name, text string) string { return "<!-- " + name + " -->\n" + text + "\n<!-- /" + name + " -->" }
	const first, second = "merged-estimate 2026-11-19 0123abcd", "merged-estimate 0000-00-00 89abcdef"
	tests := []struct{ name, was, want string }{
		{"none", "text\n\n" + merged("merged-estimate 2026-11-19", "not one"), "text\n\n" + merged("merged-estimate 2026-11-19", "not one")},
		{"at the end", "text\n\n" + merged(first, "a") + "\n\n" + merged(second, "b"), "text"},
		{"between others", merged("x", "1") + "\n\n" + merged(first, "a") + "\n\n" + merged("y", "2") + "\n" + merged(second, "b") + "\n\nend\n",
			merged("x", "1") + "\n\n" + merged("y", "2") + "\nend\n"},
		{"alone", merged(first, "a"), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, taken, err := signals.FoldEstimates(notes.Parse(test.was))
			if err != nil || d.Text() != test.want {
				t.Fatalf("got %q, %v, want %q", d.Text(), err, test.want)
			}
			if want := strings.Count(test.was, "<!-- merged-estimate") - strings.Count(test.want, "<!-- merged-estimate"); len(taken) != want {
				t.Errorf("took %d away, want %d", len(taken), want)
			}
			var names []string
			for _, e := range taken {
				names = append(names, e.Name)
			}
			if err := (notes.Permit{Remove: names}).Check(test.was, d.Text()); err != nil {
				t.Error(err)
			}
			if len(names) > 0 && (notes.Permit{}).Check(test.was, d.Text()) == nil {
				t.Error("removed without being asked to")
			}
		})
	}
}
