package process

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// zombie is the state of a process of which only its exit code is left; see
// sys/proc.h.
const zombie = 5

// look reads of a process what identifies it, and the number of its parent; ok is
// false where there is none, or only its exit code is left. It started at a time of
// the clock, so that no boot has to be told from another.
func look(pid int) (a Ancestor, parent int, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || info.Proc.P_stat == zombie || int(info.Proc.P_pid) != pid {
		return Ancestor{}, 0, false
	}
	began := info.Proc.P_starttime
	a = Ancestor{ID: ID{PID: pid, Start: fmt.Sprintf("%d.%06d", began.Sec, began.Usec)}, Group: int(info.Eproc.Pgid)}
	a.Host, _ = os.Hostname() // none is like any other
	name, _, _ := bytes.Cut(info.Proc.P_comm[:], []byte{0})
	a.Name = string(name)
	return a, int(info.Eproc.Ppid), true
}
