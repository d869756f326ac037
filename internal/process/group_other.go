//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// Without process groups only the program itself can be ended, without asking.

func ownGroup(*exec.Cmd) {}

func passOn(*exec.Cmd, *os.File) {}

func terminate(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }

func hasGroup(int) bool { return false }

func terminateAll([]int) {}

func killAll([]int) {}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
