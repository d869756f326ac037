package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
)

// A replacement is a file beside the store with one of two names. While it is being filled it
// is "new" and contains only what stig writes. From just before the exchange on it is "old": it
// contains the former store, and so perhaps another program's version. Both names identify the
// process that made it. An old one also has the hash of what stig replaced and the mark of the
// file that stig wrote, which it still is before the exchange.
const (
	stateNew = "new"
	stateOld = "old"
)

// keptAs begins the part of a name, after the store's, of a file that preserves a version
// nobody else has.
const keptAs = ".stig-kept-"

// forgotten is the age at which a file counts as left behind if its process runs on another
// machine and cannot be looked up.
const forgotten = time.Hour

// Leftover is a file beside the store that may have a version no other file has: another
// program's, which stig had moved out of the way when it was killed. stig never removes it.
type Leftover struct {
	Path     string
	Size     int64 // in bytes
	Modified time.Time
}

// Leftovers lists files beside the store with versions of it that may be in no other file, by
// name. The error is a fault.Store.
func Leftovers(s beads.Place) ([]Leftover, error) {
	target, err := filepath.EvalSymlinks(s.Path)
	if s.Mode == beads.BD && errors.Is(err, fs.ErrNotExist) { // bd has exported nothing yet
		return nil, nil
	}
	if err != nil {
		return nil, beads.Unreadable(s.Path, err)
	}
	w := &writer{disk: osDisk{}, store: s, target: target}
	dir := filepath.Dir(target)
	d, err := listDir(dir)
	if err != nil {
		return nil, err
	}
	var found []Leftover
	for _, name := range d.names {
		path := filepath.Join(dir, name)
		temp, isTemp := w.parseTemp(name)
		if !w.isKept(name) && !(isTemp && temp.state != stateNew && !temp.by.mayLive() && !w.isSpare(path, temp)) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			found = append(found, Leftover{path, info.Size(), info.ModTime()})
		}
	}
	return found, nil
}

// isKept reports whether a file beside the store preserves a version; the second form is from
// earlier versions of stig.
func (w *writer) isKept(name string) bool {
	base := filepath.Base(w.target)
	return strings.HasPrefix(name, base+keptAs) ||
		strings.HasPrefix(name, base+".stig-") && strings.HasSuffix(name, ".tmp.kept")
}

// tempName is the parsed name of a replacement.
type tempName struct {
	state string // "" in names from earlier versions of stig
	by    process
	hash  string // for an old one: of the store as read
	mine  string // for an old one: the mark of what stig wrote
}

func (w *writer) prefix() string { return "." + filepath.Base(w.target) + ".stig-" }

const tempSuffix = ".tmp"

// pattern is the name pattern of a new replacement.
func (w *writer) pattern() string {
	return w.prefix() + stateNew + "-" + thisProcess().String() + "-*" + tempSuffix
}

// oldName is the name of a replacement that is about to be exchanged with a store read as f.
func (w *writer) oldName(name string, mine fs.FileInfo, f *opened) string {
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), w.prefix()), tempSuffix), "-")
	parts = slices.Concat([]string{stateOld}, parts[1:], []string{f.Sum().String(), markOf(mine)})
	return filepath.Join(filepath.Dir(name), w.prefix()+strings.Join(parts, "-")+tempSuffix)
}

// parseTemp parses the name of a replacement, and reports whether it is one.
func (w *writer) parseTemp(name string) (tempName, bool) {
	rest, ok := strings.CutPrefix(name, w.prefix())
	rest, ends := strings.CutSuffix(rest, tempSuffix)
	if !ok || !ends || rest == "guard" {
		return tempName{}, false
	}
	parts := strings.Split(rest, "-") // state, host, pid, start, random, hash, mark
	if len(parts) < 5 {
		return tempName{}, true
	}
	pid, err := strconv.Atoi(parts[2])
	t := tempName{state: parts[0], by: process{parts[1], pid, parts[3]}}
	switch {
	case err != nil:
		return tempName{}, true
	case t.state == stateNew && len(parts) == 5:
	case t.state == stateOld && len(parts) == 7:
		t.hash, t.mine = parts[5], parts[6]
	default:
		return tempName{}, true
	}
	return t, true
}

// process identifies a process among all that ever ran.
type process struct {
	host  string // the system it runs on, since its boot
	pid   int
	start string // when it started, "0" if the system does not say
}

func thisProcess() process {
	pid := os.Getpid()
	start, _ := startOf(pid)
	return process{hostID(), pid, start}
}

func (p process) String() string { return fmt.Sprintf("%s-%d-%s", p.host, p.pid, p.start) }

// mayLive reports whether the process may still write. This process does not: it holds the
// lock.
func (p process) mayLive() bool {
	this := thisProcess()
	if p == this {
		return false
	}
	if p.host != this.host {
		return true
	}
	if IsGone(p.pid) {
		return false
	}
	start, running := startOf(p.pid)
	return running && start == p.start
}

// removeLeftovers cleans up after dead writers. The lock keeps other writers away where locks
// work; elsewhere the names say whose process still runs. Content that only an old replacement
// has is kept. What cannot be removed is harmless and stays for the next writer.
func (w *writer) removeLeftovers() {
	dir := filepath.Dir(w.target)
	d, err := w.disk.list(dir)
	if err != nil {
		return
	}
	for _, name := range d.names {
		t, ok := w.parseTemp(name)
		path := filepath.Join(dir, name)
		if !ok || t.by.mayLive() && !w.isForgotten(path) {
			continue
		}
		if t.state == stateNew || w.isSpare(path, t) {
			_ = w.disk.remove(path)
		} else {
			_, _ = w.keep(path)
		}
	}
}

// removeUnfinished removes what dead processes had begun to write and not put in place. It
// needs no lock.
func (w *writer) removeUnfinished() {
	dir := filepath.Dir(w.target)
	d, err := w.disk.list(dir)
	if err != nil {
		return
	}
	for _, name := range d.names {
		if t, ok := w.parseTemp(name); ok && t.state == stateNew && t.by != thisProcess() && !t.by.mayLive() {
			_ = w.disk.remove(filepath.Join(dir, name)) // otherwise the next one does
		}
	}
}

// isForgotten reports whether a file has not been written for a long time.
func (w *writer) isForgotten(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && w.options.Now.Sub(info.ModTime()) > forgotten
}

// markOf identifies a file that has not been written since.
func markOf(info fs.FileInfo) string {
	return fmt.Sprintf("%x.%x.%x", inodeOf(info), info.Size(), info.ModTime().UnixNano())
}

// isSpare reports whether an old replacement is certainly not needed: it is what stig wrote and
// did not put in place, what stig read and replaced, or equal to the store.
func (w *writer) isSpare(path string, t tempName) bool {
	if info, err := os.Lstat(path); err == nil && markOf(info) == t.mine {
		return true
	}
	hash, err := w.hashAt(path)
	if err != nil {
		return false
	}
	if hash.String() == t.hash {
		return true
	}
	store, err := w.hashAt(w.target)
	return err == nil && store == hash
}

func (w *writer) hashAt(path string) (beads.Sum, error) {
	f, err := w.disk.open(path)
	if err != nil {
		return beads.Sum{}, err
	}
	h, err := hashNow(f)
	return h, fault.Join(err, f.Close())
}

// keep renames a file so that nobody removes it; equal content gets equal names.
func (w *writer) keep(path string) (kept string, err error) {
	h, err := w.hashAt(path)
	if err != nil {
		return "", err
	}
	kept = w.target + keptAs + h.String()
	if err := w.disk.rename(path, kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return kept, nil
}
