// Package checkpoint writes what a worker leaves behind: signals, a state
// estimate, a question for a person; also who works on an issue, what was found
// out for others, new issues and what they depend on. All of one report is
// written at once or not at all, and only when the notes that result are valid.
//
// It does not know the command line, and it decides nothing about values: the
// schema does.
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

// Update is what a worker reports about one issue.
type Update struct {
	Signals  map[signals.Signal]string
	Reaffirm bool             // date the given signals even where their value stays
	Evidence bool             // a new table gets the evidence rows
	Ran      string           // what was run as evidence, and what it said; evidence-freshness becomes today
	Estimate signals.Estimate // labelled texts replace those of the estimate that is there, a Body all of it; an empty one keeps it
	Replace  bool             // labelled texts replace all of the estimate too
	Fold     bool             // takes away the estimates that merges kept beside the live one
	Seen     *string          // body of the live estimate as whoever writes saw it; Write refuses when there is another by now
	Question Question         // escalates: asked of a person, escalation becomes pending

	// NoContext allows progress implementing or blocked without a state estimate.
	NoContext bool
	// By is who writes. A subagent may only where it claimed the issue itself.
	By string
}

// Rules are what the result of an update is validated against.
type Rules struct {
	Schema *signals.Schema
	Now    time.Time
}

func (r Rules) today() string { return signals.Day(r.Now) }

// Report says what an update changed, and what follows from it.
type Report struct {
	ID         string      `json:"id"`
	Changed    []Changed   `json:"changed"`         // signals, and texts of the estimate that are gone
	Sections   []string    `json:"sections"`        // names of the sections that were written
	Folded     []Folded    `json:"folded,omitzero"` // nil unless asked for
	Alerts     []Alert     `json:"alerts"`
	Warnings   []string    `json:"warnings"`
	Dependents []beads.Ref `json:"dependents"` // unclosed issues that wait for this one
	Commit     string      `json:"commit,omitempty"`
	Asked      string      `json:"asked,omitempty"` // the hash of the question that was asked

	stored
}

// Changed is one signal with its value before and after, or a text of the state
// estimate that is replaced or gone: done, learned, remains, downstream, or
// estimate for what it says outside of these.
type Changed struct {
	Signal string `json:"signal"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Folded is a merged estimate that was taken away.
type Folded struct {
	Section string `json:"section"`
	Date    string `json:"date"` // "" when it is not known
	Text    string `json:"text"`
}

func changedBy(changes []signals.Change) []Changed {
	list := []Changed{}
	for _, c := range changes {
		list = append(list, Changed{Signal: c.Signal.String(), From: c.From, To: c.To})
	}
	return list
}

// IssueError says whose notes an error of signals or notes is about. Write and
// Apply return it.
type IssueError struct {
	ID  string
	Err error
}

func (e *IssueError) Error() string { return e.ID + ": " + e.Err.Error() }
func (e *IssueError) Unwrap() error { return e.Err }

// usage refuses a request as it is written, of no issue or inside an IssueError.
func usage(reason, hint string) error {
	return &fault.Error{Code: fault.Usage, Reason: reason, Hint: hint}
}

// Write applies an update to an issue of the store: locked, validated, atomic.
// An update that changes nothing leaves the file untouched. It refuses
// (fault.Usage) an update when the estimate is not the one that was seen, and
// what Apply refuses.
func Write(ctx context.Context, s beads.Store, o beads.Options, id string, u Update, rules Rules) (*Report, error) {
	return u.write(ctx, s, o, id, rules, func(id string, d *notes.Doc) error {
		if is, _ := signals.LastEstimate(d); u.Seen != nil && is.Body != *u.Seen {
			return &fault.Error{Code: fault.Usage, ID: id, Reason: "the state estimate changed since you read it",
				Hint: fmt.Sprintf("type stig checkpoint %s again", id)}
		}
		return nil
	})
}

// write is Write of an update that the notes as they stand under the lock may refuse.
func (u Update) write(ctx context.Context, s beads.Store, o beads.Options, id string, rules Rules, refuse func(id string, d *notes.Doc) error) (*Report, error) {
	permit := u.permit()
	o.Notes = func(before, after string) error { return permit.Check(before, after) }
	return editIssue(ctx, s, o, id, func(tx *beads.Tx, record *beads.Record) (*Report, error) {
		if err := foreign(record, u.By); err != nil {
			return nil, err
		}
		full, before := record.Text(beads.ID), notes.Parse(record.Text(beads.Notes))
		if u.Question.Unclosed && beads.IsClosed(record.Text(beads.Status)) {
			return nil, &fault.Error{Code: fault.Changed, ID: full, Reason: "was closed meanwhile"}
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

// permit is what the update asks to be done to sections.
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

// Apply makes the update in the notes of an issue. It is pure: Write and its
// dry run both do no more than this. It refuses (fault.Usage) an update that
// would leave work under way without a state estimate.
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
			Reason: fmt.Sprintf("progress %s needs a state estimate, and there is none", after.Value(signals.Progress)),
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

// onlyFolds reports whether an update writes nothing of its own.
func (u Update) onlyFolds() bool {
	return u.Fold && len(u.Signals) == 0 && u.Estimate.Empty() && u.Question.Text == "" && u.Ran == ""
}

// fold takes the merged estimates away, and lists them in the report.
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

// folded are the names of the sections that were taken away.
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

// lostTexts are the texts of the state estimate that another one replaces, or
// nothing.
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

// warnOfConfidence says that confidence went up on nothing new.
func (r *Report) warnOfConfidence(before, after *signals.Table) {
	was, is := before.Value(signals.Confidence), after.Value(signals.Confidence)
	if signals.Weaker(was, is) >= 0 || after.Value(signals.EvidenceFreshness) == after.Updated(signals.Confidence) {
		return
	}
	r.Warnings = append(r.Warnings, fmt.Sprintf("confidence: went from %s to %s without evidence of today (evidence-freshness %s)",
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

// written names a section in the report when writing it changed the notes.
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

// addAlerts adds what the update means to the issues addAlerts this one.
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

// sameText compares two texts by their words.
func sameText(a, b string) bool {
	return visible.OneLine(a) == visible.OneLine(b)
}
