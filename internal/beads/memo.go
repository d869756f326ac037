package beads

import (
	"hash/maphash"
	"sync"
)

// Memo caches what was parsed and derived from the lines of a store, for a process that reads
// it repeatedly, such as a server. A line whose bytes stay the same is parsed once, and facts
// derived from it (Issue.Remember) are computed once. It covers the lines of the last reading
// only, and is safe for concurrent use.
//
// A line is identified by a 64-bit hash, seeded for each process.
type Memo struct {
	seed maphash.Seed

	mu    sync.Mutex
	lines map[uint64]*remembered

	common map[any]any
}

// remembered is what is cached for one line.
type remembered struct {
	issue *Issue
	found map[any]any // keyed by what was computed
}

// NewMemo returns an empty memo.
func NewMemo() *Memo { return &Memo{seed: maphash.MakeSeed()} }

// known returns the issue that the line held at the last reading, nil for a new line.
func (m *Memo) known(line []byte) (version uint64, was *Issue) {
	version = maphash.Bytes(m.seed, line)
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.lines[version]; l != nil && l.issue.size == len(line) {
		was = l.issue
	}
	return version, was
}

// isEmpty reports whether nothing has been read yet.
func (m *Memo) isEmpty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.lines) == 0
}

// keep drops all lines that are not in the snapshot.
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

// follow is keep for the snapshot after an edit that removed only these lines; it does not scan
// the table.
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

// forget releases everything that issues of an earlier snapshot may still reference.
func (m *Memo) forget(version uint64) {
	m.lines[version].issue, m.lines[version].found = nil, nil
	delete(m.lines, version)
}

// Remembered returns the value that was cached under name, which has a type of its own, for the
// issue's line; nil if there is none or the store is read without a memo.
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

// Remember caches, under a name of what was computed, a value that follows from the bytes of
// the issue's line alone. Without a memo it does nothing.
func (i *Issue) Remember(name, found any) {
	m := i.of.source.Memo
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if i.kept == nil || i.kept.issue == nil {
		return // a snapshot still being built, or a line that is gone
	}
	if i.kept.found == nil {
		i.kept.found = map[any]any{}
	}
	i.kept.found[name] = found
}

// Common returns the value shared by everything cached under name, which first creates; nil if
// the store is read without a memo.
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

// Version identifies the bytes of the issue's line within this process; 0 if the store is read
// without a memo.
func (i *Issue) Version() uint64 { return i.version }
