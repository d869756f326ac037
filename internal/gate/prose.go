package gate

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// subcommands are words that make a well-known program before them a command
// rather than a word of the sentence.
const subcommands = " add analyze apply audit bench build cancel check ci clean clippy close compile config coverage create delete describe " +
	"dev diff disable doc doctor down e2e enable eval exec export fmt format generate get import info init install lint list " +
	"logs ls migrate nextest open plan prune ps remove reset restore rm run search serve set show spec start stats status stop " +
	"switch sync test tests typecheck type-check uninstall up update upgrade validate verify version vet view watch "

// stopWords end a command in prose.
const stopWords = " succeeds succeed passes pass works work runs completes exits returns reports shows prints fails " +
	"fail is are was and or then must should will without with to in on for from after before when " +
	"that which still green clean finishes produces outputs has does if return command commands output "

var argument = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:-{1,2}[A-Za-z][\w=./-]*|[\w@.-]*/[\w@./*:-]*|[\w-]+\.[A-Za-z]\w*)$`)
})

// namesProgram reports whether a text holds a word that begins a command in prose.
// It spares most texts another look at their structure.
func namesProgram(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || r == '`' || r == '<' || r == '>' }) {
		if ordinary, known := wellKnownIn(word); known && !ordinary {
			return true
		}
	}
	return false
}

// wellKnownIn looks up the program that a word of prose may be.
func wellKnownIn(word string) (ordinary, known bool) {
	ordinary, known = programs()[strings.TrimPrefix(opened(word), "./")]
	return ordinary, known
}

// opened is a word without the marks before it.
func opened(word string) string { return strings.TrimLeft(word, `"'(*`) }

// proseCommands finds what in a line of prose reads like commands: a
// well-known program, followed by a subcommand, a flag or a path, up to a word
// that goes on with the sentence.
func proseCommands(line string) []string {
	var found []string
	words := strings.Fields(line)
	for i := 0; i+1 < len(words); i++ {
		program := opened(words[i])
		next, _ := bare(words[i+1])
		if ordinary, known := wellKnownIn(words[i]); !known || ordinary || !argument().MatchString(next) && !listed(subcommands, next) {
			continue
		}
		command := []string{program}
		for i++; i < len(words); i++ {
			if last := closing(words, i); last > i {
				command = append(command, words[i:last+1]...)
				i = last
				continue
			}
			word, ends := bare(words[i])
			if listed(stopWords, strings.ToLower(word)) {
				break
			}
			if word != "" {
				command = append(command, word)
			}
			if ends {
				break
			}
		}
		found = append(found, strings.Join(command, " "))
	}
	return found
}

// quotation is how many words a quotation in a command of prose may have.
const quotation = 50

// closing is the word with the quote that ends what word i begins; i when it
// begins no quotation of several words.
func closing(words []string, i int) int {
	if !strings.HasPrefix(words[i], `"`) || strings.Count(words[i], `"`) != 1 {
		return i
	}
	for last := i + 1; last < min(len(words), i+quotation); last++ {
		if strings.HasSuffix(words[last], `"`) {
			return last
		}
	}
	return i
}

// bare is a word without the punctuation of the sentence, and whether that
// ends a command. The dots of ./... belong to the word.
func bare(word string) (string, bool) {
	trimmed := strings.TrimRight(word, `,;:!?)"'*`)
	if !strings.HasSuffix(trimmed, "/...") && trimmed != "." {
		trimmed = strings.TrimRight(trimmed, ".")
	}
	return trimmed, trimmed != word
}

// listed reports whether a word is in a list whose words have blanks around them.
func listed(list, word string) bool {
	return word != "" && strings.Contains(list, " "+word+" ")
}
