package signals_test

import (
	"testing"

	"stig/notes"
	"stig/signals"
)

func TestLastEstimate(t *testing.T) {
	tests := []struct {
		name, body string
		want       signals.Estimate
	}{
		{"labels", "## State estimate (2026-11-01)\n\nWhat was done: one\n\nWhat was learned: two\nlines\n\nWhat remains: three\n\nDownstream impact: four",
			signals.Estimate{Date: "2026-11-01", Done: "one", Learned: "two\nlines", Remains: "three", Downstream: "four"}},
		{"bold labels", "## State estimate (2026-11-01)\n**What was done:** one\n**Downstream impact**: four",
			signals.Estimate{Date: "2026-11-01", Done: "one", Downstream: "four"}},
		{"more words in the heading", "## State estimate (2026-11-01, after review)\nbody", signals.Estimate{Date: "2026-11-01", Body: "body"}},
		{"no heading", "body", signals.Estimate{Body: "body"}},
		{"no date", "## State estimate\nbody", signals.Estimate{Body: "body"}},
		{"a label inside a sentence is none", "what remains is unclear: What was done: x", signals.Estimate{Body: "what remains is unclear: What was done: x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := notes.Parse("<!-- checkpoint-context -->\nearlier\n<!-- /checkpoint-context -->\n<!-- checkpoint-context -->\n" + test.body + "\n<!-- /checkpoint-context -->")
			got, ok := signals.LastEstimate(d)
			if !ok {
				t.Fatal("no estimate found")
			}
			if test.want.Body == "" {
				got.Body = ""
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
	if _, ok := signals.LastEstimate(notes.Parse("<!-- checkpoint-context-2026-05-01-final -->\nx\n<!-- /checkpoint-context-2026-05-01-final -->")); ok {
		t.Error("a section of another name was taken for an estimate")
	}
}

func TestSetEstimate(t *testing.T) {
	tests := []struct {
		name string
		e    signals.Estimate
		want string
	}{
		{"labels", signals.Estimate{Date: "2026-11-20", Done: "a", Downstream: "b"}, "## State estimate (2026-11-20)\n\nWhat was done: a\n\nDownstream impact: b"},
		{"one text", signals.Estimate{Date: "2026-11-20", Body: " text\n"}, "## State estimate (2026-11-20)\n\ntext"},
		{"a text with a heading of its own", signals.Estimate{Date: "2026-11-20", Body: "## State estimate (2020-01-01)\n\ntext"}, "## State estimate (2026-11-20)\n\ntext"},
		{"another heading stays", signals.Estimate{Date: "2026-11-20", Body: "## Findings\n\ntext"}, "## State estimate (2026-11-20)\n\n## Findings\n\ntext"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, err := signals.SetEstimate(notes.Parse(""), test.e)
			if err != nil {
				t.Fatal(err)
			}
			if want := "<!-- checkpoint-context -->\n" + test.want + "\n<!-- /checkpoint-context -->"; d.Text() != want {
				t.Errorf("got %q, want %q", d.Text(), want)
			}
			again, err := signals.SetEstimate(d, test.e)
			if err != nil || again.Text() != d.Text() {
				t.Errorf("the same estimate changed something: %q, %v", again.Text(), err)
			}
		})
	}
}
