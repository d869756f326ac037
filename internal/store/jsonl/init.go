package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

// ignored are files that git should ignore: locks and unfinished replacements.
const ignored = jsonlLock + "\n" + writeLock + "\n.*.stig-*.tmp\n"

// Init creates a store in a directory: .beads with an empty issues.jsonl, the prefix of its
// ids, and a .gitignore. It returns the store and the files it created; an existing .gitignore
// or prefix stays.
//
// It refuses (fault.Refused) if Discover finds a store from the directory, or another program
// keeps one.
func Init(dir, prefix string) (beads.Place, []string, error) {
	s, files, err := Blank(dir, prefix)
	if err != nil {
		return beads.Place{}, nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o777); err != nil {
		return beads.Place{}, nil, &fault.Error{Code: fault.Store, Path: s.Dir, Reason: "cannot be created", Cause: err, Hint: "check that the directory is writable"}
	}
	var made []string
	for _, f := range files {
		err := writeNew(f.Path, f.Text)
		switch {
		case errors.Is(err, fs.ErrExist) && f.Path == s.Path:
			return beads.Place{}, nil, beads.AlreadyThere(s.Path)
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return beads.Place{}, made, &fault.Error{Code: fault.Store, Path: f.Path, Reason: "cannot be created", Cause: err, Hint: "check that the disk is writable and has room"}
		}
		made = append(made, f.Path)
	}
	return s, made, nil
}

// BlankServer returns what makes a .beads name a server, without creating it: its SettingsFile
// and, if a copy is kept beside it, the .gitignore for its locks.
func BlankServer(dir string, s Settings) (beads.Place, []NewFile) {
	place := filepath.Join(dir, beads.DirName)
	p := beads.Place{Path: filepath.Join(place, SettingsFile), Dir: place, Mode: beads.Server, URL: s.Store}
	files := []NewFile{{p.Path, s.Text()}}
	if s.SyncFile {
		p.Copy = filepath.Join(place, CopyFile)
		if _, err := os.Lstat(filepath.Join(place, ".gitignore")); err != nil {
			files = append(files, NewFile{filepath.Join(place, ".gitignore"), ignored})
		}
	}
	return p, files
}

// Make creates the files of a new store and their directory.
func Make(files []NewFile) error {
	for _, f := range files {
		err := os.MkdirAll(filepath.Dir(f.Path), 0o777)
		if err == nil {
			err = writeNew(f.Path, f.Text)
		}
		if errors.Is(err, fs.ErrExist) {
			return beads.AlreadyThere(f.Path)
		}
		if err != nil {
			return &fault.Error{Code: fault.Store, Path: f.Path, Reason: "cannot be created", Cause: err, Hint: "check that the disk is writable and has room"}
		}
	}
	return nil
}

// KeepPrefix writes the prefix of new ids into a .beads that has none yet.
func KeepPrefix(dir, prefix string) error {
	err := writeNew(filepath.Join(dir, prefixFile), prefix+"\n")
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// NewFile is a file that Init creates.
type NewFile struct{ Path, Text string }

// Blank returns what Init would create in a directory, without creating it: the store, and
// those of its files that do not exist yet. Its errors are those of Init.
func Blank(dir, prefix string) (beads.Place, []NewFile, error) {
	if err := beads.CheckPrefix(prefix); err != nil {
		return beads.Place{}, nil, err
	}
	if err := Vacant(dir); err != nil {
		return beads.Place{}, nil, err
	}
	place := filepath.Join(dir, beads.DirName)
	s := beads.Place{Path: filepath.Join(place, "issues.jsonl"), Dir: place}
	files := []NewFile{
		{s.Path, ""}, // creating this one creates the store
		{filepath.Join(place, prefixFile), prefix + "\n"},
		{filepath.Join(place, ".gitignore"), ignored},
	}
	return s, slices.DeleteFunc(files, func(f NewFile) bool {
		_, err := os.Lstat(f.Path)
		return err == nil
	}), nil
}

// Vacant reports whether a store can be created in a directory; otherwise it returns Init's
// error.
func Vacant(dir string) error {
	if git := gitDirectoryAround(dir); git != "" {
		return &fault.Error{Code: fault.Refused, Path: git, Reason: "is git's own directory, where nothing is committed", Hint: "run the command in a work tree, such as one from git clone " + git + " makes"}
	}
	s, err := Discover(Where{Dir: dir})
	if err == nil {
		if _, err := os.Stat(s.Path); err != nil && s.Mode != beads.BD { // a dangling link
			return beads.Unreadable(s.Path, err)
		}
		return beads.AlreadyThere(s.Path)
	}
	if !errors.Is(err, beads.ErrAbsent) {
		return err
	}
	return nil
}

// gitDirectoryAround returns the git directory that contains a directory: a bare repository or
// the .git of a clone; "" in a work tree and elsewhere.
func gitDirectoryAround(dir string) string {
	at, err := filepath.Abs(dir)
	for err == nil {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return ""
		}
		if isGitDirectory(at) {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
		at = filepath.Dir(at)
	}
	return ""
}

func isGitDirectory(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() != (name != "HEAD") {
			return false
		}
	}
	return true
}

// writeNew creates a file that must not exist, and syncs it.
func writeNew(path, text string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { err = fault.Join(err, f.Close()) }()
	if _, err := f.WriteString(text); err != nil {
		return fmt.Errorf("cannot be written: %w", err)
	}
	return f.Sync()
}

// PutNew creates a file atomically, unless one of the checks fails just before. It removes what
// earlier calls left beside it when they were killed.
func PutNew(path string, text []byte, checks ...func() error) error {
	w := &writer{disk: osDisk{}, target: path}
	w.removeUnfinished()
	return file.Replacement{Pattern: w.pattern(), Mode: 0o644, Sync: true, Checks: checks}.Put(path, text)
}
