package cue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	cuelang "cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"

	"stig/cue"
	"stig/schemas"
)

func Example() {
	schema := cue.Embedded()
	values := []cue.Value{
		{Name: "schema_version", Text: "1", Kind: cue.Number},
		{Name: "cynefin", Text: "complexx", Line: 5, Column: 13},
		{Name: "surprise", Text: "1.1", Kind: cue.Number, Line: 6, Column: 14},
		{Name: "progress", Text: "blocked"},
		{Name: "escalation", Text: "none"},
		{Name: "planning_depth", Label: "planning-depth", Text: "medium", Line: 9, Column: 20},
	}
	for _, v := range schema.Check("#SignalTable", values) {
		fmt.Printf("%d:%d: %s\n", v.Line, v.Column, v.Message)
	}
	// Output:
	// 5:13: cynefin: must be one of clear, complicated, complex, chaotic; found "complexx"
	// 6:14: surprise: must be between 0.0 and 1.0; found 1.1
	// 9:20: planning-depth: must be one of shallow, standard, deep, probe; found "medium"
}

// table returns the values of a complete evidence table, with some replaced.
func table(replaced ...cue.Value) []cue.Value {
	values := []cue.Value{
		{Name: "schema_version", Text: "1", Kind: cue.Number},
		{Name: "cynefin", Text: "complicated"},
		{Name: "surprise", Text: "0.0", Kind: cue.Number},
		{Name: "progress", Text: "not-started"},
		{Name: "escalation", Text: "none"},
		{Name: "planning_depth", Text: "standard"},
		{Name: "confidence", Text: "undemonstrated"},
		{Name: "evidence_freshness", Text: "absent", Kind: cue.Null},
		{Name: "regression_guard", Text: "none"},
	}
	for _, r := range replaced {
		for i, v := range values {
			if v.Name == r.Name {
				values[i] = r
			}
		}
	}
	return values
}

const evidence = "#SignalTableEvidence"

func messages(violations []cue.Violation) string {
	var lines []string
	for _, v := range violations {
		lines = append(lines, v.Message)
	}
	return strings.Join(lines, "\n")
}

// Each possible mistake gives one sentence, prefixed by the signal.
func TestCheckMessages(t *testing.T) {
	tests := []struct {
		name  string
		value cue.Value
		want  string
	}{
		{"valid", cue.Value{Name: "cynefin", Text: "chaotic"}, ""},
		{"integer surprise", cue.Value{Name: "surprise", Text: "1", Kind: cue.Number}, ""},
		{"date", cue.Value{Name: "evidence_freshness", Text: "2028-02-29"}, ""},
		{"version", cue.Value{Name: "schema_version", Text: "2", Kind: cue.Number}, `schema_version: must be 1; found 2`},
		{"version as a string", cue.Value{Name: "schema_version", Text: "1"}, `schema_version: must be 1; found "1"`},
		{"version as a fraction", cue.Value{Name: "schema_version", Text: "1.0", Kind: cue.Number}, `schema_version: must be 1; found 1.0`},
		{"upper case", cue.Value{Name: "cynefin", Text: "Complex"}, `cynefin: must be one of clear, complicated, complex, chaotic; found "Complex"`},
		{"empty", cue.Value{Name: "cynefin", Text: ""}, `cynefin: must be one of clear, complicated, complex, chaotic; found ""`},
		{"above", cue.Value{Name: "surprise", Text: "1.1", Kind: cue.Number}, `surprise: must be between 0.0 and 1.0; found 1.1`},
		{"just above", cue.Value{Name: "surprise", Text: "1.00000000000000000000000000001", Kind: cue.Number}, `surprise: must be between 0.0 and 1.0; found 1.00000000000000000000000000001`},
		{"below", cue.Value{Name: "surprise", Text: "-0.1", Kind: cue.Number}, `surprise: must be between 0.0 and 1.0; found -0.1`},
		{"comma", cue.Value{Name: "surprise", Text: "0,4", Kind: cue.Number}, `surprise: must be between 0.0 and 1.0; found "0,4"`},
		{"quotes", cue.Value{Name: "progress", Text: `"done" \(x)`}, `progress: must be one of not-started, exploring, implementing, verifying, blocked; found "\"done\" \\(x)"`},
		{"no such day", cue.Value{Name: "evidence_freshness", Text: "2026-02-29"}, `evidence_freshness: must be a date (YYYY-MM-DD) or absent; found "2026-02-29"`},
		{"label", cue.Value{Name: "regression_guard", Label: "regression-guard", Text: "absent"}, `regression-guard: must be one of none, manual, automated, runtime; found "absent"`},
	}
	schema := cue.Embedded()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.value.Line, tt.value.Column = 7, 11
			got := schema.Check(evidence, table(tt.value))
			if m := messages(got); m != tt.want {
				t.Errorf("got  %s\nwant %s", m, tt.want)
			}
			for _, v := range got {
				if v.Line != 7 || v.Column != 11 || v.Found != tt.value.Text || v.Name != tt.value.Name {
					t.Errorf("place or value lost: %+v", v)
				}
			}
		})
	}
}

func TestCheckFieldsMissingAndUnknown(t *testing.T) {
	schema := cue.Embedded()
	values := append([]cue.Value{{Name: "mood", Text: "good"}}, table()[2:]...)
	values[1].Text = "7"
	values = append(values, cue.Value{Name: "surprise", Text: "0.5", Kind: cue.Number})
	want := strings.Join([]string{
		`mood: is not a field of the schema (known fields: confidence, evidence_freshness, regression_guard, schema_version, cynefin, surprise, progress, escalation, planning_depth); found "good"`,
		`surprise: must be between 0.0 and 1.0; found 7`,
		`surprise: must be given once; found 0.5`,
		`schema_version: field is required`,
		`cynefin: field is required`,
	}, "\n")
	if got := messages(schema.Check(evidence, values)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := messages(schema.Check("#SignalTable", table())); !strings.HasPrefix(got, "confidence: is not a field") {
		t.Errorf("the six-row table took an evidence signal: %s", got)
	}
}

// The same texts elsewhere get the same verdict with the new place.
func TestCheckRemembersWithoutPlaces(t *testing.T) {
	schema := cue.Embedded()
	for line := 1; line < 4; line++ {
		got := schema.Check(evidence, table(cue.Value{Name: "cynefin", Text: "odd", Line: line, Column: line + 1}))
		if len(got) != 1 || got[0].Line != line || got[0].Column != line+1 {
			t.Fatalf("got %+v", got)
		}
		got[0].Allowed[0] = "spoiled by the caller"
	}
	if again := schema.Check(evidence, table(cue.Value{Name: "cynefin", Text: "odd"})); again[0].Allowed[0] != "clear" {
		t.Errorf("a caller changed what is remembered: %v", again[0].Allowed)
	}
	// Texts whose concatenation is equal must not be confused.
	a := schema.Check(evidence, table(cue.Value{Name: "cynefin", Label: "a", Text: "b c"}))
	b := schema.Check(evidence, table(cue.Value{Name: "cynefin", Label: "a b", Text: "c"}))
	if a[0].Message == b[0].Message {
		t.Errorf("verdicts mixed up: %q", a[0].Message)
	}
}

func TestSchemaAnswers(t *testing.T) {
	schema := cue.Embedded()
	if got, err := schema.Enum("#CynefinDomain"); err != nil || strings.Join(got, " ") != "clear complicated complex chaotic" {
		t.Errorf("Enum: %v %v", got, err)
	}
	if got, err := schema.Enum("#SignalTable.progress"); err != nil || len(got) != 5 {
		t.Errorf("Enum through a required field: %v %v", got, err)
	}
	if got, err := schema.Enum("#EvidenceFreshness"); err != nil || got != nil {
		t.Errorf("Enum of what is no enumeration: %v %v", got, err)
	}
	if low, high, err := schema.Range("#Surprise"); err != nil || low != "0.0" || high != "1.0" {
		t.Errorf("Range: %v %v %v", low, high, err)
	}
	if _, _, err := schema.Range("#Progress"); err == nil {
		t.Error("Range of an enumeration has no error")
	}
	if _, err := schema.Enum("#Nothing"); err == nil || err.Error() != "the schema has no #Nothing" {
		t.Errorf("unknown path: %v", err)
	}
	fields, err := schema.Fields("#Thresholds")
	want := []cue.Field{
		{Name: "epic_surprise", Text: "2.0", Kind: cue.Number},
		{Name: "convergence", Kind: cue.Struct},
		{Name: "divergence", Text: "0.3", Kind: cue.Number},
		{Name: "stale_days", Text: "30", Kind: cue.Number},
		{Name: "pattern_share", Text: "0.2", Kind: cue.Number},
		{Name: "habit_share", Text: "0.5", Kind: cue.Number},
		{Name: "too_few", Text: "4", Kind: cue.Number},
	}
	if err != nil || fmt.Sprint(fields) != fmt.Sprint(want) {
		t.Errorf("Fields: %v %v", fields, err)
	}
}

// stock CUE prints the sentences that stig derives, so nobody can change the alternatives and
// forget the words.
func TestSchemaSentences(t *testing.T) {
	root := cuecontext.New().CompileString(schemas.StigmergicWorkflow)
	schema := cue.Embedded()
	for _, v := range schema.Check(evidence, table(
		cue.Value{Name: "schema_version", Text: "?"}, cue.Value{Name: "cynefin", Text: "?"},
		cue.Value{Name: "surprise", Text: "?"}, cue.Value{Name: "progress", Text: "?"},
		cue.Value{Name: "escalation", Text: "?"}, cue.Value{Name: "planning_depth", Text: "?"},
		cue.Value{Name: "confidence", Text: "?"}, cue.Value{Name: "evidence_freshness", Text: "?"},
		cue.Value{Name: "regression_guard", Text: "?"})) {
		def := root.LookupPath(cuelang.ParsePath(evidence))
		err := def.FillPath(cuelang.MakePath(cuelang.Str(v.Name)), "?").Validate()
		if err == nil {
			t.Fatalf("%s: stock cue takes %q", v.Name, "?")
		}
		words, _, _ := strings.Cut(strings.TrimPrefix(v.Message, v.Name+": "), ";")
		if !strings.HasSuffix(err.Error(), words) {
			t.Errorf("%s: schema says %q, stig says %q", v.Name, err, words)
		}
	}
}

// reference is the schema file and a JSON text, evaluated by CUE alone.
func reference(t *testing.T, values []cue.Value) bool {
	t.Helper()
	ctx := cuecontext.New()
	root := ctx.CompileString(schemas.StigmergicWorkflow)
	var json strings.Builder
	for _, v := range values {
		text := fmt.Sprintf("%q", v.Text)
		switch v.Kind {
		case cue.Number:
			text = v.Text
		case cue.Null:
			text = "null"
		}
		fmt.Fprintf(&json, "%q: %s\n", v.Name, text)
	}
	data := ctx.CompileString(json.String())
	if data.Err() != nil {
		t.Fatalf("%s: %v", json.String(), data.Err())
	}
	whole := root.LookupPath(cuelang.ParsePath(evidence)).Unify(data)
	return whole.Validate(cuelang.Concrete(true)) == nil
}

func TestCheckAgreesWithCUE(t *testing.T) {
	schema := cue.Embedded()
	texts := []string{"", "1", "2", "clear", "complicated", "complex", "chaotic", "Clear", "not-started", "blocked",
		"done", "none", "pending", "resolved", "shallow", "probe", "medium", "regressed", "manual", "runtime",
		"2026-11-20", "2026-11-31", "20261120", "absent", "null", "0.4", "1.0"}
	numbers := []string{"0", "1", "2", "0.0", "0.15", "1.0", "1.0000001", "-1", "-0.0", "1e-1", "1.00"}
	for k, v := range table() {
		for n, text := range texts {
			if (k+n)%8 == 0 || text == v.Text {
				agree(t, schema, cue.Value{Name: v.Name, Text: text})
			}
		}
		for n, text := range numbers {
			if (k+n)%8 == 0 {
				agree(t, schema, cue.Value{Name: v.Name, Text: text, Kind: cue.Number})
			}
		}
		agree(t, schema, cue.Value{Name: v.Name, Kind: cue.Null})
	}
}

func agree(t *testing.T, schema *cue.Schema, v cue.Value) {
	t.Helper()
	values := table(v)
	want := reference(t, values)
	if got := schema.Check(evidence, values); (len(got) == 0) != want {
		t.Errorf("%+v: stig finds %q, CUE valid is %v", v, messages(got), want)
	}
}

func TestNarrow(t *testing.T) {
	const source = `package stigmergic

#CynefinDomain: "clear" | "complicated"
#SignalTable: surprise: <=0.8
#SignalTable: {
	cynefin: _
	if cynefin == "clear" {
		surprise: <0.2
	}
}
_strict: "blocked"
#Progress: !=_strict
`
	narrowed, err := cue.Embedded().Narrow("team.cue", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if !narrowed.Narrowed() || cue.Embedded().Narrowed() {
		t.Error("Narrowed is wrong")
	}
	tests := []struct {
		values []cue.Value
		want   string
	}{
		{nil, ""},
		{[]cue.Value{{Name: "cynefin", Text: "complex"}}, `cynefin: must be one of clear, complicated; found "complex"`},
		{[]cue.Value{{Name: "surprise", Text: "0.9", Kind: cue.Number}}, `surprise: must be between 0.0 and 0.8; found 0.9`},
		{[]cue.Value{{Name: "progress", Text: "blocked"}}, `progress: must be one of not-started, exploring, implementing, verifying; found "blocked"`},
		{[]cue.Value{{Name: "cynefin", Text: "clear"}, {Name: "surprise", Text: "0.4", Kind: cue.Number}},
			`surprise: invalid value 0.4 (out of bound <0.2); found 0.4`},
	}
	for _, tt := range tests {
		if got := messages(narrowed.Check(evidence, table(tt.values...))); got != tt.want {
			t.Errorf("%v:\ngot  %s\nwant %s", tt.values, got, tt.want)
		}
	}
}

// A file that would widen the schema is rejected with its place, even if CUE would accept it:
// the team that wrote it believes that it works.
func TestNarrowRefuses(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"syntax", "#CynefinDomain: \"clear", `n.cue:1:17: string literal not terminated`},
		{"another alternative", "package stigmergic\n#CynefinDomain: \"clear\" | \"confused\"",
			`n.cue:2:27: #CynefinDomain: must be one of clear, complicated, complex, chaotic; found "confused"`},
		{"wider limit", "#SignalTable: surprise: <=2.0", `n.cue:1:27: #SignalTable.surprise: must be between 0.0 and 1.0; found 2.0`},
		{"another type", "#Progress: 7", `n.cue:1:12: #Progress: must be one of not-started, exploring, implementing, verifying, blocked; found 7`},
		{"a threshold", "#Thresholds: stale_days: 31", `n.cue:1:26: #Thresholds.stale_days: must be 30; found 31`},
		{"new field", "#SignalTable: mood: string", `n.cue:1:15: the schema has no #SignalTable.mood`},
		{"new field on a condition", "#SignalTable: {if true {mood?: string}}", `n.cue:1:25: the schema has no #SignalTable.mood`},
		{"new field by a reference", "_e: mood: 1\n#SignalTable: _e", `n.cue:1:5: #SignalTable.mood: field not allowed`},
		{"pattern", "#SignalTable: [=~\"x\"]: string", `n.cue:1:15: #SignalTable: fields must be named individually`},
		{"ellipsis", "#SignalTable: {\n\t...\n}", `n.cue:2:2: #SignalTable: must stay closed; found "..."`},
		{"misspelt", "#Cynefin: \"clear\"", `n.cue:1:1: the schema has no #Cynefin`},
		{"no definition", "cynefin: \"clear\"", `n.cue:1:1: the schema has no cynefin`},
		{"nothing left", "#Progress: \"blocked\"\n#Progress: \"verifying\"", `n.cue:`},
		{"unknown reference", "#SignalTable: cynefin: #Foo", `n.cue:1:24: #SignalTable.cynefin: reference "#Foo" not found`},
		{"other package", "package other\n#Progress: \"blocked\"", `n.cue:1:1: package name "other" conflicts`},
		{"unknown import", "import \"example.com/x\"\n#Progress: x.#P", `n.cue:1:8: package "example.com/x" imported but not defined`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := cue.Embedded().Narrow("n.cue", []byte(tt.source))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestConcurrentChecks(t *testing.T) {
	schema := cue.Embedded()
	done := make(chan int)
	for range 8 {
		go func() {
			n := 0
			for i := range 20 {
				n += len(schema.Check(evidence, table(cue.Value{Name: "surprise", Text: fmt.Sprint(i+1, ".5"), Kind: cue.Number})))
			}
			done <- n
		}()
	}
	for range 8 {
		if n := <-done; n != 20 {
			t.Errorf("%d violations, want 20", n)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if err := cue.Embedded().Compile(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckNew(b *testing.B) {
	schema := cue.Embedded()
	start, n := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), 0
	for b.Loop() {
		n++
		date := start.AddDate(0, 0, n).Format(time.DateOnly)
		schema.Check(evidence, table(cue.Value{Name: "evidence_freshness", Text: date}))
	}
}

func BenchmarkCheckKnown(b *testing.B) {
	schema, values := cue.Embedded(), table()
	for b.Loop() {
		schema.Check(evidence, values)
	}
}
