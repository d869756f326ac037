//go:build e2e && unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/testkit/overnight"
	"stig/internal/workspace"
)

// morning checks whether loops start workers when nothing is ready, and collects what the judge
// needs.
func (n *night) morning(t *testing.T) overnight.Night {
	n.forward(nightLease + time.Minute)
	m := overnight.Night{Project: n.project, Lease: nightLease, Repeated: map[string]string{}, Explained: map[string]string{}}
	m.Idle = n.idle(t)
	m.Alive = func(l clone.Lease) bool {
		runs, known := process.Running(l.Process)
		return runs || !known
	}
	m.Now = time.Now().Add(n.ahead)
	var err, wrong error
	m.Starts, err = readStarts(n.dir)
	m.Before, wrong = overnight.ParseStore(n.project.Files()[".beads/issues.jsonl"])
	m.After = n.issues(n.clone)
	err = errors.Join(err, wrong, n.must(n.clone, "stig", "vet"), n.liveState(&m), n.log(&m), n.repeat(&m), n.shared(&m), n.counted(&m))
	for _, i := range m.After {
		if i.Status != "closed" {
			m.Explained[i.ID], _, wrong = n.says(n.clone, "stig", "orient", i.ID)
			err = errors.Join(err, wrong)
		}
	}
	if err != nil {
		t.Error(err)
	}
	return m
}

// idle starts the loops again when nothing is ready, and returns the workers that they started
// anyway.
func (n *night) idle(t *testing.T) []overnight.Start {
	before, err := readStarts(n.dir)
	if err != nil {
		t.Error(err)
	}
	for _, l := range n.loops {
		c, err := l.start("--until-empty")
		if err != nil {
			t.Error(err)
			continue
		}
		late := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
		_ = c.Wait() // the exit code says how it ended
		late.Stop()
		if code := c.ProcessState.ExitCode(); code != 0 && code != workspace.ExitWaits {
			t.Errorf("%s ended with %d when nothing was ready", l.name, code)
		}
	}
	after, err := readStarts(n.dir)
	if err != nil {
		t.Error(err)
	}
	return after[len(before):]
}

// liveState collects the run records and the leases.
func (n *night) liveState(m *overnight.Night) error {
	place, err := n.place()
	if err != nil {
		return err
	}
	runs, damaged, err := place.Runs(time.Time{})
	if len(damaged) > 0 {
		err = errors.Join(err, fmt.Errorf("unreadable run records in %v", damaged))
	}
	claims, wrong := place.Claims()
	m.Runs, m.Leases = runs, claims.Leases
	return errors.Join(err, wrong)
}

// log collects the output of stig log.
func (n *night) log(m *overnight.Night) error {
	c := n.command(n.clone, "stig", "log", "--json")
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("stig log: %w: %s", err, out)
	}
	var log struct{ Edits []overnight.Edit }
	err = json.Unmarshal(out, &log)
	m.Log = log.Edits
	return err
}

// counted collects what stig morning reports about the night.
func (n *night) counted(m *overnight.Night) error {
	c := n.command(n.clone, "stig", "morning", "--json", "--since", n.began.UTC().Format(time.RFC3339))
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("stig morning: %w: %s", err, out)
	}
	return json.Unmarshal(out, &m.Morning)
}

// repeat checks out the merged branch in a fresh clone, and runs the criteria of all closed
// issues there with nothing but a shell.
func (n *night) repeat(m *overnight.Night) error {
	fresh := filepath.Join(n.dir, "fresh")
	if err := n.must(n.dir, "git", "clone", "-q", "--branch", "stig/work", n.clone, fresh); err != nil {
		return err
	}
	for _, i := range m.After {
		if i.Status != "closed" || i.Type == "epic" {
			continue
		}
		script, ok := overnight.Script(i.Criteria)
		if !ok {
			return fmt.Errorf("%s: no script in its criteria", i.ID)
		}
		c := n.command(fresh, "bash", "-eo", "pipefail", "-c", script)
		out, err := c.CombinedOutput()
		m.Repeated[i.ID] = ""
		if err != nil {
			m.Repeated[i.ID] = fmt.Sprintf("%v: %s", err, out)
		}
	}
	return os.RemoveAll(fresh)
}

// shared collects what all work trees of the clone share.
func (n *night) shared(m *overnight.Night) error {
	log, _, err := n.says(n.clone, "git", "log", "--no-merges", "--name-only", "--format=%x01%H%x00%an", "main..stig/work")
	m.Commits = overnight.ParseCommits(log)
	m.ConfigAs = n.configured
	config, wrong := n.config()
	err = errors.Join(err, wrong)
	m.Config, m.Stash = config, n.stashed
	refs, _, wrong := n.says(n.clone, "git", "for-each-ref", "--format=%(objectname)")
	stashes, _, also := n.says(n.clone, "git", "stash", "list", "--format=%H")
	m.Popped = !strings.Contains(stashes, n.stashed)
	m.Kept = strings.Contains(refs+stashes, n.stashed)
	return errors.Join(err, wrong, also)
}

// config returns the configuration of the clone, sorted.
func (n *night) config() (string, error) {
	text, _, err := n.says(n.clone, "git", "config", "--local", "--list")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}

// stash stashes a person's unfinished work.
func (n *night) stash() error {
	err := errors.Join(os.WriteFile(filepath.Join(n.clone, "draft.txt"), []byte("draft of mara\n"), 0o644), n.must(n.clone, "git", "stash", "push", "-q", "-u", "--", "draft.txt"))
	hash, _, wrong := n.says(n.clone, "git", "rev-parse", "refs/stash")
	n.stashed = strings.TrimSpace(hash)
	config, also := n.config()
	n.configured = config
	return errors.Join(err, wrong, also)
}
