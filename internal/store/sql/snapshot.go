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

// lag is how long a server has to come to the version that was read from it before.
const lag = 5 * time.Second

// newer asks for what changed since a store was read, or for all of it.
func (s *Store) newer(ctx context.Context, h *held) (*news, error) {
	events := h.Version
	if events < 0 {
		events = math.MaxInt64 // nothing needs them all
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

// since asks a question of the store. An answer that is older than what this process read before
// is not taken: a node of a cluster, or a replica, may be behind, and since waits for it.
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

// reached is the latest version of a store that this process has read or seen in a copy.
type reached struct {
	store   string
	version int64
	dolt    bool
}

// reach returns the later of what was reached and what is now read; of another store, that.
func (s *Store) reach(now reached) reached {
	s.reaching.Lock()
	defer s.reaching.Unlock()
	if s.latest.store != now.store || s.latest.version < now.version {
		s.latest = now
	}
	return s.latest
}

// behind says that a server has an older state of the store than the version that was read.
func (s *Store) behind(version int64, n *news) error {
	e := &fault.Error{Code: fault.Store, Path: s.url, Hint: "wait and type the command again, or name another server of the cluster",
		Reason: fmt.Sprintf("this server is behind: it has version %d of the store, and version %d was read before", n.version, version)}
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
