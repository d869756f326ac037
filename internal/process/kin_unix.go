//go:build unix && !linux

package process

import (
	"errors"
	"syscall"
)

// hasGroup reports whether there is a process in a group.
func hasGroup(id int) bool { return !errors.Is(syscall.Kill(-id, 0), syscall.ESRCH) }
