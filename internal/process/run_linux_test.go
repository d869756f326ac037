package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stig/internal/process"
	"stig/internal/testkit/ended"
)

// A service that has closed its output is left alone. A process that still holds the output
// open is killed if it can be found, and is never waited for.
func TestRunDoesNotWaitForDeserters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, signal string }{
		"holds the output":       {"setsid sleep 30 & echo $! >PID", "ended"},
		"lets go of it":          {"setsid sh -c 'echo $$ >PID; exec sleep 30' >/dev/null 2>&1 & " + begun, "let be"},
		"a group within session": {"timeout 30 sh -c 'echo $$ >PID; exec sleep 30' & " + begun, "ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			start := time.Now()
			_, err := sh(t, process.Command{}, strings.ReplaceAll(c.script, "PID", pid))
			if took := time.Since(start); err != nil || took > 20*time.Second {
				t.Errorf("took %v: %v", took, err)
			}
			text, err := os.ReadFile(pid)
			if err != nil {
				t.Fatal(err)
			}
			id, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Kill(id, syscall.SIGKILL) }()
			if c.signal == "let be" {
				if err := syscall.Kill(id, 0); err != nil {
					t.Errorf("the service has gone: %v", err)
				}
			} else if runtime.GOOS == "linux" {
				ended.Wait(t, pid)
			}
		})
	}
}

// timeout(1) leads a group of its own, which ending ours does not reach.
func TestRunTimeoutReachesOtherGroups(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	start := time.Now()
	script := "timeout 300 sh -c 'trap \"echo tidy; exit\" TERM; echo $$ >" + pid + "; sleep 300 & wait'; true"
	got, err := process.Run(overWhen(t, pid), process.Command{Argv: []string{"sh", "-c", script}})
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second || !strings.HasPrefix(string(got.Stdout), "tidy\n") {
		t.Errorf("took %v: %q, %v: it was to be asked to end first", took, got.Stdout, err)
	}
	ended.Wait(t, pid)
}
