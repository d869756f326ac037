package journal

import (
	"bytes"
	"hash/maphash"

	"stig/internal/beads"
)

// lines calls visit with each line of a store, as far as it says something: without
// a byte order mark, the line end and blank lines.
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

// differing lists the lines that are in one text and not in the other.
func differing(before, now []byte) (gone, come [][]byte) {
	seed := maphash.MakeSeed()
	count := map[uint64]int{}
	lines(before, func(line []byte) { count[maphash.Bytes(seed, line)]++ })
	lines(now, func(line []byte) {
		sum := maphash.Bytes(seed, line)
		if count[sum]--; count[sum] < 0 {
			come = append(come, line)
		}
	})
	lines(before, func(line []byte) {
		sum := maphash.Bytes(seed, line)
		if count[sum] > 0 {
			count[sum]--
			gone = append(gone, line)
		}
	})
	return gone, come
}

// records reads lines as issues, by id; of a repeated id the last counts, and lines
// that cannot be read are none. ids lists them in the order of the lines.
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

// few is how many issues are looked for one by one in a text; for more, its lines are
// gone through.
const few = 8

// issuesIn gives those issues of a text.
func issuesIn(text []byte, ids []string) map[string]*beads.Record {
	if len(ids) > few {
		wanted := map[string]bool{}
		for _, id := range ids {
			wanted[id] = true
		}
		var all [][]byte
		lines(text, func(line []byte) {
			if id, plain := openingID(line); !plain || wanted[id] {
				all = append(all, line)
			}
		})
		_, by := records(all)
		return by
	}
	by := map[string]*beads.Record{}
	for _, id := range ids {
		if r := beads.RecordIn(text, id); r != nil {
			by[id] = r
		}
	}
	return by
}

// openingID is the id with which most programs begin a line; plain is false where the
// line has to be read to know it.
func openingID(line []byte) (id string, plain bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"id":"`))
	name, _, closed := bytes.Cut(rest, []byte{'"'})
	return string(name), ok && closed && !bytes.ContainsRune(name, '\\')
}
