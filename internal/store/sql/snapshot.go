package sql

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/visible"
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
	n, err := s.since(ctx, h)
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
	next := h.with(n)
	next.memo = s.memo.Load()
	if next.snapshot, err = next.read(s.place); err != nil {
		return nil, err
	}
	s.held = s.keep(next)
	return s.held, nil
}

// lag is how long a server has to come to the version that was read from it before.
const lag = 5 * time.Second

// since asks for what is newer than what is held. What is older never takes its place: a
// node of a cluster, or a copy that follows a server, may be behind, and is waited for.
func (s *Store) since(ctx context.Context, h *held) (*news, error) {
	limited, cancel := context.WithTimeout(ctx, min(lag, s.patience))
	defer cancel()
	for {
		n, err := s.ask(ctx, h.Version)
		if err != nil || h.Store != string(n.store) || h.Version <= n.version {
			return n, err
		}
		select {
		case <-limited.Done():
			return nil, cmp.Or(ctx.Err(), s.behind(h, n))
		case <-time.After(leastWait):
		}
	}
}

// behind says that a server has an older state of the store than what is held.
func (s *Store) behind(h *held, n *news) error {
	e := &fault.Error{Code: fault.Store, Path: s.url, Hint: "wait and type the command again, or name another server of the cluster",
		Reason: fmt.Sprintf("this server is behind: it has version %d of the store, and version %d was read before", n.version, h.Version)}
	if dir := s.copies(); dir != "" {
		e.Hint += "; if the store was put back from a backup, remove the copy of the later one: rm -r " + visible.Quoted(dir)
	}
	return e
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
