package notes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stig/notes"
)

// documents also seed the fuzz targets. want lists what must be read: sections as "name@line",
// then malformed delimiters as "line:column name: problem".
var documents = []struct {
	name, text string
	want       string
}{
	{"empty", "", ""},
	{"blank lines only", "\n\n", ""},
	{"no section", "Just a remark.\n", ""},
	{"one section", "<!-- river -->\nwater\n<!-- /river -->", "river@1"},
	{"empty body", "<!-- river -->\n<!-- /river -->\n", "river@1"},
	{"blank body", "<!-- river -->\n\n<!-- /river -->\n", "river@1"},
	{"CRLF", "a\r\n\r\n<!-- river -->\r\nwater\r\n<!-- /river -->\r\n", "river@3"},
	{"mixed line ends", "<!-- river -->\r\nwater\n<!-- /river -->\nend\r\n", "river@1"},
	{"text directly above and below", "above\n<!-- river -->\nwater\n<!-- /river -->\nbelow", "river@2"},
	{"sections without a blank line between", "<!-- a -->\n1\n<!-- /a -->\n<!-- b -->\n2\n<!-- /b -->", "a@1 b@4"},
	{"blanks around a delimiter", "   <!-- river -->\t \nwater\n <!--  /river  -->  \n", "river@1"},
	{"names of every shape", "<!-- 2026 a.b_c-D -->\n<!-- /2026 a.b_c-D -->", "2026 a.b_c-D@1"},
	{"a longer name is another name", "<!-- river-2026-05-01-final -->\nx\n<!-- /river-2026-05-01-final -->", "river-2026-05-01-final@1"},
	{"same name twice", "<!-- a -->\n1\n<!-- /a -->\n\n---\n\n<!-- a -->\n2\n<!-- /a -->", "a@1 a@7"},
	{"ends a list above", "- one\n- two\n<!-- river -->\nwater\n<!-- /river -->", "river@3"},
	{"body ends in a list", "<!-- river -->\n- one\n  more\n<!-- /river -->", "river@1"},
	{"body with a fence", "<!-- river -->\n```\n<!-- /river -->\n```\n<!-- /river -->", "river@1"},
	{"body is a table", "<!-- river -->\n| a | b |\n|---|---|\n| 1 | 2 |\n<!-- /river -->", "river@1"},

	{"false friend: inline code", "Write `<!-- river -->` first.\n\n<!-- a -->\nx\n<!-- /a -->", "a@3"},
	{"false friend: inline code at the start of a line", "`<!-- river -->`\n", ""},
	{"false friend: inside text", "see <!-- river --> here\n", ""},
	{"false friend: text behind", "<!-- river --> is open\n", ""},
	{"false friend: two on a line", "<!-- river --><!-- /river -->\n", ""},
	{"false friend: fence", "```\n<!-- river -->\n```\n", ""},
	{"false friend: tilde fence with a name", "~~~html\n<!-- river -->\n~~~\n", ""},
	{"false friend: fence that is never closed", "```\n<!-- river -->\n<!-- /river -->\n", ""},
	{"false friend: indented code", "text\n\n    <!-- river -->\n\ntext", ""},
	{"false friend: indented by a tab", "\t<!-- river -->\n", ""},
	{"false friend: four spaces in a paragraph", "text\n    <!-- river -->\n", ""},
	{"false friend: list item", "- <!-- river -->\n", ""},
	{"false friend: inside a list item", "- item\n\n  <!-- river -->\n", ""},
	{"false friend: block quote", "> <!-- river -->\n", ""},
	{"false friend: HTML block", "<div>\n<!-- river -->\n</div>\n", ""},
	{"false friend: pre block", "<pre>\n\n<!-- river -->\n\n</pre>\n", ""},
	{"false friend: longer comment", "<!--\n<!-- river -->\n", ""},
	{"false friend: comment of several lines", "<!-- a remark\n<!-- river -->\n", ""},
	{"false friend: no blanks", "<!--river-->\n", ""},
	{"false friend: empty name", "<!-- -->\n\n<!-- / -->\n", ""},
	{"false friend: sentence", "<!-- what, a river? -->\n", ""},
	{"false friend: slash in front", "<!-- /dev/null -->\n", ""},
	{"false friend: name begins with a dot", "<!-- .river -->\n", ""},
	{"false friend: entity", "&lt;!-- river --&gt;\n", ""},
	{"false friend: byte order mark", "\ufeff<!-- river -->\n", ""},

	{"never closed", "text\n\n  <!-- river -->\nwater\n", "3:3 river: never closed"},
	{"never closed, then a section", "<!-- a -->\n1\n<!-- b -->\n2\n<!-- /b -->", "b@3 1:1 a: never closed"},
	{"never closed, same name again", "<!-- a -->\n1\n<!-- a -->\n2\n<!-- /a -->", "a@3 1:1 a: never closed"},
	{"closer in a fence does not close", "<!-- a -->\n```\n<!-- /a -->\n```\n", "1:1 a: never closed"},
	{"closed twice", "<!-- a -->\n1\n<!-- /a -->\n2\n<!-- /a -->", "a@1 5:1 a: closed twice"},
	{"closed twice with another section between", "<!-- a -->\n<!-- /a -->\n<!-- b -->\n<!-- /b -->\n<!-- /a -->", "a@1 b@3 5:1 a: closed twice"},
	{"closer without opener", "text\n<!-- /a -->\n", "2:1 a: never opened"},
	{"nested", "<!-- a -->\n<!-- b -->\nx\n<!-- /b -->\n<!-- /a -->", "b@2 1:1 a: nested"},
	{"nested in itself", "<!-- a -->\n<!-- a -->\nx\n<!-- /a -->\n<!-- /a -->", "a@2 1:1 a: nested"},
	{"crossed", "<!-- a -->\n<!-- b -->\n<!-- /a -->\n<!-- /b -->", "1:1 a: nested 2:1 b: never closed 4:1 b: never opened"},
	{"crossed after a section of the same name", "<!-- b -->\n<!-- a -->\n<!-- /a -->\n<!-- a -->\n<!-- /b -->\n<!-- /a -->",
		"a@2 1:1 b: nested 4:1 a: never closed 6:1 a: never opened"},
	{"name misspelt in the closer", "<!-- river -->\n<!-- /rivr -->\n<!-- b -->\n<!-- /b -->",
		"b@3 1:1 river: never closed 2:1 rivr: never opened"},
	{"case differs", "<!-- River -->\n<!-- /river -->", "1:1 River: never closed 2:1 river: never opened"},
	{"remark that looks like an opener", "<!-- a -->\n<!-- TODO -->\n<!-- /a -->", "1:1 a: nested 2:1 TODO: never closed"},
	{"CRLF, never closed", "x\r\n\r\n<!-- a -->\r\n", "3:1 a: never closed"},
}

func summary(d *notes.Doc) string {
	var found []string
	for _, s := range d.Sections() {
		found = append(found, fmt.Sprintf("%s@%d", s.Name, s.Line))
	}
	for _, e := range d.Malformed() {
		problem, _, _ := strings.Cut(e.Problem, ":")
		problem, _, _ = strings.Cut(problem, " before")
		found = append(found, fmt.Sprintf("%d:%d %s: %s", e.Line, e.Column, e.Section, problem))
	}
	return strings.Join(found, " ")
}

// What is a section decides what may be edited and what is kept as text.
func TestParse(t *testing.T) {
	for _, c := range documents {
		t.Run(c.name, func(t *testing.T) {
			d := notes.Parse(c.text)
			if got := summary(d); got != c.want {
				t.Errorf("Parse(%q)\n got %s\nwant %s", c.text, got, c.want)
			}
			checkDoc(t, c.text, d)
		})
	}
}

// checkDoc asserts what holds of every parsed text.
func checkDoc(t *testing.T, text string, d *notes.Doc) {
	t.Helper()
	if d.Text() != text {
		t.Fatalf("Parse then Text is not the identity:\n got %q\nwant %q", d.Text(), text)
	}
	end := 0
	for _, s := range d.Sections() {
		if s.Start < end || s.End < s.Start {
			t.Fatalf("section %q at %v overlaps what ends at %d in %q", s.Name, s.Span, end, text)
		}
		end = s.End
		lines := strings.Split(strings.ReplaceAll(text[s.Start:s.End], "\r\n", "\n"), "\n")
		opener, closer := strings.Fields(lines[0]), strings.Fields(lines[len(lines)-1])
		name := strings.Join(strings.Fields(s.Name), " ")
		if got := strings.Join(opener, " "); got != "<!-- "+name+" -->" {
			t.Fatalf("section %q begins with %q", s.Name, got)
		}
		if got := strings.Join(closer, " "); got != "<!-- /"+name+" -->" {
			t.Fatalf("section %q ends with %q", s.Name, got)
		}
		if body := strings.ReplaceAll(d.Body(s), "\r\n", "\n"); body != strings.Join(lines[1:len(lines)-1], "\n") {
			t.Fatalf("body of %q is %q in %q", s.Name, body, text)
		}
		if line, _ := d.Position(s.Start); line != s.Line {
			t.Fatalf("section %q has line %d, its offset is on %d", s.Name, s.Line, line)
		}
	}
	for _, e := range d.Malformed() {
		line := strings.Split(text, "\n")[e.Line-1]
		if !strings.HasPrefix(line[e.Column-1:], "<!--") {
			t.Fatalf("malformed delimiter %v is not at its place in %q", e, text)
		}
	}
}

// A message must say where, what, and which other line takes part in it.
func TestErrorMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x\n <!-- a -->\n", "notes:2:2: a: never closed: no <!-- /a --> follows"},
		{"<!-- a -->\n<!-- /a -->\n<!-- /a -->\n", "notes:3:1: a: closed twice: the first <!-- /a --> is on line 2"},
		{"<!-- /a -->\n", "notes:1:1: a: never opened: no <!-- a --> is open here"},
		{"<!-- a -->\n<!-- b -->\n<!-- /b -->\n<!-- /a -->",
			"notes:1:1: a: nested: <!-- b --> on line 2 comes before its closer on line 4"},
	} {
		d := notes.Parse(c.text)
		if got := d.Malformed()[0].Error(); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.text, got, c.want)
		}
		_, err := d.Replace("other", "text")
		var malformed *notes.Error
		if !errors.As(err, &malformed) {
			t.Errorf("Replace in malformed notes %q gives %v, want an *Error", c.text, err)
		}
	}
}

func TestPosition(t *testing.T) {
	d := notes.Parse("ab\r\n\u2014c\n")
	for _, c := range []struct{ offset, line, column int }{{0, 1, 1}, {2, 1, 3}, {4, 2, 1}, {7, 2, 4}, {9, 3, 1}} {
		if line, column := d.Position(c.offset); line != c.line || column != c.column {
			t.Errorf("Position(%d) = %d:%d, want %d:%d", c.offset, line, column, c.line, c.column)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range documents {
		f.Add(c.text)
	}
	for _, c := range tables {
		f.Add(section(c.text))
	}
	for _, c := range codes {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := notes.Parse(text)
		checkDoc(t, text, d)
		for _, s := range d.Sections() {
			if table := d.Table(s); table != nil {
				checkTable(t, d, s, table)
			}
		}
		checkMarkdown(t, text)
	})
}
