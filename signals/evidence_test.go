package signals_test

import (
	"testing"

	"stig/notes"
	"stig/signals"
)

func TestEvidence(t *testing.T) {
	section := func(body string) string {
		return "text\n\n<!-- evidence-context -->\n" + body + "\n<!-- /evidence-context -->"
	}
	for _, c := range []struct {
		name, text string
		want       signals.Evidence
		has        bool
	}{
		{"none", "text", signals.Evidence{}, false},
		{"as written", section("## Evidence (2026-11-20)\n\n`bin/check`: 12 pass"), signals.Evidence{Date: "2026-11-20", Text: "`bin/check`: 12 pass"}, true},
		{"another heading", section("# Seen on 2026-11-02 by hand\nIt floats."), signals.Evidence{Date: "2026-11-02", Text: "It floats."}, true},
		{"no heading", section("It floats."), signals.Evidence{Text: "It floats."}, true},
		{"the last one is live", section("## Evidence (2026-11-01)\n\nold") + "\n\n" + section("## Evidence (2026-11-02)\n\nnew"), signals.Evidence{Date: "2026-11-02", Text: "new"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := notes.Parse(c.text)
			got, has := signals.LastEvidence(doc)
			if got != c.want || has != c.has {
				t.Errorf("got %+v, %v; want %+v, %v", got, has, c.want, c.has)
			}
			set := signals.Evidence{Date: "2026-11-21", Text: "just run"}
			once, err := signals.SetEvidence(doc, set)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := signals.LastEvidence(once); got != set {
				t.Errorf("set %+v, got %+v", set, got)
			}
			if again, err := signals.SetEvidence(once, set); err != nil || again.Text() != once.Text() {
				t.Errorf("setting the same again: %v\n%s", err, again.Text())
			}
		})
	}
}
