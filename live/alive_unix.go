//go:build unix

package live

import "syscall"

// Alive reports whether a process of this machine runs. Another process may
// have its number by now.
func Alive(process int) bool {
	err := syscall.Kill(process, 0)
	return err == nil || err == syscall.EPERM
}
