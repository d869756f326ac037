package overnight_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/testkit/overnight"
)

// TestJudge checks a night in which all went well, in which the judge must find nothing, and
// that night with one fault at a time, each of which it must name.
func TestJudge(t *testing.T) {
	if problems := overnight.Judge(quiet(t)); len(problems) > 0 {
		t.Fatalf("a quiet night: %q", problems)
	}
	for _, test := range []struct {
		name   string
		change func(n *overnight.Night)
		want   string
	}{
		{"an issue is gone", func(n *overnight.Night) { n.After = n.After[1:] }, "quay-1: lost"},
		{"criteria were weakened", func(n *overnight.Night) { n.After[1].Criteria = "```verify\ntrue\n```" }, "quay-1.1: its acceptance criteria changed"},
		{"a close by hand", func(n *overnight.Night) { n.After[1].Reason = "done" }, "quay-1.1: closed without a verdict"},
		{"work that is not on the branch", func(n *overnight.Night) { n.Repeated["quay-1.1"] = "no such file" }, "quay-1.1: closed, but its criteria fail on the merged branch: no such file"},
		{"a close that nobody repeated", func(n *overnight.Night) { delete(n.Repeated, "quay-1.1") }, "quay-1.1: closed, but its criteria were not rerun"},
		{"a close that shows nothing", func(n *overnight.Night) { n.After[4].Status, n.After[4].Reason = "closed", "Verified: it is faster" }, "quay-1.99: closed, but its checks passed before the work"},
		{"closed twice", func(n *overnight.Night) { n.Log = append(n.Log, n.Log[1]) }, "quay-1.1: closed 2 times"},
		{"runs that overlap", func(n *overnight.Night) { n.Runs[1].Started = n.Runs[0].Started.Add(time.Second) }, "quay-1.1: run r-2 of w2 began before run r-1 of w1 ended"},
		{"two workers that met", func(n *overnight.Night) { n.Starts[0].Beside = true }, "quay-1.1: w1 (run r-1) found another worker at it"},
		{"a start for a blocked issue", func(n *overnight.Night) { n.Starts[0].Wrong = "blocked" }, "quay-1.1: w1 (run r-1) should not have been started: blocked"},
		{"a start when nothing was ready", func(n *overnight.Night) { n.Idle = n.Starts[:1] }, "w1 was started for"},
		{"a lease of the dead", func(n *overnight.Night) {
			n.Leases = []clone.Lease{{Issue: "quay-1.2", Actor: "w1", Since: at(0), Until: at(10)}}
			n.After[2].Status, n.After[2].Assignee = "in_progress", "w1"
		}, "quay-1.2: claimed by w1, who is dead"},
		{"a claim without a lease", func(n *overnight.Night) { n.After[2].Status, n.After[2].Assignee = "in_progress", "w3" }, "quay-1.2: claimed by w3, who has no lease"},
		{"a question without evidence", func(n *overnight.Night) { n.After[3].Notes = escalation("Pending", "Help?") }, "quay-1.3: a question without evidence"},
		{"a run of another issue for evidence", func(n *overnight.Night) { n.After[3].Notes = escalation("Pending", "run r-1 failed") }, "quay-1.3: a question without evidence"},
		{"an issue left open in silence", func(n *overnight.Night) { n.Explained["quay-1.2"] = "# quay-1.2" }, "quay-1.2: open, but stig orient does not say why"},
		{"a close that is not logged", func(n *overnight.Night) { n.Log = n.Log[:1] }, "quay-1.1: closed, but by stig log it is in_progress"},
		{"a close that failed", func(n *overnight.Night) { n.Log[1].Result = "failed" }, "quay-1.1: closed, but by stig log it is in_progress"},
		{"the debris of another", func(n *overnight.Night) { n.Commits[0].Files[1] = overnight.Debris("r-1") }, "commit c0ffee of w2 contains debris-r-1.txt of w1"},
		{"a stash that is gone", func(n *overnight.Night) { n.Kept = false }, "no reference leads to 5ta5h"},
		{"a stash that was popped in silence", func(n *overnight.Night) { n.Runs[1].Why = "" }, "what a person stashed was popped"},
		{"an identity that stays", func(n *overnight.Night) { n.Config = "user.name=Robot" }, `the configuration was "core.bare=false", and is "user.name=Robot"`},
		{"an identity that was set in silence", func(n *overnight.Night) { n.Starts[2].Temper = overnight.Signs }, "r-2 of w2 set user.name, but no record says so"},
		{"an identity that a run said that was not beside it", func(n *overnight.Night) {
			n.Starts[2].Temper, n.Runs[0].Why = overnight.Signs, "user.name"
		}, "r-2 of w2 set user.name, but no record says so"},
		{"a morning that leaves out what was done", func(n *overnight.Night) { n.Morning.Done = nil }, "stig morning: done quay-1.1: 0; want 1"},
		{"a morning that leaves out a question", func(n *overnight.Night) { n.Morning.Waits = nil }, "stig morning: waits quay-1.2: 0; want 1"},
		{"a morning that keeps quiet about a failure", func(n *overnight.Night) { n.Runs[0].Issue = "quay-1.3" }, "stig morning: failed quay-1.3: 0; want 1"},
		{"a morning with a question too many", func(n *overnight.Night) { n.After[2].Notes = "" }, "stig morning: waits quay-1.2: 1; want none"},
		{"a morning that counts other runs", func(n *overnight.Night) { n.Runs[0].Outcome = "silent" }, "stig morning: outcome silent: 0; want 1"},
		{"a morning that is too cheap", func(n *overnight.Night) { n.Runs[0].Cost = 0.02 }, "stig morning: cost: 1; want 3"},
		{"a cost that is not known", func(n *overnight.Night) { n.Runs[1].Cost = 0 }, "run r-2 of w2 cost 0.01 USD, but its record says 0 USD"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := quiet(t)
			test.change(&n)
			if problems := strings.Join(overnight.Judge(n), "\n"); !strings.Contains(problems, test.want) {
				t.Errorf("found %q, want %q", problems, test.want)
			}
		})
	}
}

// TestJudgeHearsTheOtherRun: of two overlapping runs, the one that restores a setting reports
// it for both.
func TestJudgeHearsTheOtherRun(t *testing.T) {
	n := quiet(t)
	n.Starts[2].Temper = overnight.Signs
	n.Runs[0].Why, n.Runs[0].Overlaps = n.Runs[0].Why+" user.name", []string{"r-2"}
	if problems := overnight.Judge(n); len(problems) > 0 {
		t.Errorf("found %q", problems)
	}
}

// at returns the time that many minutes after the night began.
func at(minutes int) time.Time {
	return time.Date(2026, 11, 20, 22, minutes, 0, 0, time.UTC)
}

func escalation(heading, question string) string {
	return "| escalation | " + strings.ToLower(heading) + " |\n<!-- escalation-context -->\n## " + heading + " (2026-11-20) by w1\n" + question + "\n<!-- /escalation-context -->"
}

// quiet returns a night in which one issue was closed on the second run, and one waits.
func quiet(t *testing.T) overnight.Night {
	p := overnight.Project{Epics: 1, Each: 3, Seed: 1, Green: true}
	before, err := overnight.ParseStore(p.Files()[".beads/issues.jsonl"])
	if err != nil {
		t.Fatal(err)
	}
	after, _ := overnight.ParseStore(p.Files()[".beads/issues.jsonl"])
	after[1].Status, after[1].Reason = "closed", "Verified: the stone lies. All acceptance criteria pass"
	after[2].Notes = escalation("Pending", overnight.Question("quay-1.2"))
	var log []overnight.Edit
	if err := json.Unmarshal([]byte(`[
{"at":"2026-11-20T22:00:00Z","actor":"w1","command":"work","result":"written","changes":[{"issue":"quay-1.1","kind":"key","name":"status","was":"\"open\"","now":"\"in_progress\""}]},
{"at":"2026-11-20T22:05:00Z","actor":"w2","command":"work","result":"written","changes":[{"issue":"quay-1.1","kind":"key","name":"status","was":"\"in_progress\"","now":"\"closed\""}]}
]`), &log); err != nil {
		t.Fatal(err)
	}
	var morning overnight.Morning
	if err := json.Unmarshal([]byte(`{"done":[{"id":"quay-1.1"}],"waits":[{"id":"quay-1.2"}],"failed":[],
"outcomes":{"failed":1,"closed":1},"cost":{"runs":2,"unknown":1,"amounts":{"USD":0.01}}}`), &morning); err != nil {
		t.Fatal(err)
	}
	return overnight.Night{
		Project: p, Now: at(59), Lease: 10 * time.Minute, Before: before, After: after, Log: log,
		Runs: []clone.Run{
			{ID: "r-1", Actor: "w1", Issue: "quay-1.1", Started: at(1), Ended: at(2), Outcome: "failed", Program: process.ID{PID: 11}},
			{ID: "r-2", Actor: "w2", Issue: "quay-1.1", Started: at(3), Ended: at(4), Outcome: "closed", Cost: overnight.Cost, Currency: "USD", Why: "5ta5h was popped"},
		},
		Starts: []overnight.Start{
			{Issue: "quay-1.1", Actor: "w1", Run: "r-1"}, {Issue: "quay-1.1", Actor: "w2", Run: "r-2"},
			{Issue: "quay-1.1", Actor: "w2", Run: "r-2", End: true},
		},
		Commits: []overnight.Commit{{Hash: "c0ffee", Author: "w2", Files: []string{"src/quay-1.1.txt", overnight.Debris("r-2")}}},
		Stash:   "5ta5h", Kept: true, Popped: true, Config: "core.bare=false", ConfigAs: "core.bare=false",
		Morning:   morning,
		Repeated:  map[string]string{"quay-1.1": ""},
		Explained: map[string]string{"quay-1.99": "Question that waits for a person", "quay-1.2": "## Question that waits for a person", "quay-1.3": "Blocked by quay-1.2"},
		Alive:     func(clone.Lease) bool { return false },
	}
}

// TestNotReady: a question keeps a worker from an issue until it is answered, unless it holds
// only another worker.
func TestNotReady(t *testing.T) {
	for _, test := range []struct{ notes, want string }{
		{"", ""},
		{escalation("Pending", "How?"), "a question waits"},
		{holding("w1"), "a question waits"},
		{holding("w2"), ""},
		{holding("w12"), ""},
		{holding("w2") + "\n## Pending (2026-11-20) by w3\nHow?", "a question waits"},
		{holding("w1") + "\n## Resolved (2026-11-20) by ines\nSo.", ""},
	} {
		issues := []overnight.Issue{{ID: "quay-1.1", Status: "in_progress", Assignee: "w1", Notes: test.notes}}
		if got := overnight.NotReady(issues, "quay-1.1", "w1"); got != test.want {
			t.Errorf("%q: %q, want %q", test.notes, got, test.want)
		}
	}
}

// holding returns notes with a question that holds one worker.
func holding(worker string) string {
	return "| escalation | pending |\n## Pending (2026-11-20, holds " + worker + ") by " + worker + "\nWhy?"
}

// TestAwaited: a request wakes the other worker until that worker has had a run without an
// issue, or on this one, after it.
func TestAwaited(t *testing.T) {
	made := overnight.Start{Issue: "quay-1.1", Actor: "worker-1", Temper: overnight.Requests}
	for _, test := range []struct {
		name string
		text string
		more []overnight.Start
		want bool
	}{
		{"nobody looked", "request: " + overnight.Request("quay-1.1"), nil, true},
		{"another text", "result: The grey one.", nil, false},
		{"it began to look", "request: " + overnight.Request("quay-1.1"), []overnight.Start{{Actor: "worker-2"}}, true},
		{"it looked", "request: " + overnight.Request("quay-1.1"), []overnight.Start{{Actor: "worker-2", End: true}}, false},
		{"it was at the issue", "request: " + overnight.Request("quay-1.1"), []overnight.Start{{Actor: "worker-2", Issue: "quay-1.1"}}, false},
		{"it was at another", "request: " + overnight.Request("quay-1.1"), []overnight.Start{{Actor: "worker-2", Issue: "quay-1.2"}}, true},
	} {
		var issue overnight.Issue
		line, _ := json.Marshal(map[string]any{"id": "quay-1.1", "comments": []map[string]string{{"author": "worker-1", "text": test.text}}})
		if err := json.Unmarshal(line, &issue); err != nil {
			t.Fatal(err)
		}
		before := overnight.Start{Actor: "worker-2", End: true}
		if got := issue.Awaited(append([]overnight.Start{before, made}, test.more...)); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestNight: every temper occurs, blockers are earlier issues, and all criteria have a script.
func TestNight(t *testing.T) {
	p, seen, known := overnight.Project{Epics: 30, Each: 10, Seed: 1}, map[overnight.Temper]bool{}, map[string]bool{}
	for _, task := range p.Tasks() {
		for _, blocker := range task.Blockers {
			if !known[blocker] {
				t.Errorf("%s waits for %s, which does not come before it", task.ID, blocker)
			}
		}
		known[task.ID] = true
		for n := range 4 {
			seen[overnight.NewTemper(p.Seed, task.ID, n)] = true
		}
		if script, ok := overnight.Script(task.Criteria()); !ok || !strings.HasSuffix(script, "sh build.sh\n") {
			t.Errorf("%s: %q", task.ID, script)
		}
	}
	if len(known) != 300 || len(seen) != len(overnight.Tempers) {
		t.Errorf("%d issues, tempers %v", len(known), seen)
	}
}
