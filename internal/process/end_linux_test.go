package process

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stig/internal/testkit/ended"
)

// leader starts a script as Supervise starts a program, with a mark, and returns it once the
// script has written the file "begun" in dir.
func leader(t *testing.T, dir, mark, script string) (*exec.Cmd, ID) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script+"; echo >begun; wait")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), markVariable+"="+mark)
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { _ = cmd.Wait(); close(gone) }()
	t.Cleanup(func() {
		killAll(kin{leader: cmd.Process.Pid, mark: mark}.left())
		killAll([]int{-cmd.Process.Pid})
		<-gone
	})
	for range 2000 {
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			return cmd, idOf(cmd.Process.Pid)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the script does not begin")
	return nil, ID{}
}

// gone is the mark of an ended process, without its random part.
const gone = "1.0."

// EndID ends what a killed loop had started, wherever it went, and nothing else with its
// number.
func TestEndID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		alone  bool // the program itself has ended
		mark   string
		change func(*ID)
		lives  bool
	}{
		"with its children":              {script: "sleep 300 & echo $! >pid", mark: gone},
		"with who left its session":      {script: "(cd /; exec setsid sleep 300) & echo $! >pid; sleep 0.1", mark: gone},
		"does not listen":                {script: "trap '' TERM; (trap '' TERM; exec sleep 300) & echo $! >pid", mark: gone},
		"without a mark":                 {script: "sleep 300 & echo $! >pid"},
		"another with its number":        {script: "sleep 300 & echo $! >pid", mark: gone, change: func(id *ID) { id.Start += "0" }, lives: true},
		"before the machine restarted":   {script: "sleep 300 & echo $! >pid", mark: gone, change: func(id *ID) { id.Boot = "another" }, lives: true},
		"on another machine":             {script: "sleep 300 & echo $! >pid", mark: gone, change: func(id *ID) { id.Host, id.Boot = "another", "other" }, lives: true},
		"what it left":                   {script: "sleep 300 & echo $! >pid", alone: true, mark: gone},
		"what it left, in no session":    {script: "sleep 300 & (cd /; exec setsid sleep 300) & echo $! >pid; sleep 0.1", alone: true, mark: gone},
		"what it left, not of stig":      {script: "sleep 300 & echo $! >pid", alone: true, lives: true},
		"what it left, of a living loop": {script: "sleep 300 & echo $! >pid", alone: true, mark: newMark(), lives: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if c.mark == gone {
				c.mark += rand.Text()
			}
			cmd, id := leader(t, dir, c.mark, c.script)
			if c.alone {
				_ = syscall.Kill(id.PID, syscall.SIGKILL)
				for running := true; running; running, _ = Running(id) {
					time.Sleep(5 * time.Millisecond)
				}
			}
			if c.change != nil {
				c.change(&id)
			}
			if err := EndID(id, 200*time.Millisecond); err != nil {
				t.Error(err)
			}
			if !c.lives {
				ended.Wait(t, filepath.Join(dir, "pid"))
				return
			}
			text, err := os.ReadFile(filepath.Join(dir, "pid"))
			if err != nil {
				t.Fatal(err)
			}
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			if _, _, there := look(pid); !there {
				t.Errorf("what is not ours was ended: child %d of %d", pid, cmd.Process.Pid)
			}
		})
	}
	self, _ := Self()
	if err := EndID(ID{}, 0); err != nil {
		t.Error(err)
	}
	self.PID, self.Start = self.PID+1_000_000, ""
	if err := EndID(self.ID, 0); err != nil {
		t.Error(err)
	}
}
