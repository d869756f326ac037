package beads

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"os"
	"runtime"
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
	byID     map[string]int32
	repeats  map[string][]int // ids that repeat: their lines
	problems []Problem
	hash     *contentHash
}

// Read reads the whole file in blocks and keeps an index. Errors are of type
// *StoreError. What is wrong inside the file is no error but in Problems.
func Read(s Store) (*File, error) {
	disk, err := openPlain(s.Path)
	if err != nil {
		return nil, err
	}
	f := &File{store: s, disk: disk, byID: map[string]int32{}, repeats: map[string][]int{}}
	f.hash = newContentHash(maphash.MakeSeed())
	if err := f.load(); err != nil {
		return nil, join(unreadable(s.Path, err), disk.Close())
	}
	f.reportRepeats()
	return f, nil
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

// part is what one block holds.
type part struct {
	block    block
	issues   []*Issue
	problems []Problem
	hash     uint64
}

// load indexes the file block by block: alone when it is small or there is one
// processor, else with helpers. The outcome is the same.
func (f *File) load() error {
	c := &cutter{r: f.disk}
	first, err := c.next(nil)
	if err != nil {
		return err
	}
	workers := min(runtime.GOMAXPROCS(0), 8)
	if first.last || workers == 1 {
		return f.loadAlone(c, first)
	}
	return f.loadTogether(c, first, workers)
}

func (f *File) loadAlone(c *cutter, b block) (err error) {
	x := newIndexer(f)
	for {
		f.add(x.part(b))
		if b.last {
			return nil
		}
		if b, err = c.next(b.data); err != nil {
			return err
		}
	}
}

// loadTogether reads ahead of the workers by one block and takes their parts
// in file order.
func (f *File) loadTogether(c *cutter, b block, workers int) (err error) {
	type task struct {
		block block
		done  chan part
	}
	tasks := make(chan task, workers+1)
	defer close(tasks)
	for range workers {
		x := newIndexer(f)
		go func() {
			for t := range tasks {
				t.done <- x.part(t.block)
			}
		}()
	}
	var waiting []chan part
	take := func() (spare []byte) {
		p := <-waiting[0]
		waiting = waiting[1:]
		f.add(p)
		if cap(p.block.data) > blockSize {
			return nil
		}
		return p.block.data
	}
	for {
		done := make(chan part, 1)
		waiting = append(waiting, done)
		tasks <- task{b, done}
		if b.last {
			break
		}
		var spare []byte
		if len(waiting) > workers {
			spare = take()
		}
		if b, err = c.next(spare); err != nil {
			return err
		}
	}
	for len(waiting) > 0 {
		take()
	}
	return nil
}

// part indexes the lines of a block.
func (x *indexer) part(b block) part {
	p := part{block: b, hash: x.file.hash.block(b.data)}
	off, number := b.off, b.line
	for data := b.data; len(data) > 0; number++ {
		n := bytes.IndexByte(data, '\n')
		cut := n < 0
		if cut {
			n = len(data)
		}
		x.line(&p, data[:n], off, number, cut)
		n = min(n+1, len(data))
		data = data[n:]
		off += int64(n)
	}
	return p
}

func (x *indexer) line(p *part, line []byte, off int64, number int, cut bool) {
	skipped, line := trimLine(line, number)
	rest := bytes.TrimLeft(line, " \t\r")
	if len(rest) == 0 {
		return
	}
	if rest[0] != '{' && isConflictMarker(rest) {
		p.problems = append(p.problems, Problem{Line: number, Column: 1, Rule: ConflictMarker,
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
func trimLine(line []byte, number int) (skipped int, trimmed []byte) {
	if number == 1 && bytes.HasPrefix(line, []byte(byteOrderMark)) {
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

// add takes up the part after those taken already.
func (f *File) add(p part) {
	f.hash.add(p.hash, len(p.block.data))
	f.problems = append(f.problems, p.problems...)
	for _, is := range p.issues {
		if before, ok := f.byID[is.ID]; ok {
			if f.repeats[is.ID] == nil {
				f.repeats[is.ID] = []int{f.issues[before].Line}
			}
			f.repeats[is.ID] = append(f.repeats[is.ID], is.Line)
		}
		f.byID[is.ID] = int32(len(f.issues))
		f.issues = append(f.issues, is)
	}
}

func (f *File) reportRepeats() {
	for id, lines := range f.repeats {
		for _, line := range lines[1:] {
			f.problems = append(f.problems, Problem{Line: line, Column: 1, Rule: DuplicateID, ID: id,
				Message: fmt.Sprintf("id %q stands on line %d already", id, lines[0])})
		}
	}
	slices.SortFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
	})
}
