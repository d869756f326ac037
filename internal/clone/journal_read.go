package clone

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/file"
)

// Journal is the parsed journal.
type Journal struct {
	Records []Record // of this store in all work trees, oldest first
	Damaged []string // what cannot be read: FILE:LINE, counted from where reading started, or a directory
}

// Journal reads the whole journal of the store. It skips incomplete lines, which killed writers
// leave.
func (p Place) Journal() (Journal, error) {
	return p.ours(p.gather(func(_ string, all []segment) ([]segment, Mark) { return all, nil }))
}

// Recent reads only the last segments of the journal, at most 4 to 8 MB.
func (p Place) Recent() (Journal, error) {
	return p.ours(p.gather(func(_ string, all []segment) ([]segment, Mark) { return lastTwo(all), nil }))
}

// Lately reads the records since a time from the last segments of the journal, and as few older
// ones as possible.
func (p Place) Lately(t time.Time) (Journal, error) {
	return p.ours(p.gather(func(dir string, all []segment) ([]segment, Mark) {
		all, from := lastTwo(all), Mark{}
		for i, s := range slices.Backward(all) {
			path := filepath.Join(dir, s.name())
			if from[path] = startOf(path, t); from[path] > 0 {
				return all[i:], from
			}
		}
		return all, from
	}))
}

// startOf returns the offset of a record in a file that is older than t, with no newer one
// before it unless the clock was set back; 0 if reading from the start is fastest.
func startOf(path string, t time.Time) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	const step = 64 << 10
	text := make([]byte, step)
	for back := int64(step); back < info.Size(); back *= 4 {
		n, _ := f.ReadAt(text, info.Size()-back)
		_, rest, _ := bytes.Cut(text[:n], []byte("\n"))
		for line := range bytes.Lines(rest) {
			var r struct{ At time.Time }
			body, ok := textOf(string(line))
			if !ok || json.Unmarshal([]byte(body), &r) != nil || r.At.IsZero() {
				continue // an outcome, or incomplete
			}
			if r.At.Before(t) {
				return info.Size() - back + int64(n-len(rest))
			}
			break
		}
	}
	return 0
}

// lastTwo returns the last two segments.
func lastTwo(all []segment) []segment { return all[max(0, len(all)-2):] }

// gather reads the records of all stores from the segments that pick returns for each
// directory, starting at a mark.
func (p Place) gather(pick func(dir string, all []segment) ([]segment, Mark)) (j Journal, err error) {
	for _, dir := range p.dirs() {
		all, err := journal.segments(dir)
		if err != nil { // another user's, or not a directory
			j.Damaged = append(j.Damaged, dir)
			continue
		}
		all, from := pick(dir, all)
		var one Journal
		if err := one.read(dir, all, from); err != nil {
			return j, err
		}
		j.Damaged = append(j.Damaged, one.Damaged...)
		p.followRecords(one.Records)
		j.Records = together(j.Records, one.Records)
	}
	return j, nil
}

// followRecords sets the current directory of this work tree in its records: it may have been
// moved, or be mounted in another container.
func (p Place) followRecords(records []Record) {
	name := p.TreeName()
	for i := range records {
		if name != "" && records[i].Tree == name {
			records[i].Worktree = p.Worktree
		}
	}
}

// ours keeps only the records of this store.
func (p Place) ours(j Journal, err error) (Journal, error) {
	j.Records = slices.DeleteFunc(j.Records, func(r Record) bool { return r.Store != p.Store })
	return j, err
}

// together merges two lists by time. Each keeps its order, which is that of the writes, even if
// the clock was set back.
func together(a, b []Record) (list []Record) {
	for len(a) > 0 && len(b) > 0 {
		if b[0].At.Before(a[0].At) {
			a, b = b, a
		}
		list, a = append(list, a[0]), a[1:]
	}
	return slices.Concat(list, a, b)
}

// read reads segments of one directory from a mark on. A result follows its record.
func (j *Journal) read(dir string, all []segment, from Mark) error {
	at := map[string]int{} // index in Records, by Seq
	for _, s := range all {
		path := filepath.Join(dir, s.name())
		text, err := readTail(path, from[path])
		if errors.Is(err, os.ErrNotExist) {
			continue // dropped since it was listed
		}
		if err != nil {
			return err
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if !j.take(strings.TrimSuffix(line, torn), at) && strings.HasSuffix(line, "\n") && !strings.HasSuffix(line, torn) {
				j.Damaged = append(j.Damaged, fmt.Sprintf("%s:%d", path, number))
			}
		}
	}
	return nil
}

// readTail reads a file from the start of the line that contains offset: at the mark a writer
// may have been in the middle of it, or lines were forgotten since. It reads a file that is
// shorter than offset from the start.
func readTail(path string, offset int64) (text []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || info.Size() < offset {
		offset = 0
	}
	offset = lineStart(f, offset)
	return io.ReadAll(io.NewSectionReader(f, offset, math.MaxInt64-offset))
}

// lineStart returns the start of the line that contains offset.
func lineStart(f io.ReaderAt, offset int64) int64 {
	text := make([]byte, 4<<10)
	for offset > 0 {
		from := max(0, offset-int64(len(text)))
		n, _ := f.ReadAt(text[:offset-from], from)
		if i := bytes.LastIndexByte(text[:n], '\n'); i >= 0 {
			return from + int64(i) + 1
		}
		offset = from
	}
	return 0
}

// take parses one line, and reports whether it is valid.
func (j *Journal) take(line string, at map[string]int) bool {
	text, ok := textOf(line)
	if !ok {
		return false
	}
	var o outcome
	if json.Unmarshal([]byte(text), &o) != nil {
		return false
	}
	if o.Of != "" {
		if i, known := at[o.Of]; known { // else its record was dropped with a segment
			r := &j.Records[i]
			r.Told = r.Told || o.Told
			if o.Result != "" {
				r.Result = o.Result
			}
		}
		return true
	}
	var r Record
	if json.Unmarshal([]byte(text), &r) != nil || r.Seq == "" {
		return false
	}
	at[r.Seq] = len(j.Records)
	j.Records = append(j.Records, r)
	return true
}

// Forget removes the changes of these issues from the journal, or of all issues if none is
// named. It returns the number of changed records.
func (p Place) Forget(issues ...string) (count int, err error) {
	for _, dir := range p.dirs() {
		n, err := p.forget(dir, issues)
		if err != nil {
			return count, err
		}
		count += n
	}
	return count, nil
}

func (p Place) forget(dir string, issues []string) (count int, err error) {
	all, err := journal.segments(dir)
	if err != nil || len(all) == 0 {
		return 0, err
	}
	unlock, err := lockIn(dir, journal.lock())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	for _, s := range all {
		path := filepath.Join(dir, s.name())
		text, err := os.ReadFile(path)
		if err != nil {
			return count, err
		}
		kept, n, err := p.without(string(text), issues)
		if err != nil {
			return count, err
		}
		if count += n; n > 0 {
			if err := file.Replace(path, kept); err != nil {
				return count, err
			}
		}
	}
	return count, nil
}

// without returns the lines of a segment without the changes of these issues.
func (p Place) without(text string, issues []string) (kept []byte, count int, err error) {
	for line := range strings.Lines(text) {
		body, ok := textOf(line)
		var r Record
		if !ok || json.Unmarshal([]byte(body), &r) != nil || r.Seq == "" || r.Store != p.Store {
			kept = append(kept, line...)
			continue
		}
		before := len(r.Changes)
		r.Changes = slices.DeleteFunc(r.Changes, func(c Change) bool { return len(issues) == 0 || slices.Contains(issues, c.Issue) })
		if len(r.Changes) == before {
			kept = append(kept, line...)
			continue
		}
		count++
		if len(r.Changes) == 0 {
			continue
		}
		again, err := lineOf(r)
		if err != nil {
			return nil, 0, err
		}
		kept = append(kept, again...)
	}
	return kept, count, nil
}

// Mark is a position in the journal: the length of each segment, by path.
type Mark map[string]int64

// Mark returns the current end of the journal.
func (p Place) Mark() Mark {
	mark := Mark{}
	for _, dir := range p.dirs() {
		all, _ := journal.segments(dir) // what cannot be listed cannot be read later either
		for _, s := range all {
			path := filepath.Join(dir, s.name())
			if info, err := os.Stat(path); err == nil {
				mark[path] = info.Size()
			}
		}
	}
	return mark
}

// Since reads the records of the store after a mark. It reads a segment from the start if it
// was shortened meanwhile by Forget.
func (p Place) Since(m Mark) (Journal, error) {
	return p.ours(p.gather(func(_ string, all []segment) ([]segment, Mark) { return all, m }))
}
