package database

import (
	"bytes"
	"context"
	"slices"

	"stig/beads"
)

// Snapshot implements beads.Store.
func (s *Store) Snapshot() (*beads.Snapshot, error) {
	h, err := s.refresh(context.Background())
	if err != nil {
		return nil, err
	}
	return h.snapshot, nil
}

// refresh reads the store, as far as it changed since it was read last.
func (s *Store) refresh(ctx context.Context) (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version := int64(-1)
	if s.held != nil {
		version = s.held.version
	}
	n, err := s.ask(ctx, version)
	if err != nil {
		return nil, err
	}
	if s.held != nil && !s.held.precedes(n) {
		s.held = nil
		if n, err = s.ask(ctx, -1); err != nil {
			return nil, err
		}
	}
	if s.held != nil && s.held.version == n.version {
		return s.held, nil
	}
	h := s.held.with(n)
	if h.snapshot, err = beads.NewSnapshot(s.place, h.source()); err != nil {
		return nil, err
	}
	s.held = h
	return h, nil
}

// precedes reports whether what was read is an earlier or the same state of the store.
func (h *held) precedes(n *news) bool {
	return bytes.Equal(h.store, n.store) && h.version <= n.version &&
		(h.version == 0 || slices.ContainsFunc(n.marks, func(m []byte) bool { return h.mark == nil || bytes.Equal(m, h.mark) }))
}

// with is the state that news make of an earlier one, which may be nil.
func (h *held) with(n *news) *held {
	next := &held{store: n.store, version: n.version, shape: n.shape, prefix: n.prefix}
	if h != nil {
		next.rows, next.texts = slices.Clone(h.rows), slices.Clone(h.texts)
	}
	fresh := map[string]bool{}
	for _, l := range n.lines {
		fresh[l.id] = true
	}
	var lines []line
	for i, r := range next.rows {
		if r.id == "" || !fresh[r.id] {
			lines = append(lines, line{row: r, text: next.texts[i]})
		}
	}
	lines = append(lines, n.lines...)
	slices.SortFunc(lines, func(a, b line) int { return compareRows(a.row, b.row) })
	next.rows, next.texts = nil, nil
	for _, l := range lines {
		next.rows, next.texts = append(next.rows, l.row), append(next.texts, l.text)
	}
	return next
}

func (h *held) source() beads.Source {
	text := h.text()
	return beads.Source{Lines: bytes.NewReader(text), Size: int64(len(text)), Prefix: func(fallback bool) (string, error) {
		if !fallback {
			return "", nil
		}
		return h.prefix, nil
	}}
}

// text is the whole text of the store.
func (h *held) text() []byte {
	var text []byte
	if h.shape&hasBOM != 0 {
		text = append(text, byteOrderMark...)
	}
	text = append(text, bytes.Join(h.texts, nil)...)
	if h.shape&isUnended != 0 {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	return text
}

// Text is the whole text of the store, byte for byte as the file would hold it.
func (s *Store) Text(ctx context.Context) ([]byte, error) {
	h, err := s.refresh(ctx)
	if err != nil {
		return nil, err
	}
	return h.text(), nil
}
