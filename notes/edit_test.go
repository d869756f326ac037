package notes_test

import (
	"strings"
	"testing"

	"stig/notes"
)

// edits seed FuzzReplace. want is the text after Replace(name, body); err is part of the
// message if it must be refused.
var edits = []struct{ name, text, section, body, want, err string }{
	{"the live section is the last", "<!-- a -->\n1\n<!-- /a -->\n\n<!-- a -->\n2\n<!-- /a -->", "a", "new",
		"<!-- a -->\n1\n<!-- /a -->\n\n<!-- a -->\nnew\n<!-- /a -->", ""},
	{"everything else keeps its bytes", "  x \n\n <!-- b -->\t\n y\n<!-- /b -->\n\n\n<!-- a -->\n1\n<!-- /a -->\nz", "b", "1\n\n2",
		"  x \n\n <!-- b -->\t\n1\n\n2\n<!-- /b -->\n\n\n<!-- a -->\n1\n<!-- /a -->\nz", ""},
	{"the present body changes nothing", "<!-- a -->\r\n1\n2\r\n<!-- /a -->", "a", "1\n2", "<!-- a -->\r\n1\n2\r\n<!-- /a -->", ""},
	{"CRLF", "<!-- a -->\r\n1\r\n<!-- /a -->\r\n", "a", "1\n2", "<!-- a -->\r\n1\r\n2\r\n<!-- /a -->\r\n", ""},
	{"CRLF text into LF", "<!-- a -->\n1\n<!-- /a -->", "a", "1\r\n2", "<!-- a -->\n1\n2\n<!-- /a -->", ""},
	{"an empty body is filled", "<!-- a -->\n<!-- /a -->", "a", "x", "<!-- a -->\nx\n<!-- /a -->", ""},
	{"a body is emptied", "<!-- a -->\nx\n<!-- /a -->\n", "a", "", "<!-- a -->\n<!-- /a -->\n", ""},
	{"appended to nothing", "", "a", "x", "<!-- a -->\nx\n<!-- /a -->", ""},
	{"appended without final newline", "text", "a", "x", "text\n\n<!-- a -->\nx\n<!-- /a -->", ""},
	{"appended with final newline", "text\n", "a", "x", "text\n\n<!-- a -->\nx\n<!-- /a -->\n", ""},
	{"appended after a blank line", "text\n\n", "a", "x", "text\n\n<!-- a -->\nx\n<!-- /a -->\n", ""},
	{"appended in CRLF", "text\r\n", "a", "x\ny", "text\r\n\r\n<!-- a -->\r\nx\r\ny\r\n<!-- /a -->\r\n", ""},
	{"appended after a list", "- one", "a", "x", "- one\n\n<!-- a -->\nx\n<!-- /a -->", ""},
	{"a fence that quotes the closer", "<!-- a -->\n<!-- /a -->", "a", "```\n<!-- /a -->\n```",
		"<!-- a -->\n```\n<!-- /a -->\n```\n<!-- /a -->", ""},
	{"a body with a quoted section", "", "a", "Use `<!-- a -->`.", "<!-- a -->\nUse `<!-- a -->`.\n<!-- /a -->", ""},

	{"refused: closer in the body", "<!-- a -->\n1\n<!-- /a -->", "a", "x\ny\n<!-- /a -->", "",
		`section "a": line 3 of its text is a section delimiter: <!-- /a -->`},
	{"refused: a whole section in the body", "", "a", "x\n<!-- b -->\n<!-- /b -->", "",
		`section "a": line 2 of its text is a section delimiter: <!-- b -->`},
	{"refused: the section closed and opened again", "<!-- a -->\n<!-- /a -->", "a", "<!-- /a -->\n<!-- a -->", "",
		`section "a": line 1 of its text is a section delimiter: <!-- /a -->`},
	{"refused: open fence", "<!-- a -->\n1\n<!-- /a -->\n<!-- b -->\n2\n<!-- /b -->", "a", "x\n\n```go\ny", "",
		`section "a": line 3 of its text begins a code fence that is never closed`},
	{"refused: open HTML block", "<!-- a -->\n1\n<!-- /a -->", "a", "x\n<div>", "",
		`section "a": line 2 of its text begins an HTML block that does not end`},
	{"refused: open comment", "", "a", "<!-- x", "",
		`section "a": line 1 of its text begins an HTML comment that does not end`},
	{"refused: appended to an open fence", "x\n```\ny", "a", "z", "",
		`notes:2: section "a" cannot be added: line 2 begins a code fence that is never closed`},
	{"refused: a list takes in an indented closer", "<!-- a -->\n1\n  <!-- /a -->", "a", "- x", "",
		`the edit would break section "a" (line 1): line 2 would begin a list that includes the line after it`},
	{"refused: no name", "", "", "x", "", `section "": a name must be`},
	{"refused: a name of several lines", "", "a\nb", "x", "", `section "a\nb": a name must be`},
	{"refused: a name that ends in a blank", "", "a ", "x", "", `a name must be`},
	{"refused: malformed notes", "<!-- a -->\n", "b", "x", "", "notes:1:1: a: never closed"},
}

func TestReplace(t *testing.T) {
	for _, c := range edits {
		t.Run(c.name, func(t *testing.T) {
			got, err := notes.Parse(c.text).Replace(c.section, c.body)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got error %v\nwant %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Text() != c.want {
				t.Errorf("\n got %q\nwant %q", got.Text(), c.want)
			}
		})
	}
}

func TestPrepend(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "<!-- a -->\nx\n<!-- /a -->"},
		{"text", "<!-- a -->\nx\n<!-- /a -->\n\ntext"},
		{"text\r\nmore", "<!-- a -->\r\nx\r\n<!-- /a -->\r\n\r\ntext\r\nmore"},
		{"<!-- b -->\n<!-- /b -->\n", "<!-- a -->\nx\n<!-- /a -->\n\n<!-- b -->\n<!-- /b -->\n"},
		{"\ntext", "<!-- a -->\nx\n<!-- /a -->\n\ntext"},
		{"```\nopen fence", "<!-- a -->\nx\n<!-- /a -->\n\n```\nopen fence"},
	} {
		got, err := notes.Parse(c.text).Prepend("a", "x")
		if err != nil {
			t.Fatal(err)
		}
		if got.Text() != c.want {
			t.Errorf("\n got %q\nwant %q", got.Text(), c.want)
		}
	}
	if _, err := notes.Parse("text").Prepend("a", "<!-- /a -->\n<!-- a -->"); err == nil {
		t.Error("a body that closes its own section was accepted")
	}
}

// Whatever a caller computes, no section may be lost.
func TestApplyRefuses(t *testing.T) {
	const text = "<!-- a -->\n1\n<!-- /a -->\n\n<!-- b -->\n2\n<!-- /b -->\n"
	d := notes.Parse(text)
	a, b := d.Sections()[0], d.Sections()[1]
	for _, c := range []struct {
		name    string
		splices []notes.Splice
		want    string
	}{
		{"overlap", []notes.Splice{{notes.Span{3, 9}, ""}, {notes.Span{0, 4}, ""}}, "overlaps one that ends at 4"},
		{"insertion inside a replacement", []notes.Splice{{notes.Span{11, 12}, "x"}, {notes.Span{0, 14}, ""}}, "overlaps"},
		{"outside", []notes.Splice{{notes.Span{0, 999}, ""}}, "is outside a text of"},
		{"backwards", []notes.Splice{{notes.Span{5, 4}, ""}}, "is outside"},
		{"fence over everything", []notes.Splice{{notes.Span{0, 0}, "```\n"}}, `section "a" (line 2): line 1 would begin a code fence`},
		{"fence between", []notes.Splice{{notes.Span{a.End, a.End}, "\n\n```"}}, `section "b"`},
		{"text against a delimiter", []notes.Splice{{notes.Span{b.Start, b.Start}, "x"}}, `section "b"`},
		{"delimiter in a body", []notes.Splice{{a.Body, "<!-- c -->\n<!-- /c -->"}}, `section "a" (line 1): line 2 would be the delimiter <!-- c -->`},
		{"one delimiter only", []notes.Splice{{notes.Span{b.Start, b.Body.Start}, ""}}, "malformed"},
		{"new malformed delimiter", []notes.Splice{{notes.Span{len(text), len(text)}, "<!-- c -->"}}, "malformed notes: notes:8:1: c: never closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.Apply(c.splices...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v\nwant %s", err, c.want)
			}
		})
	}
	without, err := d.Apply(notes.Splice{Span: notes.Span{a.Start, b.Start}})
	if err != nil || without.Text() != text[b.Start:] {
		t.Errorf("a splice over a whole section must remove it: %v", err)
	}
}

func FuzzReplace(f *testing.F) {
	for _, c := range documents {
		f.Add(c.text, "river", c.text)
		f.Add(c.text, "a", "x\r\ny\n")
	}
	for _, c := range edits {
		f.Add(c.text, c.section, c.body)
	}
	f.Fuzz(func(t *testing.T, text, name, body string) {
		d := notes.Parse(text)
		for _, live := range d.Sections() {
			named := d.Named(live.Name)
			if len(d.Malformed()) > 0 || named[len(named)-1] != live {
				continue
			}
			same, err := d.Replace(live.Name, d.Body(live))
			if err != nil || same.Text() != text {
				t.Fatalf("replacing %q by itself: %v\n%q", live.Name, err, text)
			}
		}
		if got, err := d.Replace(name, body); err == nil {
			checkAdded(t, d, got, name, body)
		}
		if got, err := d.Prepend(name, body); err == nil {
			if !strings.HasSuffix(got.Text(), text) || unified(got.Body(got.Sections()[0])) != unified(body) {
				t.Fatalf("Prepend(%q, %q) to %q gives %q", name, body, text, got.Text())
			}
			checkOthers(t, d.Sections(), d, got.Sections()[1:], got)
		}
	})
}

// checkAdded checks the three laws of Replace.
func checkAdded(t *testing.T, d, got *notes.Doc, name, body string) {
	t.Helper()
	named, before := got.Named(name), d.Named(name)
	live := named[len(named)-1]
	if unified(got.Body(live)) != unified(body) {
		t.Fatalf("Replace(%q, %q) in %q reads %q", name, body, d.Text(), got.Body(live))
	}
	if len(before) == 0 {
		if !strings.HasPrefix(got.Text(), d.Text()) {
			t.Fatalf("appending to %q changes it: %q", d.Text(), got.Text())
		}
		if d.Text() != "" && strings.HasSuffix(d.Text(), "\n") != strings.HasSuffix(got.Text(), "\n") {
			t.Fatalf("final newline differs: %q, %q", d.Text(), got.Text())
		}
		checkOthers(t, d.Sections(), d, got.Sections()[:len(got.Sections())-1], got)
		return
	}
	old := before[len(before)-1]
	if got.Text()[:old.Body.Start] != d.Text()[:old.Body.Start] ||
		!strings.HasSuffix(got.Text(), d.Text()[strings.LastIndex(d.Text()[:old.End], "\n")+1:]) {
		t.Fatalf("bytes outside the body of %q changed:\n%q\n%q", name, d.Text(), got.Text())
	}
	again, err := got.Replace(name, body)
	if err != nil || again.Text() != got.Text() {
		t.Fatalf("replacing again: %v\n%q", err, got.Text())
	}
}

func checkOthers(t *testing.T, before []notes.Section, d *notes.Doc, after []notes.Section, got *notes.Doc) {
	t.Helper()
	if len(before) != len(after) {
		t.Fatalf("%d sections became %d:\n%q\n%q", len(before), len(after), d.Text(), got.Text())
	}
	for i := range before {
		if d.Text()[before[i].Start:before[i].End] != got.Text()[after[i].Start:after[i].End] {
			t.Fatalf("section %q changed:\n%q\n%q", before[i].Name, d.Text(), got.Text())
		}
	}
}

// unified converts a text to LF line endings, without CRs that would become half of one.
func unified(text string) string {
	for strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return strings.TrimRight(text, "\r")
}
