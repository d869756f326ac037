package clone

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stig/internal/fault"
)

const (
	dir     = ".stig/actors"
	ending  = ".md"
	maxFile = 64 << 10
	maxName = 100
)

// names matches the names of actors with a file; schemas/actors/schema.cue has the same
// pattern.
var names = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*(/[\pL\pN][\pL\pN._-]*)*$`)
})

// CheckName returns a fault.Usage for names that no file can have. The error is fs.ErrNotExist
// too, since such an actor has no file.
func CheckName(name string) error {
	if len([]rune(name)) <= maxName && names().MatchString(name) {
		return nil
	}
	return &fault.Error{Code: fault.Usage, Err: fs.ErrNotExist,
		Reason: fmt.Sprintf("name: must be 1 to %d letters, digits and - . _ with / between parts that begin with a letter or a digit; found %q", maxName, name),
		Hint:   "choose a name such as bo, tide-tables or ann/claude-3f2a"}
}

// ProfilePath returns the path of an actor's file. root is the parent of the store's directory;
// no name leads out of it.
func ProfilePath(root, name string) string {
	return filepath.Join(ProfileDir(root), fileName(name))
}

// fileName returns the file name of an actor, with + for each /. An invalid name gives a file
// name that no actor has.
func fileName(name string) string {
	if CheckName(name) != nil {
		return fmt.Sprintf("+%x%s", name, ending)
	}
	return strings.ReplaceAll(name, "/", "+") + ending
}

// LoadProfile reads the file of an actor. The error is fs.ErrNotExist if there is none, and a
// fault.Usage with one line per mistake, which starts with path:line:column.
func LoadProfile(root, name string) (*Profile, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	at := path.Join(dir, fileName(name))
	text, err := read(root, at)
	if err != nil {
		return nil, err
	}
	p, err := ParseProfile(at, text)
	if err != nil {
		return nil, err
	}
	if p.Name != name {
		line, column := p.keyAt("name")
		return nil, badFile(fmt.Sprintf("%s:%d:%d: name: must be %s, like the file name; found %q", at, line, column, name, p.Name), nil)
	}
	p.Path = ProfilePath(root, name)
	return p, nil
}

// ProfileNames returns the actors that have a file, sorted. It skips files with invalid names.
func ProfileNames(root string) (list []string, err error) {
	in, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	entries, err := fs.ReadDir(in.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), ending)
		if name := strings.ReplaceAll(base, "+", "/"); ok && !e.IsDir() && CheckName(name) == nil {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list, leads(dir, err)
}

// read reads a file below root, at a slash-separated path. Symbolic links must not lead out of
// root.
func read(root, at string) (string, error) {
	in, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer in.Close()
	name := filepath.FromSlash(at)
	info, err := in.Stat(name) // opening a pipe would block
	switch {
	case err != nil:
		return "", leads(at, err)
	case !info.Mode().IsRegular():
		return "", badFile(at+":1:1: is not a regular file", nil)
	}
	f, err := in.Open(name)
	if err != nil {
		return "", leads(at, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = badFile(at+":1:1: is longer than 64 KiB", nil)
	}
	return string(text), err
}

// leads puts the path in front of an error of the file system.
func leads(at string, err error) error {
	where, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return err
	case strings.Contains(where.Err.Error(), "escapes"): // the error of package os
		return &fault.Error{Code: fault.Usage, Err: err, Reason: at + ":1:1: a symbolic link leads out of the repository",
			Hint: "replace the link with the file"}
	}
	return fmt.Errorf("%s: %w", at, where.Err)
}

// IsTaken reports whether the file of an actor exists, valid or not.
func IsTaken(root, name string) bool {
	_, err := os.Lstat(ProfilePath(root, name))
	return err == nil
}
