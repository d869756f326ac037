package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"hash/maphash"
	"slices"

	"stig/internal/beads"
)

// lines calls visit with each line of a store that has content, without byte order mark and
// line ending.
func lines(text []byte, visit func(line []byte)) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(line) > 0 {
			visit(line)
		}
		text = rest
	}
}

// Rows are the lines of a store that have content.
type Rows [][]byte

// RowsOf splits a text into lines. The lines refer to the text's memory, so it must stay valid
// while they are in use.
func RowsOf(text []byte) (rows Rows) {
	lines(text, func(line []byte) { rows = append(rows, line) })
	return rows
}

// Sums are checksums of lines, for Lacks.
func (rows Rows) Sums() []byte {
	sums := make([]byte, 0, sumSize*len(rows))
	for _, line := range rows {
		sum := uint64(crc32.Checksum(line, crc32.MakeTable(crc32.Castagnoli)))<<32 | uint64(crc32.ChecksumIEEE(line))
		sums = binary.LittleEndian.AppendUint64(sums, sum)
	}
	return sums
}

const sumSize = 8 // bytes

// Lacks reports whether a line of those with the sums before is gone, or the sums cannot be
// read.
func Lacks(now, before []byte) bool {
	if len(before)%sumSize != 0 {
		return true
	}
	count := make(map[[sumSize]byte]int, len(now)/sumSize)
	for sum := range slices.Chunk(now, sumSize) {
		count[[sumSize]byte(sum)]++
	}
	for sum := range slices.Chunk(before, sumSize) {
		key := [sumSize]byte(sum)
		if count[key]--; count[key] < 0 {
			return true
		}
	}
	return false
}

// differing lists the lines in one text but not in the other.
func differing(before, now Rows) (gone, come [][]byte) {
	seed := maphash.MakeSeed()
	count, sums := make(map[uint64]int, len(before)), make([]uint64, len(before))
	for i, line := range before {
		sums[i] = maphash.Bytes(seed, line)
		count[sums[i]]++
	}
	for _, line := range now {
		sum := maphash.Bytes(seed, line)
		if count[sum]--; count[sum] < 0 {
			come = append(come, line)
		}
	}
	for i, line := range before {
		if count[sums[i]] > 0 {
			count[sums[i]]--
			gone = append(gone, line)
		}
	}
	return gone, come
}

// records reads lines as issues, by id; of a repeated id the last counts, and unreadable lines
// are ignored. ids lists them in the order of the lines.
func records(list [][]byte) (ids []string, by map[string]*beads.Record) {
	by = map[string]*beads.Record{}
	for _, line := range list {
		r, err := beads.ParseRecord(line)
		if err != nil {
			continue
		}
		id := r.Text(beads.ID)
		if id == "" {
			continue
		}
		if by[id] == nil {
			ids = append(ids, id)
		}
		by[id] = r
	}
	return ids, by
}

// issuesIn returns those issues of a text, which need not stay valid.
func issuesIn(text []byte, ids []string) Lines {
	found := Lines{}
	for id, r := range seenIn(func(visit func([]byte)) { lines(text, visit) }, ids) {
		if own, err := beads.ParseRecord(bytes.Clone(r.Bytes())); err == nil {
			found[id] = own
		}
	}
	return found
}

// in returns those issues of the lines.
func (rows Rows) in(ids []string) Lines {
	return seenIn(func(visit func([]byte)) {
		for _, line := range rows {
			visit(line)
		}
	}, ids)
}

// seenIn returns those issues of lines that stay valid.
func seenIn(each func(visit func(line []byte)), ids []string) Lines {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	var all [][]byte
	each(func(line []byte) {
		if id, plain := openingID(line); !plain || wanted[id] {
			all = append(all, line)
		}
	})
	_, by := records(all)
	for id := range by {
		if !wanted[id] {
			delete(by, id)
		}
	}
	return by
}

// openingID is the id with which most programs begin a line; plain is false if the line must be
// parsed to know it.
func openingID(line []byte) (id string, plain bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id":"`))
	name, _, closed := bytes.Cut(rest, []byte{'"'})
	return string(name), ok && closed && !bytes.ContainsRune(name, '\\')
}
