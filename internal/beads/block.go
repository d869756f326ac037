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

// blockSize is how much of a file is read at a time, in bytes: few enough that
// what was read is still in the processor's own memory when it is looked at.
const blockSize = 256 << 10

// cacheLine is what processors copy at a time, in bytes, where addresses allow it.
const cacheLine = 64

// tailSize is how much is read at first, in bytes, of a line that goes on after
// its block.
const tailSize = 16 << 10

// block is the lines that begin in one stretch of a file: every byte is in one
// block, and which one depends on nothing but the content.
type block struct {
	data []byte // whole lines; only the last of a file may be without newline
	off  int64  // of data in the file
	last bool   // the stretch is the last one
}

// blockReader reads blocks of a file, each by its number and in any order, so
// that several goroutines with a reader each can share the work.
type blockReader struct {
	from io.ReaderAt
	buf  []byte
}

// blocksOf is the least number of blocks that a file of that size has.
func blocksOf(size int64) int { return max(1, int((size+blockSize-1)/blockSize)) }

// read gives block n, from 0 on. Its bytes last until the next call.
func (r *blockReader) read(n int) (block, error) {
	own := int64(n) * blockSize
	// The byte before reports whether a line begins with the stretch. It is read with those
	// before it: where one byte alone puts file and buffer out of step, processors copy at a
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

// more reads so many bytes after those of the buffer, which begins at offset
// start of the file. At the end of the file there are fewer.
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

// finishLine reads on until the line in which the buffer ends is whole.
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

// finishLong reads the rest of a long line: its end is looked for first, so that there is one
// buffer of the size of the line, and none that was too small.
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

// eachBlock makes something of every block of a file, on all cores, and gives it in file
// order; maker gives each goroutine its own way to make it. Of a file that had so many
// bytes when last asked it reads what was appended since too, and leaves out what comes
// after a block that was the last when it was read.
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

// share has goroutines, one for each processor and at most eight, do the
// numbers below n between them; worker gives each its own way to do one. After
// an error no further one is begun.
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
