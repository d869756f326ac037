package orient

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/internal/visible"
)

// leastMiddle is the minimum number of omitted characters that is worth a mark, and half the
// minimum that is worth keeping around it.
const leastMiddle = 160

// middleOut cuts a text to at most limit characters: it replaces the middle with a mark, at
// line or word boundaries. If little would be omitted or kept, it cuts off the end.
func middleOut(text string, limit int) string {
	all := utf8.RuneCountInString(text)
	switch {
	case all <= limit:
		return text
	case limit <= 2:
		return ""
	case limit < 2*leastMiddle || all-limit < leastMiddle:
		head := beginning(text, limit-len("\n```\n")-1)
		if inFence(head) {
			return head + "\n```\n…"
		}
		return head + " …"
	}
	room := limit - utf8.RuneCountInString(leftOutMark(all)) - 3*len("\n```\n\n")
	head := beginning(text, room*2/3)
	tail := ending(text, room-utf8.RuneCountInString(head))
	left := all - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	if inFence(head) {
		head += "\n```"
	}
	if inFence(text[:len(text)-len(tail)]) {
		tail = "```\n" + tail
	}
	if !inFence(text) && inFence(tail) {
		tail += "\n```" // its first line is the end of one
	}
	return head + "\n\n" + leftOutMark(left) + "\n\n" + tail
}

func leftOutMark(characters int) string {
	return fmt.Sprintf("[… %s left out …]", visible.Counted(characters, "character"))
}

// beginning returns at most limit characters from the beginning of a text.
func beginning(text string, limit int) string {
	if limit <= 0 {
		return ""
	}
	end := 0
	for i := range text {
		if limit == 0 {
			break
		}
		limit--
		_, size := utf8.DecodeRuneInString(text[i:])
		end = i + size
	}
	head := text[:end]
	if end == len(text) {
		return head
	}
	for _, between := range []string{"\n", " "} {
		if i := strings.LastIndex(head, between); i > len(head)*4/5 {
			return strings.TrimRight(head[:i], " \n")
		}
	}
	return strings.TrimSpace(head)
}

// ending returns at most limit characters from the end of a text.
func ending(text string, limit int) string {
	start := len(text)
	for ; start > 0 && limit > 0; limit-- {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	tail := text[start:]
	for _, between := range []string{"\n", " "} {
		if i := strings.Index(tail, between); i >= 0 && i < len(tail)/5 {
			return strings.TrimLeft(tail[i+1:], "\n")
		}
	}
	return strings.TrimSpace(tail)
}

// inFence reports whether a text ends inside a fenced block.
func inFence(text string) bool {
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inside = !inside
		}
	}
	return inside
}

// The least of what is folded.
const (
	longestPeriod = 6 // lines that repeat together
	leastRepeated = 4 // lines that are folded into one
)

// foldRepeated folds lines that differ in numbers alone from those above them, up
// to longestPeriod of them together, as logs repeat them. It says how many it folded.
func foldRepeated(text string) (string, int) {
	lines := strings.Split(text, "\n")
	if len(lines) <= leastRepeated {
		return text, 0
	}
	like := make([]string, len(lines))
	for i, line := range lines {
		like[i] = numberless(strings.TrimSpace(line))
	}
	var kept []string
	folded := 0
	for i := 0; i < len(lines); {
		period, repeated := repeats(like[i:])
		if repeated < leastRepeated {
			kept = append(kept, lines[i])
			i++
			continue
		}
		kept = append(kept, lines[i:i+period]...)
		kept = append(kept, fmt.Sprintf("… %s", visible.Counted(repeated, "similar line")))
		folded += repeated
		i += period + repeated
	}
	if folded == 0 {
		return text, 0
	}
	return strings.Join(kept, "\n"), folded
}

// numberless writes 0 for each number of a line: 0x1f, eight hexadecimal digits and more, or
// decimal ones.
func numberless(line string) string {
	const hexadecimal, decimal = "0123456789abcdefABCDEF", "0123456789"
	run := func(text, of string) int { return len(text) - len(strings.TrimLeft(text, of)) }
	var b strings.Builder
	for i := 0; i < len(line); {
		if strings.IndexByte(hexadecimal, line[i]) < 0 {
			b.WriteByte(line[i])
			i++
			continue
		}
		n, hex := run(line[i:], decimal), run(line[i:], hexadecimal)
		if hex >= 8 {
			n = hex
		}
		if after, ok := strings.CutPrefix(line[i:], "0x"); ok && run(after, hexadecimal) > 0 {
			n = len("0x") + run(after, hexadecimal)
		}
		if n > 0 {
			b.WriteByte('0')
			i += n
			continue
		}
		b.WriteByte(line[i]) // a letter that begins no number, as in "be2"
		i++
	}
	return b.String()
}

// repeats finds the period with which most of the first lines repeat, and how many
// lines repeat those of the first period. Blank lines alone are no repetition.
func repeats(like []string) (period, repeated int) {
	blank := true
	for p := 1; p <= longestPeriod && p < len(like); p++ {
		if blank = blank && like[p-1] == ""; blank {
			continue // before they are counted: a run of blank lines takes its length once
		}
		n := 0
		for p+n < len(like) && like[n] == like[p+n] {
			n++
		}
		n -= n % p
		if n > repeated {
			period, repeated = p, n
		}
	}
	return period, repeated
}

// page is a Markdown text that grows from top to bottom.
type page struct{ strings.Builder }

func (p *page) line(text string)                 { p.WriteString(text + "\n") }
func (p *page) linef(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// blank parts what follows from what stands above it.
func (p *page) blank() {
	if !strings.HasSuffix(p.String(), "\n\n") {
		p.WriteString("\n")
	}
}

func (p *page) heading(text string) {
	p.blank()
	p.line("## " + text)
	p.blank()
}

// proseWidth is how wide a text of our own is, in characters.
const proseWidth = 100

// list shows lines below a heading, one alone behind it.
func (p *page) list(heading string, lines []string) {
	switch len(lines) {
	case 0:
	case 1:
		p.blank()
		p.line(heading + ": " + lines[0])
	default:
		p.heading(heading)
		for _, line := range lines {
			p.line("- " + line)
		}
	}
}

// section shows a text of our own: on one line behind the heading, or on as many lines
// below it as it needs.
func (p *page) section(heading, text string) {
	if text == "" {
		return
	}
	if utf8.RuneCountInString(heading+text) <= proseWidth {
		p.list(heading, []string{text})
		return
	}
	p.heading(heading)
	text = upperFirst(text)
	line, code := "", ""
	for word := range strings.FieldsSeq(text) {
		if code = strings.TrimPrefix(code+" "+word, " "); strings.Count(code, "`")%2 == 1 {
			continue // keep a command on one line
		}
		word, code = code, ""
		if line != "" && utf8.RuneCountInString(line+" "+word) > proseWidth {
			p.line(line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	p.line(strings.TrimSpace(line + " " + code))
}

// quoted shows a quotation below a heading; for a text of one line the heading is a plain line.
func (p *page) quoted(heading, text string) {
	switch text = strings.TrimSpace(text); {
	case text == "":
	case !strings.Contains(text, "\n") && utf8.RuneCountInString(text) <= proseWidth:
		p.blank()
		p.line(heading + ":")
		p.quote(text)
	default:
		p.heading(heading)
		p.quote(text)
	}
}

// said shows one of several quotations, below a line about it.
func (p *page) said(about, text string) {
	p.blank()
	p.line(about + ":")
	p.blank()
	p.quote(text)
}

// quote shows a text as a quotation.
func (p *page) quote(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\r\n"), "\n") {
		p.line(strings.TrimRight("> "+strings.TrimSuffix(line, "\r"), " "))
	}
	p.blank()
}

// command shows one command, or a script in a fence that its text cannot close.
func (p *page) command(text string) {
	if !strings.Contains(text, "\n") && !strings.Contains(text, "`") {
		p.line("- `" + text + "`")
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	p.blank()
	p.linef("%ssh\n%s\n%s", fence, strings.TrimRight(text, "\r\n"), fence)
	p.blank()
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func parenthesised(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// commandLine writes arguments as one would type them: a shell runs nothing of an id.
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		if words[i] = visible.Quoted(arg); arg == "…" {
			words[i] = arg
		}
	}
	return strings.Join(words, " ")
}
