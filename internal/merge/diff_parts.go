package merge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// KindProse is the text of the notes outside sections, as a part of an issue; all notes if a
// section name repeats, so that they can be restored whole.
const KindProse Kind = "prose"

// Part is the smallest piece of an issue that is written, lost and restored separately. Kind
// and Name distinguish it from the others of its issue.
type Part struct {
	Kind Kind
	// Name is the key, the section, the row of the signal table, the label; for an edge ID and
	// type, for a comment its author and a hash of its text.
	Name string
	// Text is the body of a section, value and date of a signal (see signalText), the JSON
	// value of anything else but prose and labels.
	Text string
}

// Parts lists the parts of an issue, without updated_at, which every edit writes.
func Parts(r *beads.Record) (list []Part) { return partsBut(r, nil) }

// partsBut is Parts without the parts of keys that are equal in another record.
func partsBut(r, other *beads.Record) (list []Part) {
	for _, k := range r.Keys() {
		if other != nil && bytes.Equal(r.Raw(k), other.Raw(k)) {
			continue
		}
		switch k {
		case beads.ID, beads.UpdatedAt:
		case beads.Notes:
			list = append(list, noteParts(r.Text(k))...)
		case "labels":
			for _, l := range r.Labels() {
				list = append(list, Part{Label, l, l})
			}
		case beads.Dependencies:
			list = append(list, edgeParts(r)...)
		case "comments":
			list = append(list, commentParts(r)...)
		default:
			if raw := r.Raw(k); beads.MeansSomething(raw) {
				list = append(list, Part{Key, string(k), string(raw)})
			}
		}
	}
	return list
}

func noteParts(text string) (list []Part) {
	doc := notes.Parse(text)
	for _, s := range doc.Sections() {
		if live, _ := doc.Live(s.Name); live != s {
			return []Part{{KindProse, string(beads.Notes), strings.TrimSpace(visible.LF(text))}}
		}
		table := doc.Table(s)
		if s.Name != signals.Section || table == nil {
			list = append(list, Part{Section, s.Name, visible.LF(doc.Body(s))})
			continue
		}
		for _, r := range rows(table) {
			list = append(list, Part{Signal, r.name, signalText(r.value, r.date)})
		}
	}
	if prose := strings.TrimSpace(visible.LF(doc.Outside())); prose != "" {
		list = append(list, Part{KindProse, string(beads.Notes), prose})
	}
	return list
}

// signalText is a row of the signal table as the text of a part: the value, a tab, the raw
// date.
func signalText(value, date string) string { return value + "\t" + date }

// CutSignal reverses signalText.
func CutSignal(text string) (value, date string) {
	value, date, _ = strings.Cut(text, "\t")
	return value, date
}

func edgeParts(r *beads.Record) (list []Part) {
	for _, raw := range r.Elements(beads.Dependencies) {
		row, err := beads.ParseRecord(raw)
		if err != nil || row.Text("depends_on_id") == "" {
			continue // not a row; checks report it
		}
		list = append(list, Part{Edge, row.Text("depends_on_id") + " " + row.Text("type"), string(raw)})
	}
	return list
}

func commentParts(r *beads.Record) (list []Part) {
	said := comments(r)
	for i, raw := range r.Elements("comments") {
		c := said[i]
		list = append(list, Part{Comment, c.author + " " + hash8(c.text), string(raw)})
	}
	return list
}

func hash8(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Same reports whether two texts of one part are equivalent.
func (p Part) Same(text string) bool {
	return p.Text == text || p.Digest() == Part{p.Kind, p.Name, text}.Digest()
}

// Digest is a hash of a part's content, "" for a part without text. It ignores spelling: times
// count to the second, and comments and edges by content.
func (p Part) Digest() Digest {
	text := p.Text
	switch p.Kind {
	case Comment, Edge, KindIssue:
		if text != "" {
			text = p.Name
		}
	case Key:
		if t, ok := timeIn(text); ok {
			text = t.UTC().Format(time.RFC3339)
		} else {
			text = beads.Meaning([]byte(text))
		}
	default:
		text = strings.TrimSpace(text)
	}
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return Digest(hex.EncodeToString(sum[:8]))
}

func timeIn(raw string) (time.Time, bool) {
	if len(raw) > 2*len(time.RFC3339Nano) {
		return time.Time{}, false
	}
	t, err := time.Parse(`"`+time.RFC3339Nano+`"`, raw)
	return t.Truncate(time.Second), err == nil
}

// Edit is a part before and after an edit; "" if it was absent.
type Edit struct {
	Kind     Kind
	Name     string
	Was, Now string
}

// Edits lists the changes to the parts of an issue, in order. For a new issue before is nil and
// its line is the one part; for a deleted one after is nil.
func Edits(before, after *beads.Record) (list []Edit) {
	switch {
	case before == nil:
		return []Edit{{KindIssue, after.Text(beads.ID), "", string(after.Bytes())}}
	case after == nil:
		return []Edit{{KindIssue, before.Text(beads.ID), string(before.Bytes()), ""}}
	}
	was, is := partsBut(before, after), partsBut(after, before)
	had, has := textsByName(was), textsByName(is)
	for _, p := range was {
		now := has[PartName{p.Kind, p.Name}]
		if !p.Same(now) {
			list = append(list, Edit{p.Kind, p.Name, p.Text, now})
		}
	}
	for _, p := range is {
		if _, there := had[PartName{p.Kind, p.Name}]; !there {
			list = append(list, Edit{p.Kind, p.Name, "", p.Text})
		}
	}
	return list
}

// textsByName returns the texts of parts; of repeated ones the last.
func textsByName(parts []Part) map[PartName]string {
	texts := make(map[PartName]string, len(parts))
	for _, p := range parts {
		texts[PartName{p.Kind, p.Name}] = p.Text
	}
	return texts
}

// FindPart returns the part with the given kind and name, the last one if there are several.
func FindPart(parts []Part, kind Kind, name string) (Part, bool) {
	for _, p := range slices.Backward(parts) {
		if p.Kind == kind && p.Name == name {
			return p, true
		}
	}
	return Part{Kind: kind, Name: name}, false
}
