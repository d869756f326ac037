package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"stig/jsonl"
	"stig/textfile"
)

// readJSON reads a small file into v; a file that is not there leaves v as it
// is. One that cannot be read is moved aside, and named in the error.
func readJSON(path string, v any) error {
	_, err := checkJSON(path, v)
	return err
}

// checkJSON is readJSON, and gives the text; nil where there is none.
func checkJSON(path string, v any) ([]byte, error) {
	text, err := textfile.Read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case errors.Is(err, fs.ErrPermission): // it is another user's, and may be right
		return nil, err
	}
	if err == nil {
		if string(bytes.TrimSpace(text)) == "null" {
			return nil, nil // it would take the map away that v was made with
		}
		if err = json.Unmarshal(text, v); err != nil {
			err = fmt.Errorf("%s cannot be read, and was set aside: %w", path, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.Rename(path, path+unreadable))
	}
	return text, nil
}

const unreadable = ".unreadable" // what cannot be read is moved to its name with this behind

// Unreadable lists the files of live state, of all stores of the clone, that could not
// be read and were moved aside.
func (p Place) Unreadable() (paths []string) {
	for _, dir := range p.dirs() {
		found, _ := filepath.Glob(filepath.Join(dir, "*"+unreadable)) // the pattern is sound
		paths = append(paths, found...)
	}
	return paths
}

// remove removes files of these names, wherever they are.
func (p Place) remove(names ...string) (err error) {
	for _, dir := range p.dirs() {
		for _, name := range names {
			if e := os.Remove(filepath.Join(dir, name)); e != nil && !errors.Is(e, fs.ErrNotExist) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

func replaceJSON(path string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return textfile.Replace(path, append(text, '\n'))
}

const lockWait = 10 * time.Second // locks are held for a few milliseconds

func lockIn(dir, name string) (unlock func() error, err error) {
	return jsonl.LockFile(filepath.Join(dir, name), lockWait)
}
