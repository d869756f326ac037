//go:build !linux && !darwin

package jsonl

import (
	"errors"
	"os"
)

// keepAttributes does nothing: extended attributes are not known here.
func keepAttributes(to, from *os.File) (unkept []string) { return nil }

// exchange cannot be done here.
func exchange(a, b string) error { return errors.ErrUnsupported }
