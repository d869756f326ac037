//go:build unix && !linux

package process

import (
	"errors"
	"syscall"
)

// hasGroup reports whether a group has a process.
func hasGroup(id int) bool { return !errors.Is(syscall.Kill(-id, 0), syscall.ESRCH) }
