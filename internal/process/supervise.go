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
	Log       string        // file for the output, replaced; "" for none
	MostBytes int64         // of Log; 0 means 16 MB
	Grace     time.Duration // to end after SIGTERM; 0 means 10 s
	Started   func(ID)      // called when the program runs; may be nil
}

// Ended is how a supervised program ended.
type Ended struct {
	Exit     int    // exit code; 128 plus the signal's number if a signal ended it
	TimedOut bool   // the deadline of the context ended it
	Left     int    // descendants that had to be ended after it
	Bytes    int64  // of output
	Tail     string // its last lines
	LogErr   error  // why Log is incomplete; the program was not disturbed
}

// ErrNotStarted is wrapped by Supervise's error if the program did not run at all.
var ErrNotStarted = errors.New("not started")

// notStarted is that error.
func notStarted(program string, err error) error {
	return &fault.Error{Code: fault.Store, Path: program, Reason: "cannot be started: " + err.Error(), Err: errors.Join(ErrNotStarted, err)}
}

const (
	usualGrace = 10 * time.Second
	// usualLimit is when the watcher ends a program without another Limit.
	usualLimit = 24 * time.Hour
)

// Supervise runs a program in a session and process group of its own, without a terminal, and
// waits for its end. The program need not read its input. Both outputs go to one log of limited
// size, in the order written; they also go to Stdout if that is not nil, and Stderr is not
// used. However much the program writes, that never blocks it.
//
// An exit code other than 0 is not an error, and neither is a passed deadline of ctx
// (TimedOut). An error that wraps ErrNotStarted says that the program did not run; another one
// that ctx ended for another cause, which it wraps.
//
// When ctx ends, the program and all its descendants get SIGTERM, and SIGKILL after Grace. When
// the program ends by itself, its descendants are ended: its process group and session, what
// holds its output, and, on Linux, what works below Dir. A service that left all of these is
// left alone. If we are killed, the program and all its descendants are killed within a second,
// as with Limit, which need not be set.
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

// idOf identifies a child process, as far as the system shows it.
func idOf(pid int) ID {
	a, _, _ := look(pid)
	a.PID = pid
	return a.ID
}

// endLeft ends the descendants of an ended program, and returns their number. They have
// politeTime or, if all got SIGTERM already, the rest of the program's grace.
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

// realDir is a directory as the system names the working directory of a process; "" for the
// current one, and for a deleted one, which is nobody's.
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
