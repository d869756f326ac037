package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// Terminal is the terminal of a foreground program.
type Terminal struct{ In, Out, Err *os.File }

// Foreground runs a program that talks to a person, such as an editor, on the terminal itself,
// and returns its exit code. It stays in our process group, since the terminal would not let it
// read otherwise, so its background children are left alone. When ctx ends the program gets
// SIGTERM, and after half a second SIGKILL.
func Foreground(ctx context.Context, c Command, t Terminal) (int, error) {
	if len(c.Argv) == 0 {
		return 0, errors.New("no program to run")
	}
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, t.Out, t.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = politeTime
	err := cmd.Run()
	if ended := context.Cause(ctx); ended != nil {
		return 0, fmt.Errorf("%s: %w", c.Argv[0], ended)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exitCode(exit.ProcessState), nil
	}
	return 0, err
}
