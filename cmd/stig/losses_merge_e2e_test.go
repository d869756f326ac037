//go:build e2e && unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
)

// TestLossesMerged makes issues below one epic, and estimates of one issue, on
// two branches in the same second, merges them, and counts what is missing. In
// work trees of one clone ids do not meet; in two clones each pair does.
func TestLossesMerged(t *testing.T) {
	rounds := 37
	if *lossesTime == 0 {
		rounds = 1
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "two branches\tmerges\tissues made\tmissing\testimates\tmissing\tunder one id")
	for _, two := range []struct {
		name  string
		setUp func(*lossRun) (other string, err error)
	}{{"in two work trees", besideIt}, {"in two clones", clonedBeside}} {
		t.Run(two.name, func(t *testing.T) {
			r := newLossRun(t, lossScenario{setUp: mergedByStig})
			other, err := two.setUp(r)
			if err != nil {
				t.Fatal(err)
			}
			m := mergeRun{lossRun: r, other: other, ids: map[string]int{}}
			for n := range rounds {
				if err := m.round(n); err != nil {
					t.Fatal(err)
				}
			}
			issues, estimates, err := m.Missing()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range append(issues, estimates...) {
				t.Errorf("missing: %v", e)
			}
			for _, dir := range []string{m.work, m.other} {
				if found, err := m.findings(dir); err != nil || len(found.Lost) > 0 {
					t.Errorf("%s: recover calls lost: %v (%v)", dir, found.Lost, err)
				}
			}
			same := 0
			for _, times := range m.ids {
				same += times - 1
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", two.name, rounds, len(m.issues), len(issues), len(m.estimates), len(estimates), same)
		})
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + text.String())
}

// mergeRun is a run on two branches, in two directories.
type mergeRun struct {
	*lossRun
	other             string
	issues, estimates []lossEdit
	ids               map[string]int // how often create gave each
}

func besideIt(r *lossRun) (string, error) {
	other := filepath.Join(r.dir, "beside")
	return other, r.git("worktree", "add", "-q", "-b", "beside", other)
}

func clonedBeside(r *lossRun) (string, error) {
	other := filepath.Join(r.dir, "beside")
	err := errors.Join(r.gitIn(r.dir, "clone", "-q", "work", other), r.gitIn(other, "switch", "-q", "-c", "beside"))
	if err == nil {
		out, e := r.stig(other, "setup", "git").CombinedOutput()
		if e != nil {
			err = fmt.Errorf("stig setup git: %w: %s", e, out)
		}
	}
	return other, errors.Join(err, r.git("remote", "add", "beside", other))
}

// round writes on both sides and merges, first there and then here.
func (m *mergeRun) round(n int) error {
	target := lossID(0, n%m.each)
	for side, dir := range []string{m.work, m.other} {
		title := fmt.Sprintf("Stone %d of side %d.", n, side)
		made := m.stig(dir, "create", title, "--parent", "mole-epic", "-q")
		made.Env = append(made.Env, fmt.Sprintf("STIG_NOW=2026-11-20T09:%02d:00Z", n%60))
		out, err := made.Output()
		if err != nil {
			return fmt.Errorf("stig create: %w", err)
		}
		m.issues = append(m.issues, lossEdit{kind: "issue", text: title})
		m.ids[strings.TrimSpace(string(out))]++
		text := fmt.Sprintf("seen %d from side %d.", n, side)
		if out, err := m.stig(dir, "checkpoint", target, "--learned", text).CombinedOutput(); err != nil {
			return fmt.Errorf("stig checkpoint: %w: %s", err, out)
		}
		m.estimates = append(m.estimates, lossEdit{kind: "estimate", id: target, text: text})
		if err := m.gitIn(dir, "commit", "-qam", title); err != nil {
			return err
		}
	}
	if m.gitIn(m.work, "remote", "get-url", "beside") == nil {
		if err := m.git("fetch", "-q", "beside", "+beside:refs/heads/beside"); err != nil {
			return err
		}
	}
	if err := m.git("merge", "-q", "--no-edit", "beside"); err != nil {
		return err
	}
	if isThere(filepath.Join(m.other, ".git", "HEAD")) {
		return m.gitIn(m.other, "pull", "-q", "origin", "main")
	}
	return m.gitIn(m.other, "merge", "-q", "--ff-only", "main")
}

// Missing lists what neither the store nor a section of it holds.
func (m *mergeRun) Missing() (issues, estimates []lossEdit, err error) {
	store, err := readLosses(m.store)
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(filepath.Join(m.other, ".beads", "issues.jsonl"))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range append(m.issues, m.estimates...) {
		if !strings.Contains(string(text), e.text) {
			return nil, nil, fmt.Errorf("the other side lacks %q", e.text)
		}
	}
	return store.without(m.issues), store.without(m.estimates), nil
}
