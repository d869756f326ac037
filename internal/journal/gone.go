package journal

import (
	"cmp"
	"slices"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/notes"
	"stig/signals"
)

// Gone is something that another program removed from an issue, with the removed text.
type Gone struct {
	ID string
	merge.Edit
}

// Closed is an issue that another program closed.
type Closed struct{ ID, Reason string }

// others compares the store with HEAD's commit.
type others struct {
	head, now map[string]*beads.Record // for issues whose lines differ
	histories map[string]*history
	worktree  string
}

// Others lists text in HEAD that stig did not write there and the store lacks, and issues
// closed without stig.
func Others(head, now Rows, j clone.Journal, here clone.Place) (gone []Gone, closed []Closed) {
	left, come := differing(head, now)
	o := others{worktree: here.Worktree}
	var ids, made []string
	ids, o.head = records(left)
	made, o.now = records(come)
	_, o.histories = histories(j)
	o.findMissing(now, ids)
	for _, id := range ids {
		gone = append(gone, o.gone(id)...)
	}
	for _, id := range made {
		if is := o.now[id]; o.closedPast(id) {
			closed = append(closed, Closed{id, is.Text(beads.CloseReason)})
		}
	}
	return gone, closed
}

// findMissing looks for issues whose line survives among several, or that another program gave
// another id.
func (o *others) findMissing(now Rows, ids []string) {
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return o.now[id] != nil })
	if len(missing) == 0 {
		return
	}
	born := map[beads.Origin]*beads.Record{}
	for id, r := range o.now {
		if b := r.Origin(); o.head[id] == nil && b.At != "" {
			born[b] = r
		}
	}
	there := now.in(missing)
	for _, id := range missing {
		if r := cmp.Or(there[id], born[o.head[id].Origin()]); r != nil {
			o.now[id] = r
		}
	}
}

// gone lists what is gone of an issue. Find covers what the journal recorded in this work tree.
func (o *others) gone(id string) (list []Gone) {
	before, now, h := o.head[id], o.now[id], o.histories[id]
	held, had := nothing(), nothing()
	if h != nil {
		held, had = h.line(now), h.line(before)
	}
	for _, e := range lessened(before, now) {
		part := merge.PartName{Kind: e.Kind, Name: e.Name}
		was := merge.Part{Kind: e.Kind, Name: e.Name, Text: e.Was}.Digest()
		known := h != nil && slices.ContainsFunc(h.of[part], func(d *edit) bool {
			c := d.parts[part]
			return held.has(d, part) && !had.has(d, part) || d.record.Worktree == o.worktree && digestOf(c, c.Now) == was
		})
		if !known && counts(e, now) {
			list = append(list, Gone{ID: id, Edit: e})
		}
	}
	return list
}

// closedPast reports whether an issue is closed that HEAD or the journal has as open, and that
// stig did not close.
func (o *others) closedPast(id string) bool {
	now, h := o.now[id], o.histories[id]
	if now.Text(beads.Status) != beads.StatusClosed {
		return false
	}
	before := o.head[id]
	if before != nil && before.Text(beads.Status) == beads.StatusClosed {
		return false
	}
	if h == nil {
		return before != nil
	}
	status := merge.PartName{Kind: merge.Key, Name: string(beads.Status)}
	last := lastOf(h.of[status], func(*edit) bool { return true })
	held := h.line(now)
	byStig := lastOf(h.of[status], func(e *edit) bool { return held.has(e, status) })
	closes := func(e *edit) bool { return e != nil && e.parts[status].Now == `"`+beads.StatusClosed+`"` }
	return (before != nil || last != nil) && !closes(byStig) && !closes(last)
}

// lessened lists the parts of an issue that are gone or shortened; the issue itself if all of
// it is gone.
func lessened(before, now *beads.Record) []merge.Edit {
	switch {
	case before.Text(beads.Status) == beads.StatusTombstone:
		return nil // deleted before
	case now == nil:
		return merge.Edits(before, nil)
	case now.Text(beads.Status) == beads.StatusTombstone:
		return nil // a tombstone names who deleted it, and its notes may go
	}
	return slices.DeleteFunc(merge.Edits(before, now), func(e merge.Edit) bool { return e.Was == "" })
}

// texts are the keys whose text people rely on.
var texts = []beads.Key{"description", "acceptance_criteria", "design"}

// counts reports whether an edit lost something, whoever wrote it. In notes where a section
// name repeats, sections are not parts by themselves and are looked up by name.
func counts(e merge.Edit, now *beads.Record) bool {
	doc := func() *notes.Doc { return notes.Parse(now.Text(beads.Notes)) }
	switch e.Kind {
	case merge.KindIssue, merge.Comment:
		return e.Now == ""
	case merge.Section:
		_, there := doc().Live(e.Name)
		return e.Now == "" && !there
	case merge.Signal:
		_, known := signals.Named(e.Name)
		return e.Now == "" && known && !hasRow(doc(), e.Name)
	case merge.KindProse:
		return e.Now == "" && doc().Text() == "" || !keepsSections(doc(), e.Was)
	case merge.Key:
		return e.Now == "" && slices.Contains(texts, beads.Key(e.Name))
	}
	return false
}

// hasRow reports whether one of the signal tables has a row.
func hasRow(doc *notes.Doc, name string) bool {
	for _, s := range doc.Named(signals.Section) {
		if t := doc.Table(s); t != nil && slices.ContainsFunc(t.Rows, func(r notes.Row) bool { return r.Text(0) == name }) {
			return true
		}
	}
	return false
}

// keepsSections reports whether notes have a section for each name in a text.
func keepsSections(doc *notes.Doc, text string) bool {
	for _, s := range notes.Parse(text).Sections() {
		if _, there := doc.Live(s.Name); !there {
			return false
		}
	}
	return true
}
