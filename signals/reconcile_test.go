package signals_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"stig/cue"
	"stig/notes"
	"stig/signals"
)

func checkpoint(date, body string) string {
	return "<!-- checkpoint-context -->\n## State estimate (" + date + ")\n\n" + body + "\n<!-- /checkpoint-context -->"
}

func evidence(date, body string) string {
	return "<!-- evidence-context -->\n## Evidence (" + date + ")\n\n" + body + "\n<!-- /evidence-context -->"
}

func escalation(body string) string {
	return "<!-- escalation-context -->\n" + body + "\n<!-- /escalation-context -->"
}

func reopened(date, why string) string {
	return "<!-- reopen-context -->\n## Reopened (" + date + ")\n" + why + "\n<!-- /reopen-context -->"
}

const join = "\n\n---\n\n"

type reconcileCase struct {
	name, text, want, done string
}

var reconcileCases = []reconcileCase{
	{name: "empty"},
	{name: "one table", text: "a\n\n" + six, want: "a\n\n" + six},
	{name: "newer rows win, ties go to the later table",
		text: rows("| cynefin | complex | 2026-11-03 |", "| surprise | 0.1 | 2026-11-02 |", "| progress | blocked | 2026-11-02 |", "| escalation | pending | 2026-11-01 |") +
			join + rows("| cynefin | clear | 2026-11-02 |", "| surprise | 0.2 | 2026-11-02 |", "|progress|verifying|2026-11-04|", "| escalation | none | — |"),
		want: rows("| cynefin | complex | 2026-11-03 |", "| surprise | 0.2 | 2026-11-02 |", "|progress|verifying|2026-11-04|", "| escalation | pending | 2026-11-01 |"),
		done: "removed the signal table at line 1"},
	{name: "rows of one side only, unknown ones too",
		text: rows("| mood | good | — |", "| cynefin | clear | 2026-11-01 |", "| tune | b | 2026-11-02 |") + join + rows("| surprise | 0.2 | — |", "| tune | a | 2026-11-01 |"),
		want: rows("| cynefin | clear | 2026-11-01 |", "| surprise | 0.2 | — |", "| tune | b | 2026-11-02 |", "| mood | good | — |"),
		done: "removed the signal table at line 1"},
	{name: "a valid value beats a newer one that is not",
		text: rows("| cynefin | clear | 2026-11-01 |", "| surprise | 3 | 2026-11-01 |") + join + rows("| cynefin | odd | 2026-11-02 |", "| surprise | 4 | 2026-11-02 |"),
		want: rows("| cynefin | clear | 2026-11-01 |", "| surprise | 4 | 2026-11-02 |"), done: "removed the signal table at line 1"},
	{name: "two columns have no dates to win with",
		text: rows("| cynefin | clear | 2026-11-01 |") + join + section("| Signal | Value |", "|---|---|", "| cynefin | complex |"),
		want: section("| Signal | Value |", "|---|---|", "| cynefin | clear |"), done: "removed the signal table at line 1"},
	{name: "checkpoints and text around",
		text: "before\n\n" + rows("| cynefin | clear | — |") + "\n\n" + checkpoint("2026-11-05", "newer") + "\n\ntail of ours" + join +
			rows("| cynefin | complex | — |") + "\n\n" + checkpoint("2026-11-03", "older") + "\n\ntail of theirs\n",
		want: "before\n\n" + checkpoint("2026-11-05", "newer") + "\n\ntail of ours\n\n" + rows("| cynefin | complex | — |") + "\n\ntail of theirs\n",
		done: "removed the signal table at line 3\nremoved the section checkpoint-context at line 25, kept the one at line 9"},
	{name: "the newer evidence",
		text: rows("| cynefin | clear | — |") + "\n\n" + evidence("2026-11-05", "newer") + join + rows("| cynefin | complex | — |") + "\n\n" + evidence("2026-11-03", "older"),
		want: evidence("2026-11-05", "newer") + "\n\n" + rows("| cynefin | complex | — |"),
		done: "removed the signal table at line 1\nremoved the section evidence-context at line 21, kept the one at line 7"},
	{name: "the later checkpoint on a tie, an undated one never",
		text: rows("| cynefin | clear | — |") + "\n\n" + checkpoint("2026-11-05", "ours") + join + rows("| cynefin | complex | — |") + "\n\n" +
			checkpoint("2026-11-05", "theirs") + "\n\n<!-- checkpoint-context -->\nundated\n<!-- /checkpoint-context -->",
		want: rows("| cynefin | complex | — |") + "\n\n" + checkpoint("2026-11-05", "theirs"),
		done: "removed the signal table at line 1\nremoved the section checkpoint-context at line 7, kept the one at line 21\nremoved the section checkpoint-context at line 27, kept the one at line 21"},
	{name: "escalations in the order of their dates, each once",
		text: rows("| cynefin | clear | — |") + "\n\n" + escalation("## Pending (2026-11-01)\nwhich?\n\n### detail\nmore\n\n## Resolved (2026-11-04) by alice\nthat") + join +
			rows("| cynefin | complex | — |") + "\n\n" + escalation("## Pending (2026-11-01)\nwhich?\n\n### detail\nmore\n\n## Pending (2026-11-03)\nand?"),
		want: rows("| cynefin | complex | — |") + "\n\n" + escalation("## Pending (2026-11-01)\nwhich?\n\n### detail\nmore\n\n## Pending (2026-11-03)\nand?\n\n## Resolved (2026-11-04) by alice\nthat"),
		done: "removed the signal table at line 1\nunited the section escalation-context at line 7 with the one at line 26"},
	{name: "what was opened again on both sides",
		text: rows("| cynefin | clear | — |") + "\n\n" + reopened("2026-11-03", "it leans") + join + rows("| cynefin | complex | — |") + "\n\n" + reopened("2026-11-02", "it leaks"),
		want: rows("| cynefin | complex | — |") + "\n\n<!-- reopen-context -->\n## Reopened (2026-11-02)\nit leaks\n\n## Reopened (2026-11-03)\nit leans\n<!-- /reopen-context -->",
		done: "removed the signal table at line 1\nunited the section reopen-context at line 7 with the one at line 20"},
	{name: "unknown sections stay, also doubled",
		text: rows("| cynefin | clear | — |") + "\n\n<!-- audit -->\nx\n<!-- /audit -->" + join + rows("| cynefin | complex | — |") + "\n\n<!-- audit -->\nx\n<!-- /audit -->\n",
		want: "<!-- audit -->\nx\n<!-- /audit -->\n\n" + rows("| cynefin | complex | — |") + "\n\n<!-- audit -->\nx\n<!-- /audit -->\n",
		done: "removed the signal table at line 1"},
	{name: "other rules of dashes stay",
		text: rows("| cynefin | clear | — |") + "\n\na\n\n---\n\nb" + join + rows("| cynefin | complex | — |") + join + "c",
		want: "a\n\n---\n\nb\n\n" + rows("| cynefin | complex | — |") + join + "c",
		done: "removed the signal table at line 1"},
	{name: "CRLF", text: strings.ReplaceAll(rows("| cynefin | clear | 2026-11-05 |")+join+rows("| cynefin | complex | — |")+"\n", "\n", "\r\n"),
		want: strings.ReplaceAll(rows("| cynefin | clear | 2026-11-05 |")+"\n", "\n", "\r\n"), done: "removed the signal table at line 1"},
	{name: "three tables", text: rows("| cynefin | clear | 2026-11-05 |") + join + rows("| cynefin | complex | 2026-11-07 |") + "\n\n" + rows("| cynefin | chaotic | 2026-11-06 |"),
		want: rows("| cynefin | complex | 2026-11-07 |"), done: "removed the signal table at line 1\nremoved the signal table at line 9"},
	{name: "indented delimiters", text: "  " + rows("| cynefin | clear | — |") + "\n" + rows("| cynefin | complex | — |"),
		want: rows("| cynefin | complex | — |"), done: "removed the signal table at line 1"},
}

func TestReconcile(t *testing.T) {
	schema := cue.Embedded()
	for _, tt := range reconcileCases {
		t.Run(tt.name, func(t *testing.T) {
			got, done, err := signals.Reconcile(notes.Parse(tt.text), schema)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text() != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got.Text(), tt.want)
			}
			if d := strings.Join(done, "\n"); d != tt.done {
				t.Errorf("done\ngot  %s\nwant %s", d, tt.done)
			}
		})
	}
}

func TestReconcileRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"malformed", opener, "notes:1:1: "},
		{"a section without a table", section("soon") + join + six, "notes:1:1: the section stigmergic-signals has no table"},
		{"another version", rows("| schema-version | 2 | — |") + join + six, "notes:4:20: schema-version: must be 1; found 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _, err := signals.Reconcile(notes.Parse(tt.text), nil)
			if err == nil || got != nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// What a merge broke can be written again after reconciling.
func TestReconcileMakesWritable(t *testing.T) {
	d := notes.Parse(six + join + strings.Replace(six, "0.2", "0.7", 1))
	u := signals.Update{Set: set{signals.Progress: "blocked"}, Today: today}
	var invalid *signals.InvalidError
	if _, _, _, err := signals.Apply(d, u, nil); !errors.As(err, &invalid) {
		t.Fatalf("a bad merge was written: %v", err)
	}
	d, _, err := signals.Reconcile(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, _, _, err = signals.Apply(d, u, nil); err != nil {
		t.Fatal(err)
	}
	if got := signals.Read(d, nil); len(got.Findings()) > 0 || got.Number() != 0.7 {
		t.Errorf("%v %v", got.Findings(), got.Number())
	}
}

// FuzzReconcile checks that one table is left, that every other line is still there in order,
// and that reconciling again changes nothing.
func FuzzReconcile(f *testing.F) {
	for _, tt := range reconcileCases {
		f.Add(tt.text)
	}
	for _, tt := range readCases {
		f.Add(tt.text)
	}
	schema := cue.Embedded()
	f.Fuzz(func(t *testing.T, text string) {
		d := notes.Parse(text)
		got, _, err := signals.Reconcile(d, schema)
		if err != nil {
			return
		}
		if tables := got.Named(signals.Section); len(d.Named(signals.Section)) > 0 && len(tables) != 1 {
			t.Errorf("%q: %d tables left", text, len(tables))
		}
		if before, after := proseOf(d), proseOf(got); !slices.Equal(before, after) {
			t.Errorf("%q became %q\n%q\n%q", text, got.Text(), before, after)
		}
		again, done, err := signals.Reconcile(got, schema)
		if err != nil || len(done) > 0 || again.Text() != got.Text() {
			t.Errorf("%q: again %v %v", text, done, err)
		}
	})
}

// proseOf lists what reconciling must always keep: lines that are not blank, not a rule of
// dashes, and not in a section that it merges.
func proseOf(d *notes.Doc) []string {
	var prose []string
	start := 0
	add := func(text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" && strings.TrimSpace(line) != "---" {
				prose = append(prose, line)
			}
		}
	}
	for _, s := range d.Sections() {
		if slices.Contains(signals.United(), s.Name) {
			add(d.Text()[start:s.Start])
			start = s.End
		}
	}
	add(d.Text()[start:])
	return prose
}
