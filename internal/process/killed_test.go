//go:build unix

package process_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"stig/internal/process"
	"stig/internal/testkit/ended"
)

// supervisor is the variable that makes TestSupervisor supervise the named script.
const supervisor = "STIG_TEST_SUPERVISOR"

// TestSupervisor supervises a program, when another test starts it.
func TestSupervisor(t *testing.T) {
	script := os.Getenv(supervisor)
	if script == "" {
		return
	}
	s := process.Supervised{Command: process.Command{Argv: []string{"sh", "-c", script}}, Started: func(id process.ID) {
		text, _ := json.Marshal(id)
		if err := errors.Join(os.WriteFile("id.new", text, 0o600), os.Rename("id.new", "id")); err != nil {
			t.Error(err)
		}
	}}
	if _, err := process.Supervise(t.Context(), s); err != nil {
		t.Error(err)
	}
}

// Nothing of a program survives a kill of the process that supervises it.
func TestSupervisorIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := `echo $$ >leader; trap '' TERM HUP PIPE
(trap '' TERM; exec sleep 300) & echo $! >child
timeout 300 sleep 300 & echo $! >group
setsid sh -c 'echo $$ >session; cd /; exec sleep 300' >/dev/null 2>&1 &
while [ ! -s session ]; do sleep 0.01; done
echo >begun; wait; sleep 300`
	cmd := exec.Command(os.Args[0], "-test.run=^TestSupervisor$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), supervisor+"="+script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		_, notBegun := os.Stat(filepath.Join(dir, "begun"))
		_, notNamed := os.Stat(filepath.Join(dir, "id"))
		if notBegun == nil && notNamed == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	files := []string{"leader", "child"}
	if runtime.GOOS == "linux" {
		files = append(files, "group", "session")
	}
	for _, name := range files {
		ended.Wait(t, filepath.Join(dir, name))
	}
	var id process.ID
	text, err := os.ReadFile(filepath.Join(dir, "id"))
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if running, _ := process.Running(id); err != nil || id.PID == 0 || running {
		t.Errorf("%+v: %v", id, err)
	}
}
