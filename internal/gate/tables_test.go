package gate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The code must refer to exactly the lists in words.txt: an unknown list has no words, and an
// unused one has no effect.
func TestWordLists(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source += string(text)
		}
	}
	named := map[string]bool{}
	for _, before := range []string{`listed("`, `p.is("`, `above.is("`, `, "`, `{"`, `["`} {
		for rest := source; ; {
			_, after, found := strings.Cut(rest, before)
			if !found {
				break
			}
			name, _, _ := strings.Cut(after, `"`)
			named[name], rest = true, after
			if _, known := wordTable()[name]; !known && before == `listed("` {
				t.Errorf("no list %s", name)
			}
		}
	}
	for _, list := range slices.Sorted(maps.Keys(wordTable())) {
		if !named[list] {
			t.Errorf("nobody names the list %s", list)
		}
	}
	if len(programs()) < 250 || !slices.IsSorted(strings.Fields(strings.ReplaceAll(programList, " ?", ""))) {
		t.Error("the table of programs is not sorted, or lacks some")
	}
}
