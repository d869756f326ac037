package sql

import (
	"io"
	"slices"
	"sort"

	"stig/internal/beads"
)

// The bits of a shape.
const (
	isUnended = 1 << iota // the last line has no newline
	hasBOM                // a byte order mark comes first
	onDolt                // the server is Dolt
)

const byteOrderMark = "\xef\xbb\xbf"

// held is a store as read at one version. Its lines are in memory or in the file of the
// local copy. It is immutable.
type held struct {
	Store   string
	Version int64
	Mark    string // token of the edit that made the version
	Shape   int
	Prefix  string // of the ids of new issues

	base     *copyFile // contains the rows without a text; nil for none
	rows     []row     // in file order
	snapshot *beads.Snapshot
	memo     *beads.Memo // of the process; nil for none
}

// nothing is the store before the first read.
func nothing() *held { return &held{Version: -1} }

// precedes reports whether h is an earlier or the same state of the store that n is of.
func (h *held) precedes(n *news) bool {
	return h.Store == string(n.store) && h.Version <= n.version && (h.Version == 0 || slices.Contains(n.marks[h.Version], h.Mark))
}

// with returns the state after news.
func (h *held) with(n *news) *held {
	next := &held{Store: string(n.store), Version: n.version, Shape: n.shape, Prefix: n.prefix, base: h.base}
	if marks := n.marks[n.version]; len(marks) > 0 {
		next.Mark = slices.Min(marks)
	}
	newer := make([]row, len(n.lines))
	for i, l := range n.lines {
		newer[i] = l.row
		newer[i].text = l.text
	}
	next.rows = merged(h.rows, newer)
	return next
}

// merged returns rows with newer ones inserted, which replace those of the same issues. Both
// are in file order.
func merged(rows, newer []row) []row {
	if len(rows) == 0 {
		return newer
	}
	changed := map[string]bool{}
	for _, r := range newer {
		changed[r.id] = r.id != ""
	}
	all := make([]row, 0, len(rows)+len(newer))
	add := func(some []row) {
		for _, r := range some {
			if !changed[r.id] {
				all = append(all, r)
			}
		}
	}
	for _, r := range newer {
		at, _ := slices.BinarySearchFunc(rows, r, compareRows)
		add(rows[:at])
		all, rows = append(all, r), rows[at:]
	}
	add(rows)
	return all
}

// read indexes the text.
func (h *held) read(p beads.Place) (*beads.Snapshot, error) {
	t := h.text()
	return beads.NewSnapshot(p, beads.Source{Lines: t, Size: t.size(), Summed: true, Memo: h.memo, Prefix: func(fallback bool) (string, error) {
		if !fallback {
			return "", nil
		}
		return h.Prefix, nil
	}})
}

// text returns the text of the store, byte for byte as a file would contain it.
func (h *held) text() *text {
	t := newText(h.base)
	if h.Shape&hasBOM != 0 {
		t.add(row{text: []byte(byteOrderMark), size: len(byteOrderMark)})
	}
	t.add(h.rows...)
	if h.Shape&isUnended != 0 && len(h.rows) > 0 {
		t.parts[len(t.parts)-1].end--
	}
	return t
}

// text is a text in parts, to be read from any offset.
type text struct {
	file  io.ReaderAt
	parts []part
}

// part is a stretch of a text, in memory or in the file.
type part struct {
	text []byte // nil for one in the file
	off  int64  // in the file
	end  int64  // in the text
}

func newText(base *copyFile) *text {
	if base == nil {
		return &text{}
	}
	return &text{file: base.file}
}

// add appends rows. Those that follow each other in the file become one part.
func (t *text) add(rows ...row) {
	for _, r := range rows {
		n, size := len(t.parts)-1, t.size()
		if n >= 0 && r.text == nil && t.parts[n].text == nil && r.off == t.parts[n].off+size-t.start(n) {
			t.parts[n].end += int64(r.size)
		} else {
			t.parts = append(t.parts, part{r.text, r.off, size + int64(r.size)})
		}
	}
}

func (t *text) size() int64 { return t.start(len(t.parts)) }

// start is the offset of part n in the text.
func (t *text) start(n int) int64 {
	if n == 0 {
		return 0
	}
	return t.parts[n-1].end
}

// ReadAt implements io.ReaderAt.
func (t *text) ReadAt(b []byte, off int64) (n int, err error) {
	for at := sort.Search(len(t.parts), func(i int) bool { return t.parts[i].end > off }); n < len(b); at++ {
		if at >= len(t.parts) {
			return n, io.EOF
		}
		p, skip := t.parts[at], off-t.start(at)
		size := int(min(int64(len(b)-n), p.end-off))
		got := size
		if p.text != nil {
			copy(b[n:n+size], p.text[skip:])
		} else {
			got, err = t.file.ReadAt(b[n:n+size], p.off+skip)
		}
		if n, off = n+got, off+int64(got); got < size {
			return n, err
		}
	}
	return n, nil
}

// bytes returns the whole text.
func (t *text) bytes() ([]byte, error) {
	all := make([]byte, t.size())
	if n, err := t.ReadAt(all, 0); n < len(all) {
		return nil, err
	}
	return all, nil
}
