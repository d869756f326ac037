package traces

import (
	"bytes"
	"slices"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/notes"
	"stig/signals"
)

// Seen is the state of a store when it was last read.
type Seen struct {
	Lines   map[string][]byte // by id
	Changed map[string][]byte // lines that differed at the last look; nil for a removed issue
	Ready   map[string]bool   // issues that could be started
	Held    map[string]bool   // blocked issues that nobody works on
	Due     time.Time         // when the first deferred issue becomes ready; zero for none
}

// Reading is the current store, and what stig wrote since it was last read.
type Reading struct {
	Store   *beads.Snapshot
	Graph   *dag.Graph
	Journal []clone.Record  // oldest first
	Told    map[string]bool // Seq of the records whose events were reported already
	Now     time.Time
}

// switchFrom is the number of issues up to which simultaneous changes by another program are
// separate events. More are taken for a switch to another state of the store, such as a
// checkout.
const switchFrom = 50

// Title returns the title of an issue when it was last read; "" if it was not there.
func (s *Seen) Title(id string) string { return titleIn(string(s.Lines[id])) }

// Take records the current state of a store.
func (s *Seen) Take(r Reading) error {
	if _, err := s.take(r); err != nil {
		return err
	}
	s.startable(r)
	return nil
}

// take records the lines and returns the issues whose lines differ from before: changed ones in
// the order of the store, then removed ones.
func (s *Seen) take(r Reading) (changed []change, err error) {
	lines := make(map[string][]byte, r.Store.Len())
	reader := r.Store.Reader()
	for i, issue := range r.Store.All() {
		if at, ok := r.Store.Index(issue.ID); !ok || at != i {
			continue // of lines with the same id the last one counts
		}
		line, err := reader.Line(issue)
		if err != nil {
			return nil, err
		}
		before, there := s.Lines[issue.ID]
		if there && bytes.Equal(before, line) {
			lines[issue.ID] = before
			continue
		}
		lines[issue.ID] = bytes.Clone(line)
		changed = append(changed, change{id: issue.ID, before: before, after: lines[issue.ID]})
	}
	var gone []change
	for id, before := range s.Lines {
		if _, there := lines[id]; !there {
			gone = append(gone, change{id: id, before: before})
		}
	}
	slices.SortFunc(gone, func(a, b change) int { return bytes.Compare([]byte(a.id), []byte(b.id)) })
	s.Lines, s.Changed = lines, map[string][]byte{}
	for _, c := range slices.Concat(changed, gone) {
		s.Changed[c.id] = c.after
	}
	return append(changed, gone...), nil
}

// change is an issue whose line differs; a line is nil if it does not exist.
type change struct {
	id            string
	before, after []byte
}

// Look returns what happened since the store was last read, and records its current state.
// Events come in this order: what stig wrote, in the order of the journal; what others wrote,
// in the order of the lines; which issues became ready or blocked as a result.
func (s *Seen) Look(r Reading) ([]Event, error) {
	changed, err := s.take(r)
	if err != nil {
		return nil, err
	}
	own, told := fromJournal(r.Journal, r.Told)
	foreign, err := fromOthers(changed, told, r.Now)
	if err != nil {
		return nil, err
	}
	events := append(own, foreign...)
	if len(events) > 0 || len(changed) > 0 || !s.Due.IsZero() && !r.Now.Before(s.Due) {
		switched := slices.ContainsFunc(events, func(e Event) bool { return e.Event == EventSwitched })
		for _, e := range s.startable(r) {
			e.InSwitch = switched
			events = append(events, e)
		}
	}
	for i := range events {
		if at, ok := r.Store.Index(events[i].ID); ok && events[i].Title == "" {
			events[i].Title = r.Store.At(at).Title
		}
	}
	return events, nil
}

// startable returns events for issues that became ready or blocked since the last look.
func (s *Seen) startable(r Reading) (events []Event) {
	ready, held := map[string]bool{}, map[string]bool{}
	anybody := dag.Worker{Now: r.Now, Asked: func(i int) bool { return s.asks(r.Store.At(i)) }}
	for i, issue := range r.Store.All() {
		switch r.Graph.State(i, anybody) {
		case dag.StateReady:
			ready[issue.ID] = true
			if s.Ready != nil && !s.Ready[issue.ID] {
				events = append(events, Event{Event: EventReady, ID: issue.ID, At: r.Now})
			}
		case dag.StateBlocked:
			held[issue.ID] = true
			if s.Held != nil && !s.Held[issue.ID] {
				events = append(events, Event{Event: EventBlocked, ID: issue.ID, At: r.Now})
			}
		}
	}
	s.Ready, s.Held, s.Due = ready, held, r.Graph.Due(r.Now)
	return events
}

// asks reports whether an issue has a waiting question. Most lines have none, which a search of
// their bytes shows without parsing.
func (s *Seen) asks(issue *beads.Issue) bool {
	line := s.Lines[issue.ID]
	if !bytes.Contains(line, []byte(signals.EscalationSection)) && !bytes.Contains(line, []byte(signals.EscalationPending)) {
		return false
	}
	record, err := beads.ParseRecord(line)
	if err != nil {
		return false
	}
	doc := notes.Parse(record.Text(beads.Notes))
	return signals.Asks(doc, signals.Read(doc, nil))
}

// left is the state in which stig left an issue, by part, and its line if stig created it.
type left struct {
	parts map[merge.PartName]merge.Digest
	made  *string // "" if the journal has only a hash of it
}

// OwnEvents returns the events of edits by stig, before the store is read.
func OwnEvents(records []clone.Record) []Event {
	events, _ := fromJournal(records, nil)
	return events
}

// fromJournal returns the events of what stig wrote, and the state in which it left each issue.
func fromJournal(records []clone.Record, already map[string]bool) (events []Event, told map[string]left) {
	told = map[string]left{}
	for _, r := range records {
		if r.Result == clone.Failed || len(r.Changes) == 0 || r.Forgets || r.Seen {
			continue
		}
		var ids []string
		of := map[string][]merge.Edit{}
		for _, c := range r.Changes {
			if of[c.Issue] == nil {
				ids = append(ids, c.Issue)
			}
			e := merge.Edit{Kind: merge.Kind(c.Kind), Name: c.Name, Was: c.Was, Now: c.Now}
			of[c.Issue] = append(of[c.Issue], e)
			told[c.Issue] = told[c.Issue].and(c, e)
		}
		for _, id := range ids {
			if already[r.Seq] {
				break
			}
			events = append(events, eventsOf(about{id: id, by: r.Actor, at: r.At}, of[id])...)
		}
	}
	return events, told
}

// and returns the state after one more change.
func (l left) and(c clone.Change, e merge.Edit) left {
	if l.parts == nil || e.Kind == merge.KindIssue {
		l = left{parts: map[merge.PartName]merge.Digest{}}
	}
	digest := merge.Part{Kind: e.Kind, Name: e.Name, Text: e.Now}.Digest()
	if c.Hash {
		digest, e.Now = merge.Digest(c.Now), ""
	}
	if e.Kind == merge.KindIssue {
		l.made = &e.Now
	}
	l.parts[merge.PartName{Kind: e.Kind, Name: e.Name}] = digest
	return l
}

// fromOthers returns the events of changes that the journal does not explain. If more than
// switchFrom issues changed, a switch event comes first.
func fromOthers(changed []change, told map[string]left, now time.Time) (events []Event, err error) {
	counts := map[string]int{}
	issues := 0
	for _, c := range changed {
		edits, at, err := c.unexplained(told[c.id])
		if err != nil {
			return nil, err
		}
		if len(edits) == 0 {
			continue
		}
		issues++
		if at.IsZero() {
			at = now
		}
		for _, e := range eventsOf(about{id: c.id, at: at}, edits) {
			counts[e.Event]++
			events = append(events, e)
		}
	}
	if issues > switchFrom {
		for i := range events {
			events[i].InSwitch = true
		}
		events = append([]Event{{Event: EventSwitched, At: now, Issues: issues, Counts: counts}}, events...)
	}
	return events, nil
}

// unexplained returns the edits of a line that are not in the journal in this form.
func (c change) unexplained(told left) (edits []merge.Edit, at time.Time, err error) {
	var before, after *beads.Record
	if c.before != nil {
		if before, err = beads.ParseRecord(c.before); err != nil {
			return nil, at, err
		}
	}
	if c.after != nil {
		if after, err = beads.ParseRecord(c.after); err != nil {
			return nil, at, err
		}
		at, _ = after.Time(beads.UpdatedAt)
	}
	if told.made != nil && before == nil && after != nil {
		if *told.made == "" {
			return overwritten(told, nil, after), at, nil
		}
		if before, err = beads.ParseRecord([]byte(*told.made)); err != nil {
			return nil, at, err
		}
	}
	for _, e := range merge.Edits(before, after) {
		left, own := told.parts[merge.PartName{Kind: e.Kind, Name: e.Name}]
		if own && left == (merge.Part{Kind: e.Kind, Name: e.Name, Text: e.Now}).Digest() {
			continue
		}
		edits = append(edits, e)
	}
	if after != nil {
		edits = append(edits, overwritten(told, edits, after)...)
	}
	return edits, at, nil
}

// overwritten returns the parts that differ from what stig left and that are not in edits:
// others have restored an earlier value.
func overwritten(told left, edits []merge.Edit, after *beads.Record) (list []merge.Edit) {
	known := map[merge.PartName]bool{}
	for _, e := range edits {
		known[merge.PartName{Kind: e.Kind, Name: e.Name}] = true
	}
	now := map[merge.PartName]merge.Part{}
	if len(told.parts) > 0 {
		for _, p := range merge.Parts(after) {
			now[merge.PartName{Kind: p.Kind, Name: p.Name}] = p
		}
	}
	for name, left := range told.parts {
		if p := now[name]; name.Kind != merge.KindIssue && !known[name] && p.Digest() != left {
			list = append(list, merge.Edit{Kind: name.Kind, Name: name.Name, Now: p.Text})
		}
	}
	slices.SortFunc(list, func(a, b merge.Edit) int {
		return slices.Compare([]string{string(a.Kind), a.Name}, []string{string(b.Kind), b.Name})
	})
	return list
}
