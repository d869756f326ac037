package assistant

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

var instructions = []string{
	"", "\n", "\n\n", "\r\n", "# Rules\n", "# Rules", "# Rules\r\n", "# Rules\r\n\r\nx", "\ufeff# Rules\n", "\ufeff", "a\n\n\n",
	"a\r", "é\n<!-- BEGIN OTHER -->\n", "text <!-- BEGIN STIG v1 hash:x --> in a line\n", "```\n<!-- END STIG -->\n```\n",
}

func TestBlockKept(t *testing.T) {
	for _, text := range instructions {
		blockHolds(t, []byte(text))
	}
	blockHolds(t, nil)
}

// blockHolds checks that putting and removing the block is idempotent and reversible for one
// text.
func blockHolds(t *testing.T, source []byte) {
	t.Helper()
	if found, err := findBlock(string(source)); err != nil || found != nil {
		return
	}
	text, err := PutBlock(source)
	if err != nil {
		t.Fatalf("%q: %v", source, err)
	}
	if has, err := HasBlock(text); !has || err != nil {
		t.Fatalf("%q: no block in %q: %v", source, text, err)
	}
	if !bytes.HasPrefix(text, source) {
		t.Fatalf("%q became %q", source, text)
	}
	if again, err := PutBlock(text); err != nil || !bytes.Equal(again, text) {
		t.Fatalf("%q: put twice: %q, %v", source, again, err)
	}
	back, err := RemoveBlock(text)
	if err != nil || !bytes.Equal(back, source) || (back == nil) != (source == nil) {
		t.Fatalf("%q became %q and then %q: %v", source, text, back, err)
	}
	older := strings.Replace(string(text), "Never edit", "Do not edit", 1)
	if _, err := PutBlock([]byte(older)); !errors.Is(err, ErrEdited) {
		t.Fatalf("%q: an edit was not seen: %v", source, err)
	}
	if _, err := RemoveBlock([]byte(older)); !errors.Is(err, ErrEdited) {
		t.Fatalf("%q: an edit was not seen: %v", source, err)
	}
	if forced, err := ForceBlock([]byte(older)); err != nil || !bytes.Equal(forced, text) {
		t.Fatalf("%q: forced: %q: %v", source, forced, err)
	}
}

// TestBlockReplaced: the block of another stig version is replaced in place; the text after it
// and the line endings of the file are kept.
func TestBlockReplaced(t *testing.T) {
	old := "# Rules\r\n\r\n" + blockText("less\n", "\r\n") + "\r\nmore\r\n"
	got, err := PutBlock([]byte(old))
	want := "# Rules\r\n\r\n" + blockText(blockBody, "\r\n") + "\r\nmore\r\n"
	if err != nil || string(got) != want {
		t.Errorf("got %q: %v", got, err)
	}
	if back, err := RemoveBlock(got); err != nil || string(back) != "# Rules\r\nmore\r\n" {
		t.Errorf("got %q: %v", back, err)
	}
}

func TestBlockErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a\n" + Block() + "\n\n" + Block() + "\n": "a second stig block; the first begins on line 2",
		"a\n" + blockBegin + "0 -->\nb\n":         "2: unterminated stig block",
	} {
		for name, act := range map[string]func([]byte) ([]byte, error){"put": PutBlock, "remove": RemoveBlock, "force": ForceBlock} {
			if _, err := act([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
	}
}

func FuzzBlock(f *testing.F) {
	for _, text := range instructions {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { blockHolds(t, text) })
}
