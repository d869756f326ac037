package orient

import (
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// Request says how to read an issue.
type Request struct {
	Depth  string // overrides the planning-depth signal for this reading; "" uses the signal
	Budget int    // limit of the Markdown in characters; 0 for none
	Full   bool   // show everything, at every depth
	Reader string // the reader, whose own issues can be continued; "" if unknown
	// MayTake reports whether the reader may take an issue from the named holder; nil means
	// never.
	MayTake func(name string) bool
	Held    *Held // who holds the issue elsewhere; nil for nobody
	// Learned is what the reader learned from earlier work on any issue; "" for nothing. It is
	// shown at the end, and a budget cuts it first.
	Learned string
	// Copied returns an earlier copy of the store, which is searched if only an excerpt of the
	// store was read; nil, or a function that returns nil, for none.
	Copied func() *beads.Snapshot
	// Loop is true if the reader runs in a worker loop, which claims, merges and closes.
	Loop bool
}

// BriefingBudget is the default budget of a briefing's Markdown, in characters.
const BriefingBudget = 9000

// Rules are the rules by which a briefing is validated.
type Rules struct {
	Schema    *signals.Schema
	Now       time.Time
	Exists    func(path string) bool // of a file in the work tree; nil without a work tree
	StaleDays int                    // an issue in progress is stale after so many unchanged days
	Digest    int                    // number of traces without a summary that calls for one; 0 for digestAfter
	// ReadOnly is why the reader cannot write the store; "" if they can.
	ReadOnly string
}

// Brief returns the briefing of the issue at index i. It fails only if a line of the store can
// no longer be read.
func Brief(f *beads.Snapshot, g *dag.Graph, i int, req Request, rules Rules) (*Briefing, error) {
	record, err := f.At(i).Record()
	if err != nil {
		return nil, err
	}
	a := assemble(f, g, rules, record)
	a.full, a.copied = req.Full, req.Copied
	b := a.common(i, record)
	b.Held = req.Held
	b.stand(a, i, req, rules)
	b.override, b.full, b.reader, b.mayTake, b.loop = req.Depth, req.Full, req.Reader, req.MayTake, req.Loop
	b.explorer = b.loop && b.swarm != nil && b.swarm.Agent(req.Reader) != nil
	b.Depth, b.DepthFrom = a.depth(req.Depth)
	if b.ClosedDependencies, err = a.closedDependencies(i); err != nil {
		return nil, err
	}
	b.Upstream = evidenceOf(b.ClosedDependencies, rules.Now)
	if b.Children, err = a.children(i); err != nil {
		return nil, err
	}
	if b.Alerts, err = a.alerts(i, b.Children); err != nil {
		return nil, err
	}
	if b.Findings, err = a.findings(b); err != nil {
		return nil, err
	}
	if b.Seen, err = a.seenBefore(b); err != nil {
		return nil, err
	}
	deepen(b.Depth)(b, a)
	b.Learned = strings.TrimSpace(req.Learned)
	if !b.full {
		b.foldRobots()
		b.foldTemplates()
	}
	b.Next = typed(f.Place(), writable(f, a.doc, b.Issue, b.unwritable(), b.next(), rules.ReadOnly))
	if req.Budget > 0 {
		fit(b, req.Budget)
	}
	return b, nil
}

// depth returns the depth of the briefing and where it comes from.
func (a assembly) depth(asked string) (depth, from string) {
	switch depth = a.table.Value(signals.PlanningDepth); {
	case asked != "":
		return asked, depthFromFlag
	case a.table.Has(signals.PlanningDepth):
		return depth, depthFromSignal
	case a.table.Has(signals.Cynefin):
		return depth, depthFromCynefin
	}
	return depth, depthFromDefault
}

// deepen returns the method that shapes a briefing for a depth.
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

// assembly is the input of a briefing.
type assembly struct {
	file   *beads.Snapshot
	graph  *dag.Graph
	rules  Rules
	doc    *notes.Doc // the notes of the issue
	table  *signals.Table
	full   bool                   // as Request.Full
	copied func() *beads.Snapshot // as Request.Copied
	waits  map[int][]int          // cached open blockers, by issue

	description, design string // as written
}

func assemble(f *beads.Snapshot, g *dag.Graph, rules Rules, record *beads.Record) assembly {
	doc := notes.Parse(record.Text(beads.Notes))
	return assembly{
		file: f, graph: g, rules: rules, doc: doc, table: signals.Read(doc, rules.Schema), waits: map[int][]int{},
		description: record.Text(beads.Description), design: record.Text(beads.Design),
	}
}

// common returns a briefing with what every depth shows, and the texts that a depth may drop.
func (a assembly) common(i int, record *beads.Record) *Briefing {
	b := &Briefing{
		Issue:        a.issue(i, record),
		Signals:      a.table,
		Assessed:     a.table.Present(),
		Violations:   append([]signals.Finding{}, a.table.Findings()...),
		Epic:         a.epic(i),
		Related:      a.related(i),
		Escalation:   a.escalation(),
		Description:  withoutCriteria(record, a.description),
		Design:       withoutCriteria(record, a.design),
		Notes:        a.otherNotes(),
		OpenBlockers: a.openBlockers(i),
		Elsewhere:    a.elsewhere(i),
		Dependents:   a.file.Refs(a.graph.Waiting(i)),
		Farther:      []string{},
		Findings:     []LeftTrace{},
		Known:        []Item{},
		Discover:     []Item{},
		Omitted:      []Omission{},
	}
	found := gate.Find(record.Text(beads.AcceptanceCriteria), a.description, a.design)
	acceptance := strings.TrimSpace(found.Text())
	b.Acceptance = Acceptance{Text: acceptance, Checks: found.Plan(), there: acceptance != ""}
	if e, ok := signals.LastEstimate(a.doc); ok {
		b.Estimate = &Estimate{Date: e.Date, Text: e.Body}
	}
	left := trace.Of(record)
	trace.Sort(left)
	b.Comments, b.Traces, b.folded = leftHere(left, a.full)
	b.Concluded, b.swarm = concludedOf(left, a.doc)
	b.Also = alsoLearned(a.doc)
	b.Shown = a.shown()
	b.Divergence = a.divergence()
	b.designTold = strings.Contains(visible.OneLine(a.description), visible.OneLine(a.design))
	b.Acceptance.Beside = a.beside(b)
	b.Notices = a.notices(i, record, b)
	b.against = against(record)
	b.pointers = a.pointers(b)
	b.untold = b.Description+b.Design+b.Notes == "" && len(b.Comments)+len(b.Traces)+len(b.Also)+len(b.Issue.Keys) == 0 &&
		b.Estimate == nil && b.Concluded == nil && b.Issue.ExternalRef+b.Issue.SpecID == ""
	return b
}

// criteriaMark replaces criteria in a description or design.
const criteriaMark = "[… see the acceptance criteria below …]"

// withoutCriteria returns a text without its criteria, which the briefing shows once, in their
// own section.
func withoutCriteria(record *beads.Record, text string) string {
	return strings.TrimSpace(gate.Without(record.Text(beads.AcceptanceCriteria), text, criteriaMark))
}

func (a assembly) issue(i int, record *beads.Record) Issue {
	issue := a.file.At(i)
	started, _ := record.Time("started_at")
	is := Issue{
		ID: issue.ID, Title: issue.Title, Status: issue.Status, Type: issue.Type,
		Priority: issue.Priority, Assignee: issue.Assignee, Labels: append([]string{}, record.Labels()...),
		Started: dayIn(started), Changed: dayIn(issue.UpdatedAt),
		ExternalRef: record.Text(beads.ExternalRef), SpecID: record.Text("spec_id"), DueAt: record.Text(beads.DueAt), Keys: KeysOf(record),
		CloseReason: strings.TrimSpace(record.Text(beads.CloseReason)),
		due:         dueWords(record, a.rules.Now), workable: !issue.IsPinned() && !issue.Channel && !issue.Template,
	}
	if issue.DeferUntil.After(a.rules.Now) {
		is.Deferred = dayIn(issue.DeferUntil)
	}
	return is
}

// dayIn returns the UTC day of a time, "" for none.
func dayIn(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return signals.Day(t)
}

// openBlockers lists the unclosed issues that block this one: direct ones first, then those of
// the epics above it.
func (a assembly) openBlockers(i int) []Blocker {
	blockers := []Blocker{}
	epics := a.above(i)
	for _, held := range a.holding(i) {
		issue := a.file.At(held.by)
		b := Blocker{
			Ref: issue.Ref(), Assignee: issue.Assignee,
			Above: slices.Contains(epics, held.by),
		}
		if held.epic != i {
			b.Through = a.file.At(held.epic).ID
		}
		blockers = append(blockers, b)
	}
	return blockers
}

// hold says that the issue by blocks an issue, directly or through an epic above it.
type hold struct{ by, epic int }

// holding lists the unclosed issues that block an issue, each once.
func (a assembly) holding(i int) (list []hold) {
	if a.graph.Closed(i) {
		return nil
	}
	had := map[int]bool{i: true}
	add := func(held int) {
		open, known := a.waits[held]
		if !known {
			open = a.graph.OpenBlockers(held)
			a.waits[held] = open
		}
		for _, at := range open {
			if !had[at] {
				had[at] = true
				list = append(list, hold{at, held})
			}
		}
	}
	for _, held := range a.graph.Above(i) {
		add(held)
	}
	return list
}

// above lists the unclosed epics that contain an issue, the nearest first.
func (a assembly) above(i int) (epics []int) {
	seen := map[int]bool{i: true}
	for epic, ok := a.graph.Epic(i); ok && !seen[epic] && !a.graph.Closed(epic); epic, ok = a.graph.Epic(epic) {
		epics = append(epics, epic)
		seen[epic] = true
	}
	return epics
}

// alsoLearned returns the estimates of other branches that a merge kept beside the live one.
func alsoLearned(d *notes.Doc) (list []Estimate) {
	for _, e := range signals.MergedEstimates(d) {
		list = append(list, Estimate{Date: e.Date, Text: signals.ReadEstimate(e.Text).Body})
	}
	return list
}

// name returns the name of such an estimate in an omission.
func (e Estimate) name() string {
	return strings.TrimSpace("what a branch also learned " + parenthesised(e.Date))
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

// divergence returns a warning if an earlier worker's surprise is over the threshold.
func (a assembly) divergence() *Divergence {
	surprise := a.table.Number()
	if surprise <= signals.ThresholdDivergence {
		return nil
	}
	d := &Divergence{Surprise: surprise, Explained: "read the state estimate below before trusting the description"}
	if _, ok := signals.LastEstimate(a.doc); !ok {
		d.Explained = "there is no state estimate: read the history before trusting the description"
	}
	return d
}

// otherNotes returns the text of the notes outside the sections that are shown separately.
func (a assembly) otherNotes() string {
	text := a.doc.Text()
	var kept strings.Builder
	at := 0
	for _, s := range a.doc.Sections() {
		if signals.KindOf(s.Name).Apart {
			kept.WriteString(text[at:s.Start])
			at = s.End
		}
	}
	kept.WriteString(text[at:])
	return strings.TrimSpace(kept.String())
}

func (a assembly) closedDependencies(i int) ([]Dependency, error) {
	found := a.graph.ClosedDependencies(i)
	list := make([]Dependency, 0, len(found))
	for _, at := range found {
		record, err := a.file.At(at.Index).Record()
		if err != nil {
			return nil, err
		}
		d := a.dependency(a.file.At(at.Index), record, at.Distance)
		d.end = a.file.Outcome(at.Index).End
		list = append(list, d)
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
		assessed:    table.Has(signals.Surprise),
		labels:      record.Labels(),
	}
	d.wordless = gate.SaysNothing(d.CloseReason)
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

// bearsOn reports whether a closed dependency matters even to a reader who needs no history: it
// is an interface, or its trail names the issue.
func (d Dependency) bearsOn(id string) bool {
	return slices.Contains(d.labels, "interface") || names(d.downstream, id)
}

// names reports whether a text contains an id as a whole word: demo-1 is not in demo-12.
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

// continuesID reports whether text continues an id, such as the ".1" of a child, instead of
// ending a sentence.
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

// omit records what is left out, and which flags of orient show it.
func (b *Briefing) omit(what string, flags ...string) {
	b.Omitted = append(b.Omitted, Omission{What: what, Argv: b.argv(flags...)})
}

// argv returns the command that briefs on the same issue with other flags.
func (b *Briefing) argv(flags ...string) []string {
	argv := append([]string{"stig", "orient", b.Issue.ID}, flags...)
	if b.override != "" && flags[0] != "--depth" {
		argv = append(argv, "--depth", b.override)
	}
	return argv
}
