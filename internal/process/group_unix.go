//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the program the leader of a process group of its own. That it
// leads a session too takes the terminal away: a program that asks for a
// password there gets an error and is not stopped.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// passOn leaves a file open in the program.
func passOn(cmd *exec.Cmd, f *os.File) { cmd.ExtraFiles = []*os.File{f} }

// terminate asks the group of p to end. That the group is gone is no failure.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) }

// kill ends what there is of the group of p, whether p itself is still there
// or not: a group keeps its number while it has a member.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// terminateAll asks processes to end. That one is gone meanwhile is no failure.
func terminateAll(pids []int) { signalAll(pids, syscall.SIGTERM) }

func killAll(pids []int) { signalAll(pids, syscall.SIGKILL) }

func signalAll(pids []int, signal syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, signal)
	}
}

// exitCode is the exit code as a shell would tell it.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
