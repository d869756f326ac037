//go:build !linux && !darwin

package jsonl

import (
	"errors"
	"os"
)

// keepAttributes does nothing: extended attributes are unknown here.
func keepAttributes(to, from *os.File) (unkept []string) { return nil }

// exchange is unsupported here.
func exchange(a, b string) error { return errors.ErrUnsupported }
