package merge

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// renaming maps ids to new ids in one version of the store.
type renaming struct {
	both map[string]string // for issues that base has too
	own  map[string]string // for issues that came with this version
}

// rewrite puts the new ids into the lines of all versions. References from a side follow its
// issue; those from base follow if base has the issue.
func (m *merger) rewrite() {
	inBase := m.base.renamed()
	for _, f := range []*file{&m.ours, &m.theirs} {
		r := renaming{both: map[string]string{}, own: map[string]string{}}
		for from, to := range f.renamed() {
			if inBase[from] == to {
				r.both[from] = to
			} else {
				r.own[from] = to
			}
		}
		f.rewrite(r, &m.base)
	}
	m.base.rewrite(renaming{both: inBase}, &file{})
}

// renamed lists the ids of a file that the merge changed.
func (f *file) renamed() map[string]string {
	ids := map[string]string{}
	for _, l := range f.lines {
		if l.was != "" {
			ids[l.was] = l.id
		}
	}
	return ids
}

// parsed parses a line; nil if there is none, or it is unreadable.
func parsed(l *line) *beads.Record {
	if l == nil {
		return nil
	}
	r, err := beads.ParseRecord([]byte(l.text))
	if err != nil {
		return nil
	}
	return r
}

// rewrite puts new ids into the lines of a file. base still has its old text.
func (f *file) rewrite(r renaming, base *file) {
	if len(r.both)+len(r.own) == 0 {
		return
	}
	for i := range f.lines {
		l := &f.lines[i]
		if l.id == "" || l.was == "" && !r.named(l.text) {
			continue
		}
		record := parsed(l)
		if record == nil {
			continue
		}
		if result, err := r.record(record, parsed(base.line(l.name)), l); err == nil {
			l.text = string(result.Bytes())
		}
	}
}

// named reports whether a text contains one of the ids.
func (r renaming) named(text string) bool {
	for _, ids := range []map[string]string{r.both, r.own} {
		for id := range ids {
			if strings.Contains(text, id) {
				return true
			}
		}
	}
	return false
}

// prose are the keys whose texts may mention issues.
var prose = []beads.Key{
	beads.Title, beads.Description, beads.Design, beads.AcceptanceCriteria, beads.Notes, beads.CloseReason, "parent",
}

// record puts new ids into a line. base is the same issue in base, or nil.
func (r renaming) record(record, base *beads.Record, l *line) (*beads.Record, error) {
	var err error
	for _, list := range []struct {
		key  beads.Key
		edit func(*beads.Record, bool) *beads.Record
	}{
		{beads.Dependencies, func(row *beads.Record, own bool) *beads.Record { return r.row(row, own, l) }},
		{"comments", func(c *beads.Record, own bool) *beads.Record { return r.comment(c, own, l) }},
	} {
		if record, err = eachElement(record, base, list.key, list.edit); err != nil {
			return nil, err
		}
	}
	for _, k := range prose {
		before := ""
		if base != nil {
			before = base.Text(k)
		}
		record = putText(record, k, r.text(record.Text(k), before))
	}
	if l.was != "" {
		record = putText(record, beads.ID, l.id)
		record = putText(record, beads.Notes, withOldID(record, l.was))
	}
	return record, nil
}

// putText sets a text, unless it is the same or the old one cannot be decoded without loss.
func putText(r *beads.Record, k beads.Key, text string) *beads.Record {
	was := r.Text(k)
	if was == text || strings.ContainsRune(was, utf8.RuneError) || was == "" && r.Has(k) {
		return r
	}
	return r.Put(k, text)
}

// eachElement edits the elements of a list. own reports that base lacks the element.
func eachElement(r, base *beads.Record, k beads.Key, edit func(e *beads.Record, own bool) *beads.Record) (*beads.Record, error) {
	named := elements(k, base, r)
	was, old := byName(named[0]), r.Raw(k)
	var list []byte
	for _, e := range named[1] {
		at := bytes.Index(old, e.raw) // the separator of elements precedes it
		list = append(list, old[:at]...)
		old = old[at+len(e.raw):]
		raw := e.raw
		if member, err := beads.ParseRecord(raw); err == nil {
			raw = edit(member, was[e.name] == nil).Bytes()
		}
		list = append(list, raw...)
	}
	return put(r, k, append(list, old...))
}

// row puts new ids into a dependency row.
func (r renaming) row(row *beads.Record, own bool, l *line) *beads.Record {
	row = putText(row, "issue_id", ownerID(row, l))
	return putText(row, "depends_on_id", r.id(row.Text("depends_on_id"), own))
}

// comment puts new ids into a comment.
func (r renaming) comment(c *beads.Record, own bool, l *line) *beads.Record {
	before := c.Text("text")
	if own {
		before = ""
	}
	c = putText(c, "issue_id", ownerID(c, l))
	return putText(c, "text", r.text(c.Text("text"), before))
}

// ownerID is the id of the issue that an element belongs to.
func ownerID(element *beads.Record, l *line) string {
	if id := element.Text("issue_id"); l.was == "" || id != l.was {
		return id
	}
	return l.id
}

// id returns the new id for an id.
func (r renaming) id(id string, own bool) string {
	if to, ok := r.both[id]; ok {
		return to
	}
	if to, ok := r.own[id]; ok && own {
		return to
	}
	return id
}

// text replaces ids in a text where they are whole words. Lines from base keep what they named
// then.
func (r renaming) text(text, before string) string {
	if !r.named(text) {
		return text
	}
	old := strings.Split(visible.LF(before), "\n")
	return beads.ReplaceIDs(text, func(line, id string) string {
		return r.id(id, !slices.Contains(old, strings.TrimRight(line, "\r\n")))
	})
}

// withOldID adds a line with the old id to the notes, before all other text but the signal
// table, so that appended notes stay at the end. Of several old ids it names the first.
func withOldID(r *beads.Record, id string) string {
	text := r.Text(beads.Notes)
	for l := range strings.Lines(text) {
		if beads.IsOldIDNote(l) {
			return text
		}
	}
	said := beads.OldIDNote(id)
	if strings.TrimSpace(text) == "" {
		return said
	}
	doc := notes.Parse(text)
	blank := doc.Newline() + doc.Newline()
	sections := doc.Sections()
	if len(sections) == 0 || sections[0].Name != signals.Section || strings.TrimSpace(text[:sections[0].Start]) != "" {
		return said + blank + text
	}
	end := sections[0].End
	return text[:end] + blank + said + text[end:]
}
