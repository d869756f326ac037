package sql

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"stig/internal/file"
)

// The local copy of a store is a directory with two files of one format: base contains all
// lines at one version, recent those that have changed since. A file is only replaced as a
// whole, by a newer version. Writers hold a lock; readers need none. A missing or damaged file,
// or one of another store, counts as no copy.
//
// A file contains the size of its head, the SHA-256 of the head, the head, and the lines. The
// head is two values in gob: a header, whose Sum covers the lines, and a list.
const (
	baseName   = "base"
	recentName = "recent"
	lockName   = "lock"

	// recent contains at most this many bytes, or 1/partRecent of base if that is more.
	mostRecent = 1 << 20
	partRecent = 32

	// busy is how long a process waits for the lock before it leaves the copy as it is.
	busy = 50 * time.Millisecond

	sizeSize = 8
	headOff  = sizeSize + sha256.Size
)

// header describes the state of the store after the lines of a file.
type header struct {
	Held *held
	Sum  string // beads.Sum of the text of the whole store
	Base []byte // SHA-256 of the head of base; nil in base itself
}

// list contains the rows of a file in order.
type list struct {
	Pos  []int64
	ID   []string
	Size []int
}

// copyFile is an open file of the copy.
type copyFile struct {
	header
	hash []byte       // SHA-256 of the head
	rest *gob.Decoder // of the list
	off  int64        // of the lines
	size int64        // of the file
	file *os.File
}

// copies returns the directory of the local copy; "" if the store has none.
func (s *Store) copies() string {
	if s.options.Cache == "" {
		return ""
	}
	name := sha256.Sum256([]byte(s.url))
	return filepath.Join(s.options.Cache, hex.EncodeToString(name[:8]))
}

// copied returns the local copy and the checksum that its text must have. If there is no copy
// it returns nothing().
func (s *Store) copied() (h *held, sum string) {
	dir := s.copies()
	if dir == "" {
		return nothing(), ""
	}
	base, recent := openCopy(dir)
	if base == nil {
		return nothing(), ""
	}
	h, sum = base.Held, base.Sum
	rows, err := base.rows()
	if recent != nil {
		defer recent.close()
		newer, failed := recent.rowsWithText()
		h, sum, rows, err = recent.Held, recent.Sum, merged(rows, newer), errors.Join(err, failed)
	}
	if err != nil {
		base.close()
		return nothing(), ""
	}
	h.base, h.rows = base, rows
	return h, sum
}

// openCopy opens the copy in a directory: its base, or nil if there is none, and the recent
// that belongs to that base, or nil.
func openCopy(dir string) (base, recent *copyFile) {
	base, err := openCopyFile(filepath.Join(dir, baseName))
	if err != nil {
		return nil, nil
	}
	recent, err = openCopyFile(filepath.Join(dir, recentName))
	if err == nil && !bytes.Equal(recent.Base, base.hash) {
		recent.close()
		return base, nil
	}
	return base, recent
}

func (f *copyFile) close() {
	if f != nil {
		_ = f.file.Close() // it was only read
	}
}

var errDamaged = errors.New("the local copy is damaged")

// openCopyFile opens a file of the copy and verifies its head.
func openCopyFile(path string) (*copyFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &copyFile{file: file}
	if err := f.readHead(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *copyFile) readHead() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	first := make([]byte, headOff)
	if _, err := f.file.ReadAt(first, 0); err != nil {
		return err
	}
	size := binary.BigEndian.Uint64(first)
	if size > uint64(info.Size()) {
		return errDamaged
	}
	head := make([]byte, size)
	if _, err := f.file.ReadAt(head, headOff); err != nil {
		return err
	}
	if f.hash = sum(head); !bytes.Equal(f.hash, first[sizeSize:]) {
		return errDamaged
	}
	f.off, f.size = headOff+int64(size), info.Size()
	f.rest = gob.NewDecoder(bytes.NewReader(head))
	return f.rest.Decode(&f.header)
}

// rows reads the list of the rows, once.
func (f *copyFile) rows() ([]row, error) {
	var l list
	if err := f.rest.Decode(&l); err != nil {
		return nil, err
	}
	rows, off := make([]row, len(l.ID)), f.off
	for i, id := range l.ID {
		rows[i] = row{pos: l.Pos[i], id: id, size: l.Size[i], off: off}
		off += int64(l.Size[i])
	}
	return rows, nil
}

// rowsWithText is rows with the lines in memory.
func (f *copyFile) rowsWithText() ([]row, error) {
	rows, err := f.rows()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.NewSectionReader(f.file, f.off, f.size-f.off))
	for i, r := range rows {
		if r.size > len(text) {
			return nil, errors.Join(errDamaged, err)
		}
		rows[i].text, text = text[:r.size], text[r.size:]
	}
	return rows, err
}

// keep writes the local copy, unless that has this version or a newer one. It returns the same
// state, with lines in the new base if it wrote one. A copy that cannot be written stays as it is.
func (s *Store) keep(h *held) *held {
	dir := s.copies()
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return h
	}
	unlock, err := file.LockFile(filepath.Join(dir, lockName), busy)
	if err != nil {
		return h
	}
	defer func() { _ = unlock() }()
	base, recent := openCopy(dir)
	base.close() // what follows needs the heads only
	recent.close()
	now := cmp.Or(recent, base)
	var changed []row
	size := int64(0)
	for _, r := range h.rows {
		if r.text != nil {
			changed, size = append(changed, r), size+int64(r.size)
		}
	}
	switch {
	case now != nil && now.Held.Store == h.Store && (now.Held.Version > h.Version || now.Held.Version == h.Version && h.base != nil):
	case h.base == nil || size > max(mostRecent, h.base.size/partRecent):
		return writeBase(dir, h)
	case base != nil && bytes.Equal(base.hash, h.base.hash):
		_ = h.write(filepath.Join(dir, recentName), base.hash, changed)
	}
	return h
}

// writeBase replaces base, and removes the other files of the copy: recent, and what killed
// processes or earlier versions of stig left.
func writeBase(dir string, h *held) *held {
	path := filepath.Join(dir, baseName)
	if h.write(path, nil, h.rows) != nil {
		return h
	}
	entries, _ := os.ReadDir(dir) // what cannot be read is left for the next time
	for _, e := range entries {
		if name := e.Name(); name != baseName && name != lockName {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
	base, err := openCopyFile(path)
	if err != nil {
		return h
	}
	next := *h
	next.base = base
	if next.rows, err = base.rows(); err != nil {
		return h
	}
	return &next
}

// write replaces a file of the copy by one with these rows.
func (h *held) write(path string, base []byte, rows []row) error {
	var l list
	for _, r := range rows {
		l.Pos, l.ID, l.Size = append(l.Pos, r.pos), append(l.ID, r.id), append(l.Size, r.size)
	}
	var head bytes.Buffer
	to := gob.NewEncoder(&head)
	if err := errors.Join(to.Encode(header{h, h.snapshot.Sum().String(), base}), to.Encode(l)); err != nil {
		return err
	}
	lines := newText(h.base)
	lines.add(rows...)
	text := binary.BigEndian.AppendUint64(make([]byte, 0, headOff+int64(head.Len())+lines.size()), uint64(head.Len()))
	text = append(append(text, sum(head.Bytes())...), head.Bytes()...)
	off := len(text)
	text = text[:cap(text)]
	if n, err := lines.ReadAt(text[off:], 0); off+n < len(text) {
		return err
	}
	return file.Replace(path, text)
}
