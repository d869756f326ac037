package process

import "os"

// ID identifies a process among all that ever ran: two processes with the same number differ in
// the rest. The zero value means none.
type ID struct {
	PID   int    `json:"pid"`
	Start string `json:"start"` // when it started, in a form of the system's
	Host  string `json:"host"`
	Boot  string `json:"boot"`  // of the machine
	Space string `json:"space"` // of the process numbers: containers have their own
}

// Same reports whether two IDs are the same process, even if the machine was renamed.
func (id ID) Same(other ID) bool {
	return id.PID == other.PID && id.Start == other.Start && id.Boot == other.Boot && id.Space == other.Space && id.isNear(other)
}

// isNear reports whether two processes ran on one machine: by its name or, if that changed, by
// boot and pid namespace.
func (id ID) isNear(other ID) bool {
	return id.Host == other.Host || id.Boot != "" && id.Space != "" && id.Boot == other.Boot && id.Space == other.Space
}

// Ancestor is a process that started this one, directly or indirectly.
type Ancestor struct {
	ID
	Name  string // of its program, as truncated by the system
	Group int    // its process group
}

// mostAncestors bounds the walk.
const mostAncestors = 64

// Ancestors lists the processes that started this one, nearest first, as far as they are
// visible; none if the system does not show them.
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

// Self is this process in the form of Ancestors; ok is false if the system does not show it.
func Self() (a Ancestor, ok bool) {
	a, _, ok = look(os.Getpid())
	return a, ok
}

// RunningHere is Running among the machines of a database, where two may have one name: known
// is also false for a process of another boot.
func RunningHere(id ID) (running, known bool) {
	if self, ok := Self(); !ok || id.Boot != self.Boot || id.Space != self.Space {
		return false, false
	}
	return Running(id)
}

// Running reports whether a process still runs; known is false if that is invisible, for
// example from another machine or container.
func Running(id ID) (running, known bool) {
	self, ok := Self()
	if id.PID == 0 || !ok || !id.isNear(self.ID) {
		return false, false
	}
	if id.Boot != self.Boot {
		return false, true // the machine was rebooted since
	}
	if id.Space != self.Space {
		return false, false
	}
	now, _, there := look(id.PID)
	return there && now.ID.Same(id), true
}
