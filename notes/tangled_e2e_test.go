//go:build e2e

package notes_test

import (
	"fmt"
	"testing"

	"stig/internal/testkit/sample"
	"stig/notes"
)

// walks are all ways in which a text is read.
func walks(text string) {
	notes.Parse("<!-- s -->\n" + text + "\n<!-- /s -->")
	notes.Blocks(text)
	notes.Leaves(text)
	notes.Parts(text)
	notes.Prose(text)
}

// TestHostileTextIsWalkedInLinearTime also ends if a walk nests too deep for a stack.
func TestHostileTextIsWalkedInLinearTime(t *testing.T) {
	for _, found := range sample.Superlinear(walks) {
		t.Error(found)
	}
}

func BenchmarkHostile(b *testing.B) {
	for size := 25 << 10; size <= 200<<10; size *= 2 {
		texts := sample.Hostile(size)
		b.Run(fmt.Sprintf("%dk", size>>10), func(b *testing.B) {
			for b.Loop() {
				for _, text := range texts {
					walks(text.Text)
				}
			}
		})
	}
}
