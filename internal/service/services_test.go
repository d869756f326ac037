package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/cue"
	"stig/internal/beads"
	"stig/internal/workspace"
	"stig/signals"
)

// front returns a front end without streams and flags: an environment, a clock, a directory,
// and a function that receives messages.
func front(t *testing.T) (a *workspace.Run, dir string) {
	t.Helper()
	dir = t.TempDir()
	lines := `{"id":"demo-1","title":"first","status":"open","priority":1,"issue_type":"task"}` + "\n"
	if err := os.MkdirAll(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"STIG_NOW": "2026-11-20T09:00:00Z", "STIG_ACTOR": "mara", "PATH": os.Getenv("PATH")}
	home := func() (string, error) { return dir, nil }
	return &workspace.Run{
		Getenv: func(name string) string { return env[name] }, Env: os.Environ, HomeDir: home, ConfigDir: home,
		Now: time.Now, Schema: cue.Embedded(), Say: func(_ workspace.Level, text string) { t.Log(text) },
		Ctx: t.Context(), Running: "test", Dir: dir,
	}, dir
}

// TestServices works on issues like a front end that has neither a command line nor streams:
// each call is a new run.
func TestServices(t *testing.T) {
	a, _ := front(t)
	run := func() *workspace.Run { return a.Fresh(t.Context(), "test") }
	created, err := Create(t.Context(), run(), CreateRequest{Draft: checkpoint.Draft{Title: "second", Type: "task", Priority: 2}})
	if err != nil || created.Earlier || created.ID == "" {
		t.Fatalf("create: %+v, %v", created, err)
	}
	if linked, err := Link(t.Context(), run(), LinkRequest{ID: created.ID, Dep: beads.Dep{On: "demo-1", Type: "blocks"}}); err != nil || linked.On != "demo-1" {
		t.Errorf("link: %+v, %v", linked, err)
	}
	if claimed, err := Claim(t.Context(), run(), ClaimRequest{ID: "demo-1"}); err != nil || claimed.Assignee != "mara" {
		t.Errorf("claim: %+v, %v", claimed, err)
	}
	report, err := Checkpoint(t.Context(), run(), CheckpointRequest{
		ID: "demo-1", Signals: map[signals.Signal]string{signals.Surprise: ".5"}, Estimate: signals.Estimate{Done: "half"},
	})
	if err != nil || len(report.Changed) != 1 || report.Changed[0].To != "0.5" || len(report.Dependents) != 1 {
		t.Errorf("checkpoint: %+v, %v", report, err)
	}
	list, err := List(run(), ListRequest{Signals: []SignalValue{{signals.Surprise, "0.50"}}, Tables: true})
	if err != nil || len(list.Rows) != 1 || list.Rows[0].ID != "demo-1" || list.Rows[0].Signals.Value(signals.Surprise) != "0.5" {
		t.Errorf("list: %+v, %v", list, err)
	}
	found, err := Orient(t.Context(), run(), OrientRequest{ID: "demo-1"})
	if err != nil || found.Output().Kind != "briefing" || !strings.Contains(found.Markdown(), "half") {
		t.Errorf("orient: %+v, %v", found, err)
	}
	if edit, err := SetSignals(t.Context(), run(), SetSignalsRequest{ID: "demo-1", Set: map[signals.Signal]string{signals.Cynefin: "complex"}, DryRun: true}); err != nil || len(edit.Changes) != 1 {
		t.Errorf("set signals: %+v, %v", edit, err)
	}
	findings, err := Close(t.Context(), run(), []string{"demo-1", "demo-1", "demo-x"}, CloseOptions{Reason: "half of the work is there, the other half is not needed", Waive: "nobody runs it"}, func(Finding) error { return nil })
	if err != nil || len(findings) != 2 || findings[0].Closed == nil || findings[1].Code() != workspace.ExitNoIssue {
		t.Errorf("close: %+v, %v", findings, err)
	}
	if out, err := VerdictOutput(findings); err != nil || out.Kind != "verdicts" {
		t.Errorf("output of close: %+v, %v", out, err)
	}
}

// TestOrientsAsTheSchemaSays: without StaleDays, as from the board and the loops, a claim of
// yesterday is not reported as stale.
func TestOrientsAsTheSchemaSays(t *testing.T) {
	a, dir := front(t)
	line := `{"id":"demo-1","title":"first","status":"in_progress","priority":1,"issue_type":"task","updated_at":"2026-11-19T08:00:00Z"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, ".beads", "issues.jsonl"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		days  *int
		stale bool
	}{{nil, false}, {new(0), true}, {new(1), true}, {new(2), false}} {
		for _, id := range []string{"demo-1", ""} {
			found, err := Orient(t.Context(), a.Fresh(t.Context(), "test"), OrientRequest{ID: id, StaleDays: tt.days})
			if err != nil || strings.Contains(found.Markdown(), "unchanged for a day") != tt.stale {
				t.Errorf("%q, %v days: want stale %v, %v\n%s", id, tt.days, tt.stale, err, found.Markdown())
			}
		}
	}
}

// TestFreshKeepsNothing: a fresh run keeps nothing that another run read or wrote:
// configuration, schema, journal.
func TestFreshKeepsNothing(t *testing.T) {
	a, dir := front(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("own.cue", "package stigmergic\n\n#SignalTable: surprise: <=0.5\n")
	write(".stig.cue", "signals: evidence: true\nschema: file: \"own.cue\"\n")
	hasEvidence := func(run *workspace.Run) bool {
		t.Helper()
		edit, err := InitSignals(t.Context(), run, InitSignalsRequest{DryRun: true})
		if err != nil || len(edit.Changes) != 1 {
			t.Fatalf("%+v, %v", edit, err)
		}
		return strings.Contains(string(edit.Changes[0].After), "regression-guard")
	}
	if !hasEvidence(a) || !a.Schema.Narrowed() {
		t.Error("the configuration is not read")
	}
	write(".stig.cue", "signals: evidence: false\n")
	run := a.Fresh(t.Context(), "test")
	if run.Journal != nil || run.Schema.Narrowed() || hasEvidence(run) {
		t.Error("a run keeps what another one left")
	}
}

// TestRequestsAreValidated lists requests that are invalid for every store and front end.
func TestRequestsAreValidated(t *testing.T) {
	a, _ := front(t)
	blank, text := " \n", "text"
	parts := signals.Estimate{Done: "x"}
	dated := map[signals.Signal]string{signals.EvidenceFreshness: "2026-11-20"}
	for want, r := range map[string]CheckpointRequest{
		"nothing to write":                     {ID: "demo-1", Reaffirm: true},
		"the state estimate is empty":          {ID: "demo-1", Text: &blank},
		"the state estimate is given twice":    {ID: "demo-1", Text: &text, Estimate: parts},
		"--replace: no state estimate":         {ID: "demo-1", Replace: true},
		"--escalate: the question is empty":    {ID: "demo-1", Question: &blank},
		"--evidence: is empty":                 {ID: "demo-1", Evidence: &blank},
		"--evidence is of today":               {ID: "demo-1", Evidence: &text, Signals: dated},
		"surprise: must be between 0.0 and 1.": {ID: "demo-1", Signals: map[signals.Signal]string{signals.Surprise: "3"}},
	} {
		_, err := Checkpoint(t.Context(), a.Fresh(t.Context(), "test"), r)
		if err == nil || !strings.Contains(err.Error(), want) || workspace.Classify(err).Code != workspace.ExitUsage {
			t.Errorf("checkpoint: %v, want %q", err, want)
		}
	}
	orient := func(r OrientRequest) error { _, err := Orient(t.Context(), a, r); return err }
	list := func(r ListRequest) error { _, err := List(a, r); return err }
	_, amend := Amend(t.Context(), a, AmendRequest{IDs: []string{"demo-1"}})
	_, reopen := Reopen(t.Context(), a, ReopenRequest{ID: "demo-1", Reason: blank})
	_, link := Link(t.Context(), a, LinkRequest{ID: "demo-1"})
	_, verify := Verify(t.Context(), a, VerifyRequest{ID: "demo-1", GateRunOptions: GateRunOptions{Timeout: -1}})
	_, closing := Close(t.Context(), a, nil, CloseOptions{Reason: text}, nil)
	_, undone := Close(t.Context(), a, []string{"demo-1"}, CloseOptions{Reason: text, NotPlanned: text}, nil)
	for _, tt := range []struct {
		want string
		err  error
	}{
		{"--not-planned excludes --reason and --waive", undone},
		{"--depth: must be one of", orient(OrientRequest{ID: "demo-1", Depth: "deeper"})},
		{"--depth: goes with one issue", orient(OrientRequest{Depth: "deep"})},
		{"--as: goes with the survey", orient(OrientRequest{ID: "demo-1", As: "bo"})},
		{"--budget: must be at least", orient(OrientRequest{Budget: 1})},
		{"--full and --budget", orient(OrientRequest{Budget: 9000, Full: true})},
		{"--stale-days", orient(OrientRequest{StaleDays: new(-1)})},
		{"--status: must be one of", list(ListRequest{Status: []string{"opn"}})},
		{"--type: must be one of", list(ListRequest{Types: []string{"storie"}})},
		{"--signal: cynefin: must be one of", list(ListRequest{Signals: []SignalValue{{signals.Cynefin, "hard"}}})},
		{"nothing to change", amend},
		{"a reason is missing", reopen},
		{"--on is missing", link},
		{"--timeout and --deadline", verify},
		{"close: takes at least one issue; found", closing},
	} {
		if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) || workspace.Classify(tt.err).Code != workspace.ExitUsage {
			t.Errorf("%v, want %q", tt.err, tt.want)
		}
	}
}
