//go:build linux || darwin

package process_test

import (
	"os"
	"os/exec"
	"testing"

	"stig/internal/process"
)

// TestAncestors compares the result with what the test knows about itself.
func TestAncestors(t *testing.T) {
	list := process.Ancestors()
	if len(list) == 0 || list[0].PID != os.Getppid() {
		t.Fatalf("the nearest of %v is not %d", list, os.Getppid())
	}
	for _, a := range list[:1] {
		if running, known := process.Running(a.ID); !running || !known {
			t.Errorf("%v is running %t, known %t", a, running, known)
		}
	}
}

// TestRunning: a process is distinguished from another with its number, and invisible ones are
// unknown. TestRunningHere: on a shared database a machine with the same name is another one.
func TestRunningHere(t *testing.T) {
	self, ok := process.Self()
	if !ok || self.Boot == "" {
		t.Fatal("this system names no boot")
	}
	if running, known := process.RunningHere(self.ID); !running || !known {
		t.Errorf("this process: %t, %t", running, known)
	}
	gone := self.ID
	gone.Start += "0"
	if running, known := process.RunningHere(gone); running || !known {
		t.Errorf("a process that ended: %t, %t", running, known)
	}
	namesake := self.ID
	namesake.Boot = "another"
	if running, known := process.RunningHere(namesake); running || known {
		t.Errorf("on a machine of the same name: %t, %t", running, known)
	}
	if running, known := process.Running(namesake); running || !known {
		t.Errorf("before this boot: %t, %t", running, known)
	}
}

func TestRunning(t *testing.T) {
	self, ok := process.Self()
	if !ok || self.PID != os.Getpid() || self.Start == "" || self.Name == "" {
		t.Fatalf("%v, %t", self, ok)
	}
	change := func(f func(*process.ID)) process.ID {
		id := self.ID
		f(&id)
		return id
	}
	sleeper := exec.Command("sleep", "0")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	ended := change(func(id *process.ID) { id.PID = sleeper.Process.Pid })
	_ = sleeper.Wait()
	for _, c := range []struct {
		name           string
		id             process.ID
		running, known bool
	}{
		{"this one", self.ID, true, true},
		{"none", process.ID{}, false, false},
		{"the number was given again", change(func(id *process.ID) { id.Start += "1" }), false, true},
		{"it has ended", ended, false, true},
		{"another machine", change(func(id *process.ID) { id.Host, id.Boot = id.Host+"x", id.Boot+"x" }), false, false},
		{"the machine was called otherwise", change(func(id *process.ID) { id.Host += "x" }), self.Boot != "" && self.Space != "", self.Boot != "" && self.Space != ""},
		{"a container of another name", change(func(id *process.ID) { id.Host, id.Space = id.Host+"x", id.Space+"x" }), false, false},
		{"another boot", change(func(id *process.ID) { id.Boot += "x" }), false, true},
		{"another container", change(func(id *process.ID) { id.Space += "x" }), false, false},
	} {
		if running, known := process.Running(c.id); running != c.running || known != c.known {
			t.Errorf("%s: running %t, known %t", c.name, running, known)
		}
	}
}
