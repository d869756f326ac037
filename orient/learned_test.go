package orient_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"stig/orient"
)

// What a reader learned is shown after the texts and before the next steps, at every
// depth; a budget drops it first.
func TestLearned(t *testing.T) {
	file := open(t, filepath.Join("testdata", "briefings", "orchard.jsonl"))
	learned := "Look at the gate first.\n\n" + strings.Repeat("It fails where the weir is shut.\n", 40)
	for _, id := range []string{"orchard-1", "orchard-4", "orchard-9", "orchard-11"} {
		without := brief(t, file, id, orient.Request{}).Markdown()
		with := brief(t, file, id, orient.Request{Learned: learned})
		text, size := with.Markdown(), utf8.RuneCountInString(with.Markdown())
		at, next := strings.Index(text, "\n## What you learned from earlier work\n\n> Look at the gate first.\n"), strings.Index(text, "\n## Next\n")
		if at < 0 || at > next || strings.Contains(text[at+4:next], "\n## ") {
			t.Errorf("%s: at %d, Next at %d:\n%s", id, at, next, text)
		}
		some := brief(t, file, id, orient.Request{Learned: learned, Budget: size - 300})
		if !named(some.Omitted, "learned") || len(some.Omitted) != len(with.Omitted)+1 || !strings.Contains(some.Markdown(), "> Look at the gate first.") {
			t.Errorf("%s: 300 characters less: %v", id, some.Omitted)
		}
		all := brief(t, file, id, orient.Request{Learned: learned, Budget: utf8.RuneCountInString(without) + 100})
		if len(all.Omitted) != len(with.Omitted)+1 || strings.Contains(all.Markdown(), "## What you learned") {
			t.Errorf("%s: without room for it: %v", id, all.Omitted)
		}
	}
}
