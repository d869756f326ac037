package beads

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// File is a store as read: an index of its issues, and the open file that
// holds their lines. The index does not change; the lines of a file that was
// replaced by rename stay what they were. A File may be used by several
// goroutines at once, until Close.
type File struct {
	store    Store
	disk     *os.File
	issues   []*Issue // in file order
	byID     idTable
	repeats  map[string][]int // ids that repeat: their lines
	problems []Problem
	marked   []conflict   // the pieces between conflict markers, by line
	hash     *contentHash // nil unless it was read to be edited
}

// Read reads the whole file in blocks and keeps an index. A store that another
// program seems to be writing in place is read again for up to a second. Errors
// are of type *StoreError. What is wrong inside the file is no error but in
// Problems.
func Read(s Store) (*File, error) {
	return readSettled(func() (*File, fs.FileInfo, error) { return read(s, nil) })
}

// readToEdit is Read with a hash of all bytes, by which an edit finds out
// whether the file still holds what was read.
func readToEdit(s Store) (*File, error) {
	return readSettled(func() (*File, fs.FileInfo, error) { return read(s, newContentHash()) })
}

// read also gives what the system said of the file before it was read.
func read(s Store, hash *contentHash) (*File, fs.FileInfo, error) {
	disk, err := openPlain(s.Path)
	if err != nil {
		return nil, nil, err
	}
	info, err := disk.Stat()
	if err != nil {
		return nil, nil, join(unreadable(s.Path, err), disk.Close())
	}
	f := &File{store: s, disk: disk, hash: hash, repeats: map[string][]int{}}
	if err := f.load(info.Size()); err != nil {
		return nil, nil, join(unreadable(s.Path, err), disk.Close())
	}
	f.reportRepeats()
	return f, info, nil
}

// openPlain opens a plain file for reading and refuses everything else.
func openPlain(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if info.IsDir() {
		return nil, &StoreError{Path: path, Reason: "is a directory", Hint: "name the .jsonl file in it"}
	}
	if !info.Mode().IsRegular() {
		return nil, &StoreError{Path: path, Reason: "is not a plain file", Hint: "name a .jsonl file"}
	}
	disk, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return disk, nil
}

// part is what one block holds. Lines are counted from its first one.
type part struct {
	issues   []*Issue
	problems []Problem
	lines    int // newlines
	size     int // bytes
	hash     uint64
}

// load indexes the file block by block, on all cores. The outcome does not
// depend on how many there are.
func (f *File) load(size int64) error {
	seed := maphash.MakeSeed()
	parts, err := eachBlock(f.disk, size, func() func(block) part { return newIndexer(f, seed).part })
	if err != nil {
		return err
	}
	f.assemble(parts, seed)
	return nil
}

// part indexes the lines of a block.
func (x *indexer) part(b block) part {
	p := part{size: len(b.data)}
	if x.file.hash != nil {
		p.hash = x.file.hash.block(b.data)
	}
	off := b.off
	for data := b.data; len(data) > 0; {
		n := bytes.IndexByte(data, '\n')
		cut := n < 0
		if cut {
			n = len(data)
		}
		x.line(&p, data[:n], off, cut)
		if !cut {
			n++
			p.lines++
		}
		data = data[n:]
		off += int64(n)
	}
	return p
}

func (x *indexer) line(p *part, line []byte, off int64, cut bool) {
	skipped, line := trimLine(line, off == 0)
	rest := line
	if len(rest) == 0 || rest[0] != '{' {
		rest = bytes.TrimLeft(line, " \t\r")
	}
	if len(rest) == 0 {
		return
	}
	number := p.lines + 1
	if rest[0] != '{' && isConflictMarker(rest) {
		p.problems = append(p.problems, Problem{Line: number, Column: 1, Rule: ConflictMarker, marker: rest[0],
			Message: fmt.Sprintf("conflict marker %q", brief(bytes.TrimSpace(rest)))})
		return
	}
	is, bad := x.issue(line)
	switch {
	case bad != nil:
		p.problems = append(p.problems, bad.problem(number, skipped, cut))
	case is != nil:
		is.off, is.size, is.Line = off+int64(skipped), len(line), number
		p.issues = append(p.issues, is)
	}
}

const byteOrderMark = "\xef\xbb\xbf"

// trimLine takes a byte order mark off the first line and one CR off the end:
// they are no part of an issue and are never touched. It tells how many bytes
// it took in front.
func trimLine(line []byte, first bool) (skipped int, trimmed []byte) {
	if first && bytes.HasPrefix(line, []byte(byteOrderMark)) {
		skipped = len(byteOrderMark)
	}
	return skipped, bytes.TrimSuffix(line[skipped:], []byte{'\r'})
}

func isConflictMarker(line []byte) bool {
	for _, m := range []string{"<<<<<<< ", ">>>>>>> ", "||||||| "} {
		if bytes.HasPrefix(line, []byte(m)) {
			return true
		}
	}
	return string(bytes.TrimSpace(line)) == "======="
}

// assemble puts the parts together in file order. The base of a conflict is no
// version of the issue that anybody has, so its lines are no issues.
func (f *File) assemble(parts []part, seed maphash.Seed) {
	count, lines := 0, 0
	for _, p := range parts {
		count += len(p.issues)
		for _, problem := range p.problems {
			problem.Line += lines
			f.problems = append(f.problems, problem)
		}
		lines += p.lines
	}
	f.pairMarkers()
	f.issues = make([]*Issue, 0, count)
	f.byID = newIDTable(seed, count)
	lines = 0
	for _, p := range parts {
		if f.hash != nil {
			f.hash.add(p.hash, p.size)
		}
		for _, is := range p.issues {
			is.Line += lines
			if c := f.conflict(is.Line); c != nil && c.base < is.Line && is.Line < c.theirs {
				continue
			}
			f.issues = append(f.issues, is)
			if before := f.byID.put(f.issues, len(f.issues)-1); before >= 0 {
				f.repeat(is.ID, f.issues[before].Line, is.Line)
			}
		}
		lines += p.lines
	}
}

// repeat notes that an id of one line stands on another too.
func (f *File) repeat(id string, before, line int) {
	if f.repeats[id] == nil {
		f.repeats[id] = []int{before}
	}
	f.repeats[id] = append(f.repeats[id], line)
}

func (f *File) reportRepeats() {
	for id, lines := range f.repeats {
		for _, line := range lines[1:] {
			if c := f.conflict(line); c != nil && c == f.conflict(lines[0]) {
				continue // the two versions of one issue
			}
			f.problems = append(f.problems, Problem{Line: line, Column: 1, Rule: DuplicateID, ID: id,
				Message: fmt.Sprintf("id %q stands on line %d already", id, lines[0])})
		}
	}
	slices.SortFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
	})
}
