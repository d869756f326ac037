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

// pageWidth is the width, in columns, to which text is wrapped.
const pageWidth = 80

// style is the style of a stretch of text on a colour terminal. No information is in the style
// alone, and the colours are readable on light and dark backgrounds.
type style string

const (
	Plain  style = ""
	Strong style = "1"    // headings, ids
	Faint  style = "2"    // secondary information
	Typed  style = "35"   // what to type
	Urgent style = "1;31" // what cannot wait
)

// colours reports whether to print colour. In order of precedence: the flag, NO_COLOR,
// CLICOLOR_FORCE, and whether the output is a terminal with colours.
func (a *App) colours() bool {
	switch force := a.Getenv("CLICOLOR_FORCE"); {
	case a.NoColor, a.Getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return a.ToTerminal() && a.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a stream is an interactive terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// sheet is a text for people, built from top to bottom. It wraps, may have colour, and escapes
// control characters in text from users.
type sheet struct {
	text   strings.Builder
	colour bool
}

func (a *App) Sheet() *sheet { return &sheet{colour: a.colours()} }

// Unread prints the projects of which anything could not be read.
func (s *sheet) Unread(list []workspace.Unread) {
	if len(list) == 0 {
		return
	}
	s.Blank()
	s.Line(Strong, "Unreadable")
	for _, u := range list {
		s.Line(Urgent, CutLine("  "+UnreadLine(u), ListWidth))
	}
}

// UnreadLine returns a project, where it is, and why it cannot be read.
func UnreadLine(u workspace.Unread) string {
	return visible.OneLine(fmt.Sprintf("%s (%s): %s", u.Project, u.Path, u.Why))
}

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

// Line prints a text on its own line, not wrapped.
func (s *sheet) Line(st style, text string) {
	s.Put(st, text)
	s.text.WriteString("\n")
}

// Cell is a styled part of a line in a list.
type Cell struct {
	Style style
	Text  string
}

// Rows prints each row on a line of at most most characters, 0 for no limit. The first cells of
// a row, as many as columns, are aligned; a column that is empty in all rows is omitted.
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

// Priority returns the cell for a priority.
func Priority(p int) Cell {
	if p == 0 {
		return Cell{Urgent, "P0"}
	}
	return Cell{Plain, fmt.Sprintf("P%d", p)}
}

func (s *sheet) Blank() { s.text.WriteString("\n") }

// Wrap prints a text over as many lines as needed and keeps its line breaks. The first line
// starts with first, all others with rest, which must have the same width.
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

// Wrapped breaks one line between words so that each part has at most the given number of
// columns. A longer word, such as a path to copy, stays whole on its own line; one in a script
// without spaces is broken between characters. All parts are indented like the line, and
// aligned with the text of a list item.
func Wrapped(line string, most int) []string {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > most/2 {
		indent = ""
	}
	var lines []string
	now, begun := indent, false // whether now contains a word
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

// isWide reports whether a word has double-width characters, as in Chinese and Japanese.
func isWide(word string) bool { return visible.Columns(word) > utf8.RuneCountInString(word) }

// markdown prints our own Markdown: headings stand out, and code blocks keep their lines.
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
