//go:build !linux && !darwin

package beads

import "errors"

// exchange cannot be done here.
func exchange(a, b string) error { return errors.ErrUnsupported }
