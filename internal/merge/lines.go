package merge

import (
	"fmt"
	"strings"

	"stig/internal/beads"
)

// file is a store split into lines.
type file struct {
	mark  string // a byte order mark, or nothing
	lines []line
	at    map[string]int // the line for a key
	ended bool           // the last line has a newline, or there is none

	marked bool            // it contains conflict markers
	twins  map[string]bool // what several lines are about
	united map[string]int  // how many lines were removed, by what they were about
}

// line is one line of a store.
type line struct {
	key
	text string // without its ending
	end  string // LF or CR LF; "" for a last line without
	name string // unlike every other line of its store
	was  string // the original id in its text, if the merge changes it
	twin bool   // a later line is about the same thing
}

// key identifies what a line is about, equal in all three stores.
type key struct {
	about string // "" for a line about itself alone
	id    string // for an issue, else ""
}

// subject is what a line is about, for messages.
func (l *line) subject() string {
	if l.id != "" {
		return l.id
	}
	return l.about
}

// split splits a text into lines without those that repeat another's content. known has the
// keys of earlier lines.
func split(text string, known map[string]key) file {
	f := cut(text, known)
	f.uniteTwins()
	return f
}

// cut splits a text into lines.
func cut(text string, known map[string]key) file {
	f := file{at: map[string]int{}, ended: text == "" || strings.HasSuffix(text, "\n")}
	if strings.HasPrefix(text, mark) {
		f.mark, text = mark, text[len(mark):]
	}
	for whole := range strings.Lines(text) {
		l := line{text: whole}
		if rest, ok := strings.CutSuffix(whole, "\n"); ok {
			l.text = strings.TrimSuffix(rest, "\r")
			l.end = whole[len(l.text):]
		}
		k, ok := known[l.text]
		if !ok {
			k = keyOf(l.text)
			known[l.text] = k
		}
		l.key = k
		f.marked = f.marked || strings.HasPrefix(l.text, "<<<<<<<")
		f.lines = append(f.lines, l)
	}
	f.index()
	return f
}

// index keys the lines by what they are about. Of several about the same thing, the last has
// the plain key, since it counts.
func (f *file) index() {
	clear(f.at)
	f.twins = map[string]bool{}
	repeats := map[string]int{}
	for i := len(f.lines) - 1; i >= 0; i-- {
		l := &f.lines[i]
		plain := l.about
		switch {
		case l.id != "":
			plain = issueName(l.id)
			l.about = plain
		case plain == "":
			plain = "line " + l.text
		}
		l.name = repeated(plain, repeats[plain])
		l.twin = repeats[plain] > 0
		if repeats[plain]++; l.twin && l.about != "" {
			f.twins[l.about] = true
		}
		f.at[l.name] = i
	}
}

// repeated is the key of a line followed by n others about the same thing.
func repeated(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s\x00%d", name, n)
}

func issueName(id string) string { return "issue " + id }

// keyOf returns what a line is about. An unreadable line is about the issue it seems to name,
// or about itself.
func keyOf(text string) key {
	r, err := beads.ParseRecord([]byte(text))
	if err != nil {
		if id := seemingID(text); id != "" {
			return key{about: issueName(id), id: id}
		}
		return key{}
	}
	id := r.Text(beads.ID)
	if kind := r.Text("_type"); kind != "" && kind != "issue" {
		name := id + r.Text("key")
		if name == "" {
			return key{}
		}
		return key{about: kind + " " + name}
	}
	switch {
	case id != "":
		return key{about: issueName(id), id: id}
	case r.Has("_schema"):
		return key{about: "the header"}
	}
	return key{}
}

// seemingID is the id in a line that begins like an issue.
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

// line returns the line with that name, or nil.
func (f *file) line(name string) *line {
	if i, ok := f.at[name]; ok {
		return &f.lines[i]
	}
	return nil
}
