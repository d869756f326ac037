package process

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
)

// kin describes how to recognize the processes that a program started: they are in its process
// group or session, hold one of the pipes to it, or have its mark. None started before the
// program.
type kin struct {
	leader int        // the program's id, which is also its group and session; 0 for none
	id     ID         // of the program, which counts while it runs; the zero value if it does not count
	pipes  []*os.File // our ends
	mark   string     // in the environment of the program, inherited by all its descendants; "" for none
	since  uint64     // when the program started, in the system's unit; 0 if unknown
	dir    string     // where the mark alone counts: in processes that work below; "" for everywhere
}

// markVariable is the environment variable with the mark.
const markVariable = "STIG_SUPERVISED"

// newMark makes a unique mark: its supervisor, and a random part.
func newMark() string {
	self, _ := Self() // if the system does not show it, marks are not read either
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

// assigned is a mark as it appears in an environment.
func assigned(mark string) string {
	if mark == "" {
		return ""
	}
	return markVariable + "=" + mark
}
