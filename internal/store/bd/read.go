package bd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
)

// store is a store of which bd keeps the issues in a database.
type store struct {
	file  beads.Store // what bd exported to a file, which is read where bd gives nothing
	bd    Program
	place beads.Place
}

// Place implements beads.Store.
func (s *store) Place() beads.Place { return s.place }

// Snapshot implements beads.Store. Where bd does not give the issues and there is an export
// in a file, it reads that, with a warning.
func (s *store) Snapshot() (*beads.Snapshot, error) {
	lines, err := s.read(context.Background())
	if err == nil {
		return s.snapshot(lines)
	}
	if file, failed := s.file.Snapshot(); failed == nil {
		s.bd.Warn("%v; this is the export %s, and the issues may have changed since", err, file.Place().Path)
		return file, nil
	}
	return nil, err
}

func (s *store) snapshot(lines []byte) (*beads.Snapshot, error) {
	return beads.NewSnapshot(s.place, beads.Source{Lines: bytes.NewReader(lines), Size: int64(len(lines)), Summed: true, Prefix: s.prefix})
}

// prefix is what bd was told that ids begin with, or else the name of its database, which
// bd takes from that.
func (s *store) prefix(fallback bool) (string, error) {
	if fallback {
		m, err := metadataOf(s.place)
		return m.Database, err
	}
	set, err := jsonl.ReadTrackerSettings(s.place.Dir)
	return strings.TrimRight(set["issue-prefix"], "-"), err
}

// reads is how often bd exports at most, in the hope that nobody writes meanwhile: it reads
// in several transactions, so that an issue may be as it was a moment before its labels.
const reads = 4

// read gives the lines that bd exports, or those that were kept of the same version.
func (s *store) read(ctx context.Context) (lines []byte, err error) {
	kept := cache{s.bd.Cache}
	before := s.bd.fingerprint(s.place)
	if lines, ok := kept.get(s.place.Dir, before); ok {
		return lines, nil
	}
	for range reads {
		if lines, err = s.bd.export(ctx, s.place); err != nil {
			return nil, err
		}
		after := s.bd.fingerprint(s.place)
		if after == before {
			kept.put(s.place.Dir, after, lines)
			return lines, nil
		}
		before = after
	}
	return lines, nil
}

// export is what bd export prints. The error is a fault.Store.
func (b Program) export(ctx context.Context, p beads.Place) ([]byte, error) {
	if !b.OnPath {
		return nil, absent(p, fault.Store, "read")
	}
	result, err := b.Run(ctx, p, "export")
	if err == nil && result.Exit != 0 {
		err = errors.New(strings.TrimSpace(said(result)))
	}
	if err != nil {
		return nil, &fault.Error{Code: fault.Store, Path: dirOf(p), Reason: "bd export does not give the issues", Cause: err,
			Hint: "type bd export and bd doctor to see what they say; it takes bd 1.0 or later, and a database that this bd made"}
	}
	return result.Stdout, nil
}

// absent is the error of a store whose bd is not here to do something.
func absent(p beads.Place, code fault.Code, what string) error {
	return &fault.Error{Code: code, Path: dirOf(p), Reason: "bd keeps the issues in a database, and no bd is on PATH to " + what + " them",
		Hint: "install the bd that made the database, 1.0 or later, and run the command again"}
}

// Watching looks at the storage of a database, or has bd export it.
const (
	watchStorage = time.Second
	watchExport  = 5 * time.Second
)

// Watch implements beads.Store.
func (s *store) Watch() (changes <-chan struct{}, stop func()) {
	tell, done := make(chan struct{}, 1), make(chan struct{})
	go s.watch(tell, done)
	return tell, sync.OnceFunc(func() { close(done) })
}

func (s *store) watch(tell chan<- struct{}, done <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // a bd that runs ends too
		<-done
		cancel()
	}()
	every, was := watchStorage, "" // so that the first look counts: the store may have changed since it was read
	for {
		select {
		case <-done:
			return
		case <-time.After(every):
		}
		now := s.bd.fingerprint(s.place)
		if now == "" {
			every = watchExport
			lines, err := s.bd.export(ctx, s.place)
			if err != nil {
				continue // bd may come back
			}
			sum := sha256.Sum256(lines)
			now = hex.EncodeToString(sum[:])
		}
		if now == was {
			continue
		}
		was = now
		select {
		case tell <- struct{}{}:
		default: // there is one that nobody has taken yet
		}
	}
}
