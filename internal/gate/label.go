package gate

import (
	"math/bits"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"stig/notes"
)

// labelForms are the expressions that find labels.
type labelForms struct {
	name     *regexp.Regexp // the words of a label
	opening  *regexp.Regexp // what may stand before them on their line
	detail   *regexp.Regexp // what may stand behind them, and what separates them from the text
	sentence *regexp.Regexp // the end of a sentence before them
	heading  *regexp.Regexp // a heading, up to the text that it holds itself
	other    *regexp.Regexp // a line that begins something else
}

var labels = sync.OnceValue(func() labelForms {
	const (
		scope = `(?:(?:phase|stage|milestone|level|part|overall|final|minimum|minimal|key|functional|technical|mvp|[lv]?\d[\w.]*)[ \t]+){0,2}`
		kinds = `(?:success|exit|completion|done) criteri(?:a|on)|definition of done|dod`
	)
	return labelForms{
		name: regexp.MustCompile(`(?i)\b(?:acceptance(?:[ -](?:criteria|criterion|tests?|checks?|gates?|checklist|conditions?))?|` +
			kinds + `|(?:done|complete|finished) (?:when|if)|done means|acs?|ac[ -]?\d+(?:\.\d+)*)\b`),
		opening:  regexp.MustCompile(`(?i)^[ \t]*(?:\[[ x]\][ \t]+)?[*_]{0,3}` + scope + `$`),
		detail:   regexp.MustCompile(`^(?:[ \t]*\([^()\n]*\)| for [^:.\n]{1,40})?([*_]{0,3})([ \t]*:[*_]{0,3}|[ \t]+[-–—]+[ \t]|[ \t\r]*(?:\n|$))[ \t]*`),
		sentence: regexp.MustCompile("[.!?;:)\\]\"”’`–—/|-] +[*_]{0,3}$"),
		heading: regexp.MustCompile(`(?i)^[ \t#]*[^\pL\n]*` + scope +
			`(?:acceptance\b[^:\n]*|(?:` + kinds + `|done when|done means)\b[^:\n]*|acs?[*_ \t]*(?:\([^:\n]*)?)(?::[*_ \t]*|[\r\n]|$)`),
		other: regexp.MustCompile(`(?m)^[ \t]*(?:\*\*[^*\n]+\*\*:?|__[^_\n]+__:?|[A-Z][A-Z /&-]{2,}:)`),
	}
})

// labelOpenings are how labels begin, without more letters behind the last two.
var labelOpenings = []string{
	"acceptance", "success criteri", "exit criteri", "completion criteri", "done criteri", "definition of done",
	"done when", "done means", "done if", "complete when", "complete if", "finished when", "finished if", "dod", "ac",
}

// labelPairs has the first two letters of labelOpenings, in both cases: bit n stands for
// those of labelOpenings[n].
var labelPairs = sync.OnceValue(func() *struct{ first, second [256]uint32 } {
	pairs := new(struct{ first, second [256]uint32 })
	for n, opening := range labelOpenings {
		for _, change := range []byte{0, 'a' - 'A'} {
			pairs.first[opening[0]-change] |= 1 << n
			pairs.second[opening[1]-change] |= 1 << n
		}
	}
	return pairs
})

// labelled finds where the criteria of a text stand.
func labelled(text string) []notes.Span {
	if !mayBeLabelled(text) {
		return nil
	}
	return inBlocks(text, notes.Blocks(text))
}

// mayBeLabelled reports whether a word of a text begins a label: most texts hold
// none, and need not be parsed.
func mayBeLabelled(text string) bool {
	pairs := labelPairs()
	for i := range len(text) - 1 {
		both := pairs.first[text[i]] & pairs.second[text[i+1]]
		if both == 0 || i > 0 && isLetter(text[i-1]) {
			continue
		}
		for ; both != 0; both &= both - 1 {
			opening := labelOpenings[bits.TrailingZeros32(both)]
			end := i + len(opening)
			if end > len(text) || !strings.EqualFold(text[i:end], opening) {
				continue
			}
			if len(opening) > len("dod") || end == len(text) || !isLetter(text[end]) || text[end]|0x20 == 's' {
				return true
			}
		}
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// inBlocks finds the criteria in blocks that follow each other.
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
		if own := strings.TrimRight(text[start:end], " \t\r\n"); own != "" {
			blank := len(own) - len(strings.TrimLeft(own, " \t\r\n"))
			end = start + len(own)
			start += 1 + strings.LastIndexByte(own[:blank], '\n')
			found = append(found, notes.Span{Start: start, End: end})
		}
		i = next - 1
	}
	return found
}

// underHeading gives where the criteria under the heading at i begin, -1 when it is
// another heading, and the first block that is none of them.
func underHeading(text string, blocks []notes.Block, i int) (start, next int) {
	heading := blocks[i]
	at := labels().heading.FindStringIndex(text[heading.Start:heading.End])
	if at == nil {
		return -1, i + 1
	}
	for next = i + 1; next < len(blocks); next++ {
		if b := blocks[next]; b.Kind == notes.HeadingBlock && b.Level <= heading.Level {
			break
		}
	}
	start = heading.Start + at[1]
	switch own := strings.TrimSpace(text[start:heading.End]); {
	case own != "" && strings.Trim(own, "#=-") != "":
	case next > i+1:
		start = blocks[i+1].Start
	default:
		start = heading.End
	}
	return start, next
}

// behindLabel gives where the criteria behind the first label in the paragraph at i
// begin, -1 when it holds none, and the first block that is none of them.
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

// ownText is how much of a text is not yet a line that begins something else. Its
// first line never does.
func ownText(text string) int {
	first, _, _ := strings.Cut(text, "\n")
	at := labels().other.FindStringIndex(text[len(first):])
	if at == nil {
		return len(text)
	}
	return len(first) + at[0]
}

// belongs reports whether a block goes on with the criteria that end with the one
// before it. bare tells that the label is a line by itself, first that nothing else
// stands between that and the block.
func belongs(text string, before, block notes.Block, bare, first bool) bool {
	leads := strings.Count(text[before.End:block.Start], "\n") < 2 || strings.HasSuffix(text[:before.End], ":")
	switch block.Kind {
	case notes.ListBlock:
		return bare || leads || before.Kind != notes.ParagraphBlock
	case notes.CodeBlock:
		return bare || leads || before.Kind != notes.ParagraphBlock ||
			strings.HasPrefix(strings.TrimLeft(text[block.Start:block.End], " `~"), "verify")
	case notes.ParagraphBlock:
		own := text[block.Start:block.End]
		_, another := labelIn(own)
		return bare && first && !another && !strings.HasSuffix(own, ":") && labels().other.FindStringIndex(own) == nil
	}
	return false
}

// labelIn gives where the text behind the first label of a paragraph begins. A label stands
// near the beginning of its line.
func labelIn(paragraph string) (start int, ok bool) {
	line, ticks, counted := 0, 0, 0 // where the line of a label begins, and the backticks before it
	for _, at := range labels().name.FindAllStringIndex(paragraph, -1) {
		between := paragraph[counted:at[0]]
		if newline := strings.LastIndexByte(between, '\n'); newline >= 0 {
			line = counted + newline + 1
		}
		ticks, counted = ticks+strings.Count(between, "`"), at[0]
		if at[0]-line > reach {
			continue
		}
		l := label{name: paragraph[at[0]:at[1]], before: paragraph[line:at[0]], first: at[0]}
		rest := paragraph[at[1]:]
		if found := labels().detail.FindStringSubmatch(rest); found != nil {
			l.separated, l.separator = true, strings.TrimSpace(found[2])
			rest = rest[len(found[0]):]
		} else {
			rest = strings.TrimLeft(rest, "*_ ")
		}
		if l.marks() && ticks%2 == 0 {
			return len(paragraph) - len(rest), true
		}
	}
	return 0, false
}

// label is what may be one.
type label struct {
	name, before string // its words, and what stands before them on their line
	first        int    // how much stands before them in the paragraph
	separated    bool   // it ends with a colon, a dash or its line
	separator    string // which, "" for the line
}

// marks reports whether criteria follow.
func (l label) marks() bool {
	capital := unicode.IsUpper(rune(l.name[0]))
	bold := strings.HasSuffix(l.before, "**") || strings.HasSuffix(l.before, "__")
	colon := strings.HasPrefix(l.separator, ":")
	when := !l.separated && strings.EqualFold(l.name, "done when")
	if labels().opening.MatchString(l.before) {
		scoped := strings.TrimLeft(l.before, " \t*_[]xX") != ""
		return colon || (l.separated || when) && (capital || bold || scoped || l.first == len(l.before))
	}
	if !colon && !when {
		return false
	}
	inCapitals := len(l.name) > len("AC") && l.name == strings.ToUpper(l.name)
	return capital && labels().sentence.MatchString(l.before) || colon && (bold || inCapitals)
}
