package recall

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/visible"
)

// partsOf are the words of a text as Words has them, and of those in which a capital
// stands behind a small letter, such as names in source code, the parts too.
func partsOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range written(text) {
			for _, part := range parts(word) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// parts are a word and its parts, in lower case.
func parts(word string) (list []string) {
	from := 0
	for i := 1; i < len(word); i++ {
		if 'A' <= word[i] && word[i] <= 'Z' && 'a' <= word[i-1] && word[i-1] <= 'z' {
			list = append(list, strings.ToLower(word[from:i]))
			from = i
		}
	}
	if from > 0 {
		list = append(list, strings.ToLower(word[from:]))
	}
	return append(list, strings.ToLower(word))
}

// written are the words of a text as they stand in it.
func written(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range text {
			inWord := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
				r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
			alone := inWord && visible.Unspaced(r)
			if start >= 0 && (!inWord || alone) {
				if !yield(text[start:i]) {
					return
				}
				start = -1
			}
			switch {
			case alone:
				if !yield(string(r)) {
					return
				}
			case inWord && start < 0:
				start = i
			}
		}
		if start >= 0 {
			yield(text[start:])
		}
	}
}

// stem is a word of English without the ending that its number or its time gives it,
// so that "tests", "tested" and "testing" are one. Of other words it may take an ending
// too, of each of them always the same.
func stem(word string) string {
	for _, e := range []struct {
		ending, by string
		least      int // bytes before it
	}{{"ies", "y", 2}, {"sses", "ss", 2}, {"ss", "ss", 0}, {"us", "us", 0}, {"is", "is", 0}, {"s", "", 3}} {
		if rest, ok := strings.CutSuffix(word, e.ending); ok && len(rest) >= e.least {
			word = rest + e.by
			break
		}
	}
	for _, ending := range []string{"ing", "ed"} {
		rest, ok := strings.CutSuffix(word, ending)
		if !ok || len(rest) < 3 || !strings.ContainsAny(rest, "aeiouy") {
			continue
		}
		if n := len(rest); rest[n-1] == rest[n-2] && !strings.Contains("lsz", rest[n-1:]) {
			rest = rest[:n-1] // planned, plan
		}
		word = rest
		break
	}
	if rest, ok := strings.CutSuffix(word, "e"); ok && len(rest) >= 3 {
		return rest // closed, close
	}
	return word
}

// little reports whether a word says nothing of what a text is about.
func little(word string) bool {
	const words = " a an and any are as at be because been before but by can do does for from get give had has have how i if in into is it its itself me my no not of on once only or our should so such than that the their them then there these this to up us use used very was we were what when where which while who why will with without would you your "
	return strings.Contains(words, " "+word+" ")
}
