package bd

import "testing"

// What bd or another worker writes next to an edit, before stig verifies it, is not a loss;
// overwriting it is.
func TestNotesHold(t *testing.T) {
	const (
		section  = "<!-- checkpoint-context -->\nDone: A\n<!-- /checkpoint-context -->"
		later    = "<!-- checkpoint-context -->\nDone: B\n<!-- /checkpoint-context -->"
		rows     = "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | 0.1 | 2026-11-01 |\n| cynefin | clear | 2026-11-01 |\n<!-- /stigmergic-signals -->"
		surprise = "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | 0.4 | 2026-11-02 |\n| cynefin | clear | 2026-11-01 |\n<!-- /stigmergic-signals -->"
		both     = "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | 0.4 | 2026-11-02 |\n| cynefin | complex | 2026-11-02 |\n<!-- /stigmergic-signals -->"
	)
	for _, c := range []struct {
		name, before, after, now string
		want                     bool
	}{
		{"the same", "", section, section, true},
		{"bd appended", "text", "text\n\n" + section, "text\n\n" + section + "\nappended by bd", true},
		{"bd appended before", "text", "text\n\n" + section, "text\nappended by bd\n\n" + section, true},
		{"gone", "text", "text\n\n" + section, "text\nappended by bd", false},
		{"written over", section, later, section, false},
		{"another section", section, later, later + "\n\n" + rows, true},
		{"another row", rows, surprise, both, true},
		{"the row as before", rows, surprise, rows, false},
		{"removed", "text\n\n" + section, "text", "text\nmore", true},
		{"back again", "text\n\n" + section, "text", "text\n\n" + section, false},
		{"all gone", section, later, "", false},
		{"the line stands elsewhere", "", section, "Done: A", false},
	} {
		if got := notesHold(c.before, c.after, c.now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
