//go:build linux

package process

import (
	"bufio"
	"os/exec"
	"testing"
	"time"
)

// TestWatchUntold: killing a process between the start of a program and the report of it leaves
// nothing of that program.
func TestWatchUntold(t *testing.T) {
	var p pipes
	defer p.close()
	theirs, err := p.into(nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := watch(time.Minute, "", p.ours[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "sh -c 'sleep 300; true' & echo begun; exec sleep 300")
	cmd.Stdout = theirs
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer kill(cmd.Process)
	if line, err := bufio.NewReader(p.ours[0]).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if err := w.word.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); err == nil {
		t.Fatal("the watcher says that it ended nothing")
	}
	_ = cmd.Wait() // it was killed
	k := kin{leader: cmd.Process.Pid}
	left := k.left()
	for end := time.Now().Add(20 * time.Second); len(left) > 0 && time.Now().Before(end); left = k.left() {
		time.Sleep(10 * time.Millisecond)
	}
	if len(left) > 0 {
		t.Errorf("%d are left", left)
	}
}
