package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/notes"
)

// token is a word, a mark or a piece of code in a leaf.
type token struct {
	kind kind
	text string // a word in lower case, a quotation as it is
	code int    // for code, its index among the leaf's pieces
}

// kind is the kind of a token.
type kind byte

const (
	word      kind = 'w'
	number    kind = '0'
	quotation kind = '"'
	code      kind = '`'
	stop      kind = '.' // the end of a sentence: . ; ! ?
	item      kind = '*' // another item begins, as a line with a bullet does
	cell      kind = '|' // another cell of a row begins
	comma     kind = ','
	colon     kind = ':'
	open      kind = '('
	closing   kind = ')'
	arrow     kind = '>'
	dash      kind = '-'
	struck    kind = '~' // ~~ begins or ends what is struck out
)

// marks are the tokens that are not words.
var marks = map[string]kind{
	".": stop, ";": stop, "·": stop, "•": stop, "!": stop, "?": stop, "|": cell, ",": comma, ":": colon, "(": open, ")": closing, "[": open, "]": closing,
	"→": arrow, "->": arrow, "=>": arrow, "⇒": arrow, "➜": arrow, "⟶": arrow, "—": dash, "–": dash, "-": dash, "--": dash, "~~": struck,
}

// tokens reads the words and marks of a leaf. Marks of emphasis are none.
func tokens(leaf notes.Leaf) (found []token) {
	for i, piece := range leaf.Pieces {
		if piece.Code {
			found = append(found, token{code, piece.Text, i})
			continue
		}
		for line := range strings.Lines(piece.Text) {
			rest := strings.TrimLeft(line, " \t")
			if size := opener(rest); size >= 0 && (i == 0 || strings.HasPrefix(piece.Text, "\n") || len(found) == 0 || found[len(found)-1].kind != code) {
				found = append(found, token{kind: item})
				rest = rest[size:]
			}
			found = append(found, lineTokens(rest)...)
		}
	}
	return found
}

// opener is the size of what begins an item within a paragraph: a bullet, a box, a number, or
// for a step of a scenario 0 with its word left; -1 for none of them.
func opener(line string) int {
	for _, mark := range []string{"[ ] ", "[x] ", "[X] ", "• ", "· ", "* ", "✅ ", "✓ ", "☐ ", "☑ ", "❌ "} {
		if strings.HasPrefix(line, mark) {
			return len(mark)
		}
	}
	first, rest, _ := strings.Cut(line, " ")
	if first == "Given" || first == "When" || first == "Then" || first == "And" {
		return 0
	}
	label := strings.Trim(first, "()*_:.")
	if digits := strings.TrimLeft(strings.TrimLeft(label, "ACFRacfr"), "-"); label != first && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return len(line) - len(rest)
	}
	return -1
}

func lineTokens(line string) (found []token) {
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case unicode.IsSpace(r), r == '*', r == '_':
			line = line[size:]
			continue
		case r == '"' || r == '“' || r == '\'':
			if inside, rest, ok := quoted(line, r); ok {
				found, line = append(found, token{quotation, inside, 0}), rest
			} else {
				line = line[size:]
			}
			continue
		case strings.ContainsRune("()[],;|", r):
			found, line = append(found, token{marks[string(r)], string(r), 0}), line[size:]
			continue
		}
		end := strings.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[];|\"“”", r) })
		if end < 0 {
			end = len(line)
		}
		if i := strings.IndexByte(line[:end], ','); i > 0 && (i+1 >= end || line[i+1] < '0' || line[i+1] > '9') {
			end = i
		}
		found, line = append(found, wordTokens(line[:end])...), line[max(end, size):]
	}
	return found
}

// wordTokens are a word, and the marks behind it.
func wordTokens(text string) (found []token) {
	for rest, struckOut := strings.CutPrefix(text, "~~"); struckOut; rest, struckOut = strings.CutPrefix(text, "~~") {
		found, text = append(found, token{kind: struck}), rest
	}
	if k, isMark := marks[text]; isMark {
		return append(found, token{k, text, 0})
	}
	bare := strings.TrimRight(text, ".:!?*_~'’")
	behind := text[len(bare):]
	plain := strings.ToLower(strings.ReplaceAll(strings.Trim(bare, "*_"), "’", "'"))
	if plain != "" {
		k := word
		if strings.Trim(plain, "0123456789.,%") == "" {
			k = number
		}
		found = append(found, token{k, plain, 0})
	}
	if listed("shortened", plain) {
		behind = strings.TrimPrefix(behind, ".")
	}
	if strings.Contains(behind, "~~") {
		found = append(found, token{kind: struck})
	}
	if mark := strings.Trim(behind, "*_~'’"); mark != "" {
		found = append(found, token{marks[mark[:1]], mark, 0})
	}
	return found
}

// quoted is what stands in the quotes with which a line begins.
func quoted(line string, quote rune) (inside, rest string, ok bool) {
	const longest = 200
	ends := map[rune]string{'"': `"`, '“': "”", '\'': "'"}[quote]
	begin := utf8.RuneLen(quote)
	at := strings.Index(line[begin:min(len(line), begin+longest)], ends)
	if at <= 0 {
		return "", "", false
	}
	inside, rest = line[begin:begin+at], line[begin+at+len(ends):]
	if next, _ := utf8.DecodeRuneInString(rest); quote == '\'' && unicode.IsLetter(next) {
		return "", "", false // an apostrophe
	}
	return inside, rest, true
}
