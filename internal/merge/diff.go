package merge

import "stig/internal/beads"

// Kind is what vanished, changed or was added.
type Kind string

const (
	KindIssue Kind = "issue"
	Section   Kind = "section"  // of the notes; the name is that of the section
	Signal    Kind = "signal"   // a row of the signal table
	Criteria  Kind = "criteria" // lines of the acceptance criteria
	Edge      Kind = "edge"     // the name is the issue that is depended on
	Label     Kind = "label"
	Comment   Kind = "comment" // the name is its author
	Key       Kind = "key"     // any other key; "notes" is the text outside of sections
	Memory    Kind = "memory"  // a line that is a memory, without an id; the name is its key
	Line      Kind = "line"    // another line about no issue, without an id
)

// Vanished is something that was there before and is gone.
type Vanished struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	Was  string `json:"was"` // its whole text; of an issue the title, of an edge the type, of a memory the value
}

// Changed is something in both stores that differs.
type Changed struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Added is something that was not there before.
type Added struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
}

// Diff is the difference: by issue in file order, by kind within an issue; lines that are not
// issues last.
type Diff struct {
	Vanished []Vanished `json:"vanished"`
	Changed  []Changed  `json:"changed"`
	Added    []Added    `json:"added"`

	former map[string]string // for renamed and new issues (""), by their current ids
}

// Before returns an issue's former id, and whether it existed.
func (d Diff) Before(id string) (string, bool) {
	was, other := d.former[id]
	if !other {
		was = id
	}
	return was, was != ""
}

// Empty reports whether nothing differs.
func (d Diff) Empty() bool { return len(d.Vanished)+len(d.Changed)+len(d.Added) == 0 }

// Stores compares two stores. Of a repeated id the last line counts; an unreadable line is not
// an issue, so its former issue has vanished. So has one whose id another issue has now
// (beads.Origin), unless it exists under the id that a merge gave it. Errors are those of
// beads.Issue.Record.
func Stores(before, after *beads.Snapshot) (Diff, error) {
	p := pairing{before: before, after: after, now: map[string]*beads.Issue{}, former: map[string]string{}}
	var differing []*beads.Issue
	for i, was := range before.All() {
		if counts, _ := before.Index(was.ID); counts != i {
			continue
		}
		is, same, err := p.find(was)
		if err != nil {
			return Diff{}, err
		}
		if same {
			continue
		}
		differing = append(differing, was)
		if is != nil && is.ID != was.ID {
			p.former[is.ID] = was.ID
		}
	}
	d := Diff{Vanished: []Vanished{}, Changed: []Changed{}, Added: []Added{}, former: p.former}
	for _, was := range differing {
		is := p.now[was.ID]
		if is == nil {
			d.Vanished = append(d.Vanished, Vanished{was.ID, KindIssue, was.ID, was.Title})
			continue
		}
		if err := d.issue(&p, was, is); err != nil {
			return Diff{}, err
		}
	}
	for i, is := range after.All() {
		if counts, _ := after.Index(is.ID); counts == i && p.isNew(is.ID) {
			d.former[is.ID] = ""
			d.Added = append(d.Added, Added{is.ID, KindIssue, is.Title})
		}
	}
	return d, d.lines(before, after)
}

func (d *Diff) issue(all *pairing, was, is *beads.Issue) error {
	before, err := was.Record()
	if err != nil {
		return err
	}
	after, err := is.Record()
	if err != nil {
		return err
	}
	p := pair{id: is.ID, before: all.renamed(before), after: after, rename: all.textNow, diff: d}
	if was.ID != is.ID {
		p.changed(Key, string(beads.ID), was.ID, is.ID)
	}
	p.notes()
	p.criteria()
	p.edges(all.rowsNow(was.Deps), is.Deps)
	p.labels()
	p.comments()
	p.keys()
	return nil
}
