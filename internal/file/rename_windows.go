package file

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// Rename atomically replaces a file by another. It tries for two seconds, since Windows cannot
// replace a file while somebody reads it or a scanner has it open.
func Rename(from, to string) (err error) {
	for range 200 {
		err = os.Rename(from, to)
		if !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, windows.ERROR_SHARING_VIOLATION) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}
