package gate

import (
	_ "embed"
	"strings"
	"sync"
)

// wordLists are lists of words and phrases; the file says itself what each is for.
//
//go:embed words.txt
var wordLists string

// wordTable tells for each list which words are in it. Phrases have blanks in them.
var wordTable = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	name := ""
	for line := range strings.Lines(wordLists) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if list, begins := strings.CutSuffix(word, ":"); begins {
				name = list
				all[name] = map[string]bool{}
				continue
			}
			all[name][strings.ReplaceAll(word, "_", " ")] = true
		}
	}
	return all
})

// listed reports whether a word is in a list.
func listed(list, word string) bool { return wordTable()[list][word] }
