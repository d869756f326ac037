package file

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// Rename puts a file in the place of another in one step. It tries for two seconds: while
// somebody reads the file at to, or a scanner looks at either, it cannot be replaced here.
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
