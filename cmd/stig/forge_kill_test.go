package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/testkit/forges"
)

// killing kills the stig that a command runs, at a step.
type killing struct {
	*testing.T
	forge *forges.Forge
	run   func(command string) string
	dir   string // of files about what to kill, and of a git that kills
}

func newKilling(t *testing.T, issues int) killing {
	k := killing{T: t, forge: forges.New(filepath.Join(t.TempDir(), "dock.git")), dir: t.TempDir()}
	t.Cleanup(k.forge.Close)
	k.run = onForge(t, k.forge, issues, 1000)
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\nif [ -e %[1]s/at ] && echo \" $*\" | grep -q -e \"$(cat %[1]s/at)\"; then rm %[1]s/at; %[2]s \"$@\"; kill -9 $(cat %[1]s/pid); fi\nexec %[2]s \"$@\"\n", k.dir, git)
	if err := os.WriteFile(filepath.Join(k.dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return k
}

// kill runs a command of stig until it is killed: after git ran with arguments, or after the
// forge served a request.
func (k killing) kill(at, command string) {
	k.Helper()
	file := filepath.Join(k.dir, "at")
	if err := os.WriteFile(file, []byte(at), 0o600); err != nil {
		k.Fatal(err)
	}
	k.forge.Served = func(request string) {
		if strings.HasPrefix(request, at) && os.Remove(file) == nil {
			_ = exec.Command("sh", "-c", "kill -9 $(cat "+k.dir+"/pid)").Run()
		}
	}
	said := k.run(fmt.Sprintf(`sh -c 'echo $$ >%s/pid; PATH="%[1]s:$PATH"; exec "$@"' - %s || echo "exit $?"`, k.dir, command))
	if _, err := os.Stat(file); err == nil || !strings.Contains(said, "exit 137") {
		k.Errorf("%s: was not killed at %q:\n%s", command, at, said)
	}
}

// has checks what a command prints.
func (k killing) has(command string, want ...string) {
	k.Helper()
	said := k.run(command)
	for _, one := range want {
		if !strings.Contains(said, one) {
			k.Errorf("%s: lacks %q:\n%s", command, one, said)
		}
	}
}

// judge has the checks of a request pass, so that it is ready, and people decide on it.
func (k killing) judge(verb string, number int) {
	k.Helper()
	k.forge.Status("success")
	k.run("stig land --sync")
	if err := k.forge.Judge(verb, number); err != nil {
		k.Fatal(err)
	}
}

// TestKilledReviews kills loops and synchronizations between two steps that belong together: the
// next one ends in the same state.
func TestKilledReviews(t *testing.T) {
	t.Parallel()
	const work = "stig work --until-empty --max-runs 9" + twoCommits
	for _, at := range []string{"push --quiet", "POST /pulls"} {
		t.Run("sending, "+at, func(t *testing.T) {
			t.Parallel()
			k := newKilling(t, 1)
			k.kill(at, work)
			k.run(work)
			k.has("stig show dock-101", "open · ", "request: 1\n", "state: draft\n")
			k.judge("squash", 1)
			k.has("stig land --sync", "dock-101  #1  closed\n")
		})
	}
	for _, at := range []string{"push --quiet", "PATCH /pulls/1"} {
		t.Run("answering, "+at, func(t *testing.T) {
			t.Parallel()
			k := newKilling(t, 1)
			k.run(work)
			k.forge.Remark(1, forges.Writer, "Use oak, please.", "")
			k.run("stig land --sync")
			again := strings.Replace(work, "first", "again", 1)
			k.kill(at, again)
			k.run(again)
			k.has("stig show dock-101", "open · ", "request: 1\n", "state: draft\n", "rounds: 1\n")
			k.judge("merge", 1)
			k.has("stig land --sync", "dock-101  #1  closed\n")
		})
	}
	t.Run("reopening", func(t *testing.T) {
		t.Parallel()
		k := newKilling(t, 1)
		k.run(work)
		k.judge("squash", 1)
		k.judge("revert", 1)
		k.kill("update-ref -d", "stig land --sync")
		k.has("stig show dock-101", "open · ", "state: landed\n")
		k.has("stig land --sync", "dock-101  #1  reopened: its change was reverted")
		k.has("stig show dock-101", "open · ", "state: reverted\n")
		k.has("stig trace list dock-101", "1 trace\n")
		k.has("stig land --sync", "no request is open\n")
	})
	for _, at := range []string{"push --quiet", "PATCH /pulls/2"} {
		t.Run("retargeting, "+at, func(t *testing.T) {
			t.Parallel()
			k := newKilling(t, 2)
			k.run("echo 'stack: true' >>.stig.cue; stig dep add dock-102 --on dock-101; stig work dock-101 --once" + twoCommits + "; stig work dock-102 --once" + twoCommits)
			k.judge("squash", 1)
			k.kill(at, "stig land --sync")
			k.has("stig land --sync; true", "dock-102  #2  retargeted: to main\n")
			if text := k.forge.Text(2); !strings.Contains(text, "base: main\nfiles: file-102 more-102\n") {
				t.Errorf("the request is\n%s", text)
			}
			k.has("stig land --sync", "dock-102  #2  open\n")
			k.judge("squash", 2)
			k.has("stig land --sync", "dock-102  #2  closed\n")
		})
	}
}
