package bd

import (
	"bytes"
	"context"
	"sync"
	"time"

	"stig/beads"
	"stig/beadsdir"
)

// dolt is a store of which bd keeps the issues in a Dolt database. It reads the
// database itself where a server runs, else by bd export, and has bd write.
type dolt struct {
	file  beads.Store // the export, which is read where the database cannot be
	bd    Program
	place beads.Place
	where Database
	wrong error // of the place of the database
}

// source is a database as it is read during one use of a store.
type source interface {
	// read gives the lines of the issues and the version of the database, which is ""
	// where they may not all be of one.
	read(ctx context.Context) (lines []byte, version string, err error)
	// version is that of the database now.
	version(ctx context.Context) (string, error)
	// replaced gives, for issues that were written, what their values replaced.
	replaced(ctx context.Context, writes []write) ([]replacement, error)
	close()
}

// openDolt gives the store of a place whose mode is beads.Dolt.
func (b Program) openDolt(file beads.Store) *dolt {
	s := &dolt{file: file, bd: b, place: file.Place()}
	s.where, s.wrong = b.locate(s.place)
	return s
}

// open begins a use of the database.
func (s *dolt) open() (source, error) {
	if s.wrong != nil {
		return nil, s.wrong
	}
	switch s.where.topology {
	case topologyEmbedded:
		return embedded{s}, nil
	case topologyThrough:
		return through{embedded{s}}, nil
	}
	db, err := s.where.connect()
	if err != nil {
		return nil, s.where.unreachable(s.place, err)
	}
	return &served{s, db}, nil
}

// Place implements beads.Store.
func (s *dolt) Place() beads.Place { return s.place }

// Snapshot implements beads.Store. Where the database cannot be read and there is an
// export, it reads that, with a warning.
func (s *dolt) Snapshot() (*beads.Snapshot, error) {
	lines, err := s.lines()
	if err == nil {
		return s.snapshot(lines)
	}
	if file, failed := s.file.Snapshot(); failed == nil {
		s.bd.Warn("%v; this is the export %s, and the issues may have changed since", err, file.Place().Path)
		return file, nil
	}
	return nil, err
}

func (s *dolt) lines() ([]byte, error) {
	ctx, done := s.bd.patient(context.Background())
	defer done()
	db, err := s.open()
	if err != nil {
		return nil, err
	}
	defer db.close()
	lines, _, err := db.read(ctx)
	return lines, err
}

func (s *dolt) snapshot(lines []byte) (*beads.Snapshot, error) {
	return beads.NewSnapshot(s.place, beads.Source{Lines: bytes.NewReader(lines), Size: int64(len(lines)), Summed: true, Prefix: s.prefix})
}

// prefix is what bd was told that ids begin with, or else the name of the database,
// which bd takes from that.
func (s *dolt) prefix(fallback bool) (string, error) {
	if fallback {
		return s.where.Name, nil
	}
	set, err := beadsdir.ReadSettings(s.place.Dir)
	return set["issue-prefix"], err
}

const (
	watchEvery     = time.Second     // while something happens
	watchEveryIdle = 5 * time.Second // after nothing happened for watchIdle
	watchIdle      = time.Minute
)

// Watch implements beads.Store. It asks for the version of the database: of an embedded
// one that takes no program. Where bd alone reaches the database each look is an export.
func (s *dolt) Watch() (changes <-chan struct{}, stop func()) {
	db, err := s.open()
	if err != nil {
		return s.file.Watch()
	}
	every := watchEvery
	if s.where.topology == topologyThrough {
		every = watchEveryIdle
	}
	tell, done := make(chan struct{}, 1), make(chan struct{})
	go watch(db, every, tell, done)
	return tell, sync.OnceFunc(func() { close(done) })
}

func watch(db source, busy time.Duration, tell chan<- struct{}, done <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer db.close()
	was := "" // so that the first look counts: the store may have changed since it was read
	every, quiet := busy, time.Duration(0)
	for {
		select {
		case <-done:
			return
		case <-time.After(every):
		}
		now, err := db.version(ctx)
		if err != nil || now == was { // a server that is away may come back
			if quiet += every; quiet >= watchIdle {
				every = watchEveryIdle
			}
			continue
		}
		was, every, quiet = now, busy, 0
		select {
		case tell <- struct{}{}:
		default: // there is one that nobody has taken yet
		}
	}
}
