package doctor

import (
	"bytes"
	"testing"
)

// TestAttributesRestored: removing what setup added restores the file byte for byte, whatever
// it ends with.
func TestAttributesRestored(t *testing.T) {
	const line = ".beads/issues.jsonl merge=stig"
	for _, text := range []string{
		"", "\n", "*.png binary\n", "*.png binary", "*.png binary\r\n", "*.png binary\r\n*.md text", "a\r\nb\n\n", "# é\n\n",
	} {
		restored(t, []byte(text), line)
	}
	restored(t, nil, line)
	other := []byte("x" + line + "\n")
	if got := removeLine(other, line); !bytes.Equal(got, other) {
		t.Errorf("removed a line that is another: %q", got)
	}
	// with other lines after it
	if got := removeLine(append(addLine([]byte("a\n"), line), "b\n"...), line); string(got) != "a\nb\n" {
		t.Errorf("got %q", got)
	}
}

func restored(t *testing.T, text []byte, line string) {
	t.Helper()
	added := addLine(text, line)
	if bytes.Equal(added, text) {
		t.Errorf("%q: nothing was added", text)
	}
	if got := removeLine(added, line); !bytes.Equal(got, text) || (got == nil) != (text == nil) {
		t.Errorf("%q became %q and then %q", text, added, got)
	}
}

func TestSetsMerge(t *testing.T) {
	for text, want := range map[string]bool{
		".beads/issues.jsonl merge=beads\n":       true,
		"*.jsonl -diff -merge":                    true,
		"# x\n\n**\tbinary\r\n":                   true,
		"*.jsonl !merge":                          true,
		"*.jsonl text eol=lf\n":                   false,
		"#*.jsonl merge=beads\n":                  false,
		"other.jsonl merge=beads\n*.png binary\n": false,
		"[ merge=beads":                           false,
		"":                                        false,
	} {
		if got := setsMerge(text, ".beads/issues.jsonl"); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestAttributePattern(t *testing.T) {
	for path, want := range map[string]string{
		".beads/issues.jsonl": ".beads/issues.jsonl",
		"issues.jsonl":        "/issues.jsonl",
		"a b/i.jsonl":         `"a b/i.jsonl"`,
		`a"b\/i.jsonl`:        `"a\"b\\/i.jsonl"`,
	} {
		if got := attributePattern(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
