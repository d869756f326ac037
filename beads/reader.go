package beads

import "slices"

// readAhead is how much a Reader reads at a time, in bytes: where several share
// the issues, each reads so much more at most than it needs of every share.
const readAhead = 32 << 10

// Reader gives the records of many issues, cheapest in the order of the file:
// it reads ahead, and into the same memory again and again. It belongs to one
// goroutine.
type Reader struct {
	file   *File
	ahead  []byte // what stands in the file from off on
	off    int64
	record Record
}

// Reader gives a new reader, for a part of the issues or all.
func (f *File) Reader() *Reader { return &Reader{file: f} }

// Record is Issue.Record of an issue of the same file. The record, and the
// bytes that it gives, last until the next call; its texts last.
func (r *Reader) Record(i *Issue) (*Record, error) {
	line, err := r.line(i)
	if err != nil {
		return nil, err
	}
	r.record = Record{members: r.record.members[:0]}
	if bad := r.record.parse(line, i.Line); bad != nil || !r.record.is(i.ID) {
		return nil, i.gone()
	}
	return &r.record, nil
}

func (r *Reader) line(i *Issue) ([]byte, error) {
	if i.off < r.off || i.off+int64(i.size) > r.off+int64(len(r.ahead)) {
		size := max(i.size, readAhead)
		r.ahead = slices.Grow(r.ahead[:0], size)[:size]
		n, err := r.file.disk.ReadAt(r.ahead, i.off)
		r.ahead, r.off = r.ahead[:n], i.off
		if n < i.size {
			if isEnd(err) {
				return nil, i.gone()
			}
			return nil, unreadable(r.file.store.Path, err)
		}
	}
	start := int(i.off - r.off)
	return r.ahead[start : start+i.size], nil
}
