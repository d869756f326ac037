// Package ended waits for processes that a test started to end. Only tests import it.
//
//	ended.Wait(t, filepath.Join(dir, "pid"))
package ended

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Wait waits for the process whose id is in a file to end, and fails the test after 20 seconds.
func Wait(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(pid)
	for range 1000 {
		if err != nil || errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone) || isZombie(pid) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %d is still running", pid)
}

// isZombie reports whether a process has ended but was not waited for, if /proc shows it.
func isZombie(pid int) bool {
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(state), ") Z ")
}
