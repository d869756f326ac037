package process

import (
	"os/exec"
	"syscall"
)

// diesWithUs makes the system kill the program when the thread that started it ends: the thread
// must live until the program has ended.
func diesWithUs(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
