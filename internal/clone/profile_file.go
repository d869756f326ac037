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

// names are those that actors with a file have; schemas/actors/schema.cue has it too.
var names = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*(/[\pL\pN][\pL\pN._-]*)*$`)
})

// CheckName refuses names that no file can be named after (fault.Usage). The error is
// fs.ErrNotExist too: such an actor has no file.
func CheckName(name string) error {
	if len([]rune(name)) <= maxName && names().MatchString(name) {
		return nil
	}
	return &fault.Error{Code: fault.Usage, Err: fs.ErrNotExist,
		Reason: fmt.Sprintf("name: must be 1 to %d letters, digits and - . _ with / between parts that begin with a letter or a digit; found %q", maxName, name),
		Hint:   "choose a name such as bo, tide-tables or ann/claude-3f2a"}
}

// ProfilePath is where the file of an actor lies, below root, the directory that holds the
// store's. No name leads out of it.
func ProfilePath(root, name string) string {
	return filepath.Join(ProfileDir(root), fileName(name))
}

// fileName has a + in the place of each / of a name. What no file is named after gives
// a name that no actor's file has.
func fileName(name string) string {
	if CheckName(name) != nil {
		return fmt.Sprintf("+%x%s", name, ending)
	}
	return strings.ReplaceAll(name, "/", "+") + ending
}

// LoadProfile reads the file of an actor. The error is fs.ErrNotExist where there is none;
// what is wrong in the file has a line each, led by path:line:column (fault.Usage).
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
		return nil, badFile(fmt.Sprintf("%s:%d:%d: name: must be %s, as the file is named; found %q", at, line, column, name, p.Name), nil)
	}
	p.Path = ProfilePath(root, name)
	return p, nil
}

// ProfileNames lists the actors that have a file, in order. A file that none can be named
// after is left out.
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

// read reads a file below root, at a path with slashes. One that symbolic links lead
// out of it is refused.
func read(root, at string) (string, error) {
	in, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer in.Close()
	name := filepath.FromSlash(at)
	info, err := in.Stat(name) // opening a pipe would wait for its other end
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

// leads names the place of an error of the file system.
func leads(at string, err error) error {
	where, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return err
	case strings.Contains(where.Err.Error(), "escapes"): // as package os says it
		return &fault.Error{Code: fault.Usage, Err: err, Reason: at + ":1:1: a symbolic link leads out of the repository",
			Hint: "put the file itself there"}
	}
	return fmt.Errorf("%s: %w", at, where.Err)
}

// IsTaken reports whether the file of an actor is there, whatever it holds.
func IsTaken(root, name string) bool {
	_, err := os.Lstat(ProfilePath(root, name))
	return err == nil
}
