package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

// Placed puts the path first in an fs.PathError.
func Placed(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", Shortest(at.Path), at.Err)
	}
	return err
}

// ReplaceFile replaces the content of a file atomically. It keeps the mode and follows symbolic
// links. The checks run just before the replacement; if one fails, the file is unchanged.
func ReplaceFile(path, text string, checks ...func() error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return file.Replacement{Pattern: "." + filepath.Base(path) + ".stig-*.tmp", Mode: mode, Sync: true, Checks: checks}.Put(path, []byte(text))
}

// HostFile is a file of another program or of the user, which stig shows a diff of and replaces
// as a whole, unless it changed meanwhile: settings of an assistant or of git, a systemd unit,
// an actor's file, a grant of trust.
type HostFile struct {
	Path string
	Root string // empty directories below it are removed with the file
}

// Exists reports whether there is anything at a path, dangling links included.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Read returns nil if there is no such file.
func (f HostFile) Read() ([]byte, error) {
	text, err := file.Read(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && Exists(f.Path):
		return nil, fmt.Errorf("%s: dangling symbolic link", Shortest(f.Path))
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, Placed(err)
	}
	return append([]byte{}, text...), nil
}

// Change returns the step that changes the file from before to after; nil stands for no file.
// It returns no step if they are equal.
func (f HostFile) Change(before, after []byte, what ...string) []SetupStep {
	if bytes.Equal(before, after) && (before == nil) == (after == nil) {
		return nil
	}
	unchanged := func() error { return f.unchanged(before) }
	do := func() error { return f.write(after, unchanged) }
	if after == nil {
		do = func() error { return f.Remove(unchanged) }
	}
	return []SetupStep{{What: what, Diff: f.Diff(before, after), Do: do}}
}

// unchanged returns an error if the content is no longer before.
func (f HostFile) unchanged(before []byte) error {
	now, err := f.Read()
	if err != nil || bytes.Equal(now, before) && (now == nil) == (before == nil) {
		return err
	}
	return &fault.Error{Code: fault.Changed,
		Path: Shortest(f.Path), Reason: "changed since it was read",
		Hint: "another program wrote to it: run the command again",
	}
}

// Diff returns a diff from before to after, in which a missing file is /dev/null.
func (f HostFile) Diff(before, after []byte) string {
	name := func(text []byte) string {
		if text == nil {
			return os.DevNull
		}
		return Shortest(f.Path)
	}
	text := string(diff.Diff(name(before), before, name(after), after))
	return text[strings.IndexByte(text, '\n')+1:]
}

// write writes the file if it is unchanged, and creates missing directories.
func (f HostFile) write(text []byte, unchanged func() error) error {
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	err := ReplaceFile(f.Path, string(text), unchanged)
	if err != nil && !Exists(f.Path) {
		f.removeDirs(dir)
	}
	return err
}

// Remove removes the file if it is unchanged, and directories that are empty then.
func (f HostFile) Remove(unchanged func() error) error {
	if err := unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.Path); err != nil {
		return err
	}
	f.removeDirs(filepath.Dir(f.Path))
	return nil
}

// removeDirs removes a directory and its parents below Root while they are empty.
func (f HostFile) removeDirs(dir string) {
	for dir != f.Root && dir != filepath.Dir(dir) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
}

// DiffText formats changed issues key by key, texts by line, and a new issue as its line.
func DiffText(changes []beads.Change) (string, error) {
	var text strings.Builder
	for _, c := range changes {
		if c.Before == nil {
			fmt.Fprintf(&text, "+%s\n", c.After)
			continue
		}
		values, err := c.Values()
		if err != nil {
			return "", err
		}
		for _, v := range values {
			name := c.ID + " " + string(v.Key)
			_, hunks, _ := bytes.Cut(diff.Diff(name, lines(v.Before), name, lines(v.After)), []byte("\n"))
			text.Write(hunks)
		}
	}
	return text.String(), nil
}

// lines ends a text with a newline, as package diff expects.
func lines(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(strings.TrimSuffix(text, "\n") + "\n")
}
