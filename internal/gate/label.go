package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/notes"
)

// reach is how far into its line a label may begin, in bytes.
const reach = 600

// labelled finds the criteria in a text.
func labelled(text string) []notes.Span {
	if !mayBeLabelled(text) {
		return nil
	}
	return inBlocks(text, notes.Blocks(text))
}

// mayBeLabelled reports whether a text contains a phrase that begins criteria: most contain
// none, and need no parsing.
func mayBeLabelled(text string) bool {
	for i := 0; i < len(text); i++ {
		if !isLetter(text[i]) {
			continue
		}
		if labelSize(text[i:]) > 0 {
			return true
		}
		for i+1 < len(text) && isLetter(text[i+1]) {
			i++
		}
	}
	return false
}

// labelSize is the size of the label at the start of a text, from the list criteria or "AC"
// with a number; 0 for none.
func labelSize(text string) (size int) {
	const longest = 4 // words
	if !strings.ContainsRune("acdehst v", rune(text[0]|0x20)) {
		return 0
	}
	phrase := make([]byte, 0, 32)
	for i, n := 0, 0; n < longest && len(phrase) < cap(phrase); n++ {
		for ; i < len(text) && isLetter(text[i]) && len(phrase) < cap(phrase); i++ {
			phrase = append(phrase, text[i]|0x20)
		}
		if i < len(text) && isLetter(text[i]) {
			break
		}
		if wordTable()["criteria"][string(phrase)] {
			size = i
		}
		if i >= len(text) || text[i] != ' ' && text[i] != '-' {
			break
		}
		phrase = append(phrase, ' ')
		i++
	}
	if strings.EqualFold(text[:size], "ac") {
		number := strings.TrimLeft(text[size:], "- ")
		rest := strings.TrimLeft(number, "0123456789.")
		if rest != number {
			size = len(text) - len(rest)
		}
	} else if size == 0 && strings.EqualFold(text[:min(2, len(text))], "ac") && len(text) > 2 && '0' <= text[2] && text[2] <= '9' {
		size = len(text) - len(strings.TrimLeft(text[2:], "0123456789."))
	}
	if next, _ := utf8.DecodeRuneInString(text[size:]); unicode.IsLetter(next) || next == '_' {
		return 0
	}
	return size
}

// inBlocks finds the criteria in consecutive blocks.
func inBlocks(text string, blocks []notes.Block) (found []notes.Span) {
	for i := 0; i < len(blocks); i++ {
		block := blocks[i]
		start, next := -1, i+1
		switch block.Kind {
		case notes.HeadingBlock:
			start, next = underHeading(text, blocks, i)
		case notes.ParagraphBlock:
			start, next = behindLabel(text, blocks, i)
		case notes.ListBlock:
			for _, item := range block.Blocks {
				found = append(found, inBlocks(text, item.Blocks)...)
			}
		}
		if start < 0 {
			continue
		}
		end := blocks[next-1].End
		if next == i+1 && block.Kind == notes.ParagraphBlock {
			end = start + ownText(text[start:end])
		}
		if own := strings.TrimRight(text[start:end], " \t\r\n"); strings.TrimSpace(own) != "" {
			blank := len(own) - len(strings.TrimLeft(own, " \t\r\n"))
			end = start + len(own)
			start += 1 + strings.LastIndexByte(own[:blank], '\n')
			found = append(found, notes.Span{Start: start, End: end})
		}
		i = next - 1
	}
	return found
}

// underHeading returns where the criteria under the heading at i begin, -1 if it is another
// heading, and the first block after them.
func underHeading(text string, blocks []notes.Block, i int) (start, next int) {
	heading := blocks[i]
	line, _, _ := strings.Cut(text[heading.Start:heading.End], "\n")
	title := strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsLetter(r) })
	title = unscoped(title)
	size := 0
	if title != "" {
		size = labelSize(title)
	}
	name, own, colon := strings.Cut(title, ":")
	rest := strings.TrimLeft(name[min(size, len(name)):], "*_# \t\r")
	if size == 0 || rest != "" && rest[0] != '(' && !strings.HasPrefix(strings.ToLower(title), "acceptance ") {
		return -1, i + 1
	}
	for next = i + 1; next < len(blocks); next++ {
		if b := blocks[next]; b.Kind == notes.HeadingBlock && b.Level <= heading.Level {
			break
		}
	}
	switch own = strings.TrimLeft(own, "*_ \t\r"); {
	case colon && own != "":
		return heading.Start + len(line) - len(own), next
	case next > i+1:
		return blocks[i+1].Start, next
	}
	return heading.End, next
}

// unscoped removes the words that name a part of the work.
func unscoped(text string) string {
	for range 3 {
		first, rest, _ := strings.Cut(text, " ")
		scope := strings.ToLower(strings.Trim(first, "*_"))
		digits := strings.Trim(strings.TrimLeft(scope, "lv"), "0123456789.") == "" && strings.ContainsAny(scope, "0123456789")
		if rest == "" || !digits && !listed("scope", scope) {
			break
		}
		text = strings.TrimLeft(rest, " *_")
	}
	return text
}

// behindLabel returns where the criteria after the first label in the paragraph at i begin, -1
// if it has none, and the first block after them.
func behindLabel(text string, blocks []notes.Block, i int) (start, next int) {
	paragraph := blocks[i]
	at, ok := labelIn(text[paragraph.Start:paragraph.End])
	if !ok {
		return -1, i + 1
	}
	start = paragraph.Start + at
	own := text[start:paragraph.End]
	if ownText(own) < len(own) {
		return start, i + 1
	}
	bare := strings.TrimSpace(own) == ""
	for next = i + 1; next < len(blocks); next++ {
		if !belongs(text, blocks[next-1], blocks[next], bare, next == i+1) {
			break
		}
	}
	if bare && next > i+1 {
		start = blocks[i+1].Start
	}
	return start, next
}

// ownText is how much of a text precedes a line that begins something else. The first line
// never does.
func ownText(text string) int {
	at := 0
	for line := range strings.Lines(text) {
		if at > 0 && isOther(line) {
			return at - 1
		}
		at += len(line)
	}
	return len(text)
}

// isOther reports whether a line begins something else: with bold words, or words in capitals
// and a colon.
func isOther(line string) bool {
	line = strings.TrimLeft(line, " \t")
	for _, mark := range []string{"**", "__"} {
		if rest, bold := strings.CutPrefix(line, mark); bold && strings.Index(rest, mark) > 0 {
			return true
		}
	}
	name, _, colon := strings.Cut(line, ":")
	return colon && len(name) > 2 && 'A' <= name[0] && name[0] <= 'Z' && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ /&-") == ""
}

// belongs reports whether a block continues the criteria that end with the previous one. bare
// means that the label is alone on its line, first that nothing else is between it and the
// block.
func belongs(text string, before, block notes.Block, bare, first bool) bool {
	leads := strings.Count(text[before.End:block.Start], "\n") < 2 || strings.HasSuffix(text[:before.End], ":")
	own := text[block.Start:block.End]
	switch block.Kind {
	case notes.ListBlock:
		return bare || leads || before.Kind != notes.ParagraphBlock
	case notes.CodeBlock:
		return bare || leads || before.Kind != notes.ParagraphBlock || strings.HasPrefix(strings.TrimLeft(own, " `~"), "verify")
	case notes.ParagraphBlock:
		_, another := labelIn(own)
		return bare && first && !another && !strings.HasSuffix(own, ":") && ownText("\n"+own) == len(own)+1
	}
	return false
}

// labelIn gives where the text behind the first label of a paragraph begins. A label stands
// at the beginning of its line, an item or a sentence, or in bold or capitals, and criteria
// follow it behind a colon, a dash or its line; not in code.
func labelIn(paragraph string) (start int, ok bool) {
	line, ticks := 0, 0
	for i := 0; i < len(paragraph); i++ {
		switch c := paragraph[i]; {
		case c == '\n':
			line = i + 1
		case c == '`':
			ticks++
		case !isLetter(c) || i > 0 && (isLetter(paragraph[i-1]) || strings.IndexByte("0123456789_", paragraph[i-1]) >= 0 && i > line && paragraph[i-1] != '_') || i-line > reach || ticks%2 == 1:
		default:
			if size := labelSize(paragraph[i:]); size > 0 {
				before, name := paragraph[line:i], paragraph[i:i+size]
				if rest, leads := behind(paragraph[i+size:], name, before, i == 0); leads {
					return len(paragraph) - len(rest), true
				}
			}
		}
	}
	return 0, false
}

// behind returns the text after a label with this name, preceded on its line by these words,
// and whether it is one.
func behind(text, name, before string, first bool) (rest string, leads bool) {
	const longest = 40 // characters allowed between a label and its colon
	rest = strings.TrimLeft(text, " \t")
	if inside, after, closed := strings.Cut(rest, ")"); closed && strings.HasPrefix(rest, "(") && !strings.ContainsAny(inside, "\n") {
		rest = after
	} else if strings.HasPrefix(text, " for ") {
		if at := strings.IndexAny(rest, ":.\n"); at >= 0 && at < longest && rest[at] == ':' {
			rest = rest[at:]
		}
	}
	bold := strings.HasSuffix(before, "**") || strings.HasSuffix(before, "__")
	unmarked := strings.TrimLeft(rest, "*_")
	spaced := strings.TrimLeft(unmarked, " \t\r")
	colon := strings.HasPrefix(spaced, ":")
	separated := colon || spaced == "" || spaced[0] == '\n'
	if mark, size := utf8.DecodeRuneInString(spaced); !separated && spaced != unmarked && strings.ContainsRune("-–—", mark) {
		separated, spaced = true, strings.TrimLeft(spaced[size:], "-–— ")
	}
	if colon {
		spaced = strings.TrimLeft(spaced[1:], "*_ \t")
	}
	capital := unicode.IsUpper(rune(name[0]))
	when := !separated && strings.EqualFold(name, "done when")
	own := strings.TrimLeft(before, " \t")
	for _, box := range []string{"[ ]", "[x]", "[X]"} {
		own = strings.TrimLeft(strings.TrimPrefix(own, box), " \t")
	}
	own = strings.TrimLeft(own, "*_")
	if scoped := own != ""; unscoped(own+"x") == "x" {
		return spaced, colon || (separated || when) && (capital || bold || scoped || first)
	}
	if !colon && !when {
		return "", false
	}
	sentence := strings.TrimRight(strings.TrimRight(before, "*_"), " ")
	last, _ := utf8.DecodeLastRuneInString(sentence)
	ends := len(sentence) < len(before) && strings.ContainsRune(".!?;:)]\"”’`–—/|-", last)
	return spaced, capital && ends || colon && (bold || len(name) > len("AC") && name == strings.ToUpper(name))
}
