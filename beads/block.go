package beads

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
)

// blockSize is how much of the file is read at a time, in bytes.
const blockSize = 1 << 20

// block is a run of whole lines; only the last block may end without newline.
type block struct {
	data []byte
	off  int64 // of data in the file
	line int   // 1-based number of the first line
	last bool
}

// cutter cuts a stream into blocks. Where it cuts depends on the content
// alone, so that two readings of the same bytes hash alike.
type cutter struct {
	r     io.Reader
	carry []byte // the beginning of a line of the next block
	off   int64
	line  int
}

// next reads the block after the last one given, into buf when that is large
// enough. A block without data is the end.
func (c *cutter) next(buf []byte) (block, error) {
	size := max(blockSize, 2*len(c.carry))
	if cap(buf) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	n := copy(buf, c.carry)
	for {
		m, err := io.ReadFull(c.r, buf[n:])
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return block{}, err
		}
		if ended {
			c.carry = c.carry[:0]
			return c.cut(buf[:n+m], true), nil
		}
		if end := bytes.LastIndexByte(buf[n:], '\n'); end >= 0 {
			end += n + 1
			c.carry = append(c.carry[:0], buf[end:]...)
			return c.cut(buf[:end], false), nil
		}
		n = len(buf)
		grown := make([]byte, 2*n)
		copy(grown, buf)
		buf = grown
	}
}

func (c *cutter) cut(data []byte, last bool) block {
	b := block{data: data, off: c.off, line: c.line + 1, last: last}
	c.off += int64(len(data))
	c.line += bytes.Count(data, []byte{'\n'})
	return b
}

// contentHash hashes a file block by block; the hashes of the blocks may be
// computed anywhere, and are put together in file order.
type contentHash struct {
	seed maphash.Seed
	sum  maphash.Hash
	size int64
}

func newContentHash(seed maphash.Seed) *contentHash {
	h := &contentHash{seed: seed}
	h.sum.SetSeed(seed)
	return h
}

func (h *contentHash) block(data []byte) uint64 { return maphash.Bytes(h.seed, data) }

func (h *contentHash) add(block uint64, size int) {
	maphash.WriteComparable(&h.sum, block)
	h.size += int64(size)
}

// hashFile hashes all that r gives.
func hashFile(seed maphash.Seed, r io.Reader) (*contentHash, error) {
	h := newContentHash(seed)
	c := cutter{r: r}
	var buf []byte
	for {
		b, err := c.next(buf)
		if err != nil {
			return nil, err
		}
		h.add(h.block(b.data), len(b.data))
		if b.last {
			return h, nil
		}
		if buf = b.data; cap(buf) > blockSize {
			buf = nil
		}
	}
}

func (h *contentHash) equal(o *contentHash) bool {
	return h.size == o.size && h.sum.Sum64() == o.sum.Sum64()
}
