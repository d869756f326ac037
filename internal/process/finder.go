package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotFound is wrapped by errors of Run and Find if a program is not on PATH.
var ErrNotFound = exec.ErrNotFound

// Find returns the path of a program on PATH.
func Find(program string) (string, error) { return exec.LookPath(program) }

// Finder returns a function that reports whether a word names a program on this machine: one on
// PATH or, for a word with a slash, an executable file below root. For a word "$NAME" it
// reports whether getenv has that variable. Each word is looked up once; the function belongs
// to one goroutine.
func Finder(root string, getenv func(string) string) func(word string) bool {
	known := map[string]bool{}
	return func(word string) bool {
		found, asked := known[word]
		if !asked {
			found = find(root, getenv, word)
			known[word] = found
		}
		return found
	}
}

func find(root string, getenv func(string) string, word string) bool {
	if name, ok := strings.CutPrefix(word, "$"); ok {
		return getenv(name) != ""
	}
	if !strings.Contains(word, "/") {
		_, err := Find(word)
		return err == nil
	}
	path := filepath.FromSlash(word)
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
