package beads

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// part is the content of one block. Lines are counted from its first one.
type part struct {
	issues   []*Issue
	others   []*Issue // positions of lines that are not issues
	problems []Problem
	lines    int // newlines
	size     int // bytes
	sum      Sum // if Source.Summed
}

// part indexes the lines of a block.
func (x *indexer) part(b block) part {
	p := part{size: len(b.data)}
	if x.of.source.Summed {
		p.sum = sumOfText(b.data)
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
	is, bad := x.parsed(line)
	switch {
	case bad != nil:
		p.problems = append(p.problems, bad.problem(number, skipped, cut))
	case is != nil:
		is.off, is.size, is.Line = off+int64(skipped), len(line), number
		p.issues = append(p.issues, is)
	default:
		p.others = append(p.others, &Issue{of: x.of, off: off + int64(skipped), size: len(line), Line: number})
	}
}

// parsed parses one line, unless a memo has it from the last reading.
func (x *indexer) parsed(line []byte) (*Issue, *syntaxError) {
	memo := x.of.source.Memo
	if memo == nil {
		return x.issue(line)
	}
	version, was := memo.known(line)
	if was != nil {
		is := x.blank()
		*is = *was
		is.of, is.sum = x.of, sumOf(x.seed, is.ID)
		return is, nil
	}
	is, bad := x.issue(line)
	if is != nil {
		is.version = version
	}
	return is, bad
}

const byteOrderMark = "\xef\xbb\xbf"

// trimLine removes a byte order mark from the first line and one CR from the end; they are not
// part of an issue and are never changed. It returns the number of bytes removed in front.
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

// assemble joins the parts in file order. Lines in the base of a merge conflict are not issues,
// since nobody has that version any more.
func (f *Snapshot) assemble(parts []part, seed maphash.Seed) {
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
	var sum Sum
	for _, p := range parts {
		f.size += int64(p.size)
		if f.source.Summed {
			sum = sum.then(p.sum)
			f.sums = append(f.sums, sum)
		}
		for _, other := range p.others {
			other.Line += lines
			f.others = append(f.others, other)
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

// repeat records that the id of a line is also on another one.
func (f *Snapshot) repeat(id string, before, line int) {
	if f.repeats[id] == nil {
		f.repeats[id] = []int{before}
	}
	f.repeats[id] = append(f.repeats[id], line)
}

func (f *Snapshot) reportRepeats() {
	for id, lines := range f.repeats {
		for _, line := range lines[1:] {
			if c := f.conflict(line); c != nil && c == f.conflict(lines[0]) {
				continue // both sides of a conflict over one issue
			}
			f.problems = append(f.problems, Problem{Line: line, Column: 1, Rule: DuplicateID, ID: id,
				Message: fmt.Sprintf("id %q is already used on line %d", id, lines[0])})
		}
	}
	slices.SortFunc(f.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
	})
}

// idTable finds issues by id. It stores indices instead of ids, so that building it for a large
// store is fast and small, and the garbage collector has nothing to scan.
type idTable struct {
	seed  maphash.Seed
	slots []idSlot // a power of two, at least half of them free
}

type idSlot struct {
	sum   uint32 // hash of the id
	after int32  // the index + 1; 0 for none
}

func newIDTable(seed maphash.Seed, issues int) idTable {
	size := 2
	for size < 2*issues {
		size *= 2
	}
	return idTable{seed: seed, slots: make([]idSlot, size)}
}

// put adds the issue at an index and returns the index of the one with the same id that it
// replaces, else -1.
func (t *idTable) put(issues []*Issue, place int) (before int) {
	s := t.find(issues, issues[place].ID, issues[place].sum)
	before = int(s.after) - 1
	*s = idSlot{sum: issues[place].sum, after: int32(place) + 1}
	return before
}

// place returns the index of the issue with that id, or -1.
func (t *idTable) place(issues []*Issue, id string) int {
	return int(t.find(issues, id, sumOf(t.seed, id)).after) - 1
}

// find returns the slot of an id, or the free one where it belongs.
func (t *idTable) find(issues []*Issue, id string, sum uint32) *idSlot {
	mask := len(t.slots) - 1
	for at := int(sum) & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.after == 0 || s.sum == sum && issues[s.after-1].ID == id {
			return s
		}
	}
}

func sumOf(seed maphash.Seed, id string) uint32 { return uint32(maphash.String(seed, id)) }
