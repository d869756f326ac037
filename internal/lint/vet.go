package lint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// Vet validates the form of a store: lines that parse, sections that pair, signal tables that
// the schema accepts, sections that agree with their signals. If only is not nil, it checks
// those issues and not the store as a whole.
func Vet(f *beads.Snapshot, only []int, rules Rules) ([]Diagnostic, error) {
	found, err := inspect(f, only, rules, form, nil)
	if err == nil && only == nil {
		found = append(store(f), found...)
	}
	return inOrder(found), err
}

// form are the judges of Vet.
var form = []judge{incomplete, unknownStatus, flaws, priority, refused, closing, backdated, repeatedRows, encoding, ahead, malformed, values, escalation, estimate, merged, description, tangled}

// store reports the lines that keep the file from being written.
func store(f *beads.Snapshot) (found []Diagnostic) {
	for _, p := range f.Problems() {
		hint := "fix the line by hand or from git: nothing is written to the store until then"
		switch {
		case p.Rule == beads.ConflictMarker:
			hint = "type stig merge --resolve to see the open questions"
		case p.ID != "":
			hint = "keep one of the lines; if they say the same, stig vet --fix keeps one"
		}
		d := breach(f, p.Rule, p.ID, p.Line, p.Message, hint)
		d.Column = p.Column
		found = append(found, d)
	}
	return found
}

// incomplete reports issues that lack what every reader needs.
func incomplete(s *subject) {
	untitled := strings.TrimSpace(s.issue.Title) == ""
	switch {
	case untitled && s.issue.Status == "":
		s.add(RuleIncomplete, 0, 0, "no title and no status: this may be another program's file", "see which program writes it; an issue has a title, and is open or closed")
	case untitled:
		s.add(RuleIncomplete, 0, 0, "no title", "write one into the line: \"title\":\"…\"")
	case s.issue.Status == "":
		s.add(RuleIncomplete, 0, 0, "no status: it is neither open nor closed, and is never ready", "write it into the line: \"status\":\"open\"")
	}
}

func malformed(s *subject) {
	for _, m := range s.doc.Malformed() {
		s.add(RuleMalformed, m.Line, m.Column,
			fmt.Sprintf("%s: %s", m.Section, m.Problem),
			"fix the delimiters by hand: these notes cannot be written until then")
	}
}

// values reports the findings of the signal table.
func values(s *subject) {
	for _, f := range s.table.Findings() {
		s.add(f.Rule, f.Line, f.Column, f.Message, strings.ReplaceAll(f.Hint, " ID", " "+s.issue.ID))
		if f.Fix != "" {
			s.found[len(s.found)-1].fix = &fix{signal: f.Signal, value: f.Fix}
		}
	}
}

// escalation compares the escalation signal with its section.
func escalation(s *subject) {
	said := s.table.Value(signals.Escalation)
	standing := signals.Standing(signals.Escalations(s.doc))
	if said == standing {
		return
	}
	line, column := s.table.Place(signals.Escalation)
	s.add(RuleEscalation, line, column,
		fmt.Sprintf("escalation: %s, but its section says %s", said, standing),
		fmt.Sprintf("type stig signals set %s escalation=%s, or add what the section lacks", s.issue.ID, standing))
}

// estimate reports work without a state estimate that somebody else may take over.
func estimate(s *subject) {
	progress := s.table.Value(signals.Progress)
	if s.closed() || !signals.UnderWay(progress) {
		return
	}
	if _, has := signals.LastEstimate(s.doc); has {
		return
	}
	line, column := s.table.Place(signals.Progress)
	s.add(RuleEstimate, line, column,
		fmt.Sprintf("progress %s without a state estimate", progress),
		fmt.Sprintf("type stig checkpoint %s --done … --learned … --remains … --downstream …", s.issue.ID))
}

// merged reports estimates of other branches that nobody has folded yet.
func merged(s *subject) {
	if s.closed() {
		return
	}
	for _, e := range signals.MergedEstimates(s.doc) {
		section, _ := s.doc.Live(e.Name)
		day := ""
		if e.Date != "" {
			day = " (" + e.Date + ")"
		}
		s.add(RuleMerged, section.Line, 1, "the estimate of another branch"+day+" is not folded",
			fmt.Sprintf("read it in stig orient %s, then type stig checkpoint %s --fold", s.issue.ID, s.issue.ID))
	}
}

// description reports signal tables in the description, where nothing reads them, unless the
// issue is closed.
func description(s *subject) {
	if s.over() || !s.record.MayHold(beads.Description, signals.Section) {
		return
	}
	text := s.record.Text(beads.Description)
	if !strings.Contains(text, signals.Section) {
		return
	}
	if _, there := notes.Parse(text).Live(signals.Section); !there {
		return
	}
	s.add(RuleDescription, 0, 0,
		"a signal table in the description is not read",
		fmt.Sprintf("type stig signals init %s and remove it from the description", s.issue.ID))
}

// fix is a value that may be written without a person's decision: a signal's value, or the
// present time for updated_at.
type fix struct {
	signal, value string
	redate        bool
}

// Fix writes the values that Vet found to be fixable, all in one edit of the store. It returns
// the changed lines.
func Fix(ctx context.Context, s beads.Store, o beads.Options, diagnostics []Diagnostic, rules Rules) ([]beads.Change, error) {
	fixes, order, err := fixesOf(diagnostics)
	if err != nil || len(order) == 0 {
		return nil, err
	}
	o.Notes = notes.Permit{Change: []string{signals.Section}}.Check
	return s.Edit(ctx, o, func(tx *beads.Tx) error {
		for _, id := range order {
			if len(fixes[id]) == 0 {
				if err := tx.Redate(id); err != nil {
					return err
				}
				continue // its signals can be written after that
			}
			record, err := tx.Record(id)
			if err != nil {
				return err
			}
			update := signals.Update{Set: fixes[id], Today: signals.Day(o.Now)}
			doc, _, _, err := signals.Apply(notes.Parse(record.Text(beads.Notes)), update, rules.Schema)
			if _, invalid := errors.AsType[*signals.InvalidError](err); invalid {
				continue // something else in that table needs a person; vet keeps reporting it
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

// fixesOf returns the values to write by issue, none for one to be redated, and the issues in
// their order.
func fixesOf(diagnostics []Diagnostic) (fixes map[string]map[signals.Signal]string, order []string, err error) {
	fixes = map[string]map[signals.Signal]string{}
	redated := map[string]bool{}
	for _, d := range diagnostics {
		if d.fix == nil {
			continue
		}
		if d.fix.redate {
			if fixes[d.ID] == nil {
				order = append(order, d.ID)
			}
			fixes[d.ID], redated[d.ID] = map[signals.Signal]string{}, true
		}
		if redated[d.ID] {
			continue
		}
		signal, ok := signals.Named(d.fix.signal)
		if !ok {
			return nil, nil, fmt.Errorf("%s: no signal %q to fix", d.Place(), d.fix.signal)
		}
		if fixes[d.ID] == nil {
			fixes[d.ID] = map[signals.Signal]string{}
			order = append(order, d.ID)
		}
		fixes[d.ID][signal] = d.fix.value
	}
	return fixes, order, nil
}

// Remaining returns what Vet would find in the same issues after the changes, given what it
// finds now. A dry run of Fix ends with the same result as Fix.
func Remaining(f *beads.Snapshot, found []Diagnostic, changes []beads.Change, rules Rules) ([]Diagnostic, error) {
	left := slices.Clone(found)
	for _, c := range changes {
		at, ok := f.Index(c.ID)
		if !ok {
			continue // gone meanwhile
		}
		record, err := beads.ParseRecord(c.After)
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(d Diagnostic) bool { return d.ID == c.ID })
		left = append(left, judgeOne(f, f.At(at), record, rules, form).found...)
	}
	return inOrder(left), nil
}

// tangled reports texts that are too complex to be read as Markdown.
func tangled(s *subject) {
	say := func(place, text string) {
		if why := notes.Tangled(text); why != "" {
			s.add(RuleTangled, 0, 0, place+": "+why, "write it in words, or put it into a file and name the file")
		}
	}
	for _, key := range []beads.Key{beads.Description, beads.Design, beads.AcceptanceCriteria, beads.Notes} {
		if len(s.record.Raw(key)) > short {
			say(string(key), s.record.Text(key))
		}
	}
	if len(s.record.Raw(beads.Comments)) > short {
		for i, c := range s.record.Comments() {
			say(fmt.Sprintf("comment %d", i+1), c.Text)
		}
	}
}

// short is the size in bytes up to which a text is parsed at once, however tangled it is.
const short = 4 << 10
