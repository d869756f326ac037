// Package checkpoint writes what a worker leaves for the next one: signals, a state estimate, a
// question for a person. It also claims, releases and closes issues, propagates discoveries to
// other issues, and creates issues and dependencies. Each report is written atomically, and
// only if the resulting notes are valid.
//
// The package does not depend on the command line. Valid values are defined by the schema.
//
//	report, err := checkpoint.Write(ctx, store, opts, "demo-1", checkpoint.Update{
//		Signals:  map[signals.Signal]string{signals.Surprise: "0.4"},
//		Estimate: signals.Estimate{Done: "parser reads both forms"},
//	}, rules)
package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// Update is a worker's report about one issue.
type Update struct {
	Signals  map[signals.Signal]string
	Reaffirm bool             // signals given with an unchanged value get a new date too
	Evidence bool             // add the evidence rows to a new table
	Ran      string           // the command run as evidence and its output; sets evidence-freshness to today
	Estimate signals.Estimate // labelled texts replace those of the existing estimate, Body replaces all of it; an empty one keeps it
	Replace  bool             // labelled texts replace the whole estimate too
	Fold     bool             // removes the estimates that merges kept beside the live one
	Seen     *string          // the live estimate that the writer saw; Write refuses the update if it has changed
	Question Question         // escalates: asks a person and sets escalation to pending

	// NoContext allows progress implementing or blocked without a state estimate.
	NoContext bool
	// By is the writer. A subagent may only update issues that it claimed itself.
	By string
}

// Rules are the rules by which an update is validated.
type Rules struct {
	Schema *signals.Schema
	Now    time.Time
}

func (r Rules) today() string { return signals.Day(r.Now) }

// Report lists the changes of an update and their consequences.
type Report struct {
	ID         string      `json:"id"`
	Changed    []Changed   `json:"changed"`         // changed signals, and lost texts of the estimate
	Sections   []string    `json:"sections"`        // names of the written sections
	Folded     []Folded    `json:"folded,omitzero"` // nil unless requested
	Alerts     []Alert     `json:"alerts"`
	Warnings   []string    `json:"warnings"`
	Dependents []beads.Ref `json:"dependents"` // unclosed issues that wait for this one
	Commit     string      `json:"commit,omitempty"`
	Asked      string      `json:"asked,omitempty"` // hash of the asked question

	stored
}

// Changed is one changed signal, or a text of the state estimate that was replaced or removed:
// done, learned, remains, downstream, or estimate for text outside of these.
type Changed struct {
	Signal string `json:"signal"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Folded is a merged estimate that was removed.
type Folded struct {
	Section string `json:"section"`
	Date    string `json:"date"` // "" if unknown
	Text    string `json:"text"`
}

func changedBy(changes []signals.Change) []Changed {
	list := []Changed{}
	for _, c := range changes {
		list = append(list, Changed{Signal: c.Signal.String(), From: c.From, To: c.To})
	}
	return list
}

// IssueError adds the issue ID to an error about its signals or notes. Write and Apply return
// it.
type IssueError struct {
	ID  string
	Err error
}

func (e *IssueError) Error() string { return e.ID + ": " + e.Err.Error() }
func (e *IssueError) Unwrap() error { return e.Err }

// usage returns a fault.Usage without an issue; IssueError can add one.
func usage(reason, hint string) error {
	return &fault.Error{Code: fault.Usage, Reason: reason, Hint: hint}
}

// Write applies an update to an issue of the store, under the lock, validated and atomically.
// An update that changes nothing leaves the file untouched. Write returns a fault.Usage if the
// estimate changed since it was seen, and the errors of Apply.
func Write(ctx context.Context, s beads.Store, o beads.Options, id string, u Update, rules Rules) (*Report, error) {
	return u.write(ctx, s, o, id, rules, func(id string, d *notes.Doc) error {
		if is, _ := signals.LastEstimate(d); u.Seen != nil && is.Body != *u.Seen {
			return &fault.Error{Code: fault.Usage, ID: id, Reason: "the state estimate changed since you read it",
				Hint: fmt.Sprintf("type stig checkpoint %s again", id)}
		}
		return nil
	})
}

// write is Write with a check: refuse can reject the update based on the notes read under the
// lock.
func (u Update) write(ctx context.Context, s beads.Store, o beads.Options, id string, rules Rules, refuse func(id string, d *notes.Doc) error) (*Report, error) {
	permit := u.permit()
	o.Notes, o.Scope.Beside = func(before, after string) error { return permit.Check(before, after) }, true
	return editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (*Report, error) {
		if err := foreign(record, u.By); err != nil {
			return nil, err
		}
		if u.Question.Text == "" {
			if err := unlessExploring(record, u.By); err != nil {
				return nil, err
			}
		}
		full, before := record.Text(beads.ID), notes.Parse(record.Text(beads.Notes))
		if u.Question.Unclosed && beads.IsClosed(record.Text(beads.Status)) {
			return nil, &fault.Error{Code: fault.Changed, ID: full, Reason: "was closed in the meantime"}
		}
		if err := refuse(full, before); err != nil {
			return nil, err
		}
		doc, r, err := Apply(full, before, u, rules)
		if err != nil {
			return nil, err
		}
		permit.Remove = r.folded()
		if err := r.addAlerts(tx.Snapshot(), doc, rules); err != nil {
			return nil, err
		}
		return r, tx.Set(full, beads.Set{Key: beads.Notes, Text: doc.Text()})
	})
}

// permit lists the sections that the update may change.
func (u Update) permit() notes.Permit {
	p := notes.Permit{Change: []string{signals.Section}}
	if !u.Estimate.Empty() {
		p.Change = append(p.Change, signals.EstimateSection)
	}
	if u.Ran != "" {
		p.Change = append(p.Change, signals.EvidenceSection)
	}
	if u.Question.Text != "" {
		p.Change = append(p.Change, signals.EscalationSection)
	}
	return p
}

// Apply applies the update to the notes of an issue. It is pure: Write and its dry run both use
// it. It returns a fault.Usage if work in progress would have no state estimate.
func Apply(id string, d *notes.Doc, u Update, rules Rules) (*notes.Doc, *Report, error) {
	r := &Report{ID: id, Sections: []string{}, Alerts: []Alert{}, Warnings: []string{}, Dependents: []beads.Ref{}}
	before := signals.Read(d, rules.Schema)
	folded, err := r.fold(d, u)
	if err != nil {
		return nil, nil, err
	}
	if u.onlyFolds() && len(r.Folded) == 0 {
		r.Changed = []Changed{}
		return folded, r, nil
	}
	result, err := r.writeSignals(folded, u, rules)
	if err != nil {
		return nil, nil, err
	}
	if result, err = r.writeEstimate(result, u, rules); err != nil {
		return nil, nil, err
	}
	if result, err = r.writeEvidence(result, u, rules); err != nil {
		return nil, nil, err
	}
	if result, err = r.writeQuestion(result, u, rules); err != nil {
		return nil, nil, err
	}
	after := signals.Read(result, rules.Schema)
	if _, has := signals.LastEstimate(result); !has && !u.NoContext && signals.UnderWay(after.Value(signals.Progress)) {
		return nil, nil, &fault.Error{Code: fault.Usage, ID: id,
			Reason: fmt.Sprintf("progress %s needs a state estimate; there is none", after.Value(signals.Progress)),
			Hint:   fmt.Sprintf("type stig checkpoint %s --done … --learned … --remains … --downstream …, or --no-context", id)}
	}
	r.Alerts = append(r.Alerts, signals.AlertsOf(before, after)...)
	r.warnOfConfidence(before, after)
	return result, r, nil
}

func (r *Report) writeSignals(d *notes.Doc, u Update, rules Rules) (*notes.Doc, error) {
	set := make(map[signals.Signal]string, len(u.Signals)+1)
	maps.Copy(set, u.Signals)
	if u.Ran != "" {
		set[signals.EvidenceFreshness] = rules.today()
	}
	if u.Question.Text != "" {
		set[signals.Escalation] = signals.EscalationPending
	}
	result, changes, warnings, err := signals.Apply(d, signals.Update{
		Set: set, Today: rules.today(), Reaffirm: u.Reaffirm, Evidence: u.Evidence,
	}, rules.Schema)
	if err != nil {
		return nil, &IssueError{ID: r.ID, Err: err}
	}
	r.Changed = changedBy(changes)
	r.Warnings = append(r.Warnings, warnings...)
	if result.Text() != d.Text() {
		r.Sections = append(r.Sections, signals.Section)
	}
	return result, nil
}

// onlyFolds reports whether an update only removes merged estimates.
func (u Update) onlyFolds() bool {
	return u.Fold && len(u.Signals) == 0 && u.Estimate.Empty() && u.Question.Text == "" && u.Ran == ""
}

// fold removes the merged estimates and lists them in the report.
func (r *Report) fold(d *notes.Doc, u Update) (*notes.Doc, error) {
	if !u.Fold {
		return d, nil
	}
	result, taken, err := signals.FoldEstimates(d)
	if err != nil {
		return nil, &IssueError{ID: r.ID, Err: err}
	}
	r.Folded = []Folded{}
	for _, e := range taken {
		r.Folded = append(r.Folded, Folded{Section: e.Name, Date: e.Date, Text: e.Text})
	}
	return result, nil
}

// folded returns the names of the removed sections.
func (r *Report) folded() (names []string) {
	for _, f := range r.Folded {
		names = append(names, f.Section)
	}
	return names
}

func (r *Report) writeEstimate(d *notes.Doc, u Update, rules Rules) (*notes.Doc, error) {
	if u.Estimate.Empty() {
		return d, nil
	}
	set, e := signals.SetParts, u.Estimate
	if u.Replace || e.Body != "" {
		set = signals.SetEstimate
	}
	e.Date = rules.today()
	result, err := r.written(signals.EstimateSection, d)(set(d, e))
	if err != nil {
		return nil, err
	}
	r.Changed = append(r.Changed, lostTexts(d, result)...)
	return result, nil
}

// lostTexts returns the texts of the state estimate that are replaced or removed.
func lostTexts(before, after *notes.Doc) (lost []Changed) {
	was, had := signals.LastEstimate(before)
	is, _ := signals.LastEstimate(after)
	if !had {
		return nil
	}
	now := is.Texts()
	for i, text := range was.Texts() {
		if text.Text != "" && text.Text != now[i].Text {
			lost = append(lost, Changed{Signal: text.Key, From: text.Text, To: now[i].Text})
		}
	}
	return lost
}

func (r *Report) writeEvidence(d *notes.Doc, u Update, rules Rules) (*notes.Doc, error) {
	if u.Ran == "" {
		return d, nil
	}
	return r.written(signals.EvidenceSection, d)(signals.SetEvidence(d, signals.Evidence{Date: rules.today(), Text: u.Ran}))
}

// warnOfConfidence warns if confidence rose without new evidence.
func (r *Report) warnOfConfidence(before, after *signals.Table) {
	was, is := before.Value(signals.Confidence), after.Value(signals.Confidence)
	if signals.Weaker(was, is) >= 0 || after.Value(signals.EvidenceFreshness) == after.Updated(signals.Confidence) {
		return
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("confidence: rose from %s to %s without evidence from today (evidence-freshness %s)",
		was, is, after.Value(signals.EvidenceFreshness)))
}

func (r *Report) writeQuestion(d *notes.Doc, u Update, rules Rules) (*notes.Doc, error) {
	if u.Question.Text == "" || asked(d, u.Question) {
		return d, nil
	}
	part, err := u.Question.part(rules.Now)
	if err != nil {
		return nil, &IssueError{ID: r.ID, Err: err}
	}
	r.Asked = part.Hash()
	return r.written(signals.EscalationSection, d)(signals.AddPart(d, part))
}

// written adds a section to the report if the write changed the notes.
func (r *Report) written(section string, before *notes.Doc) func(*notes.Doc, error) (*notes.Doc, error) {
	return func(after *notes.Doc, err error) (*notes.Doc, error) {
		if err != nil {
			return nil, &IssueError{ID: r.ID, Err: err}
		}
		if after.Text() != before.Text() {
			r.Sections = append(r.Sections, section)
		}
		return after, nil
	}
}

// addAlerts adds the alerts of the updated issue and the issues around it.
func (r *Report) addAlerts(f *beads.Snapshot, d *notes.Doc, rules Rules) error {
	g := dag.New(f)
	at, ok := f.Index(r.ID)
	if !ok {
		return nil
	}
	r.Dependents = f.Refs(g.Waiting(at))
	list, err := newAlerts(f, g, at, d, rules).find()
	r.Alerts = append(r.Alerts, list...)
	if ring := g.RingThrough(at); ring != nil {
		words := dag.Circle(ring, func(i int) string { return f.At(i).ID })
		r.Alerts = append(r.Alerts, Alert{Rule: alertDeadlock, Message: "it is in a dependency cycle: " + strings.Join(words, "; ") + ": see stig cycles"})
	}
	return err
}

// sameText reports whether two texts have the same words.
func sameText(a, b string) bool {
	return visible.OneLine(a) == visible.OneLine(b)
}
