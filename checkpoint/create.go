package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"stig/beads"
	"stig/notes"
	"stig/signals"
)

// Draft is an issue to be made.
type Draft struct {
	Title, Type, Description, Acceptance, Assignee string
	Priority                                       int
	Labels                                         []string
	Parent                                         string // the issue gets the next id below it
	Deps                                           []beads.Dep
	Cynefin                                        string // "" for the default; brings its planning depth
	Evidence                                       bool   // the table gets the evidence rows
	By                                             string

	// Number gives the number of a new child of a parent whose greatest in the
	// store is known; nil for one more.
	Number func(parent string, greatest int) (int, error)
}

// Created says which issue was made.
type Created struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Warnings []string `json:"warnings"`

	Lines []beads.Change `json:"-"`
}

// Create adds an issue with its signal table. Its id is a hash of what it is
// about, or the next one below its parent. It refuses what Link refuses, an
// unknown parent or dependency (*beads.NotFoundError), a value that the schema
// does not take, and a draft that cannot be as it is given (fault.Usage).
func Create(ctx context.Context, s beads.Store, o beads.Options, d Draft, rules Rules) (*Created, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	table, err := d.table(rules)
	if err != nil {
		return nil, err
	}
	var created *Created
	var written []byte
	d.Number = once(d.Number)
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
		if created != nil && holds(tx.Snapshot(), created.ID, written) {
			return nil // made already: the edit is being made once more
		}
		issue, err := d.issue(tx.Snapshot(), rules)
		if err != nil {
			return err
		}
		issue.Notes = table
		created = &Created{ID: issue.ID, Title: issue.Title, Warnings: oddType(tx.Snapshot(), issue.Type)}
		written, err = tx.Add(issue)
		return err
	})
	if err != nil {
		return nil, err
	}
	created.Lines = lines
	return created, nil
}

// once gives the number that it gave before as long as that is free.
func once(number func(string, int) (int, error)) func(string, int) (int, error) {
	if number == nil {
		return nil
	}
	given := 0
	return func(parent string, greatest int) (n int, err error) {
		if given <= greatest {
			given, err = number(parent, greatest)
		}
		return given, err
	}
}

// holds reports whether the store holds this very line.
func holds(f *beads.Snapshot, id string, line []byte) bool {
	i, ok := f.Index(id)
	if !ok {
		return false
	}
	record, err := f.At(i).Record()
	return err == nil && bytes.Equal(record.Bytes(), line)
}

// checkTitle says why no issue can have a title.
func checkTitle(title string) error {
	const most = 500 // characters that bd takes
	if strings.TrimSpace(title) == "" {
		return usage("the title is empty", "say in one line what there is to do")
	}
	if strings.ContainsAny(title, "\r\n") {
		return usage(fmt.Sprintf("title: must be one line; found %q", title), "put the rest into --description")
	}
	if n := utf8.RuneCountInString(title); n > most {
		return usage(fmt.Sprintf("title: must be at most %d characters long; found %d", most, n), "put the rest into --description")
	}
	return nil
}

func (d Draft) check() error {
	if err := checkTitle(d.Title); err != nil {
		return err
	}
	if d.Priority < 0 || d.Priority > 4 {
		return usage(fmt.Sprintf("priority: must be 0 to 4; found %d", d.Priority), "")
	}
	if d.Type == "" || strings.TrimSpace(d.Type) != d.Type {
		return usage(fmt.Sprintf("type: must be a word such as task; found %q", d.Type), "")
	}
	for _, l := range d.Labels {
		if strings.TrimSpace(l) != l || l == "" {
			return usage(fmt.Sprintf("label: must be a word; found %q", l), "")
		}
	}
	return nil
}

// Types are the types of issues that every version of bd takes.
func Types() []string { return []string{"bug", "feature", "task", "epic", "chore"} }

// oddType warns of a type that is none of them, and that no issue has.
func oddType(f *beads.Snapshot, kind string) []string {
	if slices.Contains(Types(), kind) {
		return []string{}
	}
	for _, issue := range f.All() {
		if issue.Type == kind {
			return []string{}
		}
	}
	return []string{fmt.Sprintf("type %q: no issue has it yet, and some versions of bd take only %s", kind, strings.Join(Types(), ", "))}
}

// table is the notes of a new issue.
func (d Draft) table(rules Rules) (string, error) {
	set := map[signals.Signal]string{}
	if d.Cynefin != "" {
		set[signals.Cynefin] = d.Cynefin
	}
	doc, _, _, err := signals.Apply(notes.Parse(""), signals.Update{Set: set, Today: rules.today(), Evidence: d.Evidence}, rules.Schema)
	if err != nil {
		return "", err
	}
	return doc.Text(), nil
}

// issue resolves a draft against the store that it goes into.
func (d Draft) issue(f *beads.Snapshot, rules Rules) (beads.New, error) {
	n := beads.New{
		Title: d.Title, Description: d.Description, AcceptanceCriteria: d.Acceptance, Status: statusOpen,
		Type: d.Type, Assignee: d.Assignee, Priority: d.Priority, Labels: distinct(d.Labels), By: d.By,
	}
	var err error
	if d.Parent != "" {
		parent, err := f.Find(d.Parent)
		if err != nil {
			return n, err
		}
		if beads.Over(parent.Status) {
			return n, usage(fmt.Sprintf("%s: is over (status %s) and gets no more children", parent.ID, parent.Status), "name another --parent")
		}
		if n.ID, err = f.ChildID(parent.ID, nil); err != nil {
			return n, usage(err.Error(), "leave --parent out, and add --deps parent-child:"+parent.ID)
		}
		n.Deps = append(n.Deps, beads.Dep{On: parent.ID, Type: "parent-child"})
	} else if n.ID, err = d.newID(f, rules); err != nil {
		return n, err
	}
	for _, dep := range d.Deps {
		if err := checkType(n.ID, dep); err != nil {
			return n, err
		}
		if dep.On, err = targetOf(f, dep.On); err != nil {
			return n, err
		}
		if !slices.Contains(n.Deps, dep) {
			n.Deps = append(n.Deps, dep)
		}
	}
	if err := refuse(f, n.ID, n.Deps...); err != nil || d.Parent == "" {
		return n, err
	}
	// No number is taken for an issue that is refused.
	n.ID, err = f.ChildID(n.Deps[0].On, d.number(n.Deps[0].On))
	return n, err
}

// number is Number for one parent.
func (d Draft) number(parent string) func(int) (int, error) {
	if d.Number == nil {
		return nil
	}
	return func(greatest int) (int, error) { return d.Number(parent, greatest) }
}

func (d Draft) newID(f *beads.Snapshot, rules Rules) (string, error) {
	prefix, err := f.Prefix()
	if err != nil {
		return "", err
	}
	return f.NewID(prefix, beads.Seed{Title: d.Title, Description: d.Description, By: d.By, Now: rules.Now})
}

func distinct(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
