package process

import "os"

// ID identifies a process among all that were ever started: two processes that had
// one number differ in the rest. The zero value stands for none.
type ID struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // when it started, in a form of the system's
	Host  string `json:"host"`
	Boot  string `json:"boot"`  // of the machine
	Space string `json:"space"` // of the process numbers: containers have their own
}

// Same reports whether two IDs are of one process, whatever its machine was called when.
func (id ID) Same(other ID) bool {
	return id.PID == other.PID && id.Start == other.Start && id.Boot == other.Boot && id.Space == other.Space && id.isNear(other)
}

// isNear reports whether two processes are of one machine: by its name, or, where that
// changed, by its boot and the space of its process numbers.
func (id ID) isNear(other ID) bool {
	return id.Host == other.Host || id.Boot != "" && id.Space != "" && id.Boot == other.Boot && id.Space == other.Space
}

// Ancestor is a process that started this one, or one of those.
type Ancestor struct {
	ID
	Name  string // of its program, as the system shortens it
	Group int    // its process group
}

// mostAncestors bounds the walk.
const mostAncestors = 64

// Ancestors lists the processes that this one was started by, the nearest first, as
// far as they can be seen; none where the system does not show them.
func Ancestors() (list []Ancestor) {
	_, parent, ok := look(os.Getpid())
	for ok && parent > 0 && len(list) < mostAncestors {
		var a Ancestor
		if a, parent, ok = look(parent); ok {
			list = append(list, a)
		}
	}
	return list
}

// Self is this process as Ancestors would list it; ok is false where the system does
// not show it.
func Self() (a Ancestor, ok bool) {
	a, _, ok = look(os.Getpid())
	return a, ok
}

// RunningHere is Running among the machines of a database, where two may have one name:
// known is false too of a process of another boot.
func RunningHere(id ID) (running, known bool) {
	if self, ok := Self(); !ok || id.Boot != self.Boot || id.Space != self.Space {
		return false, false
	}
	return Running(id)
}

// Running reports whether a process is still there; known is false where that
// cannot be seen, such as from another machine or container.
func Running(id ID) (running, known bool) {
	self, ok := Self()
	if id.PID == 0 || !ok || !id.isNear(self.ID) {
		return false, false
	}
	if id.Boot != self.Boot {
		return false, true // the machine was started since
	}
	if id.Space != self.Space {
		return false, false
	}
	now, _, there := look(id.PID)
	return there && now.ID.Same(id), true
}
