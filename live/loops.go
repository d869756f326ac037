package live

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/textfile"
)

// LockLoop keeps other processes from taking the same name for a loop, in any work tree of
// the clone, until it is released or this process ends: run records, leases and presence
// are known by the name. It fails at once where another process has it.
func (p Place) LockLoop(name string) (unlock func() error, err error) {
	return p.lockSoon("loop-" + hash(p.Store, name))
}

// saidMost is how many of the things that were said once are remembered.
const saidMost = 64

// SayOnce reports whether this is the first call with a text, by whichever process.
func (p Place) SayOnce(text string) (first bool, err error) {
	err = p.locked("said", func(dir string) error {
		var said []string
		trouble := readJSON(filepath.Join(dir, "said.json"), &said)
		if key := hash(p.Store, text); !slices.Contains(said, key) {
			first = true
			said = append(said, key)
			said = said[max(0, len(said)-saidMost):]
			return errors.Join(replaceJSON(filepath.Join(dir, "said.json"), said), trouble)
		}
		return trouble
	})
	return first, err
}

// RunFiles are the files that a run has beside its record.
type RunFiles struct{ Log, Briefing string }

const (
	runFilesDir  = "runs"
	runFilesAge  = 90 * 24 * time.Hour
	runFilesMost = 256 << 20 // bytes of all of them
	mostRunFiles = 8000      // two for each run
)

// RunFiles names the files of a run, in a directory that is there. It removes those of
// runs of more than 90 days ago, and the oldest where there are more than 8,000 or all take
// more than 256 MB.
func (p Place) RunFiles(id string) (files RunFiles, err error) {
	err = p.inDir(func(dir string) error {
		in := filepath.Join(dir, runFilesDir)
		if err := textfile.MkdirPrivate(in); err != nil {
			return err
		}
		prune(in)
		files = RunFiles{Log: filepath.Join(in, id+".log"), Briefing: filepath.Join(in, id+".md")}
		f, err := textfile.OpenPrivate(files.Log, os.O_CREATE|os.O_WRONLY)
		if err != nil {
			return err
		}
		return f.Close()
	})
	return files, err
}

// prune removes files of runs that are too old or too many. What cannot be removed stays.
func prune(dir string) {
	entries, _ := os.ReadDir(dir)
	var list []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && strings.HasPrefix(info.Name(), "r-") {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var size int64
	for i, info := range list {
		size += info.Size()
		if i >= mostRunFiles || size > runFilesMost || list[0].ModTime().Sub(info.ModTime()) > runFilesAge {
			_ = os.Remove(filepath.Join(dir, info.Name()))
		}
	}
}
