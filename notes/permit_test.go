package notes

import (
	"errors"
	"strings"
	"testing"
)

const logbook = `Kept by the harbour master.

<!-- log -->
calm
<!-- /log -->

Between the two.
<!-- tide -->
high
<!-- /tide -->
The end.`

// permits are shared with the fuzz target.
var permits = []struct {
	name          string
	permit        Permit
	before, after string
	want          string // "" if it is allowed
}{
	{"nothing", Permit{}, logbook, logbook, ""},
	{"asked for", Permit{Change: []string{"tide"}}, logbook, strings.Replace(logbook, "high", "low\nand falling", 1), ""},
	{"not asked for", Permit{Change: []string{"log"}}, logbook, strings.Replace(logbook, "high", "low", 1),
		`notes:8: the edit would change section "tide", which was not requested`},
	{"dropped", Permit{Change: []string{"log"}}, logbook, strings.Replace(logbook, "<!-- tide -->\nhigh\n<!-- /tide -->\n", "", 1),
		`notes:8: the edit would lose section "tide"`},
	{"the changed one dropped", Permit{Change: []string{"tide"}}, logbook, strings.Replace(logbook, "<!-- tide -->\nhigh\n<!-- /tide -->\n", "", 1),
		`notes:8: the edit would lose section "tide"`},
	{"all lost", Permit{Change: []string{"log"}}, logbook, "", `notes:3: the edit would lose section "log"`},
	{"text lost", Permit{Change: []string{"log", "tide"}}, logbook, strings.Replace(logbook, "Between the two.\n", "", 1),
		`notes:7: the edit would lose the line "Between the two."`},
	{"text added", Permit{Change: []string{"tide"}}, logbook, strings.Replace(logbook, "Between", "Far\nBetween", 1),
		`notes:7: the edit would add the line "Far" before the line "Between the two."`},
	{"text added at the end", Permit{Change: []string{"tide"}}, logbook, logbook + "\nTruly.",
		`notes:12: the edit would add the line "Truly.", which was not requested`},
	{"section added", Permit{Change: []string{"wind"}}, logbook, "<!-- wind -->\nwest\n<!-- /wind -->\n\n" + logbook, ""},
	{"other section added", Permit{Change: []string{"wind"}}, logbook, logbook + "\n\n<!-- rain -->\nnone\n<!-- /rain -->",
		`notes:13: the edit would add section "rain"`},
	{"moved", Permit{}, "<!-- a -->\n<!-- /a -->\n<!-- b -->\n<!-- /b -->", "<!-- b -->\n<!-- /b -->\n<!-- a -->\n<!-- /a -->",
		`notes:1: the edit would add section "b" before section "a"`},
	{"earlier of two", Permit{Change: []string{"a"}}, "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n2\n<!-- /a -->", "<!-- a -->\n3\n<!-- /a -->\n<!-- a -->\n2\n<!-- /a -->",
		`notes:1: the edit would change section "a"`},
	{"later of two", Permit{Change: []string{"a"}}, "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n2\n<!-- /a -->", "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n3\n<!-- /a -->", ""},
	{"one of two dropped", Permit{Change: []string{"a"}}, "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n2\n<!-- /a -->", "<!-- a -->\n2\n<!-- /a -->",
		`notes:1: the edit would lose section "a"`},
	{"united", Permit{Unite: []string{"a"}}, "<!-- a -->\n1\n<!-- /a -->\n\n---\n\n<!-- a -->\n2\n<!-- /a -->\nx", "<!-- a -->\n2\n<!-- /a -->\nx", ""},
	{"united to nothing", Permit{Unite: []string{"a"}}, "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n2\n<!-- /a -->\nx", "x",
		`notes:4: the edit would lose section "a"`},
	{"united with the rest", Permit{Unite: []string{"a"}}, "<!-- a -->\n1\n<!-- /a -->\n<!-- a -->\n2\n<!-- /a -->\nx", "<!-- a -->\n2\n<!-- /a -->",
		`notes:7: the edit would lose the line "x"`},
	{"broken before", Permit{}, "<!-- a -->", "", "notes:1:1: a: never closed"},
	{"broken after", Permit{Change: []string{"tide"}}, logbook, strings.Replace(logbook, "<!-- /tide -->", "", 1), "malformed notes: notes:8:1: tide: never closed"},
}

func TestPermit(t *testing.T) {
	for _, c := range permits {
		for _, crlf := range []bool{false, true} {
			before, after := c.before, c.after
			if crlf {
				before, after = strings.ReplaceAll(before, "\n", "\r\n"), strings.ReplaceAll(after, "\n", "\r\n")
			}
			err := c.permit.Check(before, after)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s (CR LF %v): %v, want %s", c.name, crlf, err, c.want)
			}
		}
	}
	if _, ok := errors.AsType[*Error](Permit{}.Check("<!-- a -->", "")); !ok {
		t.Error("broken before: no *Error")
	}
}

// FuzzPermit edits notes through Doc, which Check must allow, and removes a section, which it
// must not.
func FuzzPermit(f *testing.F) {
	for _, c := range permits {
		f.Add(c.before, "tide", "body")
		f.Add(c.after, "log", "two\nlines")
	}
	f.Fuzz(func(t *testing.T, text, name, body string) {
		d := Parse(text)
		permit := Permit{Change: []string{name}}
		for _, edit := range []func(string, string) (*Doc, error){d.Replace, d.Prepend} {
			after, err := edit(name, body)
			if err != nil || len(after.Named(name)) > max(1, len(d.Named(name))) {
				continue
			}
			if err := permit.Check(text, after.Text()); err != nil {
				t.Errorf("%v\nbefore %q\nafter %q", err, text, after.Text())
			}
		}
		for _, s := range d.Sections() {
			gone := text[:s.Start] + text[s.End:]
			if err := permit.Check(text, gone); err == nil {
				t.Errorf("the loss of %q passed:\nbefore %q\nafter %q", s.Name, text, gone)
			}
		}
	})
}
