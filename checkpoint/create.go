package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
	"stig/signals"
)

// Draft is an issue to create.
type Draft struct {
	Line                                           int    // line of the draft in the input; 0 for none
	Name                                           string // the name by which later drafts of a batch refer to it in Parent and Deps; "" for none
	Title, Type, Description, Acceptance, Assignee string
	Design, ExternalRef                            string
	Priority                                       int
	Estimate                                       int       // in minutes; 0 for none
	Defer                                          time.Time // not ready before then; zero for none
	Due                                            time.Time // zero for none
	Labels                                         []string
	Parent                                         string // the issue gets the next id below it
	Deps                                           []beads.Dep
	Cynefin                                        string // "" for the default; sets the planning depth
	Evidence                                       bool   // add the evidence rows to the table
	By                                             string
	Types                                          []string // custom types of the project, besides those of bd

	unread []string // warnings about text that may have been meant as a field

	// Number returns the number of a new child, given the parent and its greatest child number
	// in the store; if nil, it is the next one.
	Number func(parent string, greatest int) (int, error)
}

// Created names the created issue.
type Created struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	After    []string `json:"after,omitempty"` // ids of the issues that it waits for
	Warnings []string `json:"warnings"`

	stored
}

// BatchError is the error of one draft or amendment of a batch.
type BatchError struct {
	At   int // its index, from 0
	Line int // its line in the input; 0 for none
	Err  error
}

func (e *BatchError) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *BatchError) Unwrap() error { return e.Err }

// Create adds an issue with its signal table. Its id is a hash of its content, or the next
// number below its parent. Create returns a fault.NotFound for an unknown parent or dependency,
// a fault.Usage for an invalid draft, and the errors of Link and of the schema.
func Create(ctx context.Context, s beads.Store, o beads.Options, d Draft, rules Rules) (*Created, error) {
	list, lines, err := CreateAll(ctx, s, o, []Draft{d}, rules)
	if e, ok := err.(*BatchError); ok {
		err = e.Err
	}
	if err != nil {
		return nil, err
	}
	list[0].Lines = lines
	return list[0], nil
}

// CreateAll creates several issues in one edit: all of them, or none. A draft may name earlier
// drafts in Parent and Deps. An error caused by one draft is a *BatchError.
func CreateAll(ctx context.Context, s beads.Store, o beads.Options, drafts []Draft, rules Rules) ([]*Created, []beads.Change, error) {
	drafts = slices.Clone(drafts)
	tables := make([]string, len(drafts))
	for i := range drafts {
		d := &drafts[i]
		err := d.check()
		if err == nil {
			tables[i], err = d.table(rules)
		}
		if err != nil {
			return nil, nil, &BatchError{i, d.Line, err}
		}
		d.Number = once(d.Number)
	}
	var created []*Created
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
		b := batch{file: &grown{Snapshot: tx.Snapshot()}, rules: rules, named: map[string]string{}, greatest: map[string]int{}}
		created = nil
		for i, d := range drafts {
			issue, err := b.issue(d)
			if err != nil {
				return &BatchError{i, d.Line, err}
			}
			if err := takenByBR(tx, drafts[:i], "", issue.Description, issue.ExternalRef); err != nil {
				return &BatchError{i, d.Line, err}
			}
			issue.Notes = tables[i]
			if _, err := tx.Add(issue); err != nil {
				return &BatchError{i, d.Line, err}
			}
			warnings := append(append(oddType(tx.Snapshot(), issue.Type), oddDeps(tx.Snapshot(), d.Deps)...), d.unread...)
			created = append(created, &Created{ID: issue.ID, Title: issue.Title, After: blockersIn(issue.Deps), Warnings: warnings})
		}
		return nil
	})
	return created, lines, err
}

// blockersIn returns the issues that the rows wait for.
func blockersIn(deps []beads.Dep) (ids []string) {
	for _, dep := range deps {
		if dag.Blocks(dep.Type) {
			ids = append(ids, dep.On)
		}
	}
	return ids
}

// once returns the same number again until that number is taken.
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

// checkTitle returns an error for an invalid title.
func checkTitle(title string) error {
	const most = 500 // limit of bd and beads_rust, in bytes
	if strings.TrimSpace(title) == "" {
		return usage("the title is empty", "describe the task in one line")
	}
	if strings.ContainsAny(title, "\r\n") {
		return usage(fmt.Sprintf("title: must be one line; found %q", title), "put the rest into --description")
	}
	if n := len(title); n > most {
		return usage(fmt.Sprintf("title: must be at most %d bytes long; found %d", most, n), "put the rest into --description")
	}
	return nil
}

// takenByBR refuses values that beads_rust cannot read, if the store is used with it:
// beads_rust rejects the whole file for one invalid line. before are earlier drafts of the same
// batch.
func takenByBR(tx *beads.Tx, before []Draft, id, description, ref string) error {
	const most, mostRef = 100 << 10, 200
	if !tx.Snapshot().Place().BR {
		return nil
	}
	if n := len(description); n > most {
		return usage(fmt.Sprintf("description: br reads at most %d bytes, and rejects the whole file otherwise; found %d", most, n), "put the rest into --design")
	}
	if ref == "" {
		return nil
	}
	if len(ref) > mostRef || strings.ContainsFunc(ref, unicode.IsSpace) {
		return usage(fmt.Sprintf("external reference: br reads a word of at most %d bytes, and rejects the whole file otherwise; found %q", mostRef, ref), "name it in the description")
	}
	taken := func(who string) error {
		return usage(fmt.Sprintf("external reference: %s already has %q, and br rejects a file where two issues share one", who, ref), "name it in the description")
	}
	for _, d := range before {
		if d.ExternalRef == ref {
			return taken(fmt.Sprintf("%q", d.Title))
		}
	}
	for _, issue := range tx.Snapshot().All() {
		other, err := tx.Record(issue.ID)
		if fault.Is(err, fault.Refused) { // tombstones count too
			other, err = issue.Record()
		}
		if err != nil {
			return err
		}
		if issue.ID != id && other.Text(beads.ExternalRef) == ref {
			return taken(issue.ID)
		}
	}
	return nil
}

func (d Draft) check() error {
	if err := checkTitle(d.Title); err != nil {
		return err
	}
	if err := checkPriority(d.Priority); err != nil {
		return err
	}
	if d.Estimate < 0 {
		return usage(fmt.Sprintf("estimate: must not be negative; found %d", d.Estimate), "")
	}
	return checkLabels(d.Labels)
}

func checkPriority(p int) error {
	if p < 0 || p > 4 {
		return usage(fmt.Sprintf("priority: must be 0 to 4; found %d", p), "0 is the most urgent")
	}
	return nil
}

func checkLabels(labels []string) error {
	for _, l := range labels {
		if strings.TrimSpace(l) != l || l == "" || strings.ContainsFunc(l, unicode.IsControl) {
			return usage(fmt.Sprintf("label: must be a word; found %q", l), "")
		}
	}
	return nil
}

// Types lists the issue types that every version of bd accepts.
func Types() []string { return []string{"bug", "feature", "task", "epic", "chore"} }

// newerTypes lists issue types that only some versions of bd accept.
func newerTypes() []string {
	return []string{"event", "decision", "message", "molecule", "gate", "spike", "story", "milestone"}
}

// checkIssueType refuses a type that is unknown to bd, not configured by the project and used
// by no issue: most likely it is misspelt.
func checkIssueType(f *beads.Snapshot, kind string, own []string) error {
	if slices.Contains(Types(), kind) || slices.Contains(newerTypes(), kind) || slices.Contains(own, kind) || usesType(f, kind) {
		return nil
	}
	return usage(fmt.Sprintf("type: must be one of %s, or one that the store uses; found %q", strings.Join(slices.Concat(Types(), own), ", "), kind),
		fmt.Sprintf("to use a type of your own, write types: [%q] into .stig.cue", kind))
}

func usesType(f *beads.Snapshot, kind string) bool {
	for _, issue := range f.All() {
		if kind != "" && issue.Type == kind {
			return true
		}
	}
	return false
}

// oddType warns about a type that no issue has yet and that some versions of bd reject.
func oddType(f *beads.Snapshot, kind string) []string {
	if slices.Contains(Types(), kind) || usesType(f, kind) {
		return []string{}
	}
	return []string{fmt.Sprintf("type %q: no issue has it yet, and some versions of bd accept only %s", kind, strings.Join(Types(), ", "))}
}

// table returns the notes of a new issue.
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

// batch resolves drafts against the store and against earlier drafts of the batch.
type batch struct {
	file     *grown
	rules    Rules
	named    map[string]string // ids of earlier drafts, by name and by id
	greatest map[string]int    // the greatest child number in the batch, by parent
}

// grown is a snapshot together with the issues that a batch adds.
type grown struct {
	*beads.Snapshot
	added []*beads.Issue
}

func (g *grown) Len() int { return g.Snapshot.Len() + len(g.added) }

func (g *grown) At(i int) *beads.Issue {
	if i < g.Snapshot.Len() {
		return g.Snapshot.At(i)
	}
	return g.added[i-g.Snapshot.Len()]
}

func (g *grown) Index(id string) (int, bool) {
	for i, issue := range g.added {
		if issue.ID == id {
			return g.Snapshot.Len() + i, true
		}
	}
	return g.Snapshot.Index(id)
}

func (b *batch) issue(d Draft) (beads.New, error) {
	n := beads.New{
		Title: d.Title, Description: d.Description, Design: d.Design, AcceptanceCriteria: d.Acceptance, Status: beads.StatusOpen,
		Type: d.Type, Assignee: d.Assignee, ExternalRef: d.ExternalRef, Priority: d.Priority, Estimate: d.Estimate, DeferUntil: d.Defer, DueAt: d.Due,
		Labels: distinct(d.Labels), By: d.By,
	}
	if err := checkIssueType(b.file.Snapshot, d.Type, d.Types); err != nil {
		return n, err
	}
	if _, taken := b.named[d.Name]; d.Name != "" && taken {
		return n, usage(fmt.Sprintf("name %q is taken by an earlier line", d.Name), "name each line differently")
	}
	var err error
	if d.Parent != "" {
		parent, err := b.parent(d.Parent)
		if err != nil {
			return n, err
		}
		if n.ID, err = b.file.ChildID(parent, func(greatest int) (int, error) { return max(greatest, b.greatest[parent]) + 1, nil }); err != nil {
			return n, usage(err.Error(), "leave --parent out, and add --deps parent-child:"+parent)
		}
		n.Deps = append(n.Deps, beads.Dep{On: parent, Type: parentChild})
	} else if n.ID, err = b.newID(d); err != nil {
		return n, err
	}
	for _, dep := range d.Deps {
		if err := checkType(n.ID, dep); err != nil {
			return n, err
		}
		if dep.On, err = b.target(dep.On); err != nil {
			return n, err
		}
		if !slices.Contains(n.Deps, dep) {
			n.Deps = append(n.Deps, dep)
		}
	}
	if err := refuse(b.file, n.ID, n.Deps...); err != nil {
		return n, err
	}
	if d.Parent != "" { // refused issues must not use up a number
		if n.ID, err = b.childID(d, n.Deps[0].On); err != nil {
			return n, err
		}
	}
	b.file.added = append(b.file.added, &beads.Issue{ID: n.ID, Title: n.Title, Status: n.Status, Type: n.Type, Deps: n.Deps})
	b.named[n.ID] = n.ID
	if d.Name != "" {
		b.named[d.Name] = n.ID
	}
	return n, nil
}

// parent returns the id of an unclosed issue of the store or the batch.
func (b *batch) parent(id string) (string, error) {
	if made, ok := b.named[id]; ok {
		return made, nil
	}
	parent, err := b.file.Find(id)
	if err != nil {
		return "", err
	}
	if beads.IsClosed(parent.Status) {
		return "", usage(fmt.Sprintf("%s: cannot add a child; its status is %s", parent.ID, parent.Status), "name another --parent")
	}
	return parent.ID, nil
}

func (b *batch) target(id string) (string, error) {
	if made, ok := b.named[id]; ok {
		return made, nil
	}
	return targetOf(b.file.Snapshot, id)
}

func (b *batch) childID(d Draft, parent string) (string, error) {
	id, err := b.file.ChildID(parent, func(greatest int) (n int, err error) {
		greatest = max(greatest, b.greatest[parent])
		n = greatest + 1
		if _, inBatch := b.named[parent]; d.Number != nil && !inBatch {
			n, err = d.Number(parent, greatest)
		}
		b.greatest[parent] = n
		return n, err
	})
	return id, err
}

// newID returns the hash of a draft's content. If an earlier draft of the batch has it, newID
// returns the next free one.
func (b *batch) newID(d Draft) (string, error) {
	prefix, err := b.file.Prefix()
	if err != nil {
		return "", err
	}
	seed := beads.Seed{Title: d.Title, Description: d.Description, By: d.By, Now: b.rules.Now}
	for {
		id, err := b.file.NewID(prefix, seed)
		if _, taken := b.named[id]; err != nil || !taken {
			return id, err
		}
		seed.Now = seed.Now.Add(1)
	}
}

func distinct(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
