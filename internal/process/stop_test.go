//go:build linux

package process

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A process that ends on SIGTERM does so; others are killed; an ended one, and another with its
// number, are left alone.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		name, script string
		wants        string
		grace        time.Duration
	}{
		{"ends when asked", "trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done", "exit status 3", time.Minute},
		{"does not", "trap '' TERM; echo up; while :; do sleep 0.01; done", "signal: killed", 50 * time.Millisecond},
	} {
		cmd := exec.Command("sh", "-c", c.script)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "up\n" {
			t.Fatal(line, err)
		}
		id, ok := Self()
		if !ok {
			t.Fatal("the system does not show processes")
		}
		other := id.ID
		other.PID, other.Start = cmd.Process.Pid, other.Start+"0" // the program may have started in the same tick
		if err := Stop(other, 0); err != nil {
			t.Errorf("%s: another process: %v", c.name, err)
		}
		real, _, _ := look(cmd.Process.Pid)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		if err := Stop(real.ID, c.grace); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := <-done; err == nil || err.Error() != c.wants {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := Stop(real.ID, 0); err != nil {
			t.Errorf("%s, again: %v", c.name, err)
		}
	}
	far := ID{PID: 1, Host: "elsewhere"}
	if err := Stop(far, 0); err == nil || !strings.Contains(err.Error(), "is not visible") {
		t.Error(err)
	}
}
