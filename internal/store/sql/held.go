package sql

import (
	"bytes"
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

// held is a store as it was read: the lines of base, which may be a file, with those that
// came since, fresh, put among them. It does not change.
type held struct {
	Store   string
	Version int64
	Mark    string // the token of the edit that made that version
	Shape   int
	Prefix  string
	Pieces  []piece // what the text is made of

	base     io.ReaderAt
	size     int64 // of base
	fresh    []byte
	rows     func() ([]row, error) // in their order
	snapshot *beads.Snapshot
	memo     *beads.Memo // of the process; nil for none
}

// piece is a part of the text.
type piece struct {
	Fresh bool // in held.fresh, not in held.base
	Off   int64
	Size  int64
}

// precedes reports whether what was read is an earlier or the same state of a store.
func (h *held) precedes(n *news) bool {
	return h.Store == string(n.store) && h.Version <= n.version && (h.Version == 0 || slices.Contains(n.marks[h.Version], h.Mark))
}

// with is the state that news make of an earlier one.
func (h *held) with(n *news) (*held, error) {
	was, err := h.rows()
	if err != nil {
		return nil, err
	}
	changed := map[string]bool{}
	for _, l := range n.lines {
		if l.id != "" {
			changed[l.id] = true
		}
	}
	next := &held{Store: string(n.store), Version: n.version, Shape: n.shape, Prefix: n.prefix, base: h.base, size: h.size}
	if marks := n.marks[n.version]; len(marks) > 0 {
		next.Mark = slices.Min(marks)
	}
	rows := make([]row, 0, len(was)+len(n.lines))
	for _, r := range was {
		if changed[r.id] {
			continue
		}
		if r.fresh {
			next.fresh, r.off = append(next.fresh, h.fresh[r.off:r.off+int64(r.size)]...), int64(len(next.fresh))
		}
		rows = append(rows, r)
	}
	for _, l := range n.lines {
		l.off, l.fresh = int64(len(next.fresh)), true
		next.fresh, rows = append(next.fresh, l.text...), append(rows, l.row)
	}
	slices.SortFunc(rows, compareRows)
	next.rows = func() ([]row, error) { return rows, nil }
	next.Pieces = pieces(rows)
	return next, nil
}

// nothing is what is held before the first reading.
func nothing() *held {
	return &held{Version: -1, base: bytes.NewReader(nil), rows: func() ([]row, error) { return nil, nil }}
}

// pieces joins rows that stand one after the other where they are held.
func pieces(rows []row) (list []piece) {
	for _, r := range rows {
		if n := len(list) - 1; n >= 0 && list[n].Fresh == r.fresh && list[n].Off+list[n].Size == r.off {
			list[n].Size += int64(r.size)
		} else {
			list = append(list, piece{r.fresh, r.off, int64(r.size)})
		}
	}
	return list
}

// text is the whole text, to be read from anywhere.
type text struct {
	ends  []int64 // of the pieces, in the text
	parts []io.ReaderAt
	offs  []int64
}

// text is the text that the pieces make.
func (h *held) text() *text {
	t := &text{}
	if h.Shape&hasBOM != 0 {
		t.add(bytes.NewReader([]byte(byteOrderMark)), 0, int64(len(byteOrderMark)))
	}
	fresh := bytes.NewReader(h.fresh)
	for _, p := range h.Pieces {
		if p.Fresh {
			t.add(fresh, p.Off, p.Size)
		} else {
			t.add(h.base, p.Off, p.Size)
		}
	}
	if n := len(t.ends) - 1; n >= 0 && h.Shape&isUnended != 0 && len(h.Pieces) > 0 {
		t.ends[n]--
	}
	return t
}

func (t *text) add(from io.ReaderAt, off, size int64) {
	t.parts, t.offs, t.ends = append(t.parts, from), append(t.offs, off), append(t.ends, t.size()+size)
}

func (t *text) size() int64 {
	if len(t.ends) == 0 {
		return 0
	}
	return t.ends[len(t.ends)-1]
}

// ReadAt implements io.ReaderAt.
func (t *text) ReadAt(p []byte, off int64) (n int, err error) {
	for at := sort.Search(len(t.ends), func(i int) bool { return t.ends[i] > off }); n < len(p); at++ {
		if at >= len(t.ends) {
			return n, io.EOF
		}
		start := int64(0)
		if at > 0 {
			start = t.ends[at-1]
		}
		size := min(int64(len(p)-n), t.ends[at]-off)
		got, err := t.parts[at].ReadAt(p[n:n+int(size)], t.offs[at]+off-start)
		n, off = n+got, off+int64(got)
		if int64(got) < size {
			return n, err
		}
	}
	return n, nil
}

// bytes is the whole text.
func (t *text) bytes() ([]byte, error) {
	all := make([]byte, t.size())
	if n, err := t.ReadAt(all, 0); n < len(all) {
		return nil, err
	}
	return all, nil
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
