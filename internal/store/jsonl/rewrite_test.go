package jsonl

import (
	"errors"
	"os"
	"strings"
	"testing"

	"stig/internal/beads"
)

// TestRewrite applies the splices and nothing else, to a store that no edit accepts.
func TestRewrite(t *testing.T) {
	const before = "{\"id\":\"a\"}\r\n<<<<<<< x\n=======\n>>>>>>> y\n{broken\n"
	s := writeStore(t, before)
	drop := func(text string) ([]Splice, error) {
		return []Splice{{Start: strings.Index(text, "<"), End: strings.Index(text, "{broken"), Text: "{\"id\":\"b\"}\n"}}, nil
	}
	content := func() string {
		text, err := os.ReadFile(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if err := Open(s).Rewrite(t.Context(), beads.Options{DryRun: true}, drop); err != nil || content() != before {
		t.Errorf("dry run: %v, %q", err, content())
	}
	refused := errors.New("no")
	if err := Open(s).Rewrite(t.Context(), beads.Options{}, func(string) ([]Splice, error) { return nil, refused }); err != refused || content() != before {
		t.Errorf("refused: %v, %q", err, content())
	}
	if err := Open(s).Rewrite(t.Context(), beads.Options{}, drop); err != nil || content() != "{\"id\":\"a\"}\r\n{\"id\":\"b\"}\n{broken\n" {
		t.Errorf("got %v, %q", err, content())
	}
}

// TestRewriteSeesOthers: what another program writes meanwhile stays, and fn runs again on it.
func TestRewriteSeesOthers(t *testing.T) {
	s := writeStore(t, "{\"id\":\"a\"}\n")
	calls := 0
	err := Open(s).Rewrite(t.Context(), beads.Options{}, func(text string) ([]Splice, error) {
		if calls++; calls == 1 {
			if err := os.WriteFile(s.Path, []byte(text+"{\"id\":\"b\"}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return []Splice{{Start: 0, End: 0, Text: "{\"id\":\"0\"}\n"}}, nil
	})
	text, e := os.ReadFile(s.Path)
	if want := "{\"id\":\"0\"}\n{\"id\":\"a\"}\n{\"id\":\"b\"}\n"; err != nil || e != nil || calls != 2 || string(text) != want {
		t.Errorf("%v, %v, %d calls, %q", err, e, calls, text)
	}
}
