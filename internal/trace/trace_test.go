package trace_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/trace"
)

const tide = `finding: The office publishes a month at a time

The table for December appears on the 24th; there is no feed.

url: https://example.org/tides
seen: once
  and again
stig: finding/1`

func TestParse(t *testing.T) {
	got, err := trace.Parse(strings.ReplaceAll(tide, "\n", "\r\n") + "\r\n")
	want := trace.Trace{
		Type: "finding", Version: "1", Summary: "The office publishes a month at a time",
		Body:     "The table for December appears on the 24th; there is no feed.",
		Trailers: []trace.Trailer{{Key: "url", Value: "https://example.org/tides"}, {Key: "seen", Value: "once and again"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // "" for a comment
	}{
		{"", ""},
		{"stig: finding/1", ""},
		{"finding: no trailer", ""},
		{"a line\n\nstig: finding", ""},
		{"a line\n\nstig: /1", ""},
		{"a line\n\nstig: finding/", ""},
		{"finding: x\n\nstig: finding/1\n\nand more", ""},
		{"a line\n\nstig: finding/1", `must begin with "finding: ", as its last line says; found "a line"`},
		{"log: x\n\nstig: finding/1", `must begin with "finding: ", as its last line says; found "log: x"`},
	} {
		_, err := trace.Parse(c.text)
		if comment := errors.Is(err, trace.ErrComment); err == nil || comment != (c.want == "") || !comment && err.Error() != c.want {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

// Lines in a body that look like trailers stay in the body.
func TestBodyWithLookAlikes(t *testing.T) {
	body := "url: not a trailer\nstig: finding/1\n\n  indented: x\n\n```\n\nstig: log/1\n```"
	made, err := trace.Draft{Type: "finding", Content: map[string]any{"summary": "x", "file": "a.go"}, Body: body}.Trace()
	if err != nil {
		t.Fatal(err)
	}
	read, err := trace.Parse(made.Text())
	if err != nil || read.Body != body || len(read.Trailers) != 1 {
		t.Errorf("%+v, %v", read, err)
	}
	if text := "deep/type: x\n\nstig: deep/type/2"; !reflect.DeepEqual(mustParse(t, text), trace.Trace{Type: "deep/type", Version: "2", Summary: "x"}) {
		t.Error(mustParse(t, text))
	}
	if got := mustParse(t, "log: x\nlevel: info\nstig: log/1"); got.Body != "" || len(got.Trailers) != 1 {
		t.Errorf("without a blank line: %+v", got)
	}
}

func mustParse(t *testing.T, text string) trace.Trace {
	t.Helper()
	got, err := trace.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestName(t *testing.T) {
	one := trace.Name("ann", tide)
	if !trace.IsName(one) || one != trace.Name("ann", "\n"+strings.ReplaceAll(tide, "\n", "\r\n")+" ") {
		t.Error(one)
	}
	if one == trace.Name("bo", tide) || one == trace.Name("ann", tide+"1") {
		t.Error("one name for two")
	}
	for _, other := range []string{"", "t-", "t-aaaaaaaaa", "t-AAAAAAAAAA", "t-aaaaaaaaa1", "x-aaaaaaaaaa"} {
		if trace.IsName(other) {
			t.Error(other)
		}
	}
}

func TestOf(t *testing.T) {
	record, err := beads.ParseRecord([]byte(`{"id":"a-1","comments":[{"author":"ann","text":"plain"},{"author":"bo","text":"log: done\n\nlevel: info\nstig: log/1","created_at":"2026-11-01T00:00:00Z"},{"author":"bo","text":"x\n\nstig: log/1"},{"text":"nobody"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	list := trace.Of(record)
	for _, l := range list {
		types = append(types, l.Type)
	}
	if !reflect.DeepEqual(types, []string{"comment", "log", "comment", "comment"}) || list[2].Flaw == nil || list[0].Flaw != nil || list[3].Body != "nobody" {
		t.Errorf("%+v", list)
	}
	if trace.Sort(list); list[3].Type != "log" {
		t.Errorf("%+v", list)
	}
}

// FuzzText compares what is written with what is read.
func FuzzText(f *testing.F) {
	f.Add("x", "body", "url", "https://example.org")
	f.Add("x", "```\nstig: log/1", "a", "b\n c")
	f.Fuzz(func(t *testing.T, summary, body, key, value string) {
		made, err := trace.Draft{Type: "finding", Content: map[string]any{"summary": summary, key: value}, Body: body}.Trace()
		if err != nil {
			return
		}
		read, err := trace.Parse(made.Text())
		if err != nil {
			t.Fatalf("%q: %v", made.Text(), err)
		}
		if content, _ := read.Content(); content["summary"] != strings.TrimSpace(summary) && key != "summary" || content[key] != strings.TrimSpace(value) {
			t.Fatalf("%q reads as %v", made.Text(), content)
		}
		if again := read.Text(); again != made.Text() {
			t.Fatalf("%q became %q", made.Text(), again)
		}
	})
}
