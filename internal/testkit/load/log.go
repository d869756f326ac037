package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Answer is the outcome of an edit as reported to the writer.
type Answer string

// The answers.
const (
	None    Answer = ""        // the writer died before the answer
	Done    Answer = "done"    // the edit is made
	Refused Answer = "refused" // the store reports that nothing was written
	Unknown Answer = "unknown" // the store does not know whether it was made
)

// Entry is an edit that a writer began.
type Entry struct {
	N      int
	Answer Answer
	Took   time.Duration
}

// Log is the file in which one writer records each edit before it begins, and its answer. A
// killed process leaves at most a partial last line.
type Log struct{ file *os.File }

// OpenLog opens a log to append to it.
func OpenLog(path string) (*Log, error) {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if whole := bytes.LastIndexByte(text, '\n') + 1; whole < len(text) {
		if err := os.Truncate(path, int64(whole)); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	return &Log{file}, err
}

// Begin records that the nth edit begins.
func (l *Log) Begin(n int) error { return l.say("begin %d", n) }

// End records the writer's answer.
func (l *Log) End(n int, a Answer, took time.Duration) error {
	return l.say("%s %d %d", a, n, took.Microseconds())
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

func (l *Log) say(format string, args ...any) error {
	_, err := fmt.Fprintf(l.file, format+"\n", args...)
	return err
}

// ReadLog reads a log; a missing log has no entries.
func ReadLog(path string) (entries []Entry, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // the writer died
		}
		var word string
		var n int
		var micros int64
		if _, e := fmt.Sscan(line, &word, &n); e != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, line, e)
		}
		if word == "begin" {
			entries = append(entries, Entry{N: n})
			continue
		}
		last := len(entries) - 1
		if _, e := fmt.Sscan(line, &word, &n, &micros); e != nil || last < 0 || entries[last].N != n {
			return nil, fmt.Errorf("%s: %q: out of order", path, line)
		}
		entries[last].Answer, entries[last].Took = Answer(word), time.Duration(micros)*time.Microsecond
	}
	return entries, err
}
