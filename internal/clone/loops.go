package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/file"
	"stig/internal/git"
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

// LandedOn lists the branches that loops of this clone landed on, as the locks say that
// LockOnto left.
func (p Place) LandedOn() (branches []string) {
	for _, dir := range p.dirs() {
		locks, _ := filepath.Glob(filepath.Join(dir, "onto-*.lock")) // the pattern is sound
		for _, path := range locks {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "onto-"), ".lock")
			if branch, err := url.PathUnescape(name); err == nil && !slices.Contains(branches, branch) {
				branches = append(branches, branch)
			}
		}
	}
	return branches
}

// Unlanded is what a branch was found to have that a commit lacks, while neither moves.
type Unlanded struct {
	Onto  string     `json:"onto"`
	Tip   string     `json:"tip"`  // of Onto
	Head  string     `json:"head"` // what lacks it
	Units []git.Unit `json:"units"`
}

// Unlanded gives what was kept last of a branch; the zero value for nothing.
func (p Place) Unlanded(onto string) (u Unlanded) {
	for _, dir := range p.dirs() {
		if readJSON(filepath.Join(dir, unlandedFile(onto)), &u) == nil && u.Onto == onto {
			return u
		}
	}
	return Unlanded{}
}

// KeepUnlanded keeps what was found of a branch, so that it need not be looked for again.
func (p Place) KeepUnlanded(u Unlanded) error {
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, unlandedFile(u.Onto)), u) })
}

// LastMorning is when somebody last read what the loops did; the zero time for never.
func (p Place) LastMorning() (at time.Time) {
	for _, dir := range p.dirs() {
		var read time.Time
		if readJSON(filepath.Join(dir, p.morningFile()), &read) == nil && read.After(at) {
			at = read
		}
	}
	return at
}

// KeepMorning remembers when somebody read what the loops did.
func (p Place) KeepMorning(at time.Time) error {
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, p.morningFile()), at) })
}

func (p Place) morningFile() string { return "morning-" + hash(p.Store) + ".json" }

func unlandedFile(onto string) string { return "unlanded-" + hash(onto) + ".json" }

// RunFiles are the files that a run has beside its record.
type RunFiles struct {
	Log, Briefing string
	Shared        string // what the repository shared before the command started, until that was compared
}

const (
	runFilesDir  = "runs"
	runFilesAge  = 90 * 24 * time.Hour
	runFilesMost = 256 << 20 // bytes of all of them
	mostRunFiles = 8000      // two for each run
)

// SharedEnd ends the name of RunFiles.Shared, in the directory of those of other runs.
const SharedEnd = ".shared.json"

// RunFiles names the files of a run, in a directory that is there. It removes those of
// runs of more than 90 days ago, and the oldest where there are more than 8,000 or all take
// more than 256 MB.
func (p Place) RunFiles(id string) (files RunFiles, err error) {
	err = p.inDir(func(dir string) error {
		in := filepath.Join(dir, runFilesDir)
		if err := file.MkdirPrivate(in); err != nil {
			return err
		}
		prune(in)
		files = RunFiles{Log: filepath.Join(in, id+".log"), Briefing: filepath.Join(in, id+".md"), Shared: filepath.Join(in, id+SharedEnd)}
		f, err := file.OpenPrivate(files.Log, os.O_CREATE|os.O_WRONLY)
		if err != nil {
			return err
		}
		return f.Close()
	})
	return files, err
}

const (
	heldDir  = "held"
	heldMost = 4 << 30 // bytes of all that is held
)

// Held gives the directory that takes what the work tree of a run held and no commit does. It
// need not be there.
func (p Place) Held(id string) (dir string, err error) {
	err = p.inDir(func(in string) error {
		dir = filepath.Join(in, heldDir, id)
		return file.MkdirPrivate(filepath.Dir(dir))
	})
	return dir, err
}

// PruneHeld removes what is held of runs for more than 90 days, and the oldest where all of it
// takes more than 4 GB, but for that of one run. What cannot be removed stays.
func (p Place) PruneHeld(but string) error {
	return p.inDir(func(in string) error {
		all := filepath.Join(in, heldDir)
		entries, err := os.ReadDir(all)
		age := map[string]time.Time{}
		var names []string
		for _, e := range entries {
			if e.IsDir() && e.Name() != but {
				names, age[e.Name()] = append(names, e.Name()), later(filepath.Join(all, e.Name()))
			}
		}
		slices.SortFunc(names, func(a, b string) int { return age[b].Compare(age[a]) })
		size, last := int64(0), later(all)
		for _, name := range names {
			dir := filepath.Join(all, name)
			size += sizeOf(dir)
			if size > heldMost || last.Sub(age[name]) > runFilesAge {
				_, _ = os.RemoveAll(dir), os.Remove(dir+".size")
			}
		}
		return err
	})
}

// sizeOf is how many bytes the files of a directory take that is not written any more. It is
// kept beside that, since there may be very many.
func sizeOf(dir string) (size int64) {
	if text, err := os.ReadFile(dir + ".size"); err == nil {
		if size, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return size
		}
	}
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil // what cannot be read counts as nothing
	})
	_ = file.Replace(dir+".size", []byte(strconv.FormatInt(size, 10))) // else it is counted again
	return size
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

// Dreamt is what a clone knows of the dreams of one actor.
type Dreamt struct {
	Store string    `json:"store"`
	Name  string    `json:"name"`
	Until time.Time `json:"until"` // what happened up to then was dreamt of
	At    time.Time `json:"at"`    // when it dreamt last
	Said  string    `json:"said"`  // what came of it, on one line
	Count int       `json:"count"` // how often it dreamt
}

// ErrDreaming says that another process has the actor dream.
var ErrDreaming = errors.New("another process has it dream")

// Dream gives what is known of the dreams of an actor, and keeps other processes from
// having it dream until unlock. The error is ErrDreaming where one does.
func (p Place) Dream(name string) (d Dreamt, unlock func() error, err error) {
	unlock, err = p.lockSoon(p.dreamFile(name))
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", ErrDreaming, err)
	}
	if err != nil {
		return d, nil, err
	}
	return p.Dreamt(name), unlock, nil
}

// Dreamt gives what is known of the dreams of an actor, the zero value for nothing.
func (p Place) Dreamt(name string) (d Dreamt) {
	for _, dir := range p.dirs() {
		var one Dreamt
		if readJSON(filepath.Join(dir, p.dreamFile(name)), &one) == nil && one.Name != "" {
			return one
		}
	}
	return Dreamt{Store: p.Store, Name: name}
}

// RecordDream remembers how far an actor's dreams have come.
func (p Place) RecordDream(d Dreamt) error {
	d.Store = p.Store
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, p.dreamFile(d.Name)), d) })
}

// ForgetDreams removes what is known of the dreams of an actor.
func (p Place) ForgetDreams(name string) error {
	return p.remove(p.dreamFile(name), p.dreamFile(name)+".lock")
}

func (p Place) dreamFile(name string) string {
	return "dream-" + hash(p.Store) + "-" + hash(name) + ".json"
}

// Followed is the branch that a branch for results follows.
type Followed struct {
	Branch string `json:"branch"` // of the person; "" for none
	Tip    string `json:"tip"`    // the commit of it that was last followed
}

// Followed gives what a branch for results follows; the zero value where nobody said so.
func (p Place) Followed(onto string) (f Followed) {
	for _, dir := range p.dirs() {
		if readJSON(filepath.Join(dir, p.followedFile(onto)), &f) == nil && f.Branch != "" {
			return f
		}
	}
	return Followed{}
}

// Follow remembers what a branch for results follows.
func (p Place) Follow(onto string, f Followed) error {
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, p.followedFile(onto)), f) })
}

func (p Place) followedFile(onto string) string {
	return "onto-" + hash(p.Store) + "-" + hash(onto) + ".json"
}
