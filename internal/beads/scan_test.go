package beads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// scanCases are lines and the 1-based byte column of their first error, 0 for valid ones.
var scanCases = []struct {
	line   string
	column int
}{
	{`{}`, 0},
	{` { } `, 0},
	{`{"a":1}`, 0},
	{`{"a":-0.5e+3,"b":[1,[],{}],"c":{"d":null},"e":true,"f":false}`, 0},
	{`{"a":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\udead"}`, 0},
	{"{\"a\":\"\xff\x7f\"}", 0},
	{`{"a":"exactly 8","b":"0123456","c":"01234567","d":"012345678"}`, 0},
	{`{"a" : 1 , "a":2}` + "\r", 0},
	{`{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + `}`, 0},
	{`{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + `}`, 5 + maxDepth},
	{`{"a":` + strings.Repeat(`{"b":`, maxDepth) + "1" + strings.Repeat("}", maxDepth) + `}`, 5*maxDepth + 1},
	{``, 1},
	{`[]`, 1},
	{`1`, 1},
	{`null`, 1},
	{`{`, 2},
	{`{,}`, 2},
	{`{"a"}`, 5},
	{`{"a":}`, 6},
	{`{"a":1,}`, 8},
	{`{"a":1 "b":2}`, 8},
	{`{"a":1}}`, 8},
	{`{"a":1} {"b":2}`, 9},
	{`{a:1}`, 2},
	{`{'a':1}`, 2},
	{`{"a":[1,]}`, 9},
	{`{"a":[1 2]}`, 9},
	{`{"a":{"b":1,}}`, 13},
	{`{"a":"x`, 8},
	{`{"a":"x\`, 9},
	{`{"a":"x\"}`, 11},
	{`{"a":"\x"}`, 8},
	{`{"a":"\u12g4"}`, 11},
	{`{"a":"\u12`, 11},
	{"{\"a\":\"0123456789\t\"}", 17},
	{"{\"a\":\"\x1f\"}", 7},
	{`{"a":01}`, 7},
	{`{"a":1.}`, 8},
	{`{"a":.5}`, 6},
	{`{"a":-}`, 7},
	{`{"a":1e}`, 8},
	{`{"a":+1}`, 6},
	{`{"a":tru}`, 9},
	{`{"a":nul`, 9},
	{`{"a":NaN}`, 6},
	{`{"a":1//x` + "\n}", 7},
}

func TestScan(t *testing.T) {
	for _, c := range scanCases {
		t.Run(brief([]byte(c.line)), func(t *testing.T) {
			_, bad := parseRecord([]byte(c.line))
			column := 0
			if bad != nil {
				column = bad.offset + 1
			}
			if column != c.column {
				t.Errorf("column %d (%v), want %d", column, bad, c.column)
			}
			checkValidity(t, []byte(c.line))
		})
	}
}

// checkValidity compares the scanner with encoding/json.
func checkValidity(t *testing.T, line []byte) {
	t.Helper()
	want := json.Valid(line) && bytes.HasPrefix(bytes.TrimLeft(line, " \t\r\n"), []byte("{"))
	r, bad := parseRecord(line)
	if got := bad == nil; got != want {
		t.Fatalf("sound: %v (%+v), encoding/json says %v: %q", got, bad, want, line)
	}
	if bad != nil {
		if bad.offset < 0 || bad.offset > len(line) {
			t.Fatalf("offset %d in %d bytes", bad.offset, len(line))
		}
		return
	}
	o := object(t, line)
	for i, m := range r.members {
		key := string(appendText(nil, m.key.of(line)))
		if _, ok := o[key]; !ok {
			t.Fatalf("key %q is not there for encoding/json: %q", key, line)
		}
		if s, ok := o[key].(string); ok && r.last(Key(key)) == i && r.Text(Key(key)) != s {
			t.Fatalf("%q reads %q, encoding/json has %q", key, r.Text(Key(key)), s)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, c := range scanCases {
		if len(c.line) < 1000 {
			f.Add([]byte(c.line))
		}
	}
	for _, c := range withCases {
		f.Add([]byte(c.line))
	}
	f.Add([]byte(`{"":1e1000}`)) // sound, but more than a float64 holds
	f.Fuzz(checkValidity)
}

// Strings are skipped in words of eight bytes: their end and errors must be found at every
// offset within a word, with any neighbours.
func TestScanEveryOffset(t *testing.T) {
	for n := range 40 {
		fill := strings.Repeat("\xc3\xa9\x7f!#[]~", 6)[:n]
		for _, end := range []string{`"}`, `\"x"}`, `\n"}`, "\x01\"}", `\"`, `"`, `\`, "", "\x1f", "!\""} {
			checkValidity(t, fmt.Appendf(nil, `{"k":"%s%s`, fill, end))
		}
	}
}
