//go:build linux || darwin

package jsonl

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepAttributes copies the extended attributes of a file, including access lists, and lists
// those it could not copy. A system without them returns an empty list.
func keepAttributes(to, from *os.File) (unkept []string) {
	wanted := attributesOf(from)
	for _, name := range wanted {
		value := attribute(from, name)
		if !bytes.Equal(value, attribute(to, name)) && unix.Fsetxattr(int(to.Fd()), name, value, 0) != nil {
			unkept = append(unkept, name)
		}
	}
	for _, name := range attributesOf(to) {
		if !slices.Contains(wanted, name) {
			_ = unix.Fremovexattr(int(to.Fd()), name) // inherited from the directory, and absent from the store
		}
	}
	return unkept
}

func attributesOf(f *os.File) []string {
	size, err := unix.Flistxattr(int(f.Fd()), nil)
	if err != nil || size == 0 {
		return nil
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(int(f.Fd()), list); err != nil {
		return nil
	}
	return strings.FieldsFunc(string(list[:size]), func(r rune) bool { return r == 0 })
}

// attribute is a value, nil for none.
func attribute(f *os.File, name string) []byte {
	size, err := unix.Fgetxattr(int(f.Fd()), name, nil)
	if err != nil {
		return nil
	}
	value := make([]byte, size)
	if size, err = unix.Fgetxattr(int(f.Fd()), name, value); err != nil {
		return nil
	}
	return value[:size]
}

// unsupported turns the error codes that mean it into errors.ErrUnsupported.
func unsupported(err error, signs ...syscall.Errno) error {
	for _, sign := range signs {
		if errors.Is(err, sign) {
			return errors.ErrUnsupported
		}
	}
	return err
}
