package process

import (
	"os/exec"
	"syscall"
)

// diesWithUs has the system end the program itself when the thread that starts it ends:
// the thread must be kept until the program has ended.
func diesWithUs(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }
