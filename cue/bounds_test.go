package cue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/cue"
)

// Each of these would keep evaluation busy for minutes, or use up all memory.
func TestFilesThatGrow(t *testing.T) {
	doubled := "_a0: {b: 1}\n"
	for i := 1; i < 30; i++ {
		doubled += fmt.Sprintf("_a%d: {x: _a%d, y: _a%d}\n", i, i-1, i-1)
	}
	for name, test := range map[string]struct{ source, err string }{
		"for":       {"_x: [1, 2]\n_l: [for i in _x for j in _x {i}]", ": for is not allowed"},
		"let":       {strings.ReplaceAll(strings.ReplaceAll(doubled, "\n_a", "\nlet _a"), ": {x", " = {x"), "f.cue:1:1: grows too large"},
		"multiply":  {`d: "x" * 2000000000`, "f.cue:1:4: * is not allowed"},
		"call":      {"import \"list\"\n_l: list.Repeat([1], 1000000000)", "f.cue:2:5: must be a call of one of"},
		"doubling":  {doubled, "f.cue:1:1: grows too large"},
		"deep":      {strings.Repeat("a: ", 5000) + "1", "nested too deeply"},
		"deep list": {"a: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "nested too deeply"},
		"illegal":   {"a: " + strings.Repeat("\\", 65000), "f.cue:1:4: illegal character"},
		"NUL":       {"a: " + strings.Repeat("\x00", 65000), "f.cue:1:4: illegal character"},
		"attribute": {"a: " + strings.Repeat("@(", 30000), "f.cue:1:1: has more than 64 attributes"},
		"inserted":  {`a: "` + strings.Repeat(`\(`, 30000), `f.cue:1:4: \(…) is not allowed`},
		"ifs":       {strings.Repeat("if a {", 10000), "is nested too deeply"},
		"chain":     {strings.Repeat("a:", 30000), "is nested too deeply"},
		"long":      {"// " + strings.Repeat("x", 64<<10), "f.cue:1:1: is longer than 64 KiB"},
		"long list": {"a: " + strings.Repeat("[", 1<<20), "f.cue:1:1: is longer than 64 KiB"}, // before it is parsed
	} {
		begin := time.Now()
		err := cue.Decode(`#C: {d?: string}`, "#C", "f.cue", []byte(test.source), &struct{}{})
		if err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %.200v", name, err)
		}
		if _, err := cue.Embedded().Narrow("f.cue", []byte(test.source)); err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %.200v", name, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
}
