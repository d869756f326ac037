package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"sync"
	"time"
)

// Command is one program to start.
type Command struct {
	Argv   []string  // the program, looked up in PATH unless it has a slash, and its arguments
	Dir    string    // working directory; "" for the current one
	Env    []string  // the whole environment as NAME=value; nil inherits
	Stdin  []byte    // nil for empty standard input
	Stdout io.Writer // receives output as it comes; nil collects it in the Result
	// Stderr receives errors as they come; the Result has their tail anyway. If it is the same
	// pointer as Stdout, one pipe keeps their order.
	Stderr io.Writer
	// Lock, if not nil, is open in the program too: a lock held on it lasts until the program
	// has ended, even if we are killed. Not on Windows.
	Lock *os.File
	// Limit, if not 0, makes a separate process end the program and its descendants if we are
	// killed, or stopped for longer than Limit and politeTime.
	Limit time.Duration
}

// ErrLimit is wrapped by Run's error if the program was ended at its Limit while we were
// stopped.
var ErrLimit = errors.New("ended at its time limit")

// Result is how a program ended.
type Result struct {
	Exit   int    // exit code; 128 plus the signal's number if a signal ended it
	Stdout []byte // all of it, unless Command.Stdout took it
	Stderr []byte // at most the last tailSize bytes; of both if they share a writer
}

const (
	// tailSize limits what is kept of a program's errors, in bytes.
	tailSize = 64 << 10
	// politeTime is how long a program has to end after SIGTERM. Some hosts kill a server a
	// second after telling it to end: its checks end within that.
	politeTime = 500 * time.Millisecond
	// drainTime is how long output is awaited after the program has ended: its descendants may
	// keep the pipes open forever.
	drainTime = 250 * time.Millisecond
)

// Run starts a program in a process group of its own, without a terminal, and waits for its
// end. An exit code other than 0 is not an error. Errors are: the program cannot be started,
// its output cannot be passed on, or ctx ended first (the error wraps the cause of ctx; the
// Result has the output so far).
//
// When ctx ends the whole group gets SIGTERM, and after half a second SIGKILL. The rest of the
// group also ends when the program has ended, so a background child blocks nothing. On Linux
// this includes what left the group and still holds the output open; a service that lets go of
// both is left alone. Without process groups only the program itself is ended.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := c.startable(ctx); err != nil {
		return Result{}, err
	}
	if c.Limit > 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	var stdout bytes.Buffer
	stderr := tail{size: tailSize}
	p := program{limit: c.Limit, grace: politeTime}
	defer p.pipes.close()
	if err := p.start(c, or(c.Stdout, &stdout), both(c.Stderr, &stderr), c.sharesWriter()); err != nil {
		return Result{}, err
	}
	state, waitErr := p.wait(ctx)
	drainErr := p.pipes.drain(p.cmd)
	result := Result{Stdout: stdout.Bytes(), Stderr: stderr.bytes()}
	if state != nil {
		result.Exit = exitCode(state)
	}
	if p.watched.end() && result.Exit == killed {
		waitErr = errors.Join(waitErr, ErrLimit)
	}
	if waitErr != nil || drainErr != nil {
		return result, fmt.Errorf("%s: %w", c.Argv[0], errors.Join(waitErr, drainErr))
	}
	return result, nil
}

// startable returns why a command cannot be tried.
func (c Command) startable(ctx context.Context) error {
	if len(c.Argv) == 0 {
		return errors.New("no program to run")
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%s: not started: %w", c.Argv[0], err)
	}
	return nil
}

// killed is the exit code of a program that a watcher has ended.
const killed = 128 + 9

// program is a started program that is waited for.
type program struct {
	limit time.Duration // as in Command
	grace time.Duration // to end after SIGTERM
	mark  string        // its mark, in its environment and all its descendants'; "" for none

	cmd     *exec.Cmd
	pipes   pipes
	watched *watcher
	since   uint64          // when it started; see kin
	asked   <-chan struct{} // closed when its time after SIGTERM is over; nil before SIGTERM
}

// start starts the program. Its output goes to stdout and stderr; if shared, both go to stderr
// through one pipe. With a limit the thread must live until the program has ended.
func (p *program) start(c Command, stdout, stderr io.Writer, shared bool) (err error) {
	p.cmd = exec.Command(c.Argv[0], c.Argv[1:]...)
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	ownGroup(p.cmd)
	if c.Lock != nil {
		passOn(p.cmd, c.Lock)
	}
	if p.mark != "" {
		p.cmd.Env = append(p.cmd.Environ(), assigned(p.mark))
	}
	if c.Stdin != nil {
		p.cmd.Stdin, err = p.pipes.from(c.Stdin)
	}
	if err == nil {
		p.cmd.Stderr, err = p.pipes.into(stderr)
	}
	if err == nil && shared {
		p.cmd.Stdout = p.cmd.Stderr
	} else if err == nil {
		p.cmd.Stdout, err = p.pipes.into(stdout)
	}
	if err != nil {
		return err
	}
	if p.limit > 0 {
		diesWithUs(p.cmd)
		p.watched = p.watch()
	}
	if err = p.cmd.Start(); err != nil {
		p.watched.end()
		if _, e := os.Stat(c.Dir); c.Dir != "" && e != nil {
			return e // the system's error is about its directory
		}
		return err
	}
	p.watched.see(p.cmd.Process.Pid)
	p.pipes.started()
	return nil
}

// watch has the program watched; nil if that fails, which does not prevent running it.
func (p *program) watch() *watcher {
	w, err := watch(p.limit+p.grace, p.mark, p.pipes.ours[len(p.pipes.ours)-1])
	if err != nil {
		return nil
	}
	return w
}

// wait waits for the program itself. It ends the group when ctx ends, and others that hold the
// pipes or have its mark.
func (p *program) wait(ctx context.Context) (*os.ProcessState, error) {
	type end struct {
		state *os.ProcessState
		err   error
	}
	ended := make(chan end, 1)
	go func() {
		state, err := p.cmd.Process.Wait()
		ended <- end{state, err}
	}()
	select {
	case e := <-ended:
		return e.state, e.err
	case <-ctx.Done():
	}
	p.asked = after(p.grace)
	terminate(p.cmd.Process)
	terminateAll(p.kin().outside())
	select {
	case e := <-ended:
		return e.state, errors.Join(context.Cause(ctx), e.err)
	case <-p.asked:
	}
	kill(p.cmd.Process)
	e := <-ended
	return e.state, errors.Join(context.Cause(ctx), e.err)
}

func (p *program) kin() kin {
	return kin{leader: p.cmd.Process.Pid, pipes: p.pipes.ours, mark: p.mark, since: p.since}
}

// pipes are the ends of the pipes between us and one program. They are files, so that the end
// of the program is distinguishable from the end of its output.
type pipes struct {
	theirs []*os.File
	ours   []*os.File
	copies []func() error
	done   sync.WaitGroup
	mu     sync.Mutex // one write at a time: both outputs may go to one writer
	err    error      // errors while passing output on
}

// into returns a file for the program whose content goes to w.
func (p *pipes) into(w io.Writer) (*os.File, error) {
	r, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.ours, p.theirs = append(p.ours, r), append(p.theirs, theirs)
	p.copies = append(p.copies, func() error {
		_, err := io.Copy(guarded{&p.mu, w}, r)
		if errors.Is(err, os.ErrClosed) {
			return nil // drain gave up on descendants
		}
		if err != nil {
			// Reading on keeps the program from failing because of us.
			_, _ = io.Copy(io.Discard, r)
		}
		return err
	})
	return theirs, nil
}

// from returns a file from which the program reads text.
func (p *pipes) from(text []byte) (*os.File, error) {
	theirs, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.ours, p.theirs = append(p.ours, w), append(p.theirs, theirs)
	p.copies = append(p.copies, func() error {
		// A program need not read all its input.
		_, _ = w.Write(text)
		_ = w.Close()
		return nil
	})
	return theirs, nil
}

// started closes the program's ends and starts copying.
func (p *pipes) started() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
	p.theirs = nil
	for _, copied := range p.copies {
		p.done.Go(func() {
			if err := copied(); err != nil {
				p.mu.Lock()
				p.err = errors.Join(p.err, err)
				p.mu.Unlock()
			}
		})
	}
}

// drain waits for the end of the output, after the program has ended. It ends the program's
// descendants, and gives up on what remains.
func (p *pipes) drain(cmd *exec.Cmd) error {
	done := make(chan struct{})
	go func() {
		p.done.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(drainTime):
	}
	kill(cmd.Process)
	select {
	case <-done:
		return p.err
	case <-time.After(drainTime):
	}
	killAll(kin{pipes: p.ours}.left())
	select {
	case <-done:
	case <-time.After(drainTime):
		for _, f := range p.ours {
			_ = f.Close()
		}
		<-done
	}
	return p.err
}

func (p *pipes) close() {
	for _, f := range append(p.theirs, p.ours...) {
		_ = f.Close()
	}
}

type guarded struct {
	mu *sync.Mutex
	w  io.Writer
}

func (g guarded) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.w.Write(b)
}

// tail keeps the last size bytes written to it.
type tail struct {
	size int
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b[max(0, len(b)-t.size):]...)
	if len(t.kept) > 2*t.size {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.size:]...)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte { return t.kept[max(0, len(t.kept)-t.size):] }

// sharesWriter compares pointers only: other writers may not be comparable.
func (c Command) sharesWriter() bool {
	return c.Stdout != nil && reflect.TypeOf(c.Stdout).Kind() == reflect.Pointer && c.Stdout == c.Stderr
}

func or(w, otherwise io.Writer) io.Writer {
	if w == nil {
		return otherwise
	}
	return w
}

func both(w, always io.Writer) io.Writer {
	if w == nil {
		return always
	}
	return io.MultiWriter(always, w)
}

// Dropped discards what is written to it. If it is both outputs of a Command, the Result has
// the end of both in Stderr.
type Dropped struct{ _ byte }

func (*Dropped) Write(b []byte) (int, error) { return len(b), nil }
