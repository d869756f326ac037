//go:build !unix

package live

import "os"

// Alive reports whether a process of this machine runs. Another process may
// have its number by now.
func Alive(process int) bool {
	_, err := os.FindProcess(process)
	return err == nil
}
