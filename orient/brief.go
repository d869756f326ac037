package orient

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/criteria"
	"stig/dag"
	"stig/notes"
	"stig/signals"
)

// Request says how to read an issue.
type Request struct {
	Depth  string // overrides the planning-depth signal for this reading; "" follows it
	Budget int    // most characters of the Markdown; 0 for no limit
	Full   bool   // the checkpoints of farther dependencies too
}

// Rules are what a briefing is held against.
type Rules struct {
	Schema    *signals.Schema
	Look      criteria.Lookup
	Now       time.Time
	StaleDays int // an issue in progress may go unchanged for so many days
}

// Brief assembles the briefing of the issue at index i. It fails only when a
// line of the store can no longer be read.
func Brief(f *beads.Snapshot, g *dag.Graph, i int, req Request, rules Rules) (*Briefing, error) {
	record, err := f.At(i).Record()
	if err != nil {
		return nil, err
	}
	a := assemble(f, g, rules, record)
	a.full = req.Full
	b := a.common(i, record)
	b.override = req.Depth
	b.Depth = cmp.Or(req.Depth, a.table.Value(signals.PlanningDepth))
	if b.ClosedDependencies, err = a.closedDependencies(i); err != nil {
		return nil, err
	}
	if b.Alerts, err = a.alerts(i); err != nil {
		return nil, err
	}
	b.Upstream = evidenceOf(b.ClosedDependencies, rules.Now)
	deepen(b.Depth)(b, a)
	b.Next = typed(f.Place(), b.next(g.IsReady(i, rules.Now)))
	if req.Budget > 0 {
		fit(b, req.Budget)
	}
	return b, nil
}

// deepen gives each depth its shape.
func deepen(depth string) func(*Briefing, assembly) {
	switch depth {
	case signals.PlanningDepthShallow:
		return (*Briefing).shallow
	case signals.PlanningDepthDeep:
		return (*Briefing).deep
	case signals.PlanningDepthProbe:
		return (*Briefing).probe
	}
	return (*Briefing).standard
}

// assembly is what a briefing is put together from.
type assembly struct {
	file  *beads.Snapshot
	graph *dag.Graph
	rules Rules
	doc   *notes.Doc // the notes of the issue
	table *signals.Table
	full  bool // as Request.Full
}

func assemble(f *beads.Snapshot, g *dag.Graph, rules Rules, record *beads.Record) assembly {
	doc := notes.Parse(record.Text(beads.Notes))
	return assembly{file: f, graph: g, rules: rules, doc: doc, table: signals.Read(doc, rules.Schema)}
}

// common fills in what every depth shows, and the texts that a depth may drop.
func (a assembly) common(i int, record *beads.Record) *Briefing {
	issue := a.file.At(i)
	b := &Briefing{
		Issue: Issue{
			ID: issue.ID, Title: issue.Title, Status: issue.Status, Type: issue.Type,
			Priority: issue.Priority, Assignee: issue.Assignee, Labels: append([]string{}, record.Labels()...),
		},
		Signals:      a.table,
		Violations:   append([]signals.Finding{}, a.table.Findings()...),
		Epic:         a.epic(i),
		Escalation:   a.escalation(),
		Description:  strings.TrimSpace(record.Text(beads.Description)),
		Notes:        a.otherNotes(),
		OpenBlockers: a.refs(a.graph.OpenBlockers(i)),
		Dependents:   a.refs(a.graph.Waiting(i)),
		Known:        []Item{},
		Discover:     []Item{},
		Omitted:      []Omission{},
	}
	if epic, held := a.graph.HeldThrough(i); held {
		b.OpenBlockers = a.refs(a.graph.OpenBlockers(epic))
	}
	found := criteria.Find(record.Text(beads.AcceptanceCriteria), record.Text(beads.Description), record.Text(beads.Design))
	b.Acceptance = Acceptance{Text: strings.TrimSpace(found.Text()), Checks: found.Plan(a.rules.Look)}
	if e, ok := signals.LastEstimate(a.doc); ok {
		b.Estimate = &Estimate{Date: e.Date, Text: e.Body}
	}
	b.Also = alsoLearned(a.doc)
	b.Shown = a.shown()
	b.Divergence = a.divergence()
	return b
}

// alsoLearned are the estimates of other branches that a merge kept beside the
// live one.
func alsoLearned(d *notes.Doc) (list []Estimate) {
	for _, e := range signals.MergedEstimates(d) {
		list = append(list, Estimate{Date: e.Date, Text: signals.ReadEstimate(e.Text).Body})
	}
	return list
}

func (e Estimate) alsoHeading() string {
	return strings.TrimSpace("Also learned, on a branch " + parenthesised(e.Date))
}

func (a assembly) epic(i int) *Epic {
	at, ok := a.graph.Epic(i)
	if !ok {
		return nil
	}
	e := &Epic{ID: a.file.At(at).ID, Title: a.file.At(at).Title}
	e.Closed, e.Total = a.graph.Progress(at)
	return e
}

// escalation takes the state from the signal and the texts from the section;
// where the two disagree the texts are shown all the same.
func (a assembly) escalation() Escalation {
	e := Escalation{State: a.table.Value(signals.Escalation)}
	parts := signals.Escalations(a.doc)
	var questions, answers []string
	for _, p := range signals.Questions(parts) {
		questions = append(questions, p.Text)
		e.Default = cmp.Or(defaultOf(signals.ReadQuestion(p.Text), a.rules.Now), e.Default)
	}
	for _, p := range parts {
		if !p.Kind.Asks() {
			answers = append(answers, p.Text)
		}
	}
	e.Question = strings.Join(questions, "\n\n")
	e.Resolution = strings.Join(answers, "\n\n")
	return e
}

// divergence is set when the surprise of an earlier worker is over the threshold.
func (a assembly) divergence() *Divergence {
	surprise := a.table.Number()
	if surprise <= signals.ThresholdDivergence {
		return nil
	}
	d := &Divergence{Surprise: surprise, Explained: "the state estimate below says why"}
	if _, ok := signals.LastEstimate(a.doc); !ok {
		d.Explained = "no state estimate says why: read the history before trusting the description"
	}
	return d
}

// otherNotes is the text of the notes outside the sections that have a place of
// their own.
func (a assembly) otherNotes() string {
	text := a.doc.Text()
	var kept strings.Builder
	at := 0
	for _, s := range a.doc.Sections() {
		if kind, _ := signals.KindOf(s.Name); kind.Apart {
			kept.WriteString(text[at:s.Start])
			at = s.End
		}
	}
	kept.WriteString(text[at:])
	return strings.TrimSpace(kept.String())
}

func (a assembly) refs(indices []int) []Ref {
	refs := make([]Ref, 0, len(indices))
	for _, i := range indices {
		issue := a.file.At(i)
		refs = append(refs, Ref{ID: issue.ID, Title: issue.Title, Status: issue.Status})
	}
	return refs
}

func (a assembly) closedDependencies(i int) ([]Dependency, error) {
	found := a.graph.ClosedDependencies(i)
	list := make([]Dependency, 0, len(found))
	for _, at := range found {
		record, err := a.file.At(at.Index).Record()
		if err != nil {
			return nil, err
		}
		list = append(list, a.dependency(a.file.At(at.Index), record, at.Distance))
	}
	return list, nil
}

func (a assembly) dependency(issue *beads.Issue, record *beads.Record, distance int) Dependency {
	doc := notes.Parse(record.Text(beads.Notes))
	table := signals.Read(doc, a.rules.Schema)
	d := Dependency{
		ID: issue.ID, Title: issue.Title, Distance: distance,
		CloseReason: strings.TrimSpace(record.Text(beads.CloseReason)),
		Surprise:    table.Number(),
		labels:      record.Labels(),
	}
	if table.HasEvidence() {
		d.Confidence = table.Value(signals.Confidence)
		d.Freshness = table.Value(signals.EvidenceFreshness)
		d.ageDays, d.aged = age(d.Freshness, a.rules.Now)
	}
	if e, ok := signals.LastEvidence(doc); ok && distance == 1 {
		d.Ran = e.Text
	}
	if e, ok := signals.LastEstimate(doc); ok {
		d.Checkpoint, d.downstream = e.Body, e.Downstream
	}
	for _, e := range alsoLearned(doc) {
		d.Checkpoint = strings.TrimSpace(d.Checkpoint + "\n\n" + e.alsoHeading() + ":\n\n" + e.Text)
	}
	return d
}

// bearsOn reports whether a closed dependency matters even to a reader who needs
// no history: it is an interface, or its trail names the issue.
func (d Dependency) bearsOn(id string) bool {
	return slices.Contains(d.labels, "interface") || names(d.downstream, id)
}

// names reports whether a text mentions an id, whole: demo-1 is not in demo-12.
func names(text, id string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, id)
		if !found {
			return false
		}
		before := rest[:len(rest)-len(after)-len(id)]
		if !idByteAt(before, len(before)-1) && !continuesID(after) {
			return true
		}
		rest = after
	}
}

// continuesID reports whether text goes on with more of an id, such as the ".1"
// of a child, rather than with the full stop of a sentence.
func continuesID(text string) bool {
	if text != "" && (text[0] == '.' || text[0] == '-') {
		return idByteAt(text, 1)
	}
	return idByteAt(text, 0)
}

func idByteAt(s string, at int) bool {
	if at < 0 || at >= len(s) {
		return false
	}
	c := s[at] | 0x20
	return 'a' <= c && c <= 'z' || '0' <= s[at] && s[at] <= '9' || s[at] == '-' || s[at] == '_'
}

// holdBackFarther keeps the checkpoints of direct dependencies only.
func (b *Briefing) holdBackFarther() {
	held := 0
	for k := range b.ClosedDependencies {
		if d := &b.ClosedDependencies[k]; d.Distance > 1 && d.Checkpoint != "" {
			d.Checkpoint = ""
			held++
		}
	}
	if held > 0 {
		b.omit(count(held, "checkpoint")+" of farther dependencies", "--full")
	}
}

// omit records that something is left out, and which flags of orient show it.
func (b *Briefing) omit(what string, flags ...string) {
	b.Omitted = append(b.Omitted, Omission{What: what, Argv: b.argv(flags...)})
}

// argv is the command that briefs on the same issue with other flags.
func (b *Briefing) argv(flags ...string) []string {
	argv := append([]string{"stig", "orient", b.Issue.ID}, flags...)
	if b.override != "" && flags[0] != "--depth" {
		argv = append(argv, "--depth", b.override)
	}
	return argv
}

// next says what to do: another issue first while this one waits, or claim it
// if nobody did, then how work on it ends.
func (b *Briefing) next(ready bool) []Step {
	id := b.Issue.ID
	if beads.Over(b.Issue.Status) {
		return []Step{b.Issue.left()}
	}
	var steps []Step
	if len(b.OpenBlockers) > 0 || b.Escalation.Question != "" {
		steps = append(steps, Step{Why: "while this one waits, take another that is ready", Argv: []string{"stig", "orient"}})
	}
	if b.Escalation.Question != "" {
		steps = append(steps, Step{Why: "where nothing else is left to do, wait for the answer", Argv: []string{"stig", "await", id}})
	}
	if ready && b.Issue.Assignee == "" && b.Escalation.Question == "" {
		steps = append(steps, Step{Why: "take it, so that nobody else does", Argv: []string{"stig", "claim", id}})
	}
	if len(b.Also) > 0 {
		steps = append(steps, Step{Why: "when you took over what still holds of the other branch", Argv: []string{"stig", "checkpoint", id, "--fold"}})
	}
	return append(steps,
		Step{
			Why: "whenever you stop, leave the state for whoever comes next",
			Argv: []string{"stig", "checkpoint", id, "--surprise", b.Signals.Value(signals.Surprise), "--progress", b.likelyProgress(),
				"--done", "…", "--learned", "…", "--remains", "…", "--downstream", "…"},
		},
		b.closing(),
	)
}

// left shows what an issue that is over left to others.
func (i Issue) left() Step {
	return Step{Why: "see what it left", Argv: []string{"stig", "show", i.ID, "--notes"}}
}

// closing is how the issue is closed. Criteria that ask for nothing to be run
// cannot pass: that is said now, and not when the work is done.
func (b *Briefing) closing() Step {
	s := Step{Why: "when its acceptance criteria pass", Argv: []string{"stig", "close", b.Issue.ID, "--reason", "…"}}
	if !criteria.Asks(b.Acceptance.Checks) {
		s.Why = "when it is done: write what can be run, or say why nothing can"
		s.Argv = append(s.Argv, "--waive", "…")
	}
	return s
}

// typed gives steps as they are typed where the store is: stig writes no issues
// that live in a Dolt database, and what writes them there is bd.
func typed(p beads.Place, steps []Step) []Step {
	if p.Mode != beads.Dolt {
		return steps
	}
	steps = slices.DeleteFunc(steps, func(s Step) bool { return slices.Contains(s.Argv, "--fold") }) // bd has none
	for k, step := range steps {
		switch step.Argv[1] {
		case "claim":
			steps[k].Argv = []string{"bd", "update", step.Argv[2], "--claim"}
		case "checkpoint":
			steps[k].Argv = []string{"bd", "update", step.Argv[2], "--append-notes", "…"}
		case "close":
			steps[k] = Step{Why: "when it is done, before bd closes it", Argv: []string{"stig", "verify", step.Argv[2]}}
		case "create":
			steps[k].Argv[0] = "bd"
		}
	}
	return steps
}

// likelyProgress is what the next checkpoint will probably report. Whoever is
// to explore first is not told to report an implementation.
func (b *Briefing) likelyProgress() string {
	now := b.Signals.Value(signals.Progress)
	switch {
	case now != signals.ProgressNotStarted:
		return now
	case b.Depth == signals.PlanningDepthDeep, b.Depth == signals.PlanningDepthProbe:
		return signals.ProgressExploring
	}
	return signals.ProgressImplementing
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
