package process

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Detach starts a program and does not wait for it: it leads a session of its
// own, has no terminal, and outlives us, an interrupt that ends us, and the program that
// Supervise started us in. It gets
// Stdin, at most detachedInput bytes, and its output goes nowhere. Stdout and
// Stderr of the command must be nil. name is what it is told it is called; the
// program itself is the first of Argv. The error says that it was not started,
// or did not get its input.
func Detach(c Command, name string) error {
	if len(c.Argv) == 0 {
		return errors.New("no program to run")
	}
	if len(c.Stdin) > detachedInput {
		return errors.New("more input than is passed to a detached program")
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
		go func() { _ = cmd.Wait() }() // where we go on for long, nothing of it is left behind
		_, err = write.Write(c.Stdin)
	}
	return errors.Join(err, write.Close())
}

// detachedInput is what a pipe takes without a reader on every system with
// process groups, in bytes: a program that reads nothing holds nobody up.
const detachedInput = 16 << 10
