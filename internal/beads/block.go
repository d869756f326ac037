package beads

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// blockSize is how much of a file is read at a time, in bytes; small enough that a block is
// still in the processor's cache when it is parsed.
const blockSize = 256 << 10

// cacheLine is the size of the blocks that processors copy, in bytes, when addresses are
// aligned.
const cacheLine = 64

// tailSize is the first read, in bytes, for a line that continues after its block.
const tailSize = 16 << 10

// block holds the lines that begin in one stretch of a file. Every byte belongs to exactly one
// block, determined by the content alone.
type block struct {
	data []byte // whole lines; only the last line of the file may lack a newline
	off  int64  // offset of data in the file
	last bool   // this is the last stretch
}

// blockReader reads numbered blocks of a file in any order, so that goroutines with a reader
// each can share the work.
type blockReader struct {
	from io.ReaderAt
	buf  []byte
}

// blocksOf is the minimum number of blocks of a file of that size.
func blocksOf(size int64) int { return max(1, int((size+blockSize-1)/blockSize)) }

// read returns block n, counted from 0. The bytes are valid until the next call.
func (r *blockReader) read(n int) (block, error) {
	own := int64(n) * blockSize
	// The byte before shows whether a line begins at the start of the stretch. Read it together
	// with its predecessors: an odd offset between file and buffer makes processors copy at a
	// third of the speed.
	start := max(own-cacheLine, 0)
	lead := int(own - start)
	r.buf = r.buf[:0]
	if err := r.more(start, lead+blockSize); err != nil {
		return block{}, err
	}
	first, whole := 0, len(r.buf) == lead+blockSize
	if n > 0 {
		newline := bytes.IndexByte(r.buf[min(lead-1, len(r.buf)):], '\n')
		if newline < 0 {
			return block{last: !whole}, nil // no line begins here
		}
		first = lead + newline
	}
	if whole {
		if err := r.finishLine(start); err != nil {
			return block{}, err
		}
	}
	return block{data: r.buf[first:], off: start + int64(first), last: !whole}, nil
}

// more appends n bytes to the buffer, which starts at offset start of the file; fewer at the
// end of the file.
func (r *blockReader) more(start int64, size int) error {
	had := len(r.buf)
	r.buf = slices.Grow(r.buf, size)
	n, err := r.from.ReadAt(r.buf[had:had+size], start+int64(had))
	r.buf = r.buf[:had+n]
	if n == size || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// finishLine reads until the last line in the buffer is complete.
func (r *blockReader) finishLine(start int64) error {
	for size := tailSize; r.buf[len(r.buf)-1] != '\n'; size *= 2 {
		had := len(r.buf)
		if size > blockSize {
			return r.finishLong(start)
		}
		if err := r.more(start, size); err != nil {
			return err
		}
		if end := bytes.IndexByte(r.buf[had:], '\n'); end >= 0 {
			r.buf = r.buf[:had+end+1]
		} else if len(r.buf) < had+size {
			return nil // the end of the file
		}
	}
	return nil
}

// finishLong reads the rest of a long line. It first finds the end, so that it allocates one
// buffer of the right size.
func (r *blockReader) finishLong(start int64) error {
	var piece [blockSize]byte
	rest := 0
	for {
		n, err := r.from.ReadAt(piece[:], start+int64(len(r.buf)+rest))
		if end := bytes.IndexByte(piece[:n], '\n'); end >= 0 {
			rest += end + 1
			break
		}
		if rest += n; errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	whole := make([]byte, len(r.buf), len(r.buf)+rest)
	copy(whole, r.buf)
	r.buf = whole
	return r.more(start, rest)
}

// eachBlock computes a value from every block of a file, on all cores, and yields the values in
// file order; maker gives each goroutine its own function. It also reads what was appended
// since the size was taken, and ignores what follows a block that was the last when read.
func eachBlock[T any](from io.ReaderAt, size int64, maker func() func(block) T) ([]T, error) {
	made := make([]T, blocksOf(size))
	last := make([]bool, len(made))
	worker := func() func(n int) error {
		r, of := blockReader{from: from}, maker()
		return func(n int) error {
			b, err := r.read(n)
			if err == nil {
				made[n], last[n] = of(b), b.last
			}
			return err
		}
	}
	if err := share(len(made), worker); err != nil {
		return nil, err
	}
	if end := slices.Index(last, true); end >= 0 {
		return made[:end+1], nil
	}
	more := worker()
	for n := len(made); !last[n-1]; n++ {
		made, last = append(made, *new(T)), append(last, false)
		if err := more(n); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// share runs the numbers below n on one goroutine a processor, at most eight; worker gives each
// its own function. After an error it starts no further number.
func share(n int, worker func() func(i int) error) error {
	errs := make([]error, min(runtime.GOMAXPROCS(0), n, 8))
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range errs {
		group.Go(func() {
			do := worker()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if errs[w] = do(i); errs[w] != nil {
					next.Store(int64(n))
					return
				}
			}
		})
	}
	group.Wait()
	return cmp.Or(errs...)
}
