package lint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stig/beads"
	"stig/notes"
	"stig/signals"
)

// Rules are what a store is held against.
type Rules struct {
	Schema *signals.Schema
}

// Vet holds the form of a store against the convention: lines that parse,
// sections that pair, signal tables that the schema accepts, sections that
// agree with their signals. With indices it looks at those issues only,
// without at the whole file.
func Vet(f *beads.File, only []int, rules Rules) ([]Diagnostic, error) {
	v := vet{file: f, rules: rules}
	if only == nil {
		v.store()
		for i := range f.Len() {
			if err := v.issue(f.At(i)); err != nil {
				return nil, err
			}
		}
	}
	for _, i := range only {
		if err := v.issue(f.At(i)); err != nil {
			return nil, err
		}
	}
	return inOrder(v.found), nil
}

type vet struct {
	file  *beads.File
	rules Rules
	found []Diagnostic
}

// store reports the lines that keep the file from being written.
func (v *vet) store() {
	for _, p := range v.file.Problems() {
		d := Diagnostic{
			Rule: p.Rule, Severity: Error, ID: p.ID, File: v.file.Store().Path,
			Line: p.Line, Column: p.Column, Message: p.Message,
			Hint: "mend the line by hand or from git: nothing is written to the store until then",
		}
		if p.ID != "" {
			d.Hint = "keep one of the lines: this issue cannot be written until then"
		}
		v.found = append(v.found, d)
	}
}

func (v *vet) issue(issue *beads.Issue) error {
	record, err := issue.Record()
	if err != nil {
		return err
	}
	at := Diagnostic{ID: issue.ID, File: v.file.Store().Path, Line: issue.Line}
	doc := notes.Parse(record.Text(beads.Notes))
	for _, m := range doc.Malformed() {
		v.add(at, "section-malformed", Error, m.Line, m.Column,
			fmt.Sprintf("%s: %s", m.Section, m.Problem),
			"mend the delimiters by hand: these notes cannot be written until then")
	}
	table := signals.Read(doc, v.rules.Schema)
	for _, f := range table.Findings() {
		v.finding(at, f)
	}
	v.agreement(at, doc, table)
	if issue.Status != "closed" {
		v.estimate(at, doc, table)
	}
	v.description(at, record.Text(beads.Description))
	return nil
}

func (v *vet) add(at Diagnostic, rule string, severity Severity, line, column int, message, hint string) {
	at.Rule, at.Severity, at.NotesLine, at.NotesColumn = rule, severity, line, column
	at.Message, at.Hint = message, hint
	v.found = append(v.found, at)
}

// finding takes over what the signal table says of itself.
func (v *vet) finding(at Diagnostic, f signals.Finding) {
	severity := Warning
	if f.Severity == signals.Error {
		severity = Error
	}
	if f.Fix != "" {
		at.fix = &fix{signal: f.Signal, value: f.Fix}
	}
	v.add(at, f.Rule, severity, f.Line, f.Column, f.Message, strings.ReplaceAll(f.Hint, " ID", " "+at.ID))
}

// agreement holds the escalation signal against the section it speaks of.
func (v *vet) agreement(at Diagnostic, doc *notes.Doc, table *signals.Table) {
	said := table.Value(signals.Escalation)
	standing := signals.Standing(signals.Escalations(doc))
	if said == standing {
		return
	}
	line, column := table.Place(signals.Escalation)
	v.add(at, "escalation-disagrees", Warning, line, column,
		fmt.Sprintf("escalation: the signal says %s, the escalation section amounts to %s", said, standing),
		fmt.Sprintf("type stig signals set %s escalation=%s, or add what the section lacks", at.ID, standing))
}

// estimate asks for a state estimate where somebody may take the work over.
func (v *vet) estimate(at Diagnostic, doc *notes.Doc, table *signals.Table) {
	progress := table.Value(signals.Progress)
	if progress != "implementing" && progress != "blocked" {
		return
	}
	if _, has := signals.LastEstimate(doc); has {
		return
	}
	line, column := table.Place(signals.Progress)
	v.add(at, "estimate-missing", Warning, line, column,
		fmt.Sprintf("progress %s without a state estimate: whoever comes next starts blind", progress),
		fmt.Sprintf("type stig checkpoint %s --done … --learned … --remains … --downstream …", at.ID))
}

// description looks for signals where nothing reads them.
func (v *vet) description(at Diagnostic, text string) {
	if !strings.Contains(text, signals.Section) || len(notes.Parse(text).Named(signals.Section)) == 0 {
		return
	}
	v.add(at, "table-in-description", Warning, 0, 0,
		"a signal table in the description is text: signals are read from the notes only",
		fmt.Sprintf("type stig signals init %s and take it out of the description", at.ID))
}

// fix is a value that may be written without a person's decision.
type fix struct{ signal, value string }

// Fix mends what Vet found to be fixable, all in one edit of the store. It
// returns the changed lines.
func Fix(ctx context.Context, s beads.Store, o beads.Options, diagnostics []Diagnostic, rules Rules) ([]beads.Change, error) {
	mends := map[string]map[signals.Signal]string{}
	var order []string
	for _, d := range diagnostics {
		if d.fix == nil {
			continue
		}
		signal, ok := signals.Named(d.fix.signal)
		if !ok {
			return nil, fmt.Errorf("%s: no signal %q to mend", d.Place(), d.fix.signal)
		}
		if mends[d.ID] == nil {
			mends[d.ID] = map[signals.Signal]string{}
			order = append(order, d.ID)
		}
		mends[d.ID][signal] = d.fix.value
	}
	if len(order) == 0 {
		return nil, nil
	}
	o.Notes = notes.Permit{Change: []string{signals.Section}}.Check
	return beads.Edit(ctx, s, o, func(tx *beads.Tx) error {
		for _, id := range order {
			record, err := tx.Record(id)
			if err != nil {
				return err
			}
			update := signals.Update{Set: mends[id], Today: o.Now.Format(time.DateOnly)}
			doc, _, _, err := signals.Apply(notes.Parse(record.Text(beads.Notes)), update, rules.Schema)
			if invalid := (*signals.InvalidError)(nil); errors.As(err, &invalid) {
				continue // something else in that table needs a person; vet goes on saying so
			}
			if err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			if err := tx.Set(id, beads.Set{Key: beads.Notes, Text: doc.Text()}); err != nil {
				return err
			}
		}
		return nil
	})
}
