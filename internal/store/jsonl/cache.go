package jsonl

import (
	"os"
	"sync"
	"time"

	"stig/internal/beads"
)

// Cache keeps the last reading of a store for a process that reads it again and again, such
// as a worker loop or a server: while the file stays as it is, and after an edit by this
// process, it is not read and indexed again. Of several stores it keeps the one that was
// read first. It may be used by several goroutines at once.
//
// A file is the same when its inode, size and times are. A program that writes in place
// may do so within the tick of the clock by which the times are set: a file that was
// changed only just before it was read is therefore compared by its checksum, as git does
// with its index. An edit compares the whole file besides when it has replaced it, cache or
// not.
type Cache struct {
	Memo *beads.Memo // keeps what is found in lines

	now func() time.Time // the clock by which files are changed

	mu       sync.Mutex
	kept     *reading
	readings int
}

// NewCache gives an empty cache. now is the clock of the machine, by which its files are
// changed.
func NewCache(now func() time.Time) *Cache { return &Cache{Memo: beads.NewMemo(), now: now} }

// reading is a store as read, for all who use it at the moment.
type reading struct {
	*opened
	seen    stamp // of the file when it was known to hold this
	settled bool  // every later change shows in the stamp
	users   int
	gone    bool // it is kept no more: the last user closes it
}

// stamp is what the system says of a file. Its zero value is that of no file.
type stamp struct {
	device, inode    uint64
	size             int64
	modified, status time.Time // when the content and the inode were last changed
}

// isSettled reports whether a change from that time on shows in the time stamp of a file:
// clocks of file systems go by ticks of 10 ms at most, or keep whole seconds. Where the
// inode was changed in a later tick than the content, as an exchange of names does, the
// clock of the file system has gone on already.
func (s stamp) isSettled(at time.Time) bool {
	if s.modified.Nanosecond() == 0 {
		return at.Sub(s.modified) > 2*time.Second
	}
	return s.status.After(s.modified) || at.Sub(s.modified) > 20*time.Millisecond
}

// Readings is how often the store was read and indexed whole.
func (c *Cache) Readings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readings
}

// Drop forgets what was read, such as before a long wait.
func (c *Cache) Drop() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.drop()
	}
}

func (c *Cache) drop() {
	if c.kept != nil {
		c.kept.gone = true
		c.kept.closeUnused()
		c.kept = nil
	}
}

func (r *reading) closeUnused() {
	if r.gone && r.users == 0 {
		go r.file.Close() // it was only read; of a file that was replaced the system frees 22 MB in 3 ms
	}
}

// read gives what is kept of a store where that is still what the file holds, else it
// reads the file.
func (c *Cache) read(p beads.Place) (*opened, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	other := c.kept != nil && c.kept.Place() != p
	if c.kept != nil && !other && c.kept.isCurrent(c.now) {
		return c.share(), nil
	}
	c.readings++
	if other {
		return read(p, beads.Source{Summed: true})
	}
	c.drop()
	began := c.now()
	f, resting, err := readResting(p, beads.Source{Summed: true, Memo: c.Memo})
	if err != nil || resting == nil {
		return f, err
	}
	seen := stampOf(f.file)
	if seen == (stamp{}) || seen.size != f.Size() || seen.size != resting.Size() || !seen.modified.Equal(resting.ModTime()) {
		return f, nil
	}
	c.kept = &reading{opened: f, seen: seen, settled: seen.isSettled(began)}
	return c.share(), nil
}

// isCurrent reports whether the file still holds what was read. It is opened anew, so that
// a network file system asks its server.
func (r *reading) isCurrent(now func() time.Time) bool {
	file, err := openPlain(r.Place().Path)
	if err != nil {
		return false // whoever reads it says why
	}
	defer file.Close()
	if stampOf(file) != r.seen || isWritten(file) {
		return false
	}
	if r.settled {
		return true
	}
	began := now()
	if sum, err := beads.SumOf(file, r.Size()); err != nil || sum != r.Sum() {
		return false
	}
	r.settled = r.seen.isSettled(began)
	return true
}

// share gives what is kept to one more user.
func (c *Cache) share() *opened {
	r := c.kept
	r.users++
	done := sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		r.users--
		r.closeUnused()
	})
	f := &opened{Snapshot: r.Shared(func() error { done(); return nil }), file: r.file}
	if r.settled {
		f.stamp = r.seen
	}
	return f
}

// successor is the replacement of a store as it will be read.
type successor struct {
	*opened
	filled stamp     // of the file when all was in it
	put    time.Time // when it was given the store's name; later others may write to it
}

// succeed reads a replacement that an edit filled; nil where that takes a whole reading.
func (c *Cache) succeed(p beads.Place, path string, after func(beads.Source) (*beads.Snapshot, error)) *successor {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	s := &successor{opened: &opened{file: file}, filled: stampOf(file)}
	s.Snapshot, err = after(sourceOf(p, file, s.filled.size, beads.Source{Memo: c.Memo}))
	if err != nil || s.Snapshot == nil || s.filled == (stamp{}) {
		s.discard()
		return nil
	}
	return s
}

func (s *successor) discard() {
	if s != nil {
		_ = s.file.Close() // it was only read
	}
}

// keep takes what an edit has put in the place of what is kept; nil for what has to be read.
func (c *Cache) keep(s *successor) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
	if s == nil {
		return
	}
	seen := stampOf(s.file)
	if seen.size != s.filled.size || seen.modified != s.filled.modified {
		s.discard() // somebody has written to it
		return
	}
	c.kept = &reading{opened: s.opened, seen: seen, settled: seen.isSettled(s.put)}
}
