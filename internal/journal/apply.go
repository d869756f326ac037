package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/merge"
	"stig/notes"
	"stig/signals"
)

// Kept is a finding that Apply did not restore, and why.
type Kept struct {
	Finding
	Reason string
}

// Result is what Apply did.
type Result struct {
	Applied []Finding
	Kept    []Kept
	Lines   []beads.Change

	schema *signals.Schema
}

// Apply restores findings if their place is still empty or has a value that the lost one had
// replaced. What somebody wrote there since stays. An issue that cannot be written does not
// keep the others from being restored. Everything is restored in one edit.
func Apply(ctx context.Context, s beads.Store, o beads.Options, findings []Finding, schema *signals.Schema) (*Result, error) {
	var result *Result
	o.Notes = func(before, after string) error { return nil } // each issue was judged by permits
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
		again := &Result{schema: schema}
		for _, group := range grouped(findings) {
			if err := again.issue(tx, group); err != nil {
				return err
			}
		}
		if result == nil || len(again.Applied) > 0 {
			result = again
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	result.Lines = lines
	return result, nil
}

// permits returns what is wrong with the notes of an issue after findings were restored: the
// sections in findings may change or go, and nothing else may.
func permits(group []Finding, before, after string) error {
	var p notes.Permit
	is := notes.Parse(after)
	for _, f := range group {
		name := f.Name
		switch {
		case f.Kind == merge.KindProse:
			return nil // the whole notes, without sections
		case f.Kind == merge.Signal:
			name = signals.Section
		case f.Kind != merge.Section:
			continue
		}
		if _, there := is.Live(name); there {
			p.Change = append(p.Change, name)
		} else {
			p.Remove = append(p.Remove, name)
		}
	}
	return p.Check(before, after)
}

// grouped groups findings, which are sorted by issue; in each group the issue itself comes
// first.
func grouped(findings []Finding) (groups [][]Finding) {
	for len(findings) > 0 {
		id := findings[0].ID
		end := slices.IndexFunc(findings, func(f Finding) bool { return f.ID != id })
		if end < 0 {
			end = len(findings)
		}
		group := slices.Clone(findings[:end])
		slices.SortStableFunc(group, func(a, b Finding) int { return rank(a) - rank(b) })
		groups, findings = append(groups, group), findings[end:]
	}
	return groups
}

// rank orders removed sections before restored text around them, and restored sections after.
func rank(f Finding) int {
	switch {
	case f.Kind == merge.KindIssue:
		return 0
	case inSections(f.Part) && f.Removed():
		return 1
	case f.Kind == merge.KindProse:
		return 2
	}
	return 3
}

// issue restores the findings of one issue.
func (r *Result) issue(tx *beads.Tx, group []Finding) error {
	id := group[0].ID
	at, there := tx.Snapshot().Index(id)
	switch {
	case there && tx.Snapshot().At(at).Status == beads.StatusTombstone && !(group[0].dead && group[0].State == Lost):
		r.keep(group, "the issue was deleted")
		return nil
	case there:
		return r.existing(tx, tx.Snapshot().At(at), group)
	case group[0].Kind != merge.KindIssue || group[0].Text == "":
		r.keep(group, "the issue is not in the store")
		return nil
	}
	record, err := beads.ParseRecord([]byte(group[0].Text))
	if err != nil {
		return fmt.Errorf("%s: its line in the journal: %w", id, err)
	}
	next := &Result{schema: r.schema, Applied: group[:1]}
	return r.take(next, group, tx.Restore(next.parts(record, nil, group[1:])))
}

// take records what was done for one issue; if it was refused, all of it is kept.
func (r *Result) take(done *Result, group []Finding, err error) error {
	if refused, is := fault.As(err, fault.Refused); is {
		r.keep(group, refused.Reason)
		return nil
	}
	if err == nil {
		r.Applied, r.Kept = append(r.Applied, done.Applied...), append(r.Kept, done.Kept...)
	}
	return err
}

func (r *Result) keep(findings []Finding, reason string) {
	for _, f := range findings {
		r.Kept = append(r.Kept, Kept{f, reason})
	}
}

// existing restores parts of an existing issue.
func (r *Result) existing(tx *beads.Tx, issue *beads.Issue, group []Finding) error {
	now, err := issue.Record()
	if err != nil {
		return err
	}
	group = slices.DeleteFunc(group, func(f Finding) bool { return f.Kind == merge.KindIssue })
	put := func(was *beads.Record) (*Result, *beads.Record, error) {
		done := &Result{schema: r.schema}
		next := done.parts(was, merge.Parts(was), group)
		if err := permits(group, was.Text(beads.Notes), next.Text(beads.Notes)); err != nil {
			return nil, nil, &fault.Error{Code: fault.Refused, ID: issue.ID, Reason: err.Error()}
		}
		return done, next, nil
	}
	done, next, err := put(now)
	if err == nil && !bytes.Equal(next.Bytes(), now.Bytes()) {
		err = tx.PutBack(issue.ID, func(was *beads.Record) (*beads.Record, error) {
			_, next, err := put(was)
			return next, err
		})
	}
	return r.take(done, group, err)
}

// parts restores findings in a record. now is the record in the store; nil for an issue that is
// recreated.
func (r *Result) parts(record *beads.Record, now []merge.Part, group []Finding) *beads.Record {
	for _, f := range group {
		record = r.part(record, now, f)
	}
	return record
}

// part restores one finding in a record, if what the issue held before allows it: a recreated
// table also has rows that were not lost.
func (r *Result) part(record *beads.Record, before []merge.Part, f Finding) *beads.Record {
	now, there := merge.FindPart(before, f.Kind, f.Name)
	free := !there && f.Shown == "" || there && now.Digest() == f.Shown
	switch {
	case f.Hidden:
		r.Kept = append(r.Kept, Kept{f, "the journal has only a hash: the value held a credential"})
		return record
	case there && now.Same(f.Text):
		return record
	case !free:
		r.Kept = append(r.Kept, Kept{f, "something else was written in its place"})
		return record
	}
	next, err := Put(record, f.Part, r.schema)
	if err != nil {
		r.Kept = append(r.Kept, Kept{f, err.Error()})
		return record
	}
	r.Applied = append(r.Applied, f)
	return next
}

// Put returns the record with a part set to a text; "" removes the part. Everything else keeps
// its bytes. schema validates a signal table.
func Put(r *beads.Record, p merge.Part, schema *signals.Schema) (*beads.Record, error) {
	switch p.Kind {
	case merge.Key:
		return r.PutRaw(beads.Key(p.Name), []byte(p.Text))
	case merge.Label:
		raw, err := json.Marshal(p.Name)
		if err != nil {
			return nil, err
		}
		return putElement(r, "labels", string(raw), p)
	case merge.Edge:
		return putElement(r, beads.Dependencies, p.Text, p)
	case merge.Comment:
		return putElement(r, "comments", p.Text, p)
	case merge.Section, merge.Signal:
		return putNotes(r, p, schema)
	case merge.KindProse:
		if now := merge.Parts(r); !slices.ContainsFunc(now, inSections) {
			return r.Put(beads.Notes, p.Text), nil
		}
	}
	return nil, fmt.Errorf("%s of the notes cannot be restored by itself", p.Kind)
}

// inSections reports whether a part is text in a section of the notes.
func inSections(p merge.Part) bool { return p.Kind == merge.Section || p.Kind == merge.Signal }

// putElement adds an element to a list, or removes it.
func putElement(r *beads.Record, k beads.Key, raw string, p merge.Part) (*beads.Record, error) {
	elements := slices.Clone(r.Elements(k))
	if p.Text != "" {
		return r.PutElements(k, append(elements, []byte(raw)))
	}
	kept := slices.DeleteFunc(elements, func(e []byte) bool {
		one, err := r.PutElements(k, [][]byte{e})
		if err != nil {
			return false
		}
		_, is := merge.FindPart(merge.Parts(one), p.Kind, p.Name)
		return is
	})
	return r.PutElements(k, kept)
}

// putNotes writes a section, or a row of the signal table.
func putNotes(r *beads.Record, p merge.Part, schema *signals.Schema) (*beads.Record, error) {
	doc := notes.Parse(r.Text(beads.Notes))
	var err error
	switch {
	case p.Kind == merge.Signal:
		doc, err = putSignal(doc, p, schema)
	case p.Text == "":
		doc, err = doc.Remove(p.Name)
	default:
		doc, err = doc.Replace(p.Name, p.Text)
	}
	if err != nil {
		return nil, err
	}
	return r.Put(beads.Notes, doc.Text()), nil
}

// putSignal writes the value and date of a row as they were, or removes the row, and the table
// with its last row. A missing table is created with defaults for the other rows.
func putSignal(doc *notes.Doc, p merge.Part, schema *signals.Schema) (*notes.Doc, error) {
	value, date := merge.CutSignal(p.Text)
	live, there := doc.Live(signals.Section)
	if table := doc.Table(live); there && table != nil {
		at := slices.IndexFunc(table.Rows, func(row notes.Row) bool { return row.Text(0) == p.Name })
		switch {
		case at >= 0 && p.Text != "":
			return doc.Apply(table.SetCells(doc, at, map[int]string{1: value, 2: date}))
		case at >= 0 && len(table.Rows) == 1:
			return doc.Remove(signals.Section)
		case at >= 0:
			return doc.Apply(table.DropRow(doc, at))
		}
	}
	if p.Text == "" {
		return doc, nil
	}
	s, known := signals.Named(p.Name)
	if !known {
		return nil, fmt.Errorf("the row %q cannot be restored by itself", p.Name)
	}
	day := date
	if !signals.IsDate(day) {
		day = anyDay
	}
	doc, _, _, err := signals.Apply(doc, signals.Update{Set: map[signals.Signal]string{s: value}, Today: day, Reaffirm: true}, schema)
	if err != nil || day == date {
		return doc, err
	}
	return putSignal(doc, p, schema) // the row exists now: set its date
}

// anyDay is a placeholder for a row's date until that is restored.
const anyDay = "2000-01-01"
