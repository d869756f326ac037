package process

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process with only an exit code left; see sys/proc.h.
const zombie = 5

// look reads the identity of a process and its parent's number; ok is false if it does not
// exist or is a zombie. It has a start time, so that boots need not be distinguished.
func look(pid int) (a Ancestor, parent int, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_stat == zombie || int(info.Proc.P_pid) != pid {
		return Ancestor{}, 0, false
	}
	began := info.Proc.P_starttime
	a = Ancestor{ID: ID{PID: pid, Start: fmt.Sprintf("%d.%06d", began.Sec, began.Usec)}, Group: int(info.Eproc.Pgid)}
	a.Host, _ = os.Hostname() // unlike any other
	name, _, _ := bytes.Cut(info.Proc.P_comm[:], []byte{0})
	a.Name = string(name)
	return a, int(info.Eproc.Ppid), true
}
