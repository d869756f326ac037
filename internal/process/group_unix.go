//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a process group of its own, and of a session, which
// detaches it from the terminal: a program that asks for a password there gets an error instead
// of being stopped.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// passOn keeps a file open in the program.
func passOn(cmd *exec.Cmd, f *os.File) { cmd.ExtraFiles = []*os.File{f} }

// terminate sends SIGTERM to the group of p; a missing group is not an error.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill kills the remaining group of p, whether p itself exists or not: a group keeps its number
// while it has a member.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// terminateAll sends SIGTERM to processes; missing ones are not an error.
func terminateAll(pids []int) { signalAll(pids, syscall.SIGTERM) }

func killAll(pids []int) { signalAll(pids, syscall.SIGKILL) }

func signalAll(pids []int, signal syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, signal)
	}
}

// exitCode is the exit code as a shell reports it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
