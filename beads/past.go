package beads

import "bytes"

// RecordIn gives the line of an issue in the text of a store that is not on
// disk, such as one of its past versions; nil where there is none. Of an id
// that stands twice the last line counts. Lines that cannot be read are passed
// over: a past version cannot be fixed.
func RecordIn(text []byte, id string) *Record {
	var found *Record
	for first := true; len(text) > 0; first = false {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		_, line = trimLine(line, first)
		if !startsWithID(line, id) {
			continue
		}
		if r, bad := parseRecord(line); bad == nil && r.Text(ID) == id {
			found = r
		}
	}
	return found
}

// startsWithID reports whether the first "id" of a line is this one. It reads
// no farther, which is what makes a long history quick.
func startsWithID(line []byte, id string) bool { return firstID(line) == id }

// firstID is the first "id" of a line, "" where there is none.
func firstID(line []byte) string {
	var m member
	for w := (walker{scanner: scanner{b: line}}); w.next(&m); {
		if memberKey(line, m) == string(ID) {
			raw, _ := unquote(m.val.of(line))
			return string(appendText(nil, raw))
		}
	}
	return ""
}
