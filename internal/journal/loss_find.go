package journal

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/notes"
	"stig/signals"
)

// question is what find needs.
type question struct {
	Before, Now []byte         // the text of the store when it was last looked at, and as it is
	Records     []clone.Record // what stig wrote between, the oldest first
	Past        *past          // nil where the same commit is checked out as before
	Put         func(*beads.Record, merge.Part) (*beads.Record, error)
}

// past is the store in the commit that was checked out when it was last looked at,
// and in the one that is now; "" where a commit has none. Merge gives it in the first
// parent of a merge that is checked out now, and in the commit from which the sides
// come; "" where that is no merge.
type past struct {
	Old, New func() ([]byte, error)
	Merge    func() (ours, base []byte, err error)
}

// Gone is a part of an issue that another program took away.
type Gone struct {
	ID string
	merge.Edit
	Hidden     bool // the journal keeps a hash of Was alone, for it holds a credential
	Journalled bool // the journal has Was already: stig wrote it, or another session missed it
	replaced   bool // another value stands in its place; a loss if stig wrote Was, and had written over Now
	dated      bool // the issue has a later date than when stig left it: somebody wrote Now on purpose
}

// Closed is an issue that another program closed.
type Closed struct{ ID, Reason string }

// Losses is what another program took away and closed, by issue in the order of the
// lines.
type Losses struct {
	Gone   []Gone
	Closed []Closed
}

// lossFinder works on one question. Maps are by the id of an issue.
type lossFinder struct {
	question
	ids         []string // whose lines differ
	before, now map[string]*beads.Record
	wrote       map[string]map[merge.PartName]clone.Change // what stig last did to a part
	touched     []string                                   // the issues that stig wrote, the first one first
	at          map[string]time.Time                       // when stig last wrote them
	seen        map[string]map[merge.PartName]string       // what another session found to be gone
}

// find lists what is gone and what was closed, past stig and past the history of
// git.
func find(q question) (found Losses, err error) {
	f := &lossFinder{question: q}
	f.compare(q.Before)
	f.followJournal()
	for _, id := range f.ids {
		found.Gone = append(found.Gone, f.gone(id)...)
		found.close(f, id)
	}
	for _, id := range f.touched {
		found.Gone = append(found.Gone, f.goneSinceWritten(id)...)
	}
	if q.Past != nil {
		err = found.weigh(f)
	}
	found.Gone = slices.DeleteFunc(found.Gone, func(g Gone) bool { return g.replaced && g.dated })
	return found, err
}

// compare reads the issues whose lines differ.
func (f *lossFinder) compare(before []byte) {
	gone, come := differing(before, f.Now)
	f.ids, f.before = records(gone)
	_, f.now = records(come)
	var missing []string // their line may stand there as it did, of several
	for _, id := range f.ids {
		if f.now[id] == nil {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return
	}
	there, born := issuesIn(f.Now, missing), f.births()
	for _, id := range missing {
		if r := cmp.Or(there[id], born[f.before[id].Birth()]); r != nil {
			f.now[id] = r
		}
	}
}

// births gives the issues whose id was not there before by their birth, as far as it
// has a time: some tools give all issues another prefix.
func (f *lossFinder) births() map[beads.Birth]*beads.Record {
	born := map[beads.Birth]*beads.Record{}
	for id, r := range f.now {
		if b := r.Birth(); f.before[id] == nil && b.At != "" {
			born[b] = r
		}
	}
	return born
}

// followJournal notes what stig last did to each part. A new line of an issue did
// it to each part in it, too. An edit whose result is unknown counts.
func (f *lossFinder) followJournal() {
	f.wrote, f.seen = map[string]map[merge.PartName]clone.Change{}, map[string]map[merge.PartName]string{}
	f.at = map[string]time.Time{}
	for _, r := range f.Records {
		if r.Result == clone.Failed || r.Forgets {
			continue
		}
		for _, c := range r.Changes {
			part := merge.PartName{Kind: merge.Kind(c.Kind), Name: c.Name}
			switch {
			case r.Seen && f.seen[c.Issue] == nil:
				f.seen[c.Issue] = map[merge.PartName]string{part: c.Now}
			case r.Seen:
				f.seen[c.Issue][part] = c.Now
			case f.wrote[c.Issue] == nil:
				f.wrote[c.Issue] = map[merge.PartName]clone.Change{part: c}
				f.touched = append(f.touched, c.Issue)
			default:
				f.wrote[c.Issue][part] = c
			}
			if !r.Seen {
				f.at[c.Issue] = r.At
			}
		}
	}
}

// gone lists what of an issue is no more, as it stood when it was last looked at
// or, of an issue that is gone whole, when stig last wrote it.
func (f *lossFinder) gone(id string) (list []Gone) {
	before, now := f.before[id], f.now[id]
	wrote := f.wrote[id]
	if _, made := wrote[merge.PartName{Kind: merge.KindIssue, Name: id}]; made {
		return nil // the journal has its line
	}
	if now == nil {
		for _, c := range changesOf(wrote) {
			if c.Hash {
				continue
			}
			if next, err := f.Put(before, merge.Part{Kind: merge.Kind(c.Kind), Name: c.Name, Text: c.Now}); err == nil {
				before = next
			}
		}
	}
	for _, e := range lessened(before, now) {
		part := merge.PartName{Kind: e.Kind, Name: e.Name}
		_, own := wrote[part]
		if own || e.Kind == merge.Key && e.Name == string(beads.Status) && now.Text(beads.Status) == beads.StatusClosed {
			continue // closed issues have a list of their own
		}
		g := Gone{ID: id, Edit: e, replaced: !counts(e, now)}
		g.Journalled = g.replaced || f.seen[id][part] == e.Was
		g.dated = g.replaced && f.dated(id, now)
		list = append(list, g)
	}
	return list
}

// lossSlack is how far the date of an issue may be ahead of the clock: of several edits in one
// second each has a date of its own.
const lossSlack = time.Minute

// dated reports whether an issue has a later date than when it was last looked at and
// stig last wrote it.
func (f *lossFinder) dated(id string, now *beads.Record) bool {
	at, known := now.Time(beads.UpdatedAt)
	if before := f.before[id]; known && before != nil {
		if was, _ := before.Time(beads.UpdatedAt); !at.After(was) {
			return false
		}
	}
	return known && at.After(f.at[id].Add(lossSlack))
}

// changesOf lists changes, ordered by what they change.
func changesOf(wrote map[merge.PartName]clone.Change) []clone.Change {
	list := slices.Collect(maps.Values(wrote))
	slices.SortFunc(list, func(a, b clone.Change) int {
		return slices.Compare([]string{a.Kind, a.Name}, []string{b.Kind, b.Name})
	})
	return list
}

// goneSinceWritten lists what stig wrote into an issue since it was last looked at
// and is no more.
func (f *lossFinder) goneSinceWritten(id string) (list []Gone) {
	now := f.now[id]
	if now == nil && !slices.Contains(f.ids, id) {
		now = beads.RecordIn(f.Now, id)
	}
	if now == nil {
		if line, made := f.wrote[id][merge.PartName{Kind: merge.KindIssue, Name: id}]; made {
			return []Gone{{ID: id, Edit: merge.Edit{Kind: merge.KindIssue, Name: id, Was: line.Now}, Journalled: true}}
		}
		return nil // it is gone whole, as it stood before
	}
	parts := merge.Parts(now)
	for _, c := range changesOf(f.wrote[id]) {
		e := merge.Edit{Kind: merge.Kind(c.Kind), Name: c.Name, Was: c.Now}
		part, _ := merge.FindPart(parts, e.Kind, e.Name)
		switch e.Now = part.Text; {
		case c.Now == "":
		case counts(e, now):
			list = append(list, Gone{ID: id, Edit: e, Journalled: true})
		case !c.Hash && !part.Same(c.Now):
			list = append(list, Gone{ID: id, Edit: e, Journalled: true, replaced: true, dated: f.dated(id, now)})
		}
	}
	return list
}

// lessened lists the parts of an issue that are no more, or not as they were; the issue
// itself where all of it went.
func lessened(before, now *beads.Record) []merge.Edit {
	switch {
	case before.Text(beads.Status) == beads.StatusTombstone:
		return nil // it was deleted before
	case now == nil:
		return merge.Edits(before, nil)
	case now.Text(beads.Status) == beads.StatusTombstone:
		return nil // a tombstone says who deleted it, and its notes may go
	}
	return slices.DeleteFunc(merge.Edits(before, now), func(e merge.Edit) bool { return e.Was == "" })
}

// texts are the keys whose text somebody relies on.
var texts = []beads.Key{"description", "acceptance_criteria", "design"}

// counts reports whether an edit lost something, whoever wrote it. Sections of notes in which one
// stands twice are no parts by themselves: there it is looked for by name.
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

// keepsSections reports whether notes have a section of each name in a text.
func keepsSections(doc *notes.Doc, text string) bool {
	for _, s := range notes.Parse(text).Sections() {
		if _, there := doc.Live(s.Name); !there {
			return false
		}
	}
	return true
}

// close adds an issue that was closed since, unless stig closed it.
func (found *Losses) close(f *lossFinder, id string) {
	before, now := f.before[id], f.now[id]
	if now == nil || now.Text(beads.Status) != beads.StatusClosed || before.Text(beads.Status) == beads.StatusClosed {
		return
	}
	if _, own := f.wrote[id][merge.PartName{Kind: merge.Key, Name: string(beads.Status)}]; own {
		return
	}
	found.Closed = append(found.Closed, Closed{id, now.Text(beads.CloseReason)})
}
