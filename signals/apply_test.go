package signals_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"stig/cue"
	"stig/internal/testkit/sample"
	"stig/notes"
	"stig/signals"
)

const today = "2026-11-20"

type set = map[signals.Signal]string

// applyCase is one update. The cases are also fuzz seeds.
type applyCase struct {
	name     string
	text     string
	update   signals.Update // Today is filled in by the test
	want     string
	changes  string
	warnings string
}

// canonicalSix is what stig creates on the day of the tests.
var canonicalSix = rows(
	"| schema-version | 1 | 2026-11-20 |",
	"| cynefin | complicated | 2026-11-20 |",
	"| surprise | 0.0 | 2026-11-20 |",
	"| progress | not-started | 2026-11-20 |",
	"| escalation | none | — |",
	"| planning-depth | standard | 2026-11-20 |")

var applyCases = []applyCase{
	{name: "one row", text: "a\n\n" + six + "\n\nb\n", update: signals.Update{Set: set{signals.Surprise: "0.40"}},
		want:    "a\n\n" + strings.Replace(six, "0.2 | 2026-11-03", "0.4 | 2026-11-20", 1) + "\n\nb\n",
		changes: "surprise 0.2 -> 0.4"},
	{name: "the present value", text: six, update: signals.Update{Set: set{signals.Surprise: "0.20"}}, want: six},
	{name: "the present value in another form", text: rows("| surprise | 0.40 | — |"),
		update: signals.Update{Set: set{signals.Surprise: "0.4"}}, want: rows("| surprise | 0.40 | — |")},
	{name: "the present value, reaffirmed", text: six, update: signals.Update{Set: set{signals.Surprise: "0.2", signals.Progress: "blocked"}, Reaffirm: true},
		want: strings.NewReplacer("0.2 | 2026-11-03", "0.2 | 2026-11-20", "implementing | 2026-11-04", "blocked | 2026-11-20").Replace(six), changes: "progress implementing -> blocked"},
	{name: "nothing", text: six, update: signals.Update{}, want: six},
	{name: "integer", text: six, update: signals.Update{Set: set{signals.Surprise: "1"}},
		want: strings.Replace(six, "0.2 | 2026-11-03", "1.0 | 2026-11-20", 1), changes: "surprise 0.2 -> 1.0"},
	{name: "without the zero", text: six, update: signals.Update{Set: set{signals.Surprise: " .150 "}},
		want: strings.Replace(six, "0.2 | 2026-11-03", "0.15 | 2026-11-20", 1), changes: "surprise 0.2 -> 0.15"},
	{name: "CRLF", text: strings.ReplaceAll(six, "\n", "\r\n"), update: signals.Update{Set: set{signals.Progress: "blocked"}},
		want:    strings.ReplaceAll(strings.Replace(six, "implementing | 2026-11-04", "blocked | 2026-11-20", 1), "\n", "\r\n"),
		changes: "progress implementing -> blocked"},
	{name: "create in empty notes", update: signals.Update{}, want: canonicalSix},
	{name: "create before text", text: "text\n", update: signals.Update{Set: set{signals.Progress: "exploring"}},
		want:    strings.Replace(canonicalSix, "not-started", "exploring", 1) + "\n\ntext\n",
		changes: "progress not-started -> exploring"},
	{name: "create with a pending escalation", update: signals.Update{Set: set{signals.Escalation: "pending"}},
		want: strings.Replace(canonicalSix, "none | —", "pending | 2026-11-20", 1), changes: "escalation none -> pending"},
	{name: "create with evidence", update: signals.Update{Evidence: true},
		want: strings.Replace(canonicalSix, closer, "| confidence | undemonstrated | — |\n| evidence-freshness | absent | — |\n| regression-guard | none | — |\n"+closer, 1)},
	{name: "create with one evidence signal", update: signals.Update{Set: set{signals.EvidenceFreshness: "2026-11-19"}},
		want:    strings.Replace(canonicalSix, closer, "| confidence | undemonstrated | — |\n| evidence-freshness | 2026-11-19 | 2026-11-20 |\n| regression-guard | none | — |\n"+closer, 1),
		changes: "evidence-freshness absent -> 2026-11-19"},
	{name: "evidence into six rows", text: six, update: signals.Update{Set: set{signals.Confidence: "validated"}},
		want:    strings.Replace(six, closer, "| confidence | validated | 2026-11-20 |\n| evidence-freshness | absent | — |\n| regression-guard | none | — |\n"+closer, 1),
		changes: "confidence undemonstrated -> validated"},
	{name: "evidence at its default into six rows", text: six, update: signals.Update{Set: set{signals.Confidence: "undemonstrated"}}, want: six},
	{name: "evidence into seven rows", text: rows("| regression-guard | none | — |"), update: signals.Update{Set: set{signals.Confidence: "validated"}},
		want: rows("| confidence | validated | 2026-11-20 |", "| regression-guard | none | — |"), changes: "confidence undemonstrated -> validated"},
	{name: "freshness to absent", text: nine, update: signals.Update{Set: set{signals.EvidenceFreshness: "—"}},
		want: strings.Replace(nine, "2026-11-07 | 2026-11-07", "absent | 2026-11-20", 1), changes: "evidence-freshness 2026-11-07 -> absent"},
	{name: "freshness absent in another form", text: rows("| evidence-freshness | — | — |"), update: signals.Update{Set: set{signals.EvidenceFreshness: ""}},
		want: rows("| evidence-freshness | — | — |")},
	{name: "missing rows at their place", text: rows("| schema-version | 1 | — |", "| surprise | 0.1 | — |", "| mood | good | — |"),
		update:  signals.Update{Set: set{signals.Cynefin: "complex", signals.Progress: "blocked"}},
		want:    rows("| schema-version | 1 | — |", "| cynefin | complex | 2026-11-20 |", "| surprise | 0.1 | — |", "| progress | blocked | 2026-11-20 |", "| planning-depth | deep | 2026-11-20 |", "| mood | good | — |"),
		changes: "cynefin complicated -> complex\nprogress not-started -> blocked\nplanning-depth standard -> deep"},
	{name: "missing row before all others", text: rows("| escalation | none | — |"), update: signals.Update{Set: set{signals.Surprise: "0.3"}},
		want: rows("| surprise | 0.3 | 2026-11-20 |", "| escalation | none | — |"), changes: "surprise 0.0 -> 0.3"},
	{name: "missing row at its default", text: rows("| escalation | none | — |"), update: signals.Update{Set: set{signals.Surprise: "0"}},
		want: rows("| escalation | none | — |")},
	{name: "missing row at its default, reaffirmed", text: rows("| escalation | none | — |"), update: signals.Update{Set: set{signals.Surprise: "0"}, Reaffirm: true},
		want: rows("| surprise | 0.0 | 2026-11-20 |", "| escalation | none | — |")},
	{name: "row into a table without rows", text: rows(), update: signals.Update{Set: set{signals.Surprise: "0.3"}},
		want: rows("| surprise | 0.3 | 2026-11-20 |"), changes: "surprise 0.0 -> 0.3"},
	{name: "two columns", text: section("| Signal | Value |", "|---|---|", "| cynefin | clear |"),
		update: signals.Update{Set: set{signals.Surprise: "0.3", signals.Cynefin: "complex", signals.PlanningDepth: "deep"}},
		want:   section("| Signal | Value |", "|---|---|", "| cynefin | complex |", "| surprise | 0.3 |", "| planning-depth | deep |"), changes: "cynefin clear -> complex\nsurprise 0.0 -> 0.3\nplanning-depth standard -> deep"},
	{name: "short row", text: rows("| progress | blocked |", "| cynefin |"), update: signals.Update{Set: set{signals.Progress: "verifying", signals.Cynefin: "complicated"}},
		want: rows("| progress | verifying | 2026-11-20 |", "| cynefin | complicated | 2026-11-20 |"), changes: "cynefin  -> complicated\nprogress blocked -> verifying"},
	{name: "odd spacing stays", text: rows("|cynefin|clear|—|", "|   surprise |0.1   | 2026-01-01|"), update: signals.Update{Set: set{signals.Surprise: "0.2"}},
		want: rows("|cynefin|clear|—|", "|   surprise |0.2   | 2026-11-20|"), changes: "surprise 0.1 -> 0.2"},
	{name: "cynefin brings its depth", text: six, update: signals.Update{Set: set{signals.Cynefin: "complex"}},
		want:    strings.NewReplacer("complicated | 2026-11-02", "complex | 2026-11-20", "standard | 2026-11-05", "deep | 2026-11-20").Replace(six),
		changes: "cynefin complicated -> complex\nplanning-depth standard -> deep"},
	{name: "the same cynefin brings nothing", text: strings.Replace(six, "standard", "probe", 1), update: signals.Update{Set: set{signals.Cynefin: "complicated"}},
		want: strings.Replace(six, "standard", "probe", 1)},
	{name: "a depth set by hand is kept", text: strings.Replace(six, "standard", "probe", 1), update: signals.Update{Set: set{signals.Cynefin: "complex"}},
		want:     strings.NewReplacer("complicated | 2026-11-02", "complex | 2026-11-20", "standard", "probe").Replace(six),
		changes:  "cynefin complicated -> complex",
		warnings: `planning-depth: kept "probe", which was set by hand (complex implies deep); --depth auto resets it`},
	{name: "a depth set by hand that the new domain brings", text: strings.Replace(six, "standard", "deep", 1), update: signals.Update{Set: set{signals.Cynefin: "complex"}},
		want: strings.NewReplacer("complicated | 2026-11-02", "complex | 2026-11-20", "standard", "deep").Replace(six), changes: "cynefin complicated -> complex"},
	{name: "depth auto", text: strings.Replace(six, "standard", "probe", 1), update: signals.Update{Set: set{signals.PlanningDepth: "auto"}},
		want: strings.Replace(six, "standard | 2026-11-05", "standard | 2026-11-20", 1), changes: "planning-depth probe -> standard"},
	{name: "depth auto with a new domain", text: strings.Replace(six, "standard", "probe", 1), update: signals.Update{Set: set{signals.PlanningDepth: "auto", signals.Cynefin: "clear"}},
		want:    strings.NewReplacer("complicated | 2026-11-02", "clear | 2026-11-20", "standard | 2026-11-05", "shallow | 2026-11-20").Replace(six),
		changes: "cynefin complicated -> clear\nplanning-depth probe -> shallow"},
	{name: "depth beside a new domain", text: six, update: signals.Update{Set: set{signals.PlanningDepth: "probe", signals.Cynefin: "clear"}},
		want:    strings.NewReplacer("complicated | 2026-11-02", "clear | 2026-11-20", "standard | 2026-11-05", "probe | 2026-11-20").Replace(six),
		changes: "cynefin complicated -> clear\nplanning-depth standard -> probe"},
	{name: "mend a violation", text: rows("| planning-depth | medium | — |"), update: signals.Update{Set: set{signals.PlanningDepth: "standard"}},
		want: rows("| planning-depth | standard | 2026-11-20 |"), changes: "planning-depth medium -> standard"},
	{name: "the last of repeated rows", text: rows("| surprise | 0.1 | — |", "| surprise | 0.2 | — |"), update: signals.Update{Set: set{signals.Surprise: "0.3"}},
		want: rows("| surprise | 0.1 | — |", "| surprise | 0.3 | 2026-11-20 |"), changes: "surprise 0.2 -> 0.3"},
	{name: "the last of several tables", text: six + "\n\ntext\n\n" + six, update: signals.Update{Set: set{signals.Surprise: "0.3"}},
		want: six + "\n\ntext\n\n" + strings.Replace(six, "0.2 | 2026-11-03", "0.3 | 2026-11-20", 1), changes: "surprise 0.2 -> 0.3"},
	{name: "a date that is none", text: rows("| surprise | 0.1 | soon |"), update: signals.Update{Set: set{signals.Surprise: "0.3"}},
		want: rows("| surprise | 0.3 | 2026-11-20 |"), changes: "surprise 0.1 -> 0.3"},
}

func changeLines(changes []signals.Change) string {
	var lines []string
	for _, c := range changes {
		lines = append(lines, fmt.Sprintf("%s %s -> %s", c.Signal, c.From, c.To))
	}
	return strings.Join(lines, "\n")
}

func TestApply(t *testing.T) {
	schema := cue.Embedded()
	for _, tt := range applyCases {
		t.Run(tt.name, func(t *testing.T) {
			tt.update.Today = today
			got, changes, warnings, err := signals.Apply(notes.Parse(tt.text), tt.update, schema)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got.Text(), tt.want)
			}
			if c := changeLines(changes); c != tt.changes {
				t.Errorf("changes\ngot  %s\nwant %s", c, tt.changes)
			}
			if w := strings.Join(warnings, "\n"); w != tt.warnings {
				t.Errorf("warnings\ngot  %s\nwant %s", w, tt.warnings)
			}
		})
	}
}

// What must not be written is refused, with a helpful message.
func TestApplyRefuses(t *testing.T) {
	merged := six + "\n\n---\n\n" + strings.Replace(six, "0.2", "0.7", 1)
	tests := []struct {
		name, text string
		set        set
		want, hint string
		rule       string // of the first finding; "" if it is not an InvalidError
	}{
		{"value out of range", six, set{signals.Surprise: "1.1"}, `surprise: must be between 0.0 and 1.0; found 1.1`, "stig signals set ID surprise=VALUE", signals.RuleValue},
		{"no number", six, set{signals.Surprise: "NaN"}, `surprise: must be between 0.0 and 1.0; found "NaN"`, "stig signals set ID surprise=VALUE", signals.RuleValue},
		{"new table", "", set{signals.Cynefin: "complexx"}, `cynefin: must be one of clear, complicated, complex, chaotic; found "complexx"`, "stig signals set ID cynefin=VALUE", signals.RuleValue},
		{"alias", six, set{signals.Progress: "done"}, `progress: must be one of not-started, exploring, implementing, verifying, blocked; found "done"`, `write "verifying", as stig vet --fix does`, signals.RuleValue},
		{"empty", six, set{signals.Progress: ""}, `progress: must be one of not-started, exploring, implementing, verifying, blocked; found ""`, "stig signals set ID progress=VALUE", signals.RuleValue},
		{"pipe", six, set{signals.Progress: "a|b"}, `progress: must be one of not-started, exploring, implementing, verifying, blocked; found "a|b"`, "stig signals set ID progress=VALUE", signals.RuleValue},
		{"pipe in a new table", "", set{signals.Progress: "a|b"}, `progress: must be one of not-started, exploring, implementing, verifying, blocked; found "a|b"`, "stig signals set ID progress=VALUE", signals.RuleValue},
		{"other version", six, set{signals.SchemaVersion: "2"}, `schema-version: must be 1; found 2`, "the table is of a version that this program does not write: use one that does", signals.RuleVersion},
		{"newline", six, set{signals.Progress: "blocked\n| x | y |"}, `progress: must be one line; found "blocked\n| x | y |"`, "", ""},
		{"auto is for the depth only", six, set{signals.Cynefin: "auto"}, `cynefin: must be one of clear, complicated, complex, chaotic; found "auto"`, "stig signals set ID cynefin=VALUE", signals.RuleValue},
		{"a violation elsewhere", rows("| planning-depth | medium | — |", "| surprise | 3 | — |"), set{signals.Progress: "blocked"},
			`notes:5:14: surprise: must be between 0.0 and 1.0; found 3 (and 1 more)`, "stig signals set ID surprise=VALUE", signals.RuleValue},
		{"a violation elsewhere and nothing to set", rows("| planning-depth | medium | — |"), nil,
			`notes:4:20: planning-depth: must be one of shallow, standard, deep, probe; found "medium"`, `write "standard", as stig vet --fix does`, signals.RuleValue},
		{"table of another version", rows("| schema-version | 2 | — |"), set{signals.SchemaVersion: "1"},
			`notes:4:20: schema-version: must be 1; found 2`, "the table is of a version that this program does not write: use one that does", signals.RuleVersion},
		{"bad merge", merged, set{signals.Progress: "blocked"}, `notes:12:1: a merge joined two differing signal tables here`, "stig signals reconcile ID", signals.RuleMerge},
		{"no table in the section", section("soon"), set{signals.Progress: "blocked"}, `notes:1:1: the section stigmergic-signals has no table`, "", signals.RuleMissing},
		{"another header", section("| A | B |", "|---|---|"), nil, `notes:2:3: column 1 must be signal or field; found "A"`, "", signals.RuleHeader},
		{"row outside", rows("| cynefin | clear | — |", "", "| surprise | 0.1 | — |"), nil, `notes:6:1: surprise: this row is outside the table`, "a blank line ends a table: remove it", signals.RuleOutside},
		{"malformed", opener + "text\n", nil, `notes:1:1: `, "", ""},
	}
	schema := cue.Embedded()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, changes, _, err := signals.Apply(notes.Parse(tt.text), signals.Update{Set: tt.set, Today: today}, schema)
			if err == nil || got != nil || changes != nil {
				t.Fatalf("not refused: %v", got)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			var invalid *signals.InvalidError
			if errors.As(err, &invalid) != (tt.rule != "") {
				t.Fatalf("type %T", err)
			}
			if invalid != nil && (invalid.Findings[0].Rule != tt.rule || invalid.Hint() != tt.hint) {
				t.Errorf("rule %q, hint %q", invalid.Findings[0].Rule, invalid.Hint())
			}
		})
	}
	if _, _, _, err := signals.Apply(notes.Parse(six), signals.Update{Today: "20 November"}, schema); err == nil {
		t.Error("a date that is none was written")
	}
}

// A version that is not a number is a mistake that setting it fixes.
func TestApplyMendsVersion(t *testing.T) {
	got, _, _, err := signals.Apply(notes.Parse(rows("| schema-version | one | — |")),
		signals.Update{Set: set{signals.SchemaVersion: "1"}, Today: today}, cue.Embedded())
	if want := rows("| schema-version | 1 | 2026-11-20 |"); err != nil || got.Text() != want {
		t.Errorf("%v %v", got, err)
	}
}

// CUE itself judges the result, so a narrowed schema decides too, also about signals that are
// not being set.
func TestApplyAsksTheSchema(t *testing.T) {
	narrowed, err := cue.Embedded().Narrow("team.cue", []byte(
		"#SignalTable: {\n\tcynefin: _\n\tif cynefin == \"clear\" {\n\t\tsurprise: <0.1\n\t}\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, err = signals.Apply(notes.Parse(six), signals.Update{Set: set{signals.Cynefin: "clear"}, Today: today}, narrowed)
	if err == nil || err.Error() != `notes:6:14: surprise: invalid value 0.2 (out of bound <0.1); found 0.2` {
		t.Errorf("got %v", err)
	}
}

// FuzzApply checks the laws on any text.
func FuzzApply(f *testing.F) {
	for _, tt := range applyCases {
		f.Add(tt.text, "0.4", "complex", tt.update.Reaffirm)
	}
	for _, tt := range readCases {
		f.Add(tt.text, "0.0", "", false)
	}
	schema := cue.Embedded()
	f.Fuzz(func(t *testing.T, text, surprise, cynefin string, reaffirm bool) {
		u := signals.Update{Set: set{signals.Surprise: surprise}, Today: today, Reaffirm: reaffirm}
		if cynefin != "" {
			u.Set[signals.Cynefin] = cynefin
		}
		holdLaws(t, schema, text, u)
	})
}

// The laws, on tables with rows and cells in every form that is read.
func TestApplyLaws(t *testing.T) {
	schema := cue.Embedded()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	written := 0
	for range sample.Rounds(187) {
		header := pick("| Signal | Value | Updated |\n|---|---|---|\n", "| signal | value |\n|---|---|\n", "Field | Value | as-of | Why\n--|--|--|--\n")
		var body strings.Builder
		for range random.IntN(9) {
			s := signals.Signal(random.IntN(9))
			value := pick(append(s.Domain(), "0.3", "0.30", "2026-01-02", "absent", s.Default(), s.Default())...)
			body.WriteString(pick("| ", "|", "|  ", "") + pick(s.String(), s.String(), s.String(), "mood", "") + pick(" | ", "|") + value +
				pick(" | 2026-01-01 |", " | — |", "| |", " |", "", " | soon | x |") + "\n")
		}
		text := pick("", "text\n\n") + opener + header + body.String() + closer + pick("", "\n", "\n\nmore\n")
		if random.IntN(4) == 0 {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		u := signals.Update{Set: set{}, Today: today, Reaffirm: random.IntN(3) == 0}
		for range random.IntN(4) {
			s := signals.Signal(random.IntN(9))
			u.Set[s] = pick(append(s.Domain(), s.Default(), s.Default(), "0.30", "2026-01-02")...)
		}
		if holdLaws(t, schema, text, u) {
			written++
		}
	}
	if written < sample.Rounds(25) {
		t.Errorf("only %d of the tables could be written", written)
	}
}

// holdLaws checks the laws of setting: reading afterwards returns what was set and nothing else
// has another value; every byte outside changed rows stays; setting again changes nothing. It
// reports whether anything was written.
func holdLaws(t *testing.T, schema *signals.Schema, text string, u signals.Update) bool {
	t.Helper()
	d := notes.Parse(text)
	before := signals.Read(d, schema)
	got, changes, _, err := signals.Apply(d, u, schema)
	if err != nil {
		return false
	}
	after := signals.Read(got, schema)
	for _, s := range signals.All() {
		value, given := u.Set[s]
		want := strings.TrimSpace(value)
		switch {
		case given && s == signals.Surprise:
			if number, err := strconv.ParseFloat(want, 64); err != nil || number != after.Number() {
				t.Errorf("%q: surprise set to %q reads as %v", text, value, after.Number())
			}
		case given && want != "" && after.Value(s) != want && want != signals.Auto && s != signals.EvidenceFreshness,
			!given && s != signals.PlanningDepth && after.Value(s) != before.Value(s):
			t.Errorf("%q: %s went from %q to %q, set to %q", text, s, before.Value(s), after.Value(s), value)
		}
	}
	keepsOthers(t, d, got, before, after)
	if len(changes) == 0 && before.Present() && !u.Reaffirm && got.Text() != text {
		t.Errorf("%q: no change and other bytes", text)
	}
	again, changes, _, err := signals.Apply(got, u, schema)
	if err != nil || len(changes) > 0 || again.Text() != got.Text() {
		t.Errorf("%q: setting twice: %v %v\n%q\n%q", text, err, changes, got.Text(), again.Text())
	}
	return true
}

// keepsOthers compares the text around the live table, and its unchanged rows.
func keepsOthers(t *testing.T, d, got *notes.Doc, before, after *signals.Table) {
	t.Helper()
	if !before.Present() {
		if !strings.HasSuffix(got.Text(), d.Text()) {
			t.Errorf("creating a table touched %q: %q", d.Text(), got.Text())
		}
		return
	}
	live := func(d *notes.Doc) (string, string, []string) {
		sections := d.Named(signals.Section)
		s := sections[len(sections)-1]
		return d.Text()[:s.Body.Start], d.Text()[s.Body.End:], strings.Split(strings.ReplaceAll(d.Body(s), "\r\n", "\n"), "\n")
	}
	oldStart, oldEnd, oldLines := live(d)
	newStart, newEnd, newLines := live(got)
	if oldStart != newStart || oldEnd != newEnd {
		t.Errorf("text around the table of %q: %q", d.Text(), got.Text())
	}
	changed := map[int]bool{}
	for _, s := range signals.All() {
		if before.Raw(s) != after.Raw(s) || before.Updated(s) != after.Updated(s) {
			line, _ := before.Place(s)
			changed[line] = true
		}
	}
	first, _ := d.Position(len(oldStart))
	at := 0
	for i, line := range oldLines {
		if changed[first+i] {
			continue
		}
		for at < len(newLines) && newLines[at] != line {
			at++
		}
		if at == len(newLines) {
			t.Errorf("%q: line %q is gone from %q", d.Text(), line, got.Text())
			return
		}
		at++
	}
}

func BenchmarkApply(b *testing.B) {
	schema, d := cue.Embedded(), notes.Parse(nine)
	for b.Loop() {
		if _, _, _, err := signals.Apply(d, signals.Update{Set: set{signals.Surprise: "0.4"}, Today: today}, schema); err != nil {
			b.Fatal(err)
		}
	}
}
