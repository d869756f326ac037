package beads

import (
	"hash/maphash"
	"sync"
)

// Memo keeps what was read and found in the lines of a store, for a process that reads it
// again and again, such as a server: a line whose bytes stay as they are is parsed once,
// and what others found in it (Issue.Remember) is found once. It holds what concerns the
// lines of the last reading alone, and may be used by several goroutines at once.
//
// A line is known by a hash of 64 bits with a seed of this process.
type Memo struct {
	seed maphash.Seed

	mu    sync.Mutex
	lines map[uint64]*remembered

	common map[any]any
}

// remembered is what is known of one line.
type remembered struct {
	issue *Issue
	found map[any]any // by what was looked for
}

// NewMemo gives an empty memo.
func NewMemo() *Memo { return &Memo{seed: maphash.MakeSeed()} }

// known gives the issue that a line held when it was read last, nil for a line that was not.
func (m *Memo) known(line []byte) (version uint64, was *Issue) {
	version = maphash.Bytes(m.seed, line)
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.lines[version]; l != nil && l.issue.size == len(line) {
		was = l.issue
	}
	return version, was
}

// isEmpty reports whether nothing was read yet.
func (m *Memo) isEmpty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.lines) == 0
}

// keep forgets all but the lines of a snapshot.
func (m *Memo) keep(f *Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(f)
	for version, l := range m.lines {
		if l.issue.of != f {
			m.forget(version)
		}
	}
}

// follow is keep for a snapshot that an edit led to, of which only these lines are gone: it
// does not go through the table.
func (m *Memo) follow(f *Snapshot, gone []uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.take(f)
	for _, version := range gone {
		if l := m.lines[version]; l != nil && l.issue.of != f {
			m.forget(version)
		}
	}
}

func (m *Memo) take(f *Snapshot) {
	if m.lines == nil {
		m.lines = make(map[uint64]*remembered, len(f.issues))
	}
	for _, is := range f.issues {
		if is.kept == nil {
			is.kept = m.lines[is.version]
		}
		if is.kept == nil {
			is.kept = &remembered{}
			m.lines[is.version] = is.kept
		}
		is.kept.issue = is
	}
}

// forget keeps nothing alive of what issues of an earlier snapshot may still name.
func (m *Memo) forget(version uint64) {
	m.lines[version].issue, m.lines[version].found = nil, nil
	delete(m.lines, version)
}

// Remembered gives what was remembered under a name, of a type of its own, of the line that the issue stands on;
// nil where nothing was, or where the store is read without a memo.
func (i *Issue) Remembered(name any) any {
	m := i.of.source.Memo
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i.kept == nil {
		return nil
	}
	return i.kept.found[name]
}

// Remember keeps what follows from the bytes of the line that the issue stands on, and from
// nothing else that may change, under a name of what was looked for. It does nothing where
// the store is read without a memo.
func (i *Issue) Remember(name, found any) {
	m := i.of.source.Memo
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i.kept == nil || i.kept.issue == nil {
		return // of a snapshot that is just being made, or of a line that is gone
	}
	if i.kept.found == nil {
		i.kept.found = map[any]any{}
	}
	i.kept.found[name] = found
}

// Common gives what all that is remembered of lines under a name has in common, which first
// makes; nil where the store is read without a memo.
func (f *Snapshot) Common(name any, first func() any) any {
	m := f.source.Memo
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.common == nil {
		m.common = map[any]any{}
	}
	if m.common[name] == nil {
		m.common[name] = first()
	}
	return m.common[name]
}

// Version names the bytes of the line that the issue stands on, among those of a process
// that reads the store with a memo; it is 0 without one.
func (i *Issue) Version() uint64 { return i.version }
