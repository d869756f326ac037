package cli

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// pageWidth is the width in columns that text for a reader is wrapped to.
const pageWidth = 80

// style is how a stretch of text looks where there is colour. Nothing is said
// by style alone, and the colours can be read on a light and on a dark ground.
type style string

const (
	Plain  style = ""
	Strong style = "1"    // headings, ids
	Faint  style = "2"    // what one needs only when looking for it
	Typed  style = "35"   // what to type
	Urgent style = "1;31" // what cannot wait
)

// colours reports whether to print colour: the flag, then NO_COLOR, then
// CLICOLOR_FORCE, then whether the output is a terminal that has any.
func (a *App) colours() bool {
	switch force := a.Getenv("CLICOLOR_FORCE"); {
	case a.NoColor, a.Getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return a.ToTerminal() && a.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a stream is one that a person sits at.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// sheet is a text for a reader that grows from top to bottom: it wraps, it may
// have colour, and control characters of somebody's text cannot get into it.
type sheet struct {
	text   strings.Builder
	colour bool
}

func (a *App) Sheet() *sheet { return &sheet{colour: a.colours()} }

// Show prints a sheet.
func (a *App) Show(s *sheet) error {
	_, err := a.Out.Write([]byte(s.text.String()))
	return err
}

func (s *sheet) Put(st style, text string) {
	text = workspace.Visible(text)
	if s.colour && st != Plain && text != "" {
		text = "\x1b[" + string(st) + "m" + text + "\x1b[0m"
	}
	s.text.WriteString(text)
}

// Line puts a text on a line of its own, as it is.
func (s *sheet) Line(st style, text string) {
	s.Put(st, text)
	s.text.WriteString("\n")
}

// Cell is a stretch of a line in a list.
type Cell struct {
	Style style
	Text  string
}

// Rows puts each row on a line of at most so many characters, 0 for any number. The first
// cells of a row, so many, stand in columns; a column that is empty in all rows is left out.
func (s *sheet) Rows(rows [][]Cell, columns, most int) {
	widths := make([]int, columns)
	for _, row := range rows {
		for k, cell := range row[:columns] {
			widths[k] = max(widths[k], visible.Columns(workspace.Visible(cell.Text)))
		}
	}
	for _, row := range rows {
		left := most
		for k, cell := range row {
			text, gap := workspace.Visible(cell.Text), ""
			if k < columns {
				if widths[k] == 0 {
					continue
				}
				gap = strings.Repeat(" ", widths[k]-visible.Columns(text)+2)
			}
			if most > 0 {
				text = visible.Clipped(text, max(left, 0))
			}
			left -= utf8.RuneCountInString(text + gap)
			s.Put(cell.Style, text)
			s.text.WriteString(gap)
		}
		s.Blank()
	}
}

// Priority is a priority as lists show it.
func Priority(p int) Cell {
	if p == 0 {
		return Cell{Urgent, "P0"}
	}
	return Cell{Plain, fmt.Sprintf("P%d", p)}
}

func (s *sheet) Blank() { s.text.WriteString("\n") }

// Wrap puts a text on as many lines as it needs. Its own lines stay apart; the
// first begins with first, all others with rest, which are as wide.
func (s *sheet) Wrap(st style, first, rest, text string) {
	lead := first
	for paragraph := range strings.SplitSeq(strings.TrimRight(workspace.Visible(text), "\n"), "\n") {
		for _, line := range Wrapped(paragraph, pageWidth-visible.Columns(first)) {
			if line == "" {
				s.text.WriteString(strings.TrimRight(lead, " ") + "\n")
			} else {
				s.text.WriteString(lead)
				s.Line(st, line)
			}
			lead = rest
		}
	}
}

// Wrapped breaks one line between words so that each part has at most so many
// columns. A longer word, such as a path that somebody copies, stays whole on a line
// of its own; one in a script that writes no spaces is broken between its characters.
// All parts are indented as the line is, and below the text of a list item.
func Wrapped(line string, most int) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > most/2 {
		indent = ""
	}
	var lines []string
	now, begun := indent, false // whether now holds a word
	for k, word := range strings.Fields(line) {
		if begun && visible.Columns(now+" "+word) <= most {
			now += " " + word
			continue
		}
		if begun {
			lines, now = append(lines, now), indent
		}
		for wide := isWide(word); wide; {
			head := visible.Fitting(word, most-visible.Columns(now))
			if head == word {
				break
			}
			lines, now, word = append(lines, now+head), indent, word[len(head):]
		}
		now, begun = now+word, true
		if k == 0 && len(word) < 5 && (word == "-" || word == "*" || strings.TrimLeft(word, "0123456789") == ".") {
			indent += strings.Repeat(" ", len(word)+1)
		}
	}
	return append(lines, now)
}

// isWide reports whether a word has characters of two columns, as Chinese and Japanese.
func isWide(word string) bool { return visible.Columns(word) > utf8.RuneCountInString(word) }

// markdown puts our own Markdown on the sheet: its headings stand out, and
// what it quotes keeps its lines.
func (s *sheet) markdown(text string) {
	fenced := false
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "#") {
			s.Line(Strong, line)
			continue
		}
		s.Line(Plain, line)
	}
}

// PrintMarkdown prints our own Markdown.
func (a *App) PrintMarkdown(text string) error {
	if !a.colours() {
		return a.Print(text)
	}
	s := a.Sheet()
	s.markdown(text)
	return a.Show(s)
}
