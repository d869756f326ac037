package sql

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/file"
)

// A copy of what was read lies in a directory of its own: the file head, which says of
// which store and version it is and holds the lines that changed lately, and the file
// that head names, which holds the others. Both have checksums, and are never written
// twice: whoever reads more puts another head in the place of the old one, and once in
// a while another base. So any number of processes use them at once. A copy that is
// missing, damaged or of another store is as good as none, and no error.

const (
	headName   = "head"
	basePrefix = "base-"
	// mostFresh is how much may be held besides the base, in bytes, and the part of the
	// base's size that may be.
	mostFresh = 1 << 20
	partFresh = 8
	// leftAfter is how old a base is that no head names, until it is removed: another
	// process may be about to name it.
	leftAfter = time.Minute
)

// head is what the file head holds before the lines.
type head struct {
	*held
	Base string   // the name of the file
	Sum  string   // of the whole text
	Rows []parsed // of the fresh lines
}

// parsed is a row as files hold it.
type parsed struct {
	Pos  int64
	ID   string
	Size int
}

// copies is the directory of the store's copy; "" for none.
func (s *Store) copies() string {
	if s.options.Cache == "" {
		return ""
	}
	name := sha256.Sum256([]byte(s.url))
	return filepath.Join(s.options.Cache, hex.EncodeToString(name[:8]))
}

// copied gives the copy, or nothing, and the checksum that its text should have.
func (s *Store) copied() (*held, string) {
	dir := s.copies()
	if dir == "" {
		return nothing(), ""
	}
	h, sum, err := load(dir)
	for again := 0; errors.Is(err, os.ErrNotExist) && h != nil && again < 3; again++ {
		h, sum, err = load(dir) // its base was replaced meanwhile
	}
	if err != nil {
		return nothing(), ""
	}
	return h, sum
}

var errDamaged = errors.New("the copy is damaged")

// load opens the copy in a directory. When head is there and its base is not, h is not
// nil besides the error.
func load(dir string) (h *held, sum string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, headName))
	if err != nil {
		return nil, "", err
	}
	text, ok := checkedText(text)
	if !ok {
		return nil, "", errDamaged
	}
	header, fresh, _ := bytes.Cut(text, []byte("\n"))
	read := head{held: &held{}}
	if err := json.Unmarshal(header, &read); err != nil || filepath.Base(read.Base) != read.Base {
		return nil, "", errDamaged
	}
	h = read.held
	h.fresh = fresh
	file, err := os.Open(filepath.Join(dir, read.Base))
	if err != nil {
		return h, "", err
	}
	index, size, err := loadIndex(file)
	if err != nil {
		_ = file.Close() // only read
		return nil, "", err
	}
	h.base, h.size = file, size
	h.rows = sync.OnceValues(func() ([]row, error) { return rowsIn(index, read.Rows) })
	return h, read.Sum, nil
}

// checkedText gives a text without its checksum, and whether that is right.
func checkedText(text []byte) ([]byte, bool) {
	if len(text) < sumSize {
		return nil, false
	}
	body := text[:len(text)-sumSize]
	return body, bytes.Equal(text[len(body):], checksum(body))
}

const sumSize = 8

func checksum(text []byte) []byte {
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli)))
	return binary.BigEndian.AppendUint32(sum, crc32.ChecksumIEEE(text))
}

// A base ends with the list of its rows, the checksum of that, and the size of both.
const sizeSize = 8

// loadIndex gives the list of the rows of a base, and the size of its lines.
func loadIndex(file *os.File) (index []byte, size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	var length [sizeSize]byte
	if _, err := file.ReadAt(length[:], info.Size()-sizeSize); err != nil {
		return nil, 0, errDamaged
	}
	size = info.Size() - sizeSize - int64(binary.BigEndian.Uint64(length[:]))
	if size < 0 || size > info.Size()-sizeSize {
		return nil, 0, errDamaged
	}
	index = make([]byte, info.Size()-sizeSize-size)
	if _, err := file.ReadAt(index, size); err != nil {
		return nil, 0, err
	}
	index, ok := checkedText(index)
	if !ok {
		return nil, 0, errDamaged
	}
	return index, size, nil
}

// rowsIn gives the rows of a copy in their order: those of the base, and the fresh ones.
func rowsIn(index []byte, fresh []parsed) ([]row, error) {
	changed := map[string]bool{}
	for _, r := range fresh {
		changed[r.ID] = r.ID != ""
	}
	var rows []row
	off := int64(0)
	for len(index) > 0 {
		r, rest, ok := cutParsed(index)
		if !ok {
			return nil, errDamaged
		}
		index = rest
		if !changed[r.ID] {
			rows = append(rows, row{pos: r.Pos, id: r.ID, size: r.Size, off: off})
		}
		off += int64(r.Size)
	}
	off = 0
	for _, r := range fresh {
		rows = append(rows, row{pos: r.Pos, id: r.ID, size: r.Size, off: off, fresh: true})
		off += int64(r.Size)
	}
	slices.SortFunc(rows, compareRows)
	return rows, nil
}

// appendParsed writes a row as bases hold it, and cutParsed reads it.
func appendParsed(text []byte, r row) []byte {
	text = binary.AppendVarint(text, r.pos)
	text = binary.AppendUvarint(text, uint64(r.size))
	text = binary.AppendUvarint(text, uint64(len(r.id)))
	return append(text, r.id...)
}

func cutParsed(text []byte) (r parsed, rest []byte, ok bool) {
	pos, n := binary.Varint(text)
	size, m := binary.Uvarint(text[max(n, 0):])
	if n <= 0 || m <= 0 {
		return r, nil, false
	}
	text = text[n+m:]
	length, n := binary.Uvarint(text)
	if n <= 0 || length > uint64(len(text)-n) {
		return r, nil, false
	}
	text = text[n:]
	return parsed{Pos: pos, ID: string(text[:length]), Size: int(size)}, text[length:], true
}

// keep writes a copy of what was read, if the store has copies, and gives the same state
// with the lines in the files. What cannot be written is left.
func (s *Store) keep(h *held) *held {
	dir := s.copies()
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return h
	}
	rows, err := h.rows()
	if err != nil {
		return h
	}
	file, isFile := h.base.(*os.File)
	if !isFile || int64(len(h.fresh)) > max(mostFresh, h.size/partFresh) {
		based, err := rebase(dir, h, rows)
		if err != nil {
			return h
		}
		h, file = based, based.base.(*os.File)
		rows = nil
	}
	if writeHead(dir, h, filepath.Base(file.Name()), rows) == nil && rows == nil {
		removeBases(dir, file)
	}
	return h
}

// rebase writes all lines into a new base.
func rebase(dir string, h *held, rows []row) (_ *held, err error) {
	file, err := os.CreateTemp(dir, basePrefix)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // it is of no use
			_ = os.Remove(file.Name())
		}
	}()
	next := *h
	next.base, next.fresh, next.Pieces = file, nil, nil
	moved, index := make([]row, len(rows)), []byte(nil)
	next.size = 0
	for i, r := range rows {
		r.off, r.fresh = next.size, false
		next.size += int64(r.size)
		moved[i], index = r, appendParsed(index, r)
	}
	next.rows, next.Pieces = func() ([]row, error) { return moved, nil }, pieces(moved)
	whole := *h
	whole.Shape = 0
	t := whole.text()
	if _, err := io.Copy(file, io.NewSectionReader(t, 0, t.size())); err != nil {
		return nil, err
	}
	index = append(index, checksum(index)...)
	if _, err := file.Write(binary.BigEndian.AppendUint64(index, uint64(len(index)))); err != nil {
		return nil, err
	}
	next.snapshot, err = next.read(h.snapshot.Place())
	return &next, err
}

// writeHead puts a new head in the place of the old one.
func writeHead(dir string, h *held, base string, rows []row) error {
	text := head{held: h, Base: base, Sum: h.snapshot.Sum().String()}
	fresh := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.fresh })
	slices.SortFunc(fresh, func(a, b row) int { return cmp.Compare(a.off, b.off) })
	for _, r := range fresh {
		text.Rows = append(text.Rows, parsed{r.pos, r.id, r.size})
	}
	header, err := json.Marshal(text)
	if err != nil {
		return err
	}
	body := append(append(header, '\n'), h.fresh...)
	return file.Replace(filepath.Join(dir, headName), append(body, checksum(body)...))
}

// removeBases removes the bases that were left when others were written, and the heads of
// those who were killed.
func removeBases(dir string, now *os.File) {
	present, err := now.Stat()
	if err != nil {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		isOld := err == nil && present.ModTime().Sub(info.ModTime()) > leftAfter
		unfinished, _ := filepath.Match(file.Unfinished, e.Name()) // the pattern is sound
		if isOld && (strings.HasPrefix(e.Name(), basePrefix) || unfinished) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
