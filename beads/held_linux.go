package beads

import (
	"os"

	"golang.org/x/sys/unix"
)

// hold keeps others from beginning to write a file until release is called, and
// reports whether nobody has it open for writing, nor asks to: a lease for reading
// is given for such a file alone, fcntl(2). Where no lease can be had, such as on
// a file of somebody else, it is taken that nobody has.
func hold(path string) (unheld func() bool, release func()) {
	f, err := os.Open(path)
	if err != nil {
		return func() bool { return true }, func() {}
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	return func() bool {
		if err != nil {
			return err != unix.EAGAIN
		}
		lease, asked := unix.FcntlInt(f.Fd(), unix.F_GETLEASE, 0)
		return asked != nil || lease == unix.F_RDLCK
	}, func() { f.Close() }
}
