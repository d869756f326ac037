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
	Seq      string    `json:"seq"`                // unlike that of every other record
	At       time.Time `json:"at"`                 // by the clock of the command
	Actor    string    `json:"actor,omitempty"`    // "" when unknown
	Command  string    `json:"command"`            // such as "checkpoint"
	Worktree string    `json:"worktree"`           // top directory of the work tree; of this one as it is now
	Tree     string    `json:"tree,omitempty"`     // the work tree as git names it, wherever it is moved; "" without git
	Store    string    `json:"store"`              // path of the store in it
	Branch   string    `json:"branch,omitempty"`   // during a rebase the one that is rebased; "" where HEAD was detached, and without git
	Head     string    `json:"head,omitempty"`     // commit of HEAD
	Process  int       `json:"process"`            // id of the process that wrote
	Undoes   []string  `json:"undoes,omitempty"`   // records that this one takes back
	Forgets  bool      `json:"forgets,omitempty"`  // nothing was written: what was lost is no longer missed
	Seen     bool      `json:"seen,omitempty"`     // nothing was written: Now is what the store held until another program took it
	Changes  []Change  `json:"changes,omitempty"`  // in the order of the lines
	Versions []Version `json:"versions,omitempty"` // one for each issue; none in records of earlier programs
	Run      string    `json:"run,omitempty"`      // of a worker, in which it was made
	Result   Result    `json:"-"`                  // what became of it
	Told     bool      `json:"-"`                  // the command printed what it did
}

// Version says from which line of an issue an edit led to which. Lines are named by hashes
// of what they say; "" is no line.
type Version struct {
	Issue string    `json:"issue"`
	Was   string    `json:"was,omitempty"`
	Now   string    `json:"now,omitempty"`
	At    time.Time `json:"at,omitzero"` // updated_at of the line after the edit

	// Of a merge: Was is our line, Other theirs, and Base the one that both come from. Former
	// is the id that theirs had, where the merge gave the issue another.
	Other  string `json:"other,omitempty"`
	Base   string `json:"base,omitempty"`
	Former string `json:"former,omitempty"`

	// Tips are the records that led to the values in Changes, which were put back, or let go.
	Tips []string `json:"tips,omitempty"`
}

// Change is one value of an issue that an edit replaced.
type Change struct {
	Issue string `json:"issue"`
	Kind  string `json:"kind"`           // issue, section, signal, key, edge, label, comment …
	Name  string `json:"name"`           // of the kind: the key, the section
	Was   string `json:"was,omitempty"`  // "" where there was nothing
	Now   string `json:"now,omitempty"`  // "" where nothing is left
	Hash  bool   `json:"hash,omitempty"` // Was and Now are hashes: one of them holds a credential
}

// Result is what became of an edit.
type Result string

const (
	Unfinished Result = ""        // no result was recorded: the writer was ended, or had no room
	Written    Result = "written" // the store holds it
	Failed     Result = "failed"  // the store was left as it was
)

// outcome is a line about a record before it.
type outcome struct {
	Of     string `json:"of"`
	Result Result `json:"result,omitempty"`
	Told   bool   `json:"told,omitempty"`
}

// The bounds of a journal.
const (
	segmentSize = 4 << 20             // bytes after which a new segment is begun
	segmentAge  = 30 * 24 * time.Hour // after which a new one is begun, too
	mostBefore  = 60 << 20            // bytes of all segments before the last one; a record may be large
	journalAge  = 90 * 24 * time.Hour // of the last record of a segment
)

// Pending is an edit whose record is in the journal and whose result is not.
type Pending struct {
	Record Record // as it was written
	dir    string
}

// Begin puts a record into the journal, and to disk: an edit of which this
// returned can be found whatever happens next. It fills in Seq, Process and
// what the place says.
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

// Beside reports whether the record went beside the store, since git's
// directory cannot be written: other work trees do not see it.
func (p *Pending) Beside() bool { return filepath.Base(p.dir) == besideDir }

// End records what became of the edit.
func (p *Pending) End(result Result) error {
	return journal.append(p.dir, outcome{Of: p.Record.Seq, Result: result}, time.Time{}, false)
}

// Told records that the command printed what it did.
func (p *Pending) Told() error {
	return journal.append(p.dir, outcome{Of: p.Record.Seq, Told: true}, time.Time{}, false)
}

func newSeq() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // does not fail
	return hex.EncodeToString(b[:])
}

func checksum(text []byte) string {
	return fmt.Sprintf("%08x", crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)))
}

// lineOf is a value as a line of the journal: a checksum, a blank, JSON.
func lineOf(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%s %s\n", checksum(text), text), nil
}

// textOf is the JSON of a line, if its checksum is right.
func textOf(line string) (string, bool) {
	sum, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return text, ok && sum == checksum([]byte(text))
}

// series is the files of one kind of records that are only added to: segments, the
// first word of whose names it is.
type series string

const (
	journal series = "journal" // edits of the store
	runs    series = "runs"    // what worker loops ran
)

func (s series) lock() string { return string(s) + ".lock" }

// torn closes a line that a writer left unfinished. No whole line ends so.
const torn = "~\n"

// append appends a line to the last segment, or to a new one when that is full. A
// torn line of a writer that was ended is closed first.
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

// appendTo writes a whole line, or leaves the file as it was.
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

// open opens the segment to append to; made says that it is new. A result,
// which has no time of its own, begins none.
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

// dropOld removes the oldest segments over the bounds, by age one at most for each that is
// begun: a clock that is years ahead for a moment takes no more. What cannot be removed now
// is tried again later. The last record of a segment is as old as the next one.
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

// sweep removes what writers of small files left that were ended.
func sweep(dir string, now time.Time) {
	unfinished, _ := filepath.Glob(filepath.Join(dir, file.Unfinished)) // the pattern is sound
	for _, path := range unfinished {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > time.Hour {
			_ = os.Remove(path)
		}
	}
}

// segment is one file of a journal.
type segment struct {
	of     series
	number int
	day    time.Time // on which it was begun, in UTC
}

func (s segment) name() string {
	return fmt.Sprintf("%s-%06d-%s.jsonl", s.of, s.number, s.day.Format(segmentDay))
}

const segmentDay = "20060102"

// segments lists the files of a series, the oldest first.
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
