package jsonl

import (
	"os"
	"sync"
	"time"

	"stig/internal/beads"
)

// Cache keeps the last reading of a store for a process that reads it repeatedly, such as a
// worker loop or a server: while the file is unchanged, and after an edit by this process, it
// is not read and indexed again. Of several stores it keeps the first one read. It is safe for
// concurrent use.
//
// A file is unchanged if its inode, size and times are. A program that writes in place may do
// so within one tick of the file system's clock; a file that changed just before it was read is
// therefore compared by checksum, as git does for its index. Besides, an edit compares the
// whole file once it has replaced it, with or without a cache.
type Cache struct {
	Memo *beads.Memo // caches what is derived from lines

	now func() time.Time // the clock that sets file times

	mu       sync.Mutex
	kept     *reading
	readings int
}

// NewCache returns an empty cache. now is the machine's clock, which sets the times of its
// files.
func NewCache(now func() time.Time) *Cache { return &Cache{Memo: beads.NewMemo(), now: now} }

// reading is a store as read, shared by its current users.
type reading struct {
	*opened
	seen    stamp // of the file when this was its content
	settled bool  // every later change shows in the stamp
	users   int
	gone    bool // no longer cached: the last user closes it
}

// stamp identifies a version of a file to the system. Its zero value means no file.
type stamp struct {
	device, inode    uint64
	size             int64
	modified, status time.Time // when content and inode last changed
}

// isSettled reports whether a change from that time on shows in a file's time stamp: file
// system clocks tick every 10 ms at most, or keep whole seconds. If the inode changed in a
// later tick than the content, as after an exchange of names, the clock has already advanced.
func (s stamp) isSettled(at time.Time) bool {
	if s.modified.Nanosecond() == 0 {
		return at.Sub(s.modified) > 2*time.Second
	}
	return s.status.After(s.modified) || at.Sub(s.modified) > 20*time.Millisecond
}

// Readings is how often the store was read and indexed in full.
func (c *Cache) Readings() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.readings
}

// Drop discards the cached reading, for example before a long wait.
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
		go r.file.Close() // it was only read; the system frees 22 MB of a replaced file in 3 ms
	}
}

// read returns the cached store if the file still holds it, else it reads the file.
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

// isCurrent reports whether the file still holds what was read. It opens the file anew, so that
// a network file system asks its server.
func (r *reading) isCurrent(now func() time.Time) bool {
	file, err := openPlain(r.Place().Path)
	if err != nil {
		return false // reading it reports why
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

// share gives the cached reading to one more user.
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

// successor is a store's replacement, ready to be read.
type successor struct {
	*opened
	filled stamp     // of the file when it was complete
	put    time.Time // when it got the store's name; later, others may write to it
}

// succeed indexes a replacement that an edit filled; nil if that needs a full reading.
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

// keep caches what an edit has put in place of the cached reading; nil for what must be read.
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
