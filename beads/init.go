package beads

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	if err := CheckPrefix(prefix); err != nil {
		return Store{}, nil, err
	}
	if err := Vacant(dir); err != nil {
		return Store{}, nil, err
	}
	place := filepath.Join(dir, storeDir)
	if err := os.MkdirAll(place, 0o755); err != nil {
		return Store{}, nil, &StoreError{Path: place, Reason: "cannot be made", Err: err, Hint: "see that the directory may be written"}
	}
	s := Store{Path: filepath.Join(place, "issues.jsonl"), Dir: place}
	var made []string
	for _, f := range []struct{ path, text string }{
		// Whoever makes this one makes the store.
		{s.Path, ""},
		{filepath.Join(place, prefixFile), prefix + "\n"},
		{filepath.Join(place, ".gitignore"), ignored},
	} {
		err := writeNew(f.path, f.text)
		switch {
		case errors.Is(err, fs.ErrExist) && f.path == s.Path:
			return Store{}, nil, exists(s.Path)
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return Store{}, made, &StoreError{Path: f.path, Reason: "cannot be made", Err: err, Hint: "see that the disk has room and may be written"}
		}
		made = append(made, f.path)
	}
	return s, made, nil
}

// Vacant tells whether a store can be made in a directory; Init refuses the
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
