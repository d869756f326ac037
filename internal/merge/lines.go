package merge

import (
	"fmt"
	"strings"

	"stig/internal/beads"
)

// file is a store cut into lines.
type file struct {
	mark  string // a byte order mark, or nothing
	lines []line
	at    map[string]int // the line of a key
	ended bool           // the last line has a newline, or there is none
}

// line is one line of a store.
type line struct {
	key
	text string // without its end
	end  string // LF or CR LF; "" of a last line without
	was  string // the id in its text, where the merge gives the issue another
}

// key tells what a line is about: the same in all three stores.
type key struct {
	name string // unlike that of every other line of its store
	id   string // of an issue, else ""
}

// split cuts a text into lines. known holds the keys of lines met before.
func split(text string, known map[string]key) file {
	f := file{at: map[string]int{}, ended: text == "" || strings.HasSuffix(text, "\n")}
	if strings.HasPrefix(text, mark) {
		f.mark, text = mark, text[len(mark):]
	}
	repeats := map[string]int{}
	for whole := range strings.Lines(text) {
		l := line{text: whole}
		if cut, ok := strings.CutSuffix(whole, "\n"); ok {
			l.text = strings.TrimSuffix(cut, "\r")
			l.end = whole[len(l.text):]
		}
		k, ok := known[l.text]
		if !ok {
			k = keyOf(l.text)
			known[l.text] = k
		}
		l.key = k
		l.name = repeated(k.name, repeats[k.name])
		repeats[k.name]++
		f.at[l.name] = len(f.lines)
		f.lines = append(f.lines, l)
	}
	return f
}

// repeated is the name of a line before which n others have the same.
func repeated(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s\x00%d", name, n)
}

func issueName(id string) string { return "issue " + id }

// keyOf tells what a line is about. A line that cannot be read is about the
// issue that it seems to name, or about itself.
func keyOf(text string) key {
	itself := key{name: "line " + text}
	r, err := beads.ParseRecord([]byte(text))
	if err != nil {
		if id := seemingID(text); id != "" {
			return key{name: issueName(id), id: id}
		}
		return itself
	}
	id := r.Text(beads.ID)
	if kind := r.Text("_type"); kind != "" && kind != "issue" {
		name := id + r.Text("key")
		if name == "" {
			return itself
		}
		return key{name: "_type " + kind + " " + name}
	}
	if id == "" {
		return itself
	}
	return key{name: issueName(id), id: id}
}

// seemingID is the id in a line that begins as issues do.
func seemingID(text string) string {
	for _, want := range []string{"{", `"id"`, ":", `"`} {
		rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), want)
		if !ok {
			return ""
		}
		text = rest
	}
	id, _, _ := strings.Cut(text, `"`)
	if strings.Contains(id, `\`) {
		return ""
	}
	return id
}

// line gives the line with that name, or nil.
func (f *file) line(name string) *line {
	if i, ok := f.at[name]; ok {
		return &f.lines[i]
	}
	return nil
}
