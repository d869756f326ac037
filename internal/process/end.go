package process

import (
	"fmt"
	"strings"
	"time"
)

const (
	lookEvery = 50 * time.Millisecond
	// killRounds limits how often the remaining processes are killed: one may start another
	// meanwhile, and ending takes a moment.
	killRounds = 40
)

// EndID ends a program that Supervise started in a process that was killed since, and all its
// descendants: they get SIGTERM, and SIGKILL after grace. If the ID no longer runs, as after a
// reboot, only its descendants end, and nothing else with its number. On another machine or
// container it does nothing, without an error. The error says what still runs.
func EndID(id ID, grace time.Duration) error {
	running, known := Running(id)
	self, _ := Self()
	if !known || id.Boot != self.Boot {
		return nil
	}
	k := kin{leader: id.PID, id: id}
	if running {
		if a, _, _ := look(id.PID); a.Group != id.PID {
			return fmt.Errorf("process %d: leads no process group, so stig did not start it", id.PID)
		}
		k.mark = markOf(id.PID)
	} else if _, _, taken := look(id.PID); taken {
		return nil // the system reuses a number only when its session is empty
	} else if k = orphans(id.PID); k.mark == "" {
		return nil
	}
	left := k.left()
	terminateAll(left)
	k.end(left, after(grace))
	if left = k.left(); len(left) > 0 {
		return fmt.Errorf("processes %s: cannot be ended", strings.Trim(fmt.Sprint(left), "[]"))
	}
	return nil
}

// orphans returns the descendants of a program that has ended: the processes with its mark in
// its session, whose number others may have by now, if the mark's creator has ended.
func orphans(session int) kin {
	for _, pid := range (kin{leader: session}).left() {
		if mark := markOf(pid); mark != "" && isOrphaned(mark) {
			return kin{mark: mark}
		}
	}
	return kin{}
}

// end waits until the remaining kin, who got SIGTERM, have ended, kills the rest when over is
// closed, and returns their number.
func (k kin) end(left []int, over <-chan struct{}) int {
	count := len(left)
	for waiting := true; waiting && len(left) > 0; {
		select {
		case <-over:
			waiting = false
		case <-time.After(lookEvery):
			left = k.left()
		}
	}
	for round := 0; len(left) > 0 && round < killRounds; round++ {
		killAll(left)
		time.Sleep(lookEvery)
		left = k.left()
	}
	return count
}

// after returns a channel that is closed after a time.
func after(d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	return over
}
