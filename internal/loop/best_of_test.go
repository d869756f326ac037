//go:build unix

package loop_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/loop"
)

// The next loop completes several workers on one issue whose loop was killed: work that had ended
// is judged, and one lands; no claim and no work tree stays, and no work is lost.
func TestKilledBestOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		steps  []string        // of the workers; "landed: killed" before that was recorded
		status string          // of the issue
		by     string          // the actor of the next loop
		want   []clone.Outcome // "" for lost or stopped
		ran    bool            // the command runs again
		left   int             // branches of leftovers
	}{
		{"before any command", []string{"claimed", "claimed"}, `"in_progress","assignee":"bo"`, "bo", []clone.Outcome{clone.OutcomeStopped, clone.OutcomeStopped}, true, 2},
		{"while all ran", []string{"started", "started"}, `"in_progress","assignee":"bo"`, "bo", []clone.Outcome{clone.OutcomeStopped, clone.OutcomeStopped}, true, 2},
		{"once one had ended", []string{"started", "ended"}, `"in_progress","assignee":"bo"`, "bo", []clone.Outcome{clone.OutcomeStopped, clone.OutcomeClosed}, false, 1},
		{"once all had ended", []string{"ended", "ended"}, `"in_progress","assignee":"bo"`, "bo", []clone.Outcome{clone.OutcomeClosed, clone.OutcomeStopped}, false, 1},
		{"once one had landed", []string{"ended", "landed"}, `"in_progress","assignee":"bo"`, "bo", []clone.Outcome{clone.OutcomeStopped, clone.OutcomeClosed}, false, 1},
		{"before it was recorded that one landed", []string{"ended", "landed: killed"}, `"in_progress","assignee":"bo"`, "bo", []clone.Outcome{clone.OutcomeStopped, clone.OutcomeClosed}, false, 1},
		{"once the issue was closed", []string{"ended", "landed"}, `"closed","assignee":"bo"`, "bo", []clone.Outcome{"", clone.OutcomeClosed}, false, 1},
		{"once the end of one was recorded", []string{"ended", "concluded"}, `"closed","assignee":"bo"`, "bo", []clone.Outcome{clone.OutcomeLost, clone.OutcomeClosed}, false, 1},
		{"and swept, for a loop of another name", []string{"started", "ended"}, `"open"`, "cy", []clone.Outcome{clone.OutcomeStopped, clone.OutcomeStopped}, true, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := newYard(t, "pier-1")
			home := t.TempDir()
			y.app.HomeDir = func() (string, error) { return home, nil }
			y.begin(t)
			criteria := y.criteria(t)
			for k, step := range c.steps {
				y.leave(t, k, step, criteria)
			}
			y.replace(t, `"status":"open"`, `"status":`+c.status)
			y.app.Actor = c.by
			if _, err := y.work(t, "echo >>"+home+"/ran; echo mine >pier-1", func(r *loop.Request) { r.Filter = []string{"pier-1"} }); err != nil {
				t.Fatal(err)
			}
			for k, r := range y.runs(t)[:len(c.steps)] {
				if o := clone.Outcome(r.Outcome); o != c.want[k] && !(c.want[k] == "" && (o == clone.OutcomeLost || o == clone.OutcomeStopped)) {
					t.Errorf("%s: %s (%s), want %s", r.Actor, r.Outcome, r.Why, c.want[k])
				}
			}
			if _, err := os.Stat(filepath.Join(home, "ran")); (err == nil) != c.ran {
				t.Errorf("the command ran: %t, want %t", err == nil, c.ran)
			}
			if text := y.text(t); !strings.Contains(text, `"status":"closed"`) {
				t.Errorf("the store says\n%s", text)
			}
			if claims, err := y.place.Claims(); err != nil || len(claims.Leases) > 0 {
				t.Errorf("leases %v, %v", claims.Leases, err)
			}
			y.check(t, c.left)
		})
	}
}

// leave makes what a killed loop leaves of a worker's run on pier-1 at a step.
func (y *yard) leave(t *testing.T, k int, step, criteria string) {
	t.Helper()
	name := "bo-" + string(rune('1'+k))
	o := y.trees(t)
	o.Worker = name
	tree, err := git.PrepareWorktree(t.Context(), o, "pier-1")
	if err != nil {
		t.Fatal(err)
	}
	r := clone.Run{ID: "r-" + name, Actor: name, Holder: "bo", Task: clone.BestOfTask, Issue: "pier-1", Attempt: 1, Started: noon.Add(time.Duration(k-9) * time.Second),
		Step: cmp.Or(map[string]string{"landed: killed": "ended"}[step], step), Criteria: criteria, Worktree: tree.Dir, Branch: tree.Branch, Base: tree.Base}
	if err := os.WriteFile(filepath.Join(tree.Dir, "pier-1"), []byte(name+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if step != "claimed" && step != "started" {
		r.Ended = noon
	}
	if step == "concluded" {
		r.Step, r.Outcome = "landed", string(clone.OutcomeClosed)
	}
	if strings.HasPrefix(step, "landed") || step == "concluded" {
		_, err := tree.Commit(t.Context(), "work", name)
		if err == nil {
			_, err = tree.Merge(t.Context())
		}
		if err == nil {
			err = tree.Land(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := y.place.RecordRun(r, noon); err != nil {
		t.Fatal(err)
	}
}

func (y *yard) trees(t *testing.T) git.WorktreeOptions {
	t.Helper()
	store, err := y.app.Discover()
	if err != nil {
		t.Fatal(err)
	}
	o, err := y.app.Trees(store.Place())
	if err != nil {
		t.Fatal(err)
	}
	return *o
}

// check checks that one solution is on the branch for results, that no work tree is left, and how
// many branches are: those of leftovers, and the two of the repository.
func (y *yard) check(t *testing.T, leftovers int) {
	t.Helper()
	here := y.app.GitIn(y.dir)
	text, err := here.Must(t.Context(), "log", "--oneline", "stig/work", "--", "pier-1")
	if err != nil || len(strings.Split(text, "\n")) != 1 {
		t.Errorf("on stig/work:\n%s\n%v", text, err)
	}
	branches, err := here.Must(t.Context(), "for-each-ref", "--format=%(refname:short)", "refs/heads")
	if n := strings.Count(branches, "stig/pier-1-leftovers-"); err != nil || n != leftovers || strings.Count(branches, "\n")+1 != n+2 {
		t.Errorf("branches, want %d of leftovers:\n%s\n%v", leftovers, branches, err)
	}
	if trees, err := git.Worktrees(t.Context(), y.trees(t)); err != nil || len(trees) > 0 {
		t.Errorf("work trees %v, %v", trees, err)
	}
}
