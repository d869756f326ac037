package orient

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/shell"
	"stig/visible"
)

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

// section is a heading with a text of our own, on as many lines as it needs.
func (p *page) section(heading, text string) {
	p.heading(heading)
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line+" "+word) > proseWidth {
			p.line(line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	p.line(line)
}

// quoted is a heading with somebody else's text; without a text there is no heading.
func (p *page) quoted(heading, text string) {
	if text != "" {
		p.heading(heading)
		p.quote(text)
	}
}

// said is one of several texts of others, below a line about it.
func (p *page) said(about, text string) {
	p.blank()
	p.line(about + ":")
	p.blank()
	p.quote(text)
}

// quote sets somebody else's text apart.
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

func (p *page) refs(refs []Ref) {
	for _, r := range refs {
		p.linef("- %s %s (%s)", r.ID, visible.OneLine(r.Title), r.Status)
	}
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
		if words[i] = shell.Quoted(arg); arg == "…" {
			words[i] = `"…"`
		}
	}
	return strings.Join(words, " ")
}
