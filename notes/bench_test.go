package notes_test

import (
	"strings"
	"testing"

	"stig/notes"
)

// note is about 3 kB: a table, a checkpoint, an escalation.
func note() string {
	return "<!-- signals -->\n| Signal | Value | Updated |\n|---|---|---|\n" +
		strings.Repeat("| water-level | rising | 2026-11-20 |\n", 9) + "<!-- /signals -->\n\n<!-- state -->\n## State (2026-11-20)\n\n" +
		strings.Repeat("What was done: the `gauge` was read twice, and **both** readings agree with the log.\n\n", 18) +
		"<!-- /state -->\n\n<!-- question -->\n## Pending\n" +
		strings.Repeat("- open the sluice, or wait for the tide to turn?\n", 16) + "<!-- /question -->"
}

func BenchmarkParse(b *testing.B) {
	text := note()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		notes.Parse(text)
	}
}

func BenchmarkReplace(b *testing.B) {
	d := notes.Parse(note())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Replace("state", "All is well."); err != nil {
			b.Fatal(err)
		}
	}
}
