package sql

import (
	"context"

	"stig/internal/beads"
)

// Snapshot implements beads.Store. While nobody changes the store it costs one round
// trip. Snapshots of one version are the same one; they need not be closed.
func (s *Store) Snapshot() (*beads.Snapshot, error) {
	h, err := s.refresh(context.Background())
	if err != nil {
		return nil, s.explain(err)
	}
	return h.snapshot, nil
}

// Text is the whole text of the store, byte for byte as the file would hold it.
func (s *Store) Text(ctx context.Context) ([]byte, error) {
	h, err := s.refresh(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	return h.text().bytes()
}

// refresh reads the store, as far as it changed since it was read last.
func (s *Store) refresh(ctx context.Context) (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, sum := s.held, ""
	if h == nil {
		h, sum = s.copied()
	}
	n, err := s.ask(ctx, h.Version)
	if err != nil {
		return nil, err
	}
	if h.Version >= 0 && !h.precedes(n) || sum != "" && !s.isWhole(h, sum, h.Version == n.version) {
		h = nothing()
		if n, err = s.ask(ctx, h.Version); err != nil {
			return nil, err
		}
	}
	if h.Version == n.version {
		s.held = h
		return h, nil
	}
	next, err := h.with(n)
	if err != nil {
		return nil, err
	}
	next.memo = s.memo.Load()
	if next.snapshot, err = next.read(s.place); err != nil {
		return nil, err
	}
	s.held = s.keep(next)
	return s.held, nil
}

// isWhole reports whether a copy is what was written, by its checksum. One that is good
// for use is indexed by the way.
func (s *Store) isWhole(h *held, sum string, index bool) bool {
	if !index {
		t := h.text()
		got, err := beads.SumOf(t, t.size())
		return err == nil && got.String() == sum
	}
	var err error
	h.memo = s.memo.Load()
	h.snapshot, err = h.read(s.place)
	return err == nil && h.snapshot.Sum().String() == sum
}
