// Package diff compares two stores by what they say: issues, sections and
// signals of their notes, acceptance criteria, edges, comments, other keys.
// What vanished is told apart from what changed, because that is what nobody
// notices: a tool that rewrites the file leaves every issue in place.
//
// Spelling does not count: lines in another order or with other escapes are
// the same. Neither does updated_at, which every write moves.
//
// The package does not know revisions, and judges nothing: whether a section
// may vanish is for others to say.
//
//	d, err := diff.Stores(before, after)
//	for _, v := range d.Vanished {
//		fmt.Println(v.ID, v.Kind, v.Name)
//	}
package diff

import (
	"bytes"

	"stig/beads"
)

// Kind is what vanished, changed or was added.
type Kind string

const (
	Issue    Kind = "issue"
	Section  Kind = "section"  // of the notes; the name is that of the section
	Signal   Kind = "signal"   // a row of the signal table
	Criteria Kind = "criteria" // lines of the acceptance criteria
	Edge     Kind = "edge"     // the name is the issue that is depended on
	Label    Kind = "label"
	Comment  Kind = "comment" // the name is its author
	Key      Kind = "key"     // any other key; "notes" is the text outside of sections
)

// Vanished is something that was there and is no more.
type Vanished struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	Was  string `json:"was"` // its whole text; of an issue the title, of an edge the type
}

// Changed is something that is there in both, and differs.
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

// Diff is what differs: in the order of the issues in the file, and of kinds
// within an issue.
type Diff struct {
	Vanished []Vanished `json:"vanished"`
	Changed  []Changed  `json:"changed"`
	Added    []Added    `json:"added"`
}

// Empty tells whether nothing differs.
func (d Diff) Empty() bool { return len(d.Vanished)+len(d.Changed)+len(d.Added) == 0 }

// Stores compares two stores. Of a repeated id the last line counts; a line
// that cannot be read is no issue, and the issue that it was has vanished.
// Errors are those of beads.Issue.Record.
func Stores(before, after *beads.File) (Diff, error) {
	d := Diff{Vanished: []Vanished{}, Changed: []Changed{}, Added: []Added{}}
	var lines comparer
	for i, was := range before.All() {
		if counts, _ := before.Index(was.ID); counts != i {
			continue
		}
		j, ok := after.Index(was.ID)
		if !ok {
			d.Vanished = append(d.Vanished, Vanished{was.ID, Issue, was.ID, was.Title})
			continue
		}
		is := after.At(j)
		same, err := lines.same(was, is)
		if err != nil {
			return Diff{}, err
		}
		if same {
			continue
		}
		if err := d.issue(was, is); err != nil {
			return Diff{}, err
		}
	}
	for i, is := range after.All() {
		_, known := before.Index(is.ID)
		if counts, _ := after.Index(is.ID); !known && counts == i {
			d.Added = append(d.Added, Added{is.ID, Issue, is.Title})
		}
	}
	return d, nil
}

// comparer compares lines as bytes, in memory that it uses again.
type comparer struct{ a, b []byte }

func (c *comparer) same(was, is *beads.Issue) (bool, error) {
	if was.Size() != is.Size() {
		return false, nil
	}
	var err error
	if c.a, err = was.AppendLine(c.a[:0]); err != nil {
		return false, err
	}
	if c.b, err = is.AppendLine(c.b[:0]); err != nil {
		return false, err
	}
	return bytes.Equal(c.a, c.b), nil
}

func (d *Diff) issue(was, is *beads.Issue) error {
	before, err := was.Record()
	if err != nil {
		return err
	}
	after, err := is.Record()
	if err != nil {
		return err
	}
	p := pair{id: was.ID, before: before, after: after, diff: d}
	p.notes()
	p.criteria()
	p.edges(was.Deps, is.Deps)
	p.labels()
	p.comments()
	p.keys()
	return nil
}
