package cli

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// TestWrapped checks the output for a terminal of 80 columns: no line of several words is
// wider, no word is lost or broken, and indentation is kept.
func TestWrapped(t *testing.T) {
	tests := []struct {
		line string
		most int
		want []string
	}{
		{"", 10, []string{""}},
		{"one two three", 8, []string{"one two", "three"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"  one two", 6, []string{"  one", "  two"}},
		{"- one two three", 7, []string{"- one", "  two", "  three"}},
		{"10. one two", 7, []string{"10. one", "    two"}},
		{"abcdefghij kl", 4, []string{"abcdefghij", "kl"}},
		{"in /a/long/path", 8, []string{"in", "/a/long/path"}},
		{"青い船が", 4, []string{"青い", "船が"}},
		{"青い船が", 5, []string{"青い", "船が"}},
		{"e\u0301e\u0301e\u0301 x", 3, []string{"e\u0301e\u0301e\u0301", "x"}},
		{"             deep", 8, []string{"deep"}},
	}
	for _, test := range tests {
		got := Wrapped(test.line, test.most)
		if !slices.Equal(got, test.want) {
			t.Errorf("%q at %d: %q, want %q", test.line, test.most, got, test.want)
		}
	}
}

func FuzzWrapped(f *testing.F) {
	f.Add("one two three", 8)
	f.Add("  - 青い船が明日の朝六時に来る x", 9)
	f.Fuzz(func(t *testing.T, line string, most int) {
		most = 24 + (most&0x7fffffff)%100
		line = workspace.Visible(strings.ReplaceAll(line, "\n", " "))
		var words strings.Builder
		for _, part := range Wrapped(line, most) {
			if visible.Columns(part) > most && (isWide(part) || len(strings.Fields(part)) > 1) {
				t.Errorf("%q at %d: %q has %d columns", line, most, part, visible.Columns(part))
			}
			words.WriteString(strings.Join(strings.Fields(part), ""))
		}
		if want := strings.Join(strings.Fields(line), ""); words.String() != want {
			t.Errorf("%q at %d: the words became %q", line, most, words.String())
		}
	})
}

// TestTerminalColours checks that a terminal with colours gets them, and one without does not.
func TestTerminalColours(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, test := range []struct {
		out  io.Writer
		env  map[string]string
		want bool
	}{
		{terminal, map[string]string{"TERM": "xterm"}, true},
		{terminal, map[string]string{"TERM": "dumb"}, false},
		{terminal, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{null, map[string]string{"TERM": "xterm"}, false},
	} {
		a := Front(nil, test.out, io.Discard, &workspace.Run{Getenv: func(name string) string { return test.env[name] }})
		if got := a.colours(); got != test.want {
			t.Errorf("%v: %v", test.env, got)
		}
	}
}

// TestColours checks the precedence of flag, environment and terminal.
func TestColours(t *testing.T) {
	tests := []struct {
		flag bool
		env  map[string]string
		want bool
	}{
		{false, nil, false}, // a buffer is not a terminal
		{false, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		{false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		{false, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, false},
		{false, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": ""}, true},
		{true, map[string]string{"CLICOLOR_FORCE": "1"}, false},
	}
	for _, test := range tests {
		var out strings.Builder
		a := Front(nil, &out, nil, &workspace.Run{Getenv: func(name string) string { return test.env[name] }})
		a.NoColor = test.flag
		s := a.Sheet()
		s.Line(Strong, "id \x1b[31m")
		if err := a.Show(s); err != nil {
			t.Fatal(err)
		}
		if got := strings.HasPrefix(out.String(), "\x1b[1m"); got != test.want || strings.Contains(out.String(), "\x1b[31m") {
			t.Errorf("%v: printed %q", test, out.String())
		}
	}
}
