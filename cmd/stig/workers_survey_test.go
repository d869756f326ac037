package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/process"
)

// TestSurveyOfWorkers: the survey shows whose loops run, wait or were paused, and which ended
// while working on an issue; doctor names what dead workers hold.
func TestSurveyOfWorkers(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	place, err := clone.At(filepath.Join(dir, ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	self, ok := process.Self()
	if !ok {
		t.Log("processes cannot be seen here: left out")
		return
	}
	here, gone := self.ID, self.ID
	gone.Start += "0"
	yesterday := time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC)
	for name, p := range map[string]clone.Presence{
		"a-works":    {Process: here, Issue: "harbor-d3w"},
		"b-waits":    {Process: here, Why: "of before"},
		"c-paused":   {State: clone.Paused, Why: "every worker fails alike: no credit"},
		"d-drains":   {State: clone.Draining, Process: here, Issue: "harbor-t3c"},
		"e-ended":    {Process: gone, Issue: "harbor-v6k"},
		"f-stopped":  {Process: gone},
		"g-dead":     {State: clone.Dead, Process: gone, Issue: "harbor-c20"},
		"h-resumed":  {State: clone.Paused, Until: yesterday},
		"i-a-person": {Seen: yesterday},
	} {
		if err := place.ChangePresence(name, func(now *clone.Presence) bool {
			p.Store, p.Name = now.Store, now.Name
			*now = p
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	var out, complaints bytes.Buffer
	env := append(os.Environ(), "HOME="+t.TempDir(), "STIG_NOW=2026-11-20T09:00:00Z", "STIG_ACTOR=mara")
	if code := runInside(dir, env, &out, &complaints, "orient"); code != 0 {
		t.Fatalf("exit %d: %s", code, complaints.Bytes())
	}
	_, part, _ := strings.Cut(out.String(), "## Workers\n\n")
	part, _, _ = strings.Cut(part, "\n\n")
	want := `- a-works works on harbor-d3w
- b-waits waits for work
- c-paused paused: every worker fails alike: no credit
- d-drains draining, at harbor-t3c
- e-ended its loop ended at harbor-v6k`
	if part != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", part, want, complaints.Bytes())
	}
	for name, issue := range map[string]string{"a-works": "harbor-d3w", "e-ended": "harbor-v6k", "i-a-person": "harbor-c20", "k-once": "harbor-t3c"} {
		if code := runInside(dir, env, &out, &complaints, "claim", issue, "--actor", name); code != 0 {
			t.Fatalf("claim: exit %d: %s", code, complaints.Bytes())
		}
	}
	if _, err := place.ChangeClaims(func(c *clone.Claims) (bool, error) {
		c.Leases = []clone.Lease{
			{Issue: "harbor-d3w", Actor: "a-works", Host: here.Host, Process: here}, {Issue: "harbor-v6k", Actor: "e-ended", Host: here.Host, Process: gone},
			{Issue: "harbor-c20", Actor: "i-a-person", Host: here.Host, Person: true, Until: yesterday}, {Issue: "harbor-t3c", Actor: "k-once", Host: here.Host, Until: yesterday},
			{Issue: "harbor-m8t", Actor: "e-ended", Host: here.Host, Process: gone}, // it was given back
		}
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if code := runInside(dir, env, &out, &complaints, "doctor"); code != 0 {
		t.Fatalf("doctor: exit %d: %s", code, complaints.Bytes())
	}
	said := strings.Join(strings.Fields(out.String()), " ") // it breaks lines
	for _, want := range []string{
		"todo workers claims of loops that ended, and claims not renewed in time: harbor-t3c (k-once), harbor-v6k (e-ended) → stig sweep --dry-run",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, out.Bytes())
		}
	}
}
