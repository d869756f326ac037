package process

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// kin says how the processes are known that a program started: they are in its process
// group or session, hold one of the pipes to it, or have its mark. None was started before
// the program.
type kin struct {
	leader int        // the program's id, which is that of its group and session; 0 for none
	id     ID         // of the program, which counts too while it runs; the zero value where it does not count
	pipes  []*os.File // our ends
	mark   string     // in the environment of the program, which all that it starts inherit; "" for none
	since  uint64     // when the program was started, as the system counts; 0 where it is not known
	dir    string     // where the mark counts alone: in processes that work below; "" for everywhere
}

// markVariable is the variable of the environment that holds the mark.
const markVariable = "STIG_SUPERVISED"

// newMark makes a mark that no other program has: who supervises it, and a random part.
func newMark() string {
	self, _ := Self() // where the system does not show it no marks are read either
	return fmt.Sprintf("%d.%s.%s", self.PID, self.Start, rand.Text()[:12])
}

// isOrphaned reports whether the process that made a mark has ended.
func isOrphaned(mark string) bool {
	var pid int
	pidText, rest, _ := strings.Cut(mark, ".")
	start, _, ok := strings.Cut(rest, ".")
	if _, err := fmt.Sscan(pidText, &pid); err != nil || !ok {
		return false
	}
	now, _, there := look(pid)
	return !there || now.Start != start
}

// assigned is a mark as it stands in an environment.
func assigned(mark string) string {
	if mark == "" {
		return ""
	}
	return markVariable + "=" + mark
}
