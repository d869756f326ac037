//go:build unix

package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/process"
	"stig/internal/testkit/ended"
)

// supervise runs a script under a deadline that no test should reach.
func supervise(t *testing.T, s process.Supervised, script string) (process.Ended, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s.Argv = []string{"sh", "-c", script}
	return process.Supervise(ctx, s)
}

func TestSupervise(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         process.Ended
	}{
		{"both outputs in order", "echo out; echo err >&2; echo more", process.Ended{Bytes: 13, Tail: "out\nerr\nmore\n"}},
		{"input that is not read", "exec <&-; exit 3", process.Ended{Exit: 3}},
		{"input that is read", "wc -c", process.Ended{Bytes: 8, Tail: "1000000\n"}},
		{"signal", "kill -9 $$", process.Ended{Exit: 137}},
		{"no text", `printf '\377\n'`, process.Ended{Bytes: 2, Tail: "\uFFFD\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "logs", "log")
			got, err := supervise(t, process.Supervised{Command: process.Command{Stdin: []byte(strings.Repeat("x", 1e6))}, Log: log}, c.script)
			if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("%v\n got %+v\nwant %+v", err, got, c.want)
			}
			text, err := os.ReadFile(log)
			if err != nil || c.name != "no text" && string(text) != got.Tail {
				t.Errorf("log %q, %v", text, err)
			}
		})
	}
}

// Every exit code is the program's own.
func TestSuperviseExitCodes(t *testing.T) {
	for code := 0; code < 256; code += 15 {
		got, err := supervise(t, process.Supervised{}, fmt.Sprint("exit ", code))
		if err != nil || got.Exit != code || got.TimedOut {
			t.Errorf("exit %d: %+v %v", code, got, err)
		}
	}
}

func TestSuperviseDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "log")
	for _, c := range []process.Command{
		{Argv: []string{"no-such-program-at-all"}},
		{Argv: []string{filepath.Join(dir, "missing")}},
		{Argv: []string{filepath.Join(dir, "text")}},
		{Argv: []string{"true"}, Dir: filepath.Join(dir, "missing")},
	} {
		began := false
		_, err := process.Supervise(t.Context(), process.Supervised{Command: c, Log: log, Started: func(process.ID) { began = true }})
		if !errors.Is(err, process.ErrNotStarted) || !strings.HasPrefix(err.Error(), c.Argv[0]+": cannot be started: ") || c.Dir != "" && !strings.Contains(err.Error(), c.Dir) || began {
			t.Errorf("%v: %v", c.Argv, err)
		}
		if _, err := os.Stat(log); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v: left a log: %v", c.Argv, err)
		}
	}
	if _, err := process.Supervise(t.Context(), process.Supervised{Command: process.Command{Argv: []string{"true"}}, Log: filepath.Join(dir, "text", "log")}); err == nil {
		t.Error("ran without its log")
	}
}

// A program that writes endlessly neither fills the disk nor is blocked.
func TestSuperviseBoundsTheLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	const size = 64 << 20
	got, err := supervise(t, process.Supervised{Log: log, MostBytes: 1 << 20}, fmt.Sprintf("echo first; yes 'a line of output' | head -c %d; echo; echo last", size))
	if err != nil || got.Bytes != size+12 || !strings.HasSuffix(got.Tail, "\nlast\n") || len(got.Tail) > 8<<10 || strings.HasPrefix(got.Tail, "line") {
		t.Errorf("%d bytes, %v: tail %q", got.Bytes, err, got.Tail)
	}
	text, err := os.ReadFile(log)
	if err != nil || len(text) > 1<<20+100 || !strings.HasPrefix(string(text), "first\n") || !strings.HasSuffix(string(text), "\nlast\n") {
		t.Fatalf("log of %d bytes, %v", len(text), err)
	}
	var out int
	_, rest, _ := strings.Cut(string(text), "… ")
	if _, err := fmt.Sscanf(rest, "%d bytes of output omitted", &out); err != nil || out != size+12-1<<20 {
		t.Errorf("said that %d bytes are left out, %v", out, err)
	}
}

// What a program leaves in its session, at its output or in its directory ends with it; a
// service that left all of these continues.
func TestSuperviseEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		left   int
	}{
		"nothing":                   {"true", 0},
		"in the group":              {"sleep 300 >/dev/null 2>&1 & echo $! >PID", 1},
		"ignores SIGTERM":           {`sh -c "trap '' TERM; echo \$\$ >PID; exec sleep 300" & ` + begun, 1},
		"at the output":             {"cd /; env -u STIG_SUPERVISED setsid sleep 300 & echo $! >PID", 1},
		"a group of the session":    {"timeout 300 sh -c 'echo $$ >PID; exec sleep 300' >/dev/null 2>&1 & " + begun, 2},
		"in the directory":          {"setsid sh -c 'echo $$ >PID; exec sleep 300' >/dev/null 2>&1 & " + begun, 1},
		"below the directory":       {"mkdir -p d; cd d; setsid sh -c 'echo $$ >PID; exec sleep 300' >/dev/null 2>&1 & " + begun, 1},
		"a service of a person's":   {"cd /; setsid sh -c 'echo $$ >PID; exec sleep 3' >/dev/null 2>&1 & " + begun, 0},
		"a service that goes alone": {"setsid env -u STIG_SUPERVISED sh -c 'echo $$ >PID; exec sleep 3' >/dev/null 2>&1 & " + begun, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pid := filepath.Join(dir, "pid")
			start := time.Now()
			got, err := supervise(t, process.Supervised{Command: process.Command{Dir: dir}}, strings.ReplaceAll(c.script, "PID", pid))
			if took := time.Since(start); err != nil || got.Left != c.left || took > 20*time.Second {
				t.Errorf("took %v: %+v, %v; want %d left", took, got, err, c.left)
			}
			if c.left > 0 {
				ended.Wait(t, pid)
			}
		})
	}
}

// A deadline ends the program and all its descendants, wherever they went, and gives each the
// whole grace to end. A child writes PID itself: before it runs its program it has its parent's
// trap, and would lose the signal.
func TestSuperviseTimesOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		grace  time.Duration
		exit   int
		tail   string
	}{
		"ends when it is asked":     {`trap 'echo tidy; exit 9' TERM; sh -c 'echo $$ >PID; exec sleep 300' & wait`, time.Minute, 9, "tidy\n"},
		"does not":                  {"trap '' TERM; (trap '' TERM; exec sleep 300) & echo $! >PID; wait; wait", time.Second, 137, ""},
		"a child tidies for longer": {`sh -c "trap 'sleep 0.3; echo tidy; exit' TERM; echo \$\$ >PID; while :; do sleep 0.05; done" & wait`, time.Minute, 143, "tidy\n"},
		"a child in a session":      {"cd /; setsid sh -c 'echo $$ >PID; exec sleep 300' >/dev/null 2>&1; wait", time.Minute, 143, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			s := process.Supervised{Grace: c.grace}
			s.Argv = []string{"sh", "-c", strings.ReplaceAll(c.script, "PID", pid)}
			start := time.Now()
			got, err := process.Supervise(overWhen(t, pid), s)
			if took := time.Since(start); err != nil || !got.TimedOut || got.Exit != c.exit || !strings.HasSuffix(got.Tail, c.tail) || took > 20*time.Second {
				t.Errorf("took %v: %+v, %v", took, got, err)
			}
			ended.Wait(t, pid)
		})
	}
	cause := errors.New("a person said stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := process.Supervised{Started: func(process.ID) { cancel(cause) }}
	s.Argv = []string{"sleep", "300"}
	if got, err := process.Supervise(ctx, s); !errors.Is(err, cause) || got.TimedOut || got.Exit != 143 {
		t.Errorf("stopped: %+v, %v", got, err)
	}
}

// An unwritable log disturbs nothing.
func TestSuperviseOnAFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		return // only Linux has a disk that is always full
	}
	got, err := supervise(t, process.Supervised{Log: "/dev/full"}, "echo a; sleep 0.05; echo stig: b; exit 4")
	if err != nil || got.LogErr == nil || got.Exit != 4 || got.Tail != "a\nstig: b\n" {
		t.Errorf("%+v, %v", got, err)
	}
}
