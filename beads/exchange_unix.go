//go:build linux || darwin

package beads

import (
	"errors"
	"syscall"
)

// unsupported turns an error that is among the signs of it into
// errors.ErrUnsupported.
func unsupported(err error, signs ...syscall.Errno) error {
	for _, sign := range signs {
		if errors.Is(err, sign) {
			return errors.ErrUnsupported
		}
	}
	return err
}
