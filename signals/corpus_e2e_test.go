//go:build e2e

package signals_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"stig/cue"
	"stig/internal/testkit/sample"
	"stig/notes"
	"stig/signals"
)

// corpusNotes reads all notes with a signal table from real stores.
func corpusNotes(t *testing.T) []string {
	var texts []string
	for _, name := range sample.Corpus(t, "*.jsonl", "edge/*.jsonl") {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var issue struct{ Notes string }
			if json.Unmarshal(lines.Bytes(), &issue) == nil && strings.Contains(issue.Notes, signals.Section) {
				texts = append(texts, issue.Notes)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if len(texts) == 0 {
		t.Fatal("the corpus has no signal tables")
	}
	return texts
}

// Real notes have no errors but real violations, and setting one signal changes one line.
func TestCorpus(t *testing.T) {
	schema := cue.Embedded()
	tables, evidence, rules := 0, 0, map[string]int{}
	texts := corpusNotes(t)
	for _, text := range texts {
		d := notes.Parse(text)
		tables += len(d.Named(signals.Section))
		table := signals.Read(d, schema)
		if table.HasEvidence() {
			evidence++
		}
		broken := false
		for _, f := range table.Findings() {
			rules[f.Rule]++
			broken = broken || f.Severity == signals.Error
			if f.Severity == signals.Error && f.Rule != signals.RuleValue {
				t.Errorf("%d:%d %s: %s", f.Line, f.Column, f.Rule, f.Message)
			}
		}
		if broken || !table.Present() || len(d.Malformed()) > 0 {
			continue
		}
		want := "0.4"
		if table.Value(signals.Surprise) == want {
			want = "0.5"
		}
		got, changes, _, err := signals.Apply(d, signals.Update{Set: set{signals.Surprise: want}, Today: "2099-01-01"}, schema)
		if err != nil || len(changes) != 1 {
			t.Errorf("%v %v", changes, err)
			continue
		}
		before, after := strings.Split(text, "\n"), strings.Split(got.Text(), "\n")
		if len(before) != len(after) {
			t.Errorf("%d lines became %d", len(before), len(after))
			continue
		}
		line, _ := table.Place(signals.Surprise)
		for i := range before {
			if before[i] != after[i] && i+1 != line {
				t.Errorf("line %d changed: %q", i+1, after[i])
			}
		}
	}
	t.Logf("%d notes, %d tables, %d with evidence, findings %v", len(texts), tables, evidence, rules)
}

// Setting a part of a real estimate leaves the rest of it, and the notes around it, unchanged.
func TestCorpusParts(t *testing.T) {
	const day = "2099-01-01"
	estimates := 0
	for _, text := range corpusNotes(t) {
		d := notes.Parse(text)
		was, has := signals.LastEstimate(d)
		if !has || len(d.Malformed()) > 0 {
			continue
		}
		estimates++
		after, err := signals.SetParts(d, signals.Estimate{Date: day, Remains: "all"})
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		if err := (notes.Permit{Change: []string{signals.EstimateSection}}).Check(text, after.Text()); err != nil {
			t.Error(err)
		}
		is, _ := signals.LastEstimate(after)
		was.Remains = "all"
		if is.Date != day || is.Done != was.Done || is.Learned != was.Learned || is.Remains != was.Remains || is.Downstream != was.Downstream {
			t.Errorf("got %+v, was %+v", is, was)
		}
		if outside := was.Texts()[0].Text; !strings.Contains(is.Texts()[0].Text, outside) {
			t.Errorf("lost %q: %q", outside, is.Body)
		}
	}
	if estimates == 0 {
		t.Fatal("the corpus has no state estimates")
	}
	t.Logf("%d estimates", estimates)
}
