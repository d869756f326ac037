//go:build !linux && !darwin

package beads

import "os"

// keepAttributes does nothing: extended attributes are not known here.
func keepAttributes(to, from *os.File) (unkept []string) { return nil }
