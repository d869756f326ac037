package gate

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestWordLists holds the expressions and the lists of words to each other: an
// expression that names no list would match anywhere.
func TestWordLists(t *testing.T) {
	source, err := os.ReadFile("wording.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`\{([a-z]+)\}`).FindAllSubmatch(source, -1) {
		named[string(name[1])] = true
	}
	delete(named, "name") // the comment that tells of it
	written := lists()
	if want, got := slices.Sorted(maps.Keys(written)), slices.Sorted(maps.Keys(named)); !slices.Equal(want, got) {
		t.Errorf("lists %s, named in expressions %s", want, got)
	}
	for name, words := range written {
		if len(slices.Compact(slices.Sorted(slices.Values(words)))) != len(words) {
			t.Errorf("%s: a word stands twice in %s", name, words)
		}
	}
	if got := anyOf([]string{"pass/es/ed", "no_longer", "verif*"}); got != `(?:pass|passes|passed|no longer|verif\w*)` {
		t.Errorf("anyOf: %s", got)
	}
}
