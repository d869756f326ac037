package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Stop ends a process that is not ours: it is asked to end (SIGTERM), with time to end
// what it started, and killed after grace. One that has ended already, also where another
// has its number now, is no error; one that cannot be seen from here is.
func Stop(id ID, grace time.Duration) error {
	p, err := os.FindProcess(id.PID) // holds on to this very process where the system has that
	if err != nil {
		return err
	}
	defer p.Release()
	switch running, known := Running(id); {
	case !known:
		return fmt.Errorf("process %d on %s: cannot be seen from here", id.PID, id.Host)
	case !running:
		return nil
	}
	if err := p.Signal(syscall.SIGTERM); errors.Is(err, os.ErrProcessDone) {
		return nil
	} else if err != nil {
		return fmt.Errorf("process %d: %w", id.PID, err)
	}
	for over := time.After(grace); ; {
		if running, _ := Running(id); !running {
			return nil
		}
		select {
		case <-time.After(stopEvery):
		case <-over:
			if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return fmt.Errorf("process %d: %w", id.PID, err)
			}
			return nil
		}
	}
}

// stopEvery is how often Stop looks whether a process has ended.
const stopEvery = 20 * time.Millisecond
