package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Stop ends a process that is not ours: it gets SIGTERM, with time to end its children, and
// SIGKILL after grace. One that has ended already, even if another has its number now, is not
// an error; an invisible one is.
func Stop(id ID, grace time.Duration) error {
	p, err := os.FindProcess(id.PID) // holds on to this very process if the system supports that
	if err != nil {
		return err
	}
	defer p.Release()
	switch running, known := Running(id); {
	case !known:
		return fmt.Errorf("process %d on %s: is not visible from here", id.PID, id.Host)
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

// stopEvery is how often Stop checks whether a process has ended.
const stopEvery = 20 * time.Millisecond
