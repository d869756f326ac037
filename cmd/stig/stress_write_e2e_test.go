//go:build e2e

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
	"stig/notes"
)

// stressLog is the log of one writer. Only that writer appends, and a line is on disk before
// the writer continues.
type stressLog struct{ file *os.File }

// openStressLog opens a log to append to; it removes a partial line that a kill left at the
// end.
func openStressLog(path string) (*stressLog, error) {
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
	if err != nil {
		return nil, err
	}
	return &stressLog{file}, nil
}

func (l *stressLog) say(format string, args ...any) error {
	if _, err := fmt.Fprintf(l.file, format+"\n", args...); err != nil {
		return err
	}
	return l.file.Sync()
}

func init() { programs["stress-writer"] = stressWriter }

// stressWriter is a process that writes with jsonl.Store.Edit until it is killed: stress-writer
// STORE LOG WRITER. It ends when its standard input closes, so that it does not outlive the
// test.
func stressWriter() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := writeForever(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func writeForever(store, path, number string) error {
	writer, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	before, err := replay(writer, path)
	if err != nil {
		return err
	}
	log, err := openStressLog(path)
	if err != nil {
		return err
	}
	s := jsonl.Open(beads.Place{Path: store, Dir: filepath.Dir(store)})
	for n := before.last + 1; ; n++ {
		issue := stressTarget(writer, n)
		if err := log.say("intent %s %d", issue, n); err != nil {
			return err
		}
		start := time.Now()
		err := writeSection(s, issue, stressWriters[writer], n)
		if fault.Is(err, fault.Changed) {
			if err := log.say("refused %d", n); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if err := log.say("done %d %d", n, time.Since(start).Microseconds()); err != nil {
			return err
		}
	}
}

// stressTarget returns the issue of the nth write.
func stressTarget(writer, n int) string {
	if n%2 == 0 {
		return stressShared
	}
	return stressOwn(writer)
}

// writeSection sets a section to a value, counts the edit in it, and counts it in the tally
// too: two lines that must change together.
func writeSection(s beads.Store, issue, section string, n int) error {
	o := beads.Options{Now: time.Now(), Notes: notes.Permit{Change: []string{section}}.Check}
	_, err := s.Edit(context.Background(), o, func(tx *beads.Tx) error {
		record, err := tx.Record(issue)
		if err != nil {
			return err
		}
		doc := notes.Parse(record.Text(beads.Notes))
		named := doc.Named(section)
		if len(named) != 1 {
			return fmt.Errorf("%s: %d sections %q", issue, len(named), section)
		}
		first, _, _ := strings.Cut(doc.Body(named[0]), "\n")
		applied, err := strconv.Atoi(strings.TrimPrefix(first, "applied "))
		if err != nil {
			return err
		}
		if doc, err = doc.Replace(section, fmt.Sprintf("applied %d\nvalue %d", applied+1, n)); err != nil {
			return err
		}
		tally, err := tx.Record(stressTally)
		if err != nil {
			return err
		}
		count, err := strconv.Atoi(tally.Text(beads.Description))
		if err != nil {
			return err
		}
		return errors.Join(
			tx.Set(issue, beads.Set{Key: beads.Notes, Text: doc.Text()}),
			tx.Set(stressTally, beads.Set{Key: beads.Description, Text: strconv.Itoa(count + 1)}))
	})
	return err
}

// stressArgs returns the stig command line for the nth write.
func stressArgs(writer, n int) []string {
	issue, name, value := stressTarget(writer, n), stressWriters[writer], stressValue(writer, n)
	if name == "checkpoint" {
		return []string{"checkpoint", issue, "--done", value}
	}
	return []string{"signals", "set", issue, name + "=" + value}
}
