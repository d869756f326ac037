package beads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// ignored are the names that git need not see: locks and replacements under way.
const ignored = jsonlLock + "\n" + writeLock + "\n.*.stig-*.tmp\n"

// Init makes a store in a directory: .beads with an empty issues.jsonl, the
// prefix of its ids, and a .gitignore. It gives the store and the files that
// it made; a .gitignore or a prefix that is there already is kept.
//
// It refuses (*RefusedError) where there is a store already, found from the
// directory as Discover finds it, or where another program keeps one.
func Init(dir, prefix string) (Store, []string, error) {
	s, files, err := Blank(dir, prefix)
	if err != nil {
		return Store{}, nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return Store{}, nil, &StoreError{Path: s.Dir, Reason: "cannot be made", Err: err, Hint: "see that the directory may be written"}
	}
	var made []string
	for _, f := range files {
		err := writeNew(f.Path, f.Text)
		switch {
		case errors.Is(err, fs.ErrExist) && f.Path == s.Path:
			return Store{}, nil, exists(s.Path)
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return Store{}, made, &StoreError{Path: f.Path, Reason: "cannot be made", Err: err, Hint: "see that the disk has room and may be written"}
		}
		made = append(made, f.Path)
	}
	return s, made, nil
}

// NewFile is a file that Init makes.
type NewFile struct{ Path, Text string }

// Blank is what Init would make in a directory, and makes nothing: the store,
// and those of its files that are not there yet. Its errors are those of Init.
func Blank(dir, prefix string) (Store, []NewFile, error) {
	if err := CheckPrefix(prefix); err != nil {
		return Store{}, nil, err
	}
	if err := Vacant(dir); err != nil {
		return Store{}, nil, err
	}
	place := filepath.Join(dir, storeDir)
	s := Store{Path: filepath.Join(place, "issues.jsonl"), Dir: place}
	files := []NewFile{
		{s.Path, ""}, // whoever makes this one makes the store
		{filepath.Join(place, prefixFile), prefix + "\n"},
		{filepath.Join(place, ".gitignore"), ignored},
	}
	return s, slices.DeleteFunc(files, func(f NewFile) bool {
		_, err := os.Lstat(f.Path)
		return err == nil
	}), nil
}

// Vacant reports whether a store can be made in a directory; Init refuses the
// rest with this error.
func Vacant(dir string) error {
	s, err := Discover(Where{Dir: dir})
	if err == nil {
		return exists(s.Path)
	}
	if missing, ok := errors.AsType[*StoreError](err); !ok || !missing.absent {
		return err
	}
	return nil
}

func exists(path string) error {
	return &RefusedError{Path: path, Reason: "there is a store already", Hint: "type stig create TITLE to add an issue to it"}
}

// writeNew makes a file that is not there yet, and sees it onto the disk.
func writeNew(path, text string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = join(err, f.Close()) }()
	if _, err := f.WriteString(text); err != nil {
		return fmt.Errorf("cannot be written: %w", err)
	}
	return f.Sync()
}
