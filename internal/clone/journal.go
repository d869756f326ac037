package clone

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/file"
)

// Record is one edit of the store in the journal.
type Record struct {
	Seq      string    `json:"seq"`                // unique
	At       time.Time `json:"at"`                 // by the clock of the command
	Actor    string    `json:"actor,omitempty"`    // "" if unknown
	Command  string    `json:"command"`            // such as "checkpoint"
	Worktree string    `json:"worktree"`           // root of the work tree; of this one its current directory
	Tree     string    `json:"tree,omitempty"`     // git's name of the work tree, which survives moves; "" without git
	Store    string    `json:"store"`              // path of the store in it
	Branch   string    `json:"branch,omitempty"`   // during a rebase the branch being rebased; "" if HEAD was detached, or without git
	Head     string    `json:"head,omitempty"`     // commit of HEAD
	Process  int       `json:"process"`            // id of the writing process
	Undoes   []string  `json:"undoes,omitempty"`   // records that this one undoes
	Forgets  bool      `json:"forgets,omitempty"`  // nothing was written: what was lost is no longer reported
	Seen     bool      `json:"seen,omitempty"`     // nothing was written: Now is what the store had until another program removed it
	Changes  []Change  `json:"changes,omitempty"`  // in the order of the lines
	Versions []Version `json:"versions,omitempty"` // one per issue; none in records of earlier versions
	Run      string    `json:"run,omitempty"`      // the worker's run in which it was made
	Result   Result    `json:"-"`                  // what became of it
	Told     bool      `json:"-"`                  // the command printed the result
}

// Version says which line of an issue an edit replaced by which. Lines are identified by hashes
// of their content; "" is no line.
type Version struct {
	Issue string    `json:"issue"`
	Was   string    `json:"was,omitempty"`
	Now   string    `json:"now,omitempty"`
	At    time.Time `json:"at,omitzero"` // updated_at of the line after the edit

	// For a merge: Was is our line, Other theirs, and Base their common ancestor. Former is the
	// id in theirs, if the merge gave the issue another one.
	Other  string `json:"other,omitempty"`
	Base   string `json:"base,omitempty"`
	Former string `json:"former,omitempty"`

	// Tips are the records that led to the values in Changes, which were restored or dropped.
	Tips []string `json:"tips,omitempty"`
}

// Change is one value of an issue that an edit replaced.
type Change struct {
	Issue string `json:"issue"`
	Kind  string `json:"kind"`           // issue, section, signal, key, edge, label, comment …
	Name  string `json:"name"`           // of the kind: the key, the section
	Was   string `json:"was,omitempty"`  // "" if there was nothing
	Now   string `json:"now,omitempty"`  // "" if it was removed
	Hash  bool   `json:"hash,omitempty"` // Was and Now are hashes, since one of them has a credential
}

// Result is the result of an edit.
type Result string

const (
	Unfinished Result = ""        // no result recorded: the writer was killed, or the disk was full
	Written    Result = "written" // the store has it
	Failed     Result = "failed"  // the store is unchanged
)

// outcome is a line about an earlier record.
type outcome struct {
	Of     string `json:"of"`
	Result Result `json:"result,omitempty"`
	Told   bool   `json:"told,omitempty"`
}

// Limits of a journal.
const (
	segmentSize = 4 << 20             // bytes of a segment before a new one starts
	segmentAge  = 30 * 24 * time.Hour // age of a segment before a new one starts
	mostBefore  = 60 << 20            // bytes of all segments before the last one; a record may be large
	journalAge  = 90 * 24 * time.Hour // of the last record of a segment
)

// Pending is an edit whose record is in the journal but whose result is not.
type Pending struct {
	Record Record // as it was written
	dir    string
}

// Begin writes a record to the journal and to disk: once it returns, the edit can be found
// whatever happens next. It sets Seq, Process and the fields known from the place.
func (p Place) Begin(r Record) (*Pending, error) {
	r.Seq, r.Process = newSeq(), os.Getpid()
	r.Worktree, r.Tree = p.Worktree, p.TreeName()
	r.Store, r.Branch, r.Head = p.Store, cmp.Or(p.Branch, p.rebased), p.Head
	pending := &Pending{Record: r}
	err := p.inDir(func(dir string) error {
		pending.dir = dir
		return journal.append(dir, r, r.At, true)
	})
	return pending, err
}

// Beside reports whether the record went beside the store, since git's directory cannot be
// written: other work trees do not see it.
func (p *Pending) Beside() bool { return filepath.Base(p.dir) == besideDir }

// End records the result of the edit.
func (p *Pending) End(result Result) error {
	return journal.append(p.dir, outcome{Of: p.Record.Seq, Result: result}, time.Time{}, false)
}

// Told records that the command printed the result.
func (p *Pending) Told() error {
	return journal.append(p.dir, outcome{Of: p.Record.Seq, Told: true}, time.Time{}, false)
}

func newSeq() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func checksum(text []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)))
}

// lineOf formats a value as a line of the journal: checksum, blank, JSON.
func lineOf(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%s %s\n", checksum(text), text), nil
}

// textOf returns the JSON of a line if its checksum matches.
func textOf(line string) (string, bool) {
	sum, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return text, ok && sum == checksum([]byte(text))
}

// series is an append-only series of files, called segments, whose names start with it.
type series string

const (
	journal series = "journal" // edits of the store
	runs    series = "runs"    // what worker loops ran
)

func (s series) lock() string { return string(s) + ".lock" }

// torn ends a line that a writer left incomplete. No complete line ends with it.
const torn = "~\n"

// append appends a line to the last segment, or to a new one if that is full. It first ends an
// incomplete line of a killed writer.
func (s series) append(dir string, v any, now time.Time, durable bool) (err error) {
	line, err := lineOf(v)
	if err != nil {
		return err
	}
	unlock, err := lockIn(dir, s.lock())
	if err != nil {
		return err
	}
	f, made, err := s.open(dir, now)
	if err != nil {
		return errors.Join(err, unlock())
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = appendTo(f, line)
	if err = errors.Join(err, unlock()); err != nil || !durable {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if made {
		return file.SyncDir(dir)
	}
	return nil
}

// appendTo writes a complete line, or leaves the file unchanged.
func appendTo(f *os.File, line []byte) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte(torn), line...)
		}
	}
	if _, err := f.Write(line); err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// open opens the segment to append to; made reports whether it is new. Results, which have a
// zero time, start no segment.
func (s series) open(dir string, now time.Time) (f *os.File, made bool, err error) {
	all, err := s.segments(dir)
	if err != nil {
		return nil, false, err
	}
	next := segment{of: s, number: 1, day: now.UTC()}
	if n := len(all); n > 0 {
		last := all[n-1]
		info, err := os.Stat(filepath.Join(dir, last.name()))
		if err != nil {
			return nil, false, err
		}
		next.number = last.number + 1
		if now.IsZero() || info.Size() < segmentSize && now.Sub(last.day) < segmentAge {
			next = last
		}
	}
	path := filepath.Join(dir, next.name())
	f, err = os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = file.OpenPrivate(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		made = true
		dropOld(dir, all, now)
		sweep(dir, now)
	}
	return f, made, err
}

// dropOld removes the oldest segments above the limits, but at most one by age per new segment,
// so that a clock that is briefly years ahead removes no more. What cannot be removed is
// retried later. The last record of a segment is as old as the next segment.
func dropOld(dir string, all []segment, now time.Time) {
	var size int64
	for i, s := range slices.Backward(all) {
		if info, err := os.Stat(filepath.Join(dir, s.name())); err == nil {
			size += info.Size()
		}
		last := i == len(all)-1
		if !last && (size > mostBefore || i == 0 && now.Sub(all[1].day) > journalAge) {
			_ = os.Remove(filepath.Join(dir, s.name()))
		}
	}
}

// sweep removes temporary files of killed writers.
func sweep(dir string, now time.Time) {
	unfinished, _ := filepath.Glob(filepath.Join(dir, file.Unfinished)) // the pattern is valid
	for _, path := range unfinished {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
	}
}

// segment is one file of a series.
type segment struct {
	of     series
	number int
	day    time.Time // when it was started, in UTC
}

func (s segment) name() string {
	return fmt.Sprintf("%s-%06d-%s.jsonl", s.of, s.number, s.day.Format(segmentDay))
}

const segmentDay = "20060102"

// segments lists the files of a series, oldest first.
func (s series) segments(dir string) (all []segment, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		one, day := segment{of: s}, ""
		if n, _ := fmt.Sscanf(e.Name(), string(s)+"-%d-%8s.jsonl", &one.number, &day); n < 2 {
			continue
		}
		var bad error
		if one.day, bad = time.Parse(segmentDay, day); bad == nil && e.Name() == one.name() && e.Type().IsRegular() {
			all = append(all, one)
		}
	}
	return all, err
}
