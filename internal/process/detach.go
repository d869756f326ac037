package process

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Detach starts a program without waiting for it: it has a session of its own and no terminal,
// and survives this process, its interruption, and the program in which Supervise started it.
// It gets Stdin, at most detachedInput bytes, and its output is discarded. Stdout and Stderr of
// the command must be nil. name is its name for itself; the program is the first of Argv. The
// error says that it was not started, or did not get its input.
func Detach(c Command, name string) error {
	if len(c.Argv) == 0 {
		return errors.New("no program to run")
	}
	if len(c.Stdin) > detachedInput {
		return errors.New("more input than a detached program can get")
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Args[0] = name
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, read
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, markVariable+"=") })
	ownGroup(cmd)
	err = cmd.Start()
	_ = read.Close() // the program has its own
	if err == nil {
		go func() { _ = cmd.Wait() }() // a long-lived process must not keep it
		_, err = write.Write(c.Stdin)
	}
	return errors.Join(err, write.Close())
}

// detachedInput is the size of a pipe's buffer on every system with process groups, in bytes: a
// program that reads nothing blocks nobody.
const detachedInput = 16 << 10
