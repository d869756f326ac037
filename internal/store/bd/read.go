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

// store is a store whose issues bd keeps in a database.
type store struct {
	file  beads.Store // the export in a file, which is read if bd returns nothing
	bd    Program
	place beads.Place
}

// Place implements beads.Store.
func (s *store) Place() beads.Place { return s.place }

// Snapshot implements beads.Store. If bd returns no issues but a file export exists, it reads
// that, with a warning.
func (s *store) Snapshot() (*beads.Snapshot, error) {
	lines, err := s.read(context.Background())
	if err == nil {
		return s.snapshot(lines)
	}
	if file, failed := s.file.Snapshot(); failed == nil {
		s.bd.Warn("%v; reading the export %s, which may be out of date", err, file.Place().Path)
		return file, nil
	}
	return nil, err
}

func (s *store) snapshot(lines []byte) (*beads.Snapshot, error) {
	return beads.NewSnapshot(s.place, beads.Source{Lines: bytes.NewReader(lines), Size: int64(len(lines)), Summed: true, Prefix: s.prefix})
}

// prefix returns bd's configured prefix, or else the name of its database, which is bd's
// default.
func (s *store) prefix(fallback bool) (string, error) {
	if fallback {
		m, err := metadataOf(s.place)
		return m.Database, err
	}
	set, err := jsonl.ReadTrackerSettings(s.place.Dir)
	return strings.TrimRight(set["issue-prefix"], "-"), err
}

// reads is how often bd exports at most until two exports agree: it reads in several
// transactions, so an issue may be older than its labels.
const reads = 4

// read returns the lines that bd exports, or the cached ones of the same version.
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

// export returns the output of bd export. The error is a fault.Store.
func (b Program) export(ctx context.Context, p beads.Place) ([]byte, error) {
	if !b.OnPath {
		return nil, absent(p, fault.Store, "read")
	}
	result, err := b.Run(ctx, p, "export")
	if err == nil && result.Exit != 0 {
		err = errors.New(strings.TrimSpace(said(result)))
	}
	if err != nil {
		return nil, &fault.Error{Code: fault.Store, Path: dirOf(p), Reason: "bd export does not return the issues", Cause: err,
			Hint: "run bd export and bd doctor to see their messages; it takes bd 1.0 or later, and a database made by that bd"}
	}
	return result.Stdout, nil
}

// absent is the error for a store whose bd is not installed here.
func absent(p beads.Place, code fault.Code, what string) error {
	return &fault.Error{Code: code, Path: dirOf(p), Reason: "bd keeps the issues in a database, and there is no bd on PATH to " + what + " them",
		Hint: "install the bd that made the database, 1.0 or later, then retry"}
}

// Watching checks the storage of a database, or makes bd export it.
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
	go func() { // a running bd is stopped too
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
				continue // bd may become available again
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
		default: // a signal is already pending
		}
	}
}
