//go:build e2e && unix

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"stig/internal/workspace"
)

var lossesTime = flag.Duration("losses", 0, "how long TestLosses disturbs the writers in each of its scenarios")

// TestLosses lets several stig processes write one store in a clone of git, while git or a
// program without the lock replaces the store, and counts the acknowledged edits that are
// missing afterwards, before and after stig recover --apply. The other program's edits must all
// be there. just losses runs it. Without -losses it is short: two scenarios, and it only checks
// what recover restores.
func TestLosses(t *testing.T) {
	var rows []*lossRun
	for _, s := range lossScenarios() {
		if *lossesTime == 0 && !s.quick {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			r := newLossRun(t, s)
			r.measure(t)
			rows = append(rows, r)
		})
	}
	t.Log("\n" + lossTable(rows))
}

// lossScenario is a way to lose edits.
type lossScenario struct {
	name    string
	setUp   func(r *lossRun) error        // called after the first commit
	disturb func(r *lossRun, n int) error // called for the nth time, from 1, while writers write
	settle  func(r *lossRun) error        // called when all writers have ended
	harms   bool                          // edits get lost in it: a long run without losses proves nothing
	quick   bool                          // runs without -losses too
}

// lossRun is one run of a scenario on a store, with its counts.
type lossRun struct {
	lossScenario
	dir, work, store string
	each             int // issues of each writer and of the other program
	stop             chan struct{}

	mu      sync.Mutex
	edits   []lossEdit // acknowledged by stig
	foreign []lossEdit // made by the other program
	refused int        // edits that stig refused
	faults  []string

	missing, after               []lossEdit // before and after recover
	foreignMissing, foreignAfter []lossEdit
	states                       map[string]int // recover's states of the edits still missing after it
	wrong                        []string       // false findings
}

const lossWriters = 4

func newLossRun(t *testing.T, s lossScenario) *lossRun {
	r := &lossRun{lossScenario: s, dir: t.TempDir(), each: 20 + 30*int(lossesTime.Seconds()), stop: make(chan struct{}), states: map[string]int{}}
	r.work = filepath.Join(r.dir, "work")
	r.store = filepath.Join(r.work, ".beads", "issues.jsonl")
	var lines strings.Builder
	for n := range r.each {
		for w := range lossWriters {
			fmt.Fprintf(&lines, `{"id":"%s","title":"Lay a stone","notes":"%s","status":"open","issue_type":"task","created_at":"2026-11-01T08:00:00Z","updated_at":"2026-11-01T08:00:00Z"}`+"\n", lossID(w, n), lossNotes(n))
		}
		fmt.Fprintf(&lines, `{"id":"pier-%d","title":"Drive a pile","status":"open","issue_type":"task","created_at":"2026-11-01T08:00:00Z","updated_at":"2026-11-01T08:00:00Z"}`+"\n", n)
	}
	lines.WriteString(`{"id":"mole-epic","title":"Build the mole","status":"open","issue_type":"epic","created_at":"2026-11-01T08:00:00Z","updated_at":"2026-11-01T08:00:00Z"}` + "\n")
	err := errors.Join(os.MkdirAll(filepath.Dir(r.store), 0o755), os.WriteFile(r.store, []byte(lines.String()), 0o644),
		r.git("init", "-q", "-b", "main"), r.git("add", "."), r.git("commit", "-qm", "Begin"))
	if err == nil && s.setUp != nil {
		err = s.setUp(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lossID returns the id of a writer's nth issue.
func lossID(writer, n int) string { return fmt.Sprintf("mole-%d-%d", writer, n) }

// lossNotes returns the initial notes of a writer's nth issue: every other one has a signal
// table.
func lossNotes(n int) string {
	if n%2 == 0 {
		return "Kept since 1911."
	}
	return strings.ReplaceAll(`<!-- stigmergic-signals -->
| Signal | Value | Updated |
|---|---|---|
| schema-version | 1 | 2026-11-01 |
| cynefin | complicated | 2026-11-01 |
| surprise | 0.0 | 2026-11-01 |
| progress | not-started | 2026-11-01 |
| escalation | none | — |
| planning-depth | standard | 2026-11-01 |
<!-- /stigmergic-signals -->

Kept since 1911.`, "\n", `\n`)
}

// measure runs the scenario and judges it.
func (r *lossRun) measure(t *testing.T) {
	var busy sync.WaitGroup
	for w := range lossWriters {
		busy.Go(func() { r.write(w) })
	}
	if r.disturb != nil {
		busy.Go(r.repeat)
	}
	time.Sleep(max(*lossesTime, 250*time.Millisecond))
	close(r.stop)
	busy.Wait()
	if r.settle != nil {
		r.note(r.settle(r))
	}
	r.note(r.judge())
	for _, fault := range r.faults {
		t.Error(fault)
	}
	for _, e := range slices.Concat(r.after, r.foreignMissing, r.foreignAfter) {
		t.Errorf("missing: %v", e)
	}
	for _, finding := range r.wrong {
		t.Errorf("not lost, and recover says so: %s", finding)
	}
	if *lossesTime > 0 && r.harms && len(r.missing) == 0 {
		t.Error("nothing was lost, which proves nothing")
	}
}

// repeat calls disturb until the run ends.
func (r *lossRun) repeat() {
	for n := 1; !r.ended(); n++ {
		if err := r.disturb(r, n); err != nil {
			r.note(err)
			return
		}
	}
}

func (r *lossRun) ended() bool {
	select {
	case <-r.stop:
		return true
	default:
		return false
	}
}

func (r *lossRun) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && len(r.faults) < 20 {
		r.faults = append(r.faults, err.Error())
	}
}

// judge compares the store with the acknowledged edits, before and after recover.
func (r *lossRun) judge() error {
	before, err := readLosses(r.store)
	if err != nil {
		return err
	}
	r.missing, r.foreignMissing = before.without(r.edits), before.without(r.foreign)
	if err := r.recover(); err != nil {
		return err
	}
	after, err := readLosses(r.store)
	if err != nil {
		return err
	}
	r.after, r.foreignAfter = after.without(r.edits), after.without(r.foreign)
	return r.explain()
}

// recovered is the part of stig recover --json that the test reads.
type recovered struct {
	Lost, Others []struct{ ID, What, Was, State, Where string }
}

func (r *lossRun) findings(dir string, args ...string) (found recovered, err error) {
	out, err := r.stig(dir, append([]string{"recover", "--json"}, args...)...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() != workspace.ExitFound {
		return found, fmt.Errorf("stig recover: %w: %s%s", err, out, exit.Stderr)
	}
	return found, json.Unmarshal(out, &found)
}

// recover runs stig recover as a user would: list, and apply until nothing is left. A finding
// about an issue with nothing missing is false.
func (r *lossRun) recover() error {
	found, err := r.findings(r.work)
	if err != nil {
		return err
	}
	for _, f := range found.Lost {
		if !slices.ContainsFunc(r.missing, func(e lossEdit) bool { return e.explainedBy(f.ID, f.Was) }) {
			r.wrong = append(r.wrong, fmt.Sprintf("%s: %s: %.60q", f.ID, f.What, f.Was))
		}
	}
	for range 3 {
		if found, err = r.findings(r.work, "--apply"); err != nil || len(found.Lost) == 0 {
			return err
		}
	}
	return nil
}

// explain counts what is missing after recover, by state.
func (r *lossRun) explain() error {
	found, err := r.findings(r.work, "--all")
	if err != nil {
		return err
	}
	for i, e := range r.after {
		state := "not named"
		for _, f := range slices.Concat(found.Lost, found.Others) {
			if e.explainedBy(f.ID, f.Was) {
				state = strings.TrimSpace(f.State + " " + f.Where)
			}
		}
		r.states[state]++
		r.after[i].state = state
	}
	return nil
}

func (r *lossRun) env(actor string) []string {
	path := os.Getenv("PATH")
	if filepath.IsAbs(*stressProgram) { // for git, whose merge driver is stig
		path = filepath.Dir(*stressProgram) + string(filepath.ListSeparator) + path
	}
	return []string{"HOME=" + r.dir, "PATH=" + path, "TMPDIR=" + os.TempDir(), "GOCOVERDIR=" + r.dir, "STIG_ACTOR=" + actor,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_AUTHOR_NAME=mara", "GIT_AUTHOR_EMAIL=mara@harbor.example",
		"GIT_COMMITTER_NAME=mara", "GIT_COMMITTER_EMAIL=mara@harbor.example", "BEADS_NO_DAEMON=1"}
}

func (r *lossRun) stig(dir string, args ...string) *exec.Cmd {
	c := exec.Command(*stressProgram, args...)
	c.Dir, c.Env = dir, r.env("mara")
	return c
}

func (r *lossRun) git(args ...string) error { return r.gitIn(r.work, args...) }

func (r *lossRun) gitIn(dir string, args ...string) error {
	_, err := r.gitSays(dir, args...)
	return err
}

func (r *lossRun) gitSays(dir string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir, c.Env = dir, r.env("mara")
	out, err := c.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// pause waits at most that long.
func pause(most time.Duration) { time.Sleep(rand.N(most)) }

func lossTable(rows []*lossRun) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scenario\tacknowledged\trefused\tmissing\tafter recover\tof the other's\tmissing\tafter recover\tfound wrongly\tstill missing")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%v\n", r.name, len(r.edits), r.refused, len(r.missing), len(r.after),
			len(r.foreign), len(r.foreignMissing), len(r.foreignAfter), len(r.wrong), r.states)
	}
	if err := w.Flush(); err != nil {
		return err.Error()
	}
	return text.String()
}
