package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"stig/internal/fault"
)

// Supervised is a program that works on its own, maybe for hours.
type Supervised struct {
	Command
	Log       string        // file that gets the output, made anew; "" for none
	MostBytes int64         // of Log; 0 is 16 MB
	Grace     time.Duration // to end by itself after SIGTERM; 0 is 10 s
	Started   func(ID)      // is called when the program runs; may be nil
}

// Ended is how a supervised program ended.
type Ended struct {
	Exit     int    // exit code; 128 and the signal's number when a signal ended it
	TimedOut bool   // the deadline of the context ended it
	Left     int    // processes that it started and that had to be ended after it
	Bytes    int64  // of output
	Tail     string // its last lines
	LogErr   error  // why Log does not hold what it should; the program was not disturbed
}

// ErrNotStarted is what an error of Supervise wraps where the program did not run at all.
var ErrNotStarted = errors.New("not started")

// notStarted is that error.
func notStarted(program string, err error) error {
	return &fault.Error{Code: fault.Store, Path: program, Reason: "cannot be started: " + err.Error(), Err: errors.Join(ErrNotStarted, err)}
}

const (
	usualGrace = 10 * time.Second
	// usualLimit is when the watcher ends a program of which no other Limit is known.
	usualLimit = 24 * time.Hour
)

// Supervise runs a program in a session and process group of its own, without a
// terminal, and waits for its end. The program need not read its input. Both outputs go
// to one log of bounded size, in the order in which they were written; they also go to
// Stdout where that is not nil, and Stderr is not used. However much the program writes,
// it is never held up by that.
//
// An exit code other than 0 is no error, and neither is a deadline of ctx that passed
// (TimedOut). One that wraps ErrNotStarted says that the program did not run; another error that ctx
// ended for another cause, which it wraps.
//
// When ctx ends, the program and all that it started are asked to end (SIGTERM), and made
// to after Grace. When the program ends by itself, what it left behind is ended: its
// process group and session, what holds its output, and, on Linux, what works below Dir.
// A service that left all of these is let be. When we are killed, the program and all
// that it started are killed within a second, as Limit says, which need not be set.
func Supervise(ctx context.Context, s Supervised) (Ended, error) {
	if err := s.startable(ctx); err != nil {
		return Ended{}, err
	}
	out, err := newRecorder(s)
	if err != nil {
		return Ended{}, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := program{limit: cmp.Or(s.Limit, usualLimit), grace: cmp.Or(s.Grace, usualGrace), mark: newMark()}
	defer p.pipes.close()
	if err := p.start(s.Command, nil, both(s.Stdout, out), true); err != nil {
		return Ended{}, errors.Join(notStarted(s.Argv[0], err), out.drop())
	}
	p.since = startOf(p.cmd.Process.Pid)
	if s.Started != nil {
		s.Started(idOf(p.cmd.Process.Pid))
	}
	state, waitErr := p.wait(ctx)
	left := p.endLeft(s.Dir)
	drainErr := p.pipes.drain(p.cmd)
	e := out.ended()
	e.Left = left
	if state != nil {
		e.Exit = exitCode(state)
	}
	ended := p.watched.end() && e.Exit == killed
	if ended || errors.Is(waitErr, context.DeadlineExceeded) {
		e.TimedOut, waitErr = true, nil
	}
	e.LogErr = errors.Join(e.LogErr, drainErr)
	if waitErr != nil {
		return e, fmt.Errorf("%s: %w", s.Argv[0], waitErr)
	}
	return e, nil
}

// idOf identifies a process of ours, as far as the system shows it.
func idOf(pid int) ID {
	a, _, _ := look(pid)
	a.PID = pid
	return a.ID
}

// endLeft ends what is left of a program that has ended, and gives how many processes
// that were. They have politeTime, or, where all were asked to end already, what is left
// of the program's grace.
func (p *program) endLeft(dir string) int {
	k := p.kin()
	if p.asked != nil {
		return k.end(k.left(), p.asked)
	}
	k.dir = realDir(dir)
	left := k.left()
	terminateAll(left)
	return k.end(left, after(politeTime))
}

// realDir is a directory as the system names the working directory of a process; "" for
// the present one, and for one that is not there any more, names none of those.
func realDir(dir string) string {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return dir
	}
	return real
}
