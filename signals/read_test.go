package signals_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/cue"
	"stig/notes"
	"stig/signals"
)

const opener, closer = "<!-- stigmergic-signals -->\n", "<!-- /stigmergic-signals -->"

// section wraps the lines of a table.
func section(lines ...string) string {
	return opener + strings.Join(lines, "\n") + "\n" + closer
}

// rows is a table with the usual header.
func rows(lines ...string) string {
	return section(append([]string{"| Signal | Value | Updated |", "|---|---|---|"}, lines...)...)
}

var six = rows(
	"| schema-version | 1 | 2026-11-01 |",
	"| cynefin | complicated | 2026-11-02 |",
	"| surprise | 0.2 | 2026-11-03 |",
	"| progress | implementing | 2026-11-04 |",
	"| escalation | none | — |",
	"| planning-depth | standard | 2026-11-05 |")

var nine = strings.Replace(six, closer, `| confidence | prototype | 2026-11-06 |
| evidence-freshness | 2026-11-07 | 2026-11-07 |
| regression-guard | manual | 2026-11-08 |
`+closer, 1)

func Example() {
	text := "<!-- stigmergic-signals -->\n" +
		"| Signal | Value | Updated |\n" +
		"|---|---|---|\n" +
		"| cynefin | complex | 2026-11-20 |\n" +
		"| surprise | 0.4 | 2026-11-20 |\n" +
		"| planning-depth | medium | 2026-11-20 |\n" +
		"<!-- /stigmergic-signals -->\n"
	t := signals.Read(notes.Parse(text), cue.Embedded())
	fmt.Println(t.Summary())
	for _, f := range t.Findings() {
		fmt.Printf("notes:%d:%d: %s\n", f.Line, f.Column, f.Message)
	}
	// Output:
	// complex · surprise 0.4 · not-started · escalation none · depth standard
	// notes:6:20: planning-depth: must be one of shallow, standard, deep, probe; found "medium"
}

// readCase is one thing that real tables contain. The cases are also fuzz seeds.
type readCase struct {
	name     string
	text     string
	summary  string // "" for the defaults
	findings string // one line each: line:column severity rule message
}

const defaultSummary = "complicated · surprise 0.0 · not-started · escalation none · depth standard"

var readCases = []readCase{
	{name: "empty"},
	{name: "prose only", text: "nothing here\n"},
	{name: "six rows", text: six,
		summary: "complicated · surprise 0.2 · implementing · escalation none · depth standard"},
	{name: "nine rows", text: nine,
		summary: "complicated · surprise 0.2 · implementing · escalation none · depth standard · prototype · freshness 2026-11-07 · guard manual"},
	{name: "CRLF", text: strings.ReplaceAll(six, "\n", "\r\n"),
		summary: "complicated · surprise 0.2 · implementing · escalation none · depth standard"},
	{name: "any order, some missing", text: rows("| planning-depth | probe | 2026-11-01 |", "| cynefin | chaotic | 2026-11-01 |"),
		summary: "chaotic · surprise 0.0 · not-started · escalation none · depth probe"},
	{name: "seven rows", text: rows("| cynefin | clear | — |", "| regression-guard | runtime | — |"),
		summary: "clear · surprise 0.0 · not-started · escalation none · depth standard · undemonstrated · freshness absent · guard runtime"},
	{name: "header in other words and case", text: section("| FIELD | vAlue | As-Of |", "|---|---|---|", "| cynefin | clear | 2026-11-01 |"),
		summary: "clear · surprise 0.0 · not-started · escalation none · depth standard"},
	{name: "two columns", text: section("| Signal | Value |", "|---|---|", "| cynefin | clear |"),
		summary: "clear · surprise 0.0 · not-started · escalation none · depth standard"},
	{name: "a fourth column", text: section("| Signal | Value | Updated | Why |", "|---|---|---|---|", "| cynefin | clear | — | known |"),
		summary: "clear · surprise 0.0 · not-started · escalation none · depth standard"},
	{name: "absent dates", text: rows("| schema-version | 1 | — |", "| cynefin | clear | – |", "| surprise | 0.5 | - |", "| progress | blocked | -- |",
		"| escalation | none | |", "| planning-depth | deep | â€\u201d |"),
		summary: "clear · surprise 0.5 · blocked · escalation none · depth deep"},
	{name: "a date that is none", text: rows("| cynefin | clear | yesterday |", "| progress | blocked | 2026-02-30 |"),
		summary: "clear · surprise 0.0 · blocked · escalation none · depth standard",
		findings: "4:21 warning signal-date cynefin: updated must be a date (YYYY-MM-DD) or —; found \"yesterday\"\n" +
			"5:24 warning signal-date progress: updated must be a date (YYYY-MM-DD) or —; found \"2026-02-30\""},
	{name: "forms of an absent freshness", text: rows("| evidence-freshness | — | — |"),
		summary: defaultSummary + " · undemonstrated · freshness absent · guard none"},
	{name: "unknown row", text: rows("| mood | good | — |", "| planning_depth | deep | — |", "| **Cynefin** | clear | — |"),
		findings: "4:3 warning signal-unknown unknown signal \"mood\"\n" +
			"5:3 warning signal-unknown unknown signal \"planning_depth\" [write \"planning-depth\"]\n" +
			"6:3 warning signal-unknown unknown signal \"**Cynefin**\" [write \"cynefin\"]"},
	{name: "repeated row", text: rows("| cynefin | clear | — |", "| surprise | 0.1 | — |", "| cynefin | complex | 2026-11-01 |"),
		summary:  "complex · surprise 0.1 · not-started · escalation none · depth standard",
		findings: `6:3 error signal-repeated cynefin: repeated, after line 4; the last one counts`},
	{name: "aliases", text: rows("| progress | done | — |", "| planning-depth | medium | — |", "| regression-guard | absent | — |"),
		summary: defaultSummary + " · undemonstrated · freshness absent · guard none",
		findings: "4:14 error signal-value progress: must be one of not-started, exploring, implementing, verifying, blocked; found \"done\" [write \"verifying\", as stig vet --fix does] => verifying\n" +
			"5:20 error signal-value planning-depth: must be one of shallow, standard, deep, probe; found \"medium\" [write \"standard\", as stig vet --fix does] => standard\n" +
			"6:22 error signal-value regression-guard: must be one of none, manual, automated, runtime; found \"absent\" [write \"none\", as stig vet --fix does] => none"},
	{name: "surprise above", text: rows("| surprise | 1.4 | — |"),
		findings: `4:14 error signal-value surprise: must be between 0.0 and 1.0; found 1.4 [stig signals set ID surprise=VALUE]`},
	{name: "surprise as no number of JSON", text: rows("| surprise | .4 | — |"),
		findings: `4:14 error signal-value surprise: must be between 0.0 and 1.0; found ".4" [stig signals set ID surprise=VALUE]`},
	{name: "surprise with an exponent", text: rows("| surprise | 1e-1 | — |"),
		findings: `4:14 error signal-value surprise: must be between 0.0 and 1.0; found "1e-1" [stig signals set ID surprise=VALUE]`},
	{name: "surprise not a number", text: rows("| surprise | NaN | — |"),
		findings: `4:14 error signal-value surprise: must be between 0.0 and 1.0; found "NaN" [stig signals set ID surprise=VALUE]`},
	{name: "long surprise that is valid", text: rows("| surprise | 0.30000000000000000000000001 | — |"),
		summary: "complicated · surprise 0.30000000000000000000000001 · not-started · escalation none · depth standard"},
	{name: "surprise an integer", text: rows("| surprise | 1 | — |"),
		summary: "complicated · surprise 1.0 · not-started · escalation none · depth standard"},
	{name: "bold value after wide blanks", text: rows("|  cynefin   |   **complex**  | — |"),
		findings: `4:18 error signal-value cynefin: must be one of clear, complicated, complex, chaotic; found "**complex**" [write "complex"]`},
	{name: "value after a wide character", text: rows("| cynefin | é | — |"),
		findings: `4:13 error signal-value cynefin: must be one of clear, complicated, complex, chaotic; found "é" [stig signals set ID cynefin=VALUE]`},
	{name: "row without a value", text: rows("| cynefin |"),
		findings: `4:12 error signal-value cynefin: must be one of clear, complicated, complex, chaotic; found "" [stig signals set ID cynefin=VALUE]`},
	{name: "other version", text: rows("| schema-version | 2 | — |", "| cynefin | clear | — |"),
		summary:  "clear · surprise 0.0 · not-started · escalation none · depth standard",
		findings: `4:20 error schema-version schema-version: must be 1; found 2 [the table is of a version that this program does not write: use one that does]`},
	{name: "no table", text: "text\n\n" + section("to be filled in"),
		findings: `3:1 error table-missing the section stigmergic-signals has no table`},
	{name: "another table", text: section("| Name | Value | Updated |", "|---|---|---|", "| cynefin | clear | — |"),
		findings: `2:3 error table-header column 1 must be signal or field; found "Name"`},
	{name: "third column of another kind", text: section("| Signal | Value | Remark |", "|---|---|---|", "| cynefin | clear | why not |"),
		summary:  "clear · surprise 0.0 · not-started · escalation none · depth standard",
		findings: `2:20 error table-header column 3 must be updated or as-of; found "Remark"`},
	{name: "blank line in the table", text: rows("| cynefin | clear | — |", "", "| escalation | pending | 2026-11-01 |"),
		summary:  "clear · surprise 0.0 · not-started · escalation none · depth standard",
		findings: `6:1 error table-outside escalation: this row is outside the table [a blank line ends a table: remove it]`},
	{name: "rows around the table", text: section("| escalation | pending | 2026-11-01 |", "", "| Signal | Value | Updated |", "|---|---|---|", "| cynefin | clear | — |",
		"", "progress", "", "| mood | good |"),
		summary:  "clear · surprise 0.0 · not-started · escalation none · depth standard",
		findings: `2:1 error table-outside escalation: this row is outside the table [a blank line ends a table: remove it]`},
	{name: "several tables, and a value", text: rows("| cynefin | chaotic | — |") + "\n\n" + rows("| surprise | 1.4 | — |"),
		findings: "1:1 warning table-several there is a later signal table, which is the live one [stig signals reconcile ID]\n" +
			"10:14 error signal-value surprise: must be between 0.0 and 1.0; found 1.4 [stig signals set ID surprise=VALUE]"},
	{name: "several tables", text: rows("| cynefin | chaotic | — |") + "\n\ntext\n\n" + rows("| cynefin | clear | — |"),
		summary:  "clear · surprise 0.0 · not-started · escalation none · depth standard",
		findings: `1:1 warning table-several there is a later signal table, which is the live one [stig signals reconcile ID]`},
	{name: "bad merge", text: rows("| cynefin | chaotic | — |") + "\n\ntext\n\n---\n\n" + rows("| cynefin | clear | — |"),
		summary: "clear · surprise 0.0 · not-started · escalation none · depth standard",
		findings: "1:1 warning table-several there is a later signal table, which is the live one [stig signals reconcile ID]\n" +
			"9:1 error table-merge a merge joined two differing signal tables here [stig signals reconcile ID]"},
	{name: "bad merge with CRLF", text: strings.ReplaceAll(rows("| cynefin | chaotic | — |")+"\n\n---\n\n"+rows("| cynefin | clear | — |"), "\n", "\r\n"),
		summary: "clear · surprise 0.0 · not-started · escalation none · depth standard",
		findings: "1:1 warning table-several there is a later signal table, which is the live one [stig signals reconcile ID]\n" +
			"7:1 error table-merge a merge joined two differing signal tables here [stig signals reconcile ID]"},
	{name: "merge of equal tables", text: six + "\n\n---\n\n" + six,
		summary:  "complicated · surprise 0.2 · implementing · escalation none · depth standard",
		findings: `1:1 warning table-several there is a later signal table, which is the live one [stig signals reconcile ID]`},
	{name: "dashes in a section are no separator", text: six + "\n\n<!-- checkpoint-context -->\na\n\n---\n\nb\n<!-- /checkpoint-context -->\n\n" + nine,
		summary:  "complicated · surprise 0.2 · implementing · escalation none · depth standard · prototype · freshness 2026-11-07 · guard manual",
		findings: `1:1 warning table-several there is a later signal table, which is the live one [stig signals reconcile ID]`},
	{name: "table quoted in a fence", text: "```\n" + rows("| cynefin | chaotic | — |") + "\n```\n"},
}

func render(findings []signals.Finding) string {
	var lines []string
	for _, f := range findings {
		severity := map[signals.Severity]string{signals.Warning: "warning", signals.Error: "error"}[f.Severity]
		line := fmt.Sprintf("%d:%d %s %s %s", f.Line, f.Column, severity, f.Rule, f.Message)
		if f.Hint != "" {
			line += " [" + f.Hint + "]"
		}
		if f.Fix != "" {
			line += " => " + f.Fix
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestRead(t *testing.T) {
	schema := cue.Embedded()
	for _, tt := range readCases {
		t.Run(tt.name, func(t *testing.T) {
			table := signals.Read(notes.Parse(tt.text), schema)
			if tt.summary == "" {
				tt.summary = defaultSummary
			}
			if got := table.Summary(); !strings.HasPrefix(got, tt.summary) {
				t.Errorf("summary\ngot  %s\nwant %s", got, tt.summary)
			}
			if got := render(table.Findings()); got != tt.findings {
				t.Errorf("findings\ngot\n%s\nwant\n%s", got, tt.findings)
			}
		})
	}
}

func TestReadAccessors(t *testing.T) {
	table := signals.Read(notes.Parse("text\n\n"+nine), nil)
	if !table.Present() || !table.Has(signals.Surprise) || table.Number() != 0.2 {
		t.Errorf("present %v, surprise %v", table.Present(), table.Number())
	}
	if got := table.Updated(signals.Progress); got != "2026-11-04" {
		t.Errorf("Updated(progress) = %q", got)
	}
	if got := table.Updated(signals.Escalation); got != "" {
		t.Errorf("Updated(escalation) = %q", got)
	}
	if line, column := table.Place(signals.PlanningDepth); line != 11 || column != 20 {
		t.Errorf("Place(planning-depth) = %d, %d", line, column)
	}
	none := signals.Read(notes.Parse(""), nil)
	if line, column := none.Place(signals.Cynefin); none.Present() || line != 0 || column != 0 {
		t.Errorf("a table where there is none: %v %d %d", none.Present(), line, column)
	}
}

// Rows of a broken table must not be read like those of a good one.
func TestRawAndValue(t *testing.T) {
	table := signals.Read(notes.Parse(rows("| cynefin | odd | — |", "| surprise | 0.40 | — |")), nil)
	if raw, value := table.Raw(signals.Cynefin), table.Value(signals.Cynefin); raw != "odd" || value != "complicated" {
		t.Errorf("cynefin: raw %q, value %q", raw, value)
	}
	if raw, value := table.Raw(signals.Surprise), table.Value(signals.Surprise); raw != "0.40" || value != "0.4" {
		t.Errorf("surprise: raw %q, value %q", raw, value)
	}
	if raw := table.Raw(signals.Progress); raw != "not-started" {
		t.Errorf("progress: raw %q", raw)
	}
}

func TestEffective(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", `{"schema_version":1,"cynefin":"complicated","surprise":0.0,"progress":"not-started","escalation":"none","planning_depth":"standard"}`},
		{rows("| confidence | prototype | — |"), `{"schema_version":1,"cynefin":"complicated","surprise":0.0,"progress":"not-started","escalation":"none","planning_depth":"standard","confidence":"prototype","evidence_freshness":null,"regression_guard":"none"}`},
		{rows("| schema-version | one | — |", `| cynefin | "<a\|b> | — |`, "| surprise | 0,4 | — |", "| evidence-freshness | soon | — |"),
			`{"schema_version":"one","cynefin":"\"<a|b>","surprise":"0,4","progress":"not-started","escalation":"none","planning_depth":"standard","confidence":"undemonstrated","evidence_freshness":"soon","regression_guard":"none"}`},
		{rows("| schema-version | 2 | — |", "| surprise | 1.40 | — |"), `{"schema_version":2,"cynefin":"complicated","surprise":1.40,"progress":"not-started","escalation":"none","planning_depth":"standard"}`},
	}
	for _, tt := range tests {
		got, err := signals.Read(notes.Parse(tt.text), nil).Effective()
		var same, want any
		if err != nil || json.Unmarshal(got, &same) != nil || json.Unmarshal([]byte(tt.want), &want) != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if fmt.Sprint(same) != fmt.Sprint(want) || len(got) != len(strings.ReplaceAll(tt.want, "<a|b>", `\u003ca|b\u003e`)) {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestMarshalJSON asserts that an issue without a table has null, never the defaults.
func TestMarshalJSON(t *testing.T) {
	for text, want := range map[string]bool{"": false, "no table here": false, rows("| cynefin | clear | — |"): true} {
		table := signals.Read(notes.Parse(text), nil)
		got, err := json.Marshal(table)
		if err != nil || (string(got) != "null") != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// nearMisses are texts that the constants must judge as CUE does.
func nearMisses() []string {
	texts := []string{"", " ", "—", "–", "-", "--", "â€\u201d", "absent", "Absent", "null", "0", "1", "2", "01", "1.0", "1.", ".5", "0.",
		"0.5", "0.50", "-0", "-0.0", "-0.1", "+0.5", "00.5", "0x1", "1e0", "1e-1", "0,5", "1_0", "NaN", "Inf", "-Inf", "true", "1.0000000000000000000000001",
		"0.99999999999999999999", "1.00000000000000", "-0.0000000000000000000000001", "2026-11-20", "2026-11-31", "2026-1-2", "20261120",
		"2026-11-20T00:00:00Z", "0000-01-01", "9999-12-31", "10000-01-01", "2026-11-20 ", "\"", "\\(1)", "#", "medium", "done", "é", "\u0000", "\ufeffclear"}
	for _, s := range signals.All() {
		for _, v := range s.Domain() {
			texts = append(texts, v, strings.ToUpper(v), v+"s", v[1:], "`"+v+"`", " "+v)
		}
	}
	return texts
}

// tried returns the near misses to try for the kth signal: all from its own domain, and a
// selection of the others.
func tried(k int, s signals.Signal) (texts []string) {
	for n, text := range nearMisses() {
		own := func(value string) bool { return strings.Contains(strings.ToLower(text), value[1:]) }
		if (k+n)%8 == 0 || slices.ContainsFunc(s.Domain(), own) {
			texts = append(texts, text)
		}
	}
	return texts
}

// The fast path and the schema must agree on every value, since most commands use only the fast
// path. A narrowed schema that narrows nothing has no fast path.
func TestFastPathAgreesWithCUE(t *testing.T) {
	fast := cue.Embedded()
	slow, err := fast.Narrow("nothing.cue", []byte("package stigmergic\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !slow.Narrowed() {
		t.Fatal("the schema has a fast path")
	}
	for k, s := range signals.All() {
		for _, text := range tried(k, s) {
			d := notes.Parse(rows(fmt.Sprintf("| %s | %s | — |", s, text)))
			a, b := signals.Read(d, fast), signals.Read(d, slow)
			if render(a.Findings()) != render(b.Findings()) || a.Summary() != b.Summary() {
				t.Errorf("%s %q:\nfast %s\ncue  %s", s, text, render(a.Findings()), render(b.Findings()))
			}
		}
	}
}

// A valid table must not compile the schema, which takes most of a command's time.
func TestReadOfValidTableCompilesNothing(t *testing.T) {
	broken := cue.New("broken.cue", []byte("this is not CUE {"))
	for _, text := range []string{"", six, nine} {
		signals.Read(notes.Parse(text), broken)
	}
	defer func() {
		if recover() == nil {
			t.Error("the broken schema was not noticed where it was needed")
		}
	}()
	signals.Read(notes.Parse(rows("| cynefin | odd | — |")), broken)
}

func TestNarrowedSchema(t *testing.T) {
	narrowed, err := cue.Embedded().Narrow("team.cue", []byte(`#Progress: !="blocked"`))
	if err != nil {
		t.Fatal(err)
	}
	got := render(signals.Read(notes.Parse(rows("| progress | blocked | — |")), narrowed).Findings())
	want := `4:14 error signal-value progress: must be one of not-started, exploring, implementing, verifying; found "blocked" [stig signals set ID progress=VALUE]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// vet --fix must not write what the project forbids.
func TestNarrowedSchemaTakesFixesAway(t *testing.T) {
	narrowed, err := cue.Embedded().Narrow("team.cue", []byte(`#PlanningDepth: !="standard"`))
	if err != nil {
		t.Fatal(err)
	}
	got := signals.Read(notes.Parse(rows("| planning-depth | medium | — |")), narrowed).Findings()
	if len(got) != 1 || got[0].Fix != "" {
		t.Errorf("got %+v", got)
	}
}

func TestNamesAndOrders(t *testing.T) {
	for _, s := range signals.All() {
		for _, name := range []string{s.String(), s.Key()} {
			if got, ok := signals.Named(name); !ok || got != s {
				t.Errorf("Named(%q) = %v, %v", name, got, ok)
			}
		}
		if s.Evidence() != (s >= signals.Confidence) {
			t.Errorf("%v: Evidence is %v", s, s.Evidence())
		}
	}
	if _, ok := signals.Named("mood"); ok {
		t.Error("mood is a signal")
	}
	if signals.PlanningDepth.String() != "planning-depth" || signals.PlanningDepth.Key() != "planning_depth" {
		t.Error("names of planning-depth")
	}
	for i, domain := range []string{"clear", "complicated", "complex", "chaotic"} {
		depth := []string{"shallow", "standard", "deep", "probe"}[i]
		theta := []float64{0.5, 0.3, 0.2, 0.1}[i]
		if signals.Complexity(domain) != i || signals.Depth(domain) != depth || signals.ThresholdConvergence(domain) != theta {
			t.Errorf("%s: %d %s %v", domain, signals.Complexity(domain), signals.Depth(domain), signals.ThresholdConvergence(domain))
		}
	}
	if signals.Complexity("odd") != -1 || signals.Depth("odd") != "standard" || signals.ThresholdConvergence("odd") != 0.3 {
		t.Error("an unknown domain is not read as the default")
	}
	if signals.ThresholdEpicSurprise != 2 || signals.ThresholdDivergence != 0.3 || signals.ThresholdStaleDays != 30 {
		t.Error("thresholds are not those of the convention")
	}
}

func FuzzRead(f *testing.F) {
	for _, tt := range readCases {
		f.Add(tt.text)
	}
	schema := cue.Embedded()
	f.Fuzz(func(t *testing.T, text string) {
		table := signals.Read(notes.Parse(text), schema)
		if out, err := json.Marshal(table); err != nil {
			t.Errorf("%q: %s: %v", text, out, err)
		}
		for _, s := range signals.All() {
			if table.Value(s) == "" {
				t.Errorf("%q: %s has no value", text, s)
			}
		}
		for _, finding := range table.Findings() {
			if finding.Line < 1 || finding.Column < 1 || finding.Message == "" {
				t.Errorf("%q: finding without place: %+v", text, finding)
			}
		}
		if n := table.Number(); !(0 <= n && n <= 1) {
			t.Errorf("%q: surprise %v", text, n)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	schema := cue.Embedded()
	d := notes.Parse(nine)
	for b.Loop() {
		signals.Read(d, schema)
	}
}
