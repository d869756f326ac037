package cue_test

import (
	"strings"
	"testing"

	"stig/cue"
)

func TestDecode(t *testing.T) {
	const schema = `#C: {a?: {b?: bool, c?: int & >0}, d?: string}`
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
		{"unknown key", "a: {\n\te: 1\n}", "f.cue:2:2: "},
		{"wrong type", "d: 1", "f.cue:1:4: "},
		{"out of range", "a: c: 0", "f.cue:1:7: "},
		{"not concrete", "d: string", "incomplete"},
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
