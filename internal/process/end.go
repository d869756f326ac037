package process

import (
	"fmt"
	"strings"
	"time"
)

const (
	lookEvery = 50 * time.Millisecond
	// killRounds bounds how often what is left is killed: a process may start another
	// meanwhile, and takes a moment to end.
	killRounds = 40
)

// EndID ends a program that Supervise had started in a process that was killed since, and
// all that it started: they are asked to end, and made to after grace. Where no process
// has that ID any more, as after a restart of the machine, only what is left of it ends,
// and nothing else that got its number. Of another machine or container nothing is ended,
// without an error. The error says what is still there.
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
		return nil // the system gives a number anew when nobody is left in the session of that number
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

// orphans gives what is left of a program that has ended itself: that has the mark of
// those in its session, whose number others can have by now, if who made it has ended.
func orphans(session int) kin {
	for _, pid := range (kin{leader: session}).left() {
		if mark := markOf(pid); mark != "" && isOrphaned(mark) {
			return kin{mark: mark}
		}
	}
	return kin{}
}

// end waits until the kin that are left have ended, who were asked to, kills what is
// there when over is closed, and gives how many there were.
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

// after gives a channel that is closed when a time is over.
func after(d time.Duration) <-chan struct{} {
	over := make(chan struct{})
	time.AfterFunc(d, func() { close(over) })
	return over
}
