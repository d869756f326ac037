package process

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	usualMost = 16 << 20 // bytes of a log
	mostLate  = 1 << 20  // reserved for the end of the output
	// tailLines and tailBytes limit Ended.Tail.
	tailLines = 100
	tailBytes = 8 << 10
)

// recorder takes the output of a supervised program: its beginning goes to the log as it comes,
// its end is kept and follows when the program has ended. An unwritable log does not make Write
// fail: the program continues.
type recorder struct {
	log   *os.File // nil for none
	room  int64    // in the log, for the beginning
	late  tail     // the output after that
	later int64    // its length
	all   int64    // bytes of output
	last  tail     // the last lines
	err   error    // of the log
}

func newRecorder(s Supervised) (*recorder, error) {
	most := cmp.Or(s.MostBytes, usualMost)
	late := min(mostLate, most/4)
	r := &recorder{room: most - late, late: tail{size: int(late)}, last: tail{size: tailBytes}}
	if s.Log == "" {
		return r, nil
	}
	err := os.MkdirAll(filepath.Dir(s.Log), 0o700)
	if err == nil {
		r.log, err = os.OpenFile(s.Log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	return r, err
}

// drop removes the log of a program that did not run.
func (r *recorder) drop() error {
	if r.log == nil {
		return nil
	}
	return errors.Join(r.log.Close(), os.Remove(r.log.Name()))
}

func (r *recorder) Write(b []byte) (int, error) {
	r.all += int64(len(b))
	_, _ = r.last.Write(b)
	early := b[:min(int64(len(b)), r.room)]
	r.room -= int64(len(early))
	r.put(early)
	if rest := b[len(early):]; len(rest) > 0 {
		r.later += int64(len(rest))
		_, _ = r.late.Write(rest)
	}
	return len(b), nil
}

func (r *recorder) put(b []byte) {
	if r.log == nil || r.err != nil || len(b) == 0 {
		return
	}
	_, r.err = r.log.Write(b)
}

// ended writes the rest to the log, and returns what the recorder knows.
func (r *recorder) ended() Ended {
	kept := r.late.bytes()
	out := r.later - int64(len(kept))
	if out > 0 {
		r.put(fmt.Appendf(nil, "\n… %d bytes of output omitted …\n", out))
	}
	r.put(kept)
	if r.log != nil {
		r.err = errors.Join(r.err, r.log.Close())
	}
	return Ended{Bytes: r.all, Tail: lastLines(r.last.bytes(), r.all), LogErr: r.err}
}

// lastLines returns the whole lines at the end of a text with the given total length.
func lastLines(end []byte, all int64) string {
	if int64(len(end)) < all { // the first line is partial
		if _, rest, ok := bytes.Cut(end, []byte("\n")); ok && len(rest) > 0 {
			end = rest
		}
	}
	lines := strings.SplitAfter(strings.ToValidUTF8(string(end), "\uFFFD"), "\n")
	if len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "")
}
