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

// LockLoop reserves a name for a loop, in all work trees of the clone, until unlock or the end
// of this process: run records, leases and presence are stored by name. It fails at once if
// another process has the name.
func (p Place) LockLoop(name string) (unlock func() error, err error) {
	return p.lockSoon("loop-" + hash(p.Store, name))
}

// saidMost limits the texts that SayOnce remembers.
const saidMost = 64

// SayOnce reports whether this is the first call with a text, in any process.
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

// LandedOn lists the branches that loops of this clone landed on, from the locks of LockOnto.
func (p Place) LandedOn() (branches []string) {
	for _, dir := range p.dirs() {
		locks, _ := filepath.Glob(filepath.Join(dir, "onto-*.lock")) // the pattern is valid
		for _, path := range locks {
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "onto-"), ".lock")
			if branch, err := url.PathUnescape(name); err == nil && !slices.Contains(branches, branch) {
				branches = append(branches, branch)
			}
		}
	}
	return branches
}

// Unlanded is the work on a branch that a commit lacks, cached while neither moves.
type Unlanded struct {
	Onto  string     `json:"onto"`
	Tip   string     `json:"tip"`  // of Onto
	Head  string     `json:"head"` // the commit that lacks the work
	Units []git.Unit `json:"units"`
}

// Unlanded returns the cached work of a branch; the zero value if there is none.
func (p Place) Unlanded(onto string) (u Unlanded) {
	for _, dir := range p.dirs() {
		if readJSON(filepath.Join(dir, unlandedFile(onto)), &u) == nil && u.Onto == onto {
			return u
		}
	}
	return Unlanded{}
}

// KeepUnlanded caches the unlanded work of a branch.
func (p Place) KeepUnlanded(u Unlanded) error {
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, unlandedFile(u.Onto)), u) })
}

// LastMorning returns when somebody last read what the loops did; the zero time for never.
func (p Place) LastMorning() (at time.Time) {
	for _, dir := range p.dirs() {
		var read time.Time
		if readJSON(filepath.Join(dir, p.morningFile()), &read) == nil && read.After(at) {
			at = read
		}
	}
	return at
}

// KeepMorning stores when somebody read what the loops did.
func (p Place) KeepMorning(at time.Time) error {
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, p.morningFile()), at) })
}

func (p Place) morningFile() string { return "morning-" + hash(p.Store) + ".json" }

func unlandedFile(onto string) string { return "unlanded-" + hash(onto) + ".json" }

// RunFiles are the paths of a run's files beside its record.
type RunFiles struct {
	Log, Briefing string
	Shared        string // a snapshot of what work trees share, from before the command until it is compared
}

const (
	runFilesDir  = "runs"
	runFilesAge  = 90 * 24 * time.Hour
	runFilesMost = 256 << 20 // bytes of all files
	mostRunFiles = 8000      // two per run
)

// SharedEnd is the suffix of RunFiles.Shared, in a directory with those of other runs.
const SharedEnd = ".shared.json"

// RunFiles returns the paths for a run in an existing directory. It prunes files of runs older
// than 90 days, and the oldest above 8,000 files or 256 MB.
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
	heldMost = 4 << 30 // bytes of everything held
)

// Held returns the directory for uncommitted content of a run's work tree. It may not exist.
func (p Place) Held(id string) (dir string, err error) {
	err = p.inDir(func(in string) error {
		dir = filepath.Join(in, heldDir, id)
		return file.MkdirPrivate(filepath.Dir(dir))
	})
	return dir, err
}

// PruneHeld removes what is held of runs older than 90 days, and the oldest above 4 GB, except
// for the run but. What cannot be removed stays.
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

// sizeOf returns the size of a directory that no longer changes, in bytes. It caches the size
// beside it, since there may be very many files.
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
		return nil // unreadable files count as empty
	})
	_ = file.Replace(dir+".size", []byte(strconv.FormatInt(size, 10))) // else it is counted again
	return size
}

// prune removes the oldest files of runs above the limits. What cannot be removed stays.
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

// Dreamt is the state of an actor's dreams in a clone.
type Dreamt struct {
	Store string    `json:"store"`
	Name  string    `json:"name"`
	Until time.Time `json:"until"` // dreams cover what happened until then
	At    time.Time `json:"at"`    // the last dream
	Said  string    `json:"said"`  // its result, in one line
	Count int       `json:"count"` // number of dreams
}

// ErrDreaming says that another process runs a dream of the actor.
var ErrDreaming = errors.New("another process runs its dream")

// Dream returns the state of an actor's dreams, and prevents other dreams of it until unlock.
// It returns ErrDreaming if another process runs one.
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

// Dreamt returns the state of an actor's dreams; only Store and Name are set if there is none.
func (p Place) Dreamt(name string) (d Dreamt) {
	if !p.Saved("dream", name, &d) {
		d.Store, d.Name = p.Store, name
	}
	return d
}

// RecordDream stores the state of an actor's dreams.
func (p Place) RecordDream(d Dreamt) error {
	d.Store = p.Store
	return p.Save("dream", d.Name, d)
}

// ForgetDreams removes the state of an actor's dreams.
func (p Place) ForgetDreams(name string) error {
	return p.remove(p.dreamFile(name), p.dreamFile(name)+".lock")
}

func (p Place) dreamFile(name string) string { return p.savedFile("dream", name) }

// Followed is the branch that a results branch follows.
type Followed struct {
	Branch string `json:"branch"` // of the person; "" for none
	Tip    string `json:"tip"`    // the last commit of it that was followed
}

// Followed returns what a results branch follows; the zero value if that is not set.
func (p Place) Followed(onto string) (f Followed) {
	p.Saved("onto", onto, &f)
	return f
}

// Follow stores what a results branch follows.
func (p Place) Follow(onto string, f Followed) error { return p.Save("onto", onto, f) }

// Saved reads what Save stored, and reports whether there is anything.
func (p Place) Saved(kind, name string, v any) bool {
	for _, dir := range p.dirs() {
		if text, err := checkJSON(filepath.Join(dir, p.savedFile(kind, name)), v); err == nil && text != nil {
			return true
		}
	}
	return false
}

// Save stores a value under a kind and a name, in place of an earlier one.
func (p Place) Save(kind, name string, v any) error {
	return p.inDir(func(dir string) error { return replaceJSON(filepath.Join(dir, p.savedFile(kind, name)), v) })
}

func (p Place) savedFile(kind, name string) string {
	return kind + "-" + hash(p.Store) + "-" + hash(name) + ".json"
}
