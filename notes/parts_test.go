package notes_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stig/notes"
)

// TestPartsNamed holds the short way, which mostly looks at no structure, to
// the long one.
func TestPartsNamed(t *testing.T) {
	pieces := []string{
		"\n", "\n", "\n", "\r\n", " ", "\t", "\v", "# ", "## ", "#", "===", "---", "- ", "* ", "> ", "`", "**", "_", "[", "](x)", "<b>", "</b>", "\\",
		"Acceptance", "acceptance", "ACCEPT", "ance", "Acc", "eptance criteria", "x", "word", "```", "|", "&#65;", "é",
	}
	random := rand.New(rand.NewPCG(3, 3))
	found := 0
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		want := slices.DeleteFunc(notes.Parts(text.String()), func(p notes.Part) bool {
			return !strings.HasPrefix(strings.ToLower(p.Heading), "acceptance")
		})
		got := notes.PartsNamed(text.String(), "acceptance")
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %+v, want %+v", text.String(), got, want)
		}
		found += len(got)
	}
	if found < 100 {
		t.Errorf("only %d parts found: that proves little", found)
	}
}
