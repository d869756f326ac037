package cue_test

import (
	"strings"
	"testing"

	"stig/cue"
)

func TestDecode(t *testing.T) {
	const schema = `#C: {a?: {b?: bool, c?: int & >0}, d?: string, l?: [...=~"^a$"], p?: [!="", ...string]}`
	type target struct {
		A struct {
			B bool `json:"b"`
			C int  `json:"c"`
		} `json:"a"`
		D string `json:"d"`
	}
	tests := []struct{ name, source, err string }{
		{"cue", "a: b: true\n", ""},
		{"json", `{"a": {"b": true}}`, ""},
		{"empty", "", ""},
		{"unknown key", "a: {\n\te: 1\n}", "f.cue:2:2: a.e: is an unknown key; must be one of b, c"},
		{"unknown key above others", "e: f: [1]", "f.cue:1:1: e: is an unknown key; must be one of a, d, l, p"},
		{"wrong type", "d: 1", "f.cue:1:4: d: must be a quoted text; found 1"},
		{"json wrong type", `{"a": {"b": "yes"}}`, `f.cue:1:13: a.b: must be true or false; found "yes"`},
		{"out of range", "a: c: 0", "f.cue:1:7: a.c: must be greater than 0; found 0"},
		{"not concrete", "d: string", "f.cue:1:4: d: must be a quoted text; found string"},
		{"no list", `l: "x"`, `f.cue:1:4: l: must be a list in brackets; found "x"`},
		{"wrong element", `l: ["a", "b"]`, `f.cue:1:10: l.1: must match ^a$; found "b"`},
		{"empty element", `p: [""]`, `f.cue:1:5: p.0: must not be empty; found ""`},
		{"empty list", `p: []`, `f.cue:1:4: p: must not be empty; found []`},
		{"no struct", `a: [1, 2]`, `f.cue:1:4: a: must be keys in braces; found [1, 2]`},
		{"nothing but a list", `[1]`, `f.cue:1:1: must be keys in braces; found [1]`},
		{"long", `a: b: "` + strings.Repeat("x", 100) + `"`, `found "` + strings.Repeat("x", 58) + `…`},
		{"two", "d: 1\na: b: 2", "f.cue:1:4: d: must be a quoted text; found 1\nf.cue:2:7: a.b: must be"},
		{"unknown keys beside another mistake", "d: 1\ne: 2\na: {c: 0, f: 3}", "f.cue:1:4: d: must be a quoted text; found 1\n" +
			"f.cue:2:1: e: is an unknown key; must be one of a, d, l, p\nf.cue:3:8: a.c: must be greater than 0; found 0\nf.cue:3:11: a.f: is an unknown key; must be one of b, c"},
		{"conflict in the file", `d: "x"` + "\n" + `d: "y"`, "f.cue:"},
		{"syntax", "a: {", "f.cue:1:"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := target{D: "kept"}
			got.A.C = 7
			err := cue.Decode(schema, "#C", "f.cue", []byte(test.source), &got)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want one at %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.D != "kept" || got.A.C != 7 || got.A.B != (test.source != "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}
