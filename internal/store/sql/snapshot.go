package sql

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/visible"
)

// Snapshot implements beads.Store. If nothing changed since the last call it takes one round
// trip. Calls for the same version return the same snapshot, which need not be closed.
func (s *Store) Snapshot() (*beads.Snapshot, error) {
	h, err := s.refresh(context.Background())
	if err != nil {
		return nil, s.explain(err)
	}
	return h.snapshot, nil
}

// Text returns the whole text of the store, byte for byte as a file would contain it.
func (s *Store) Text(ctx context.Context) ([]byte, error) {
	h, err := s.refresh(ctx)
	if err != nil {
		return nil, s.explain(err)
	}
	return h.text().bytes()
}

// refresh reads what changed since the last read.
func (s *Store) refresh(ctx context.Context) (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, sum := s.held, ""
	if h == nil {
		h, sum = s.copied()
	}
	n, err := s.newer(ctx, h)
	if err != nil {
		return nil, err
	}
	if h.Version >= 0 && !h.precedes(n) || sum != "" && !s.isWhole(h, sum, h.Version == n.version) {
		h = nothing()
		if n, err = s.newer(ctx, h); err != nil {
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

// lag is how long a reader waits for a server to reach a version that was read before.
const lag = 5 * time.Second

// newer reads the changes since the version of a held store, or the whole store.
func (s *Store) newer(ctx context.Context, h *held) (*news, error) {
	events := h.Version
	if events < 0 {
		events = math.MaxInt64 // no caller needs all of them
	}
	if h.Version >= 0 {
		s.reach(reached{h.Store, h.Version, h.Shape&onDolt != 0})
	}
	q := &statement{large: h.Version < 0}
	q.add(newer, events, h.Version, h.Version, h.Version)
	n, err := s.since(ctx, q)
	if err == nil && h.Version < 0 {
		err = n.mark(ctx, s.DB())
	}
	return n, err
}

// since runs a query on the store. A node of a cluster or a replica may be behind: if the
// answer is older than what this process read before, since waits and asks again.
func (s *Store) since(ctx context.Context, q *statement) (*news, error) {
	limited, cancel := context.WithTimeout(ctx, min(lag, s.patience))
	defer cancel()
	for {
		n, err := s.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		known := s.reach(reached{string(n.store), n.version, n.shape&onDolt != 0})
		if known.version <= n.version {
			return n, nil
		}
		select {
		case <-limited.Done():
			return nil, cmp.Or(ctx.Err(), s.behind(known.version, n))
		case <-time.After(leastWait):
		}
	}
}

// reached is the latest version of a store that this process has read, or seen in a copy.
type reached struct {
	store   string
	version int64
	dolt    bool
}

// reach records a version that was read, and returns the latest one of that store.
func (s *Store) reach(now reached) reached {
	s.reaching.Lock()
	defer s.reaching.Unlock()
	if s.latest.store != now.store || s.latest.version < now.version {
		s.latest = now
	}
	return s.latest
}

// behind returns the error for a server with an older version of the store than the one read
// before.
func (s *Store) behind(version int64, n *news) error {
	e := &fault.Error{Code: fault.Store, Path: s.url, Hint: "retry later, or name another server of the cluster",
		Reason: fmt.Sprintf("this server is behind: it has version %d of the store; version %d was read before", n.version, version)}
	if dir := s.copies(); dir != "" {
		e.Hint += "; if the store was restored from a backup, remove the newer local copy: rm -r " + visible.Quoted(dir)
	}
	return e
}

// isWhole reports whether a copy matches its checksum. It also indexes a valid copy.
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
