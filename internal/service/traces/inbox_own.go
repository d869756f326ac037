package traces

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// own collects what happened to the issues that are assigned to the actor.
func (s *search) own() error {
	var waiting []string
	for _, i := range s.assigned {
		if issue := s.file.At(i); issue.Status == beads.StatusInProgress && len(s.waitsFor(i)) > 0 {
			waiting = append(waiting, issue.ID)
		}
	}
	var claimed map[string]time.Time
	if len(waiting) > 0 && s.Claimed != nil {
		claimed = s.Claimed(waiting)
	}
	for _, i := range s.assigned {
		var err error
		switch s.file.At(i).Status {
		case beads.StatusOpen:
			err = s.ready(i)
		case beads.StatusInProgress:
			err = s.inHand(i, claimed[s.file.At(i).ID])
		}
		if err != nil {
			return err
		}
		s.failed(i)
	}
	return nil
}

// failed adds an item if the checks of the issue at i failed, unless the actor ran them.
func (s *search) failed(i int) {
	if s.Failed == nil || s.graph.Closed(i) {
		return
	}
	id := s.file.At(i).ID
	if v, ok := s.Failed(id); ok && v.By != s.For.Name {
		s.add(time.Time{}, found{Item: Item{ID: key(WhyGate, id, stamp(v.At)), Why: WhyGate, Issue: id, At: v.At.UTC(), By: v.By,
			Text: "its checks failed: " + v.Text, Command: "stig orient " + visible.Quoted(id)}})
	}
}

// ready adds an item if the issue at i can be started now and could not before.
func (s *search) ready(i int) error {
	issue := s.file.At(i)
	var failed error
	worker := dag.Worker{Now: s.Now, Name: s.For.Name, MayTake: s.MayTake, Asked: func(i int) bool {
		record, err := s.file.At(i).Record()
		if failed = err; err != nil {
			return false
		}
		doc := notes.Parse(record.Text(beads.Notes))
		return signals.HoldsBack(doc, signals.Read(doc, nil), s.For.Name)
	}}
	if s.graph.State(i, worker) != dag.StateReady || failed != nil {
		return failed
	}
	at, text := issue.DeferUntil, "can be started: it was deferred until then"
	for at2, holder := range s.upward(i) {
		for _, b := range s.waitsFor(holder) {
			record, err := s.file.At(b).Record()
			if err != nil {
				return err
			}
			if closed := ClosedAt(s.file.At(b), record); closed.After(at) {
				at, text = closed, "can be started: "+s.file.At(b).ID+" is closed"
				if at2 > 0 {
					text += ", which its epic " + s.file.At(holder).ID + " waited for"
				}
			}
		}
	}
	if !at.IsZero() {
		s.add(time.Time{}, found{Item: Item{ID: key(WhyReady, issue.ID, stamp(at)), Why: WhyReady, Issue: issue.ID, At: at, Text: text,
			Command: "stig claim " + visible.Quoted(issue.ID)}})
	}
	return nil
}

// upward returns an issue and the epics above it.
func (s *search) upward(i int) []int {
	list := []int{i}
	for at := i; ; {
		epic, ok := s.graph.Epic(at)
		if !ok || slices.Contains(list, epic) {
			return list
		}
		list, at = append(list, epic), epic
	}
}

// inHand adds items for what happened to the blockers of the issue at i since the actor claimed
// it; the zero time if that is unknown.
func (s *search) inHand(i int, claimed time.Time) error {
	issue := s.file.At(i)
	for _, b := range s.waitsFor(i) {
		blocker := s.file.At(b)
		record, err := blocker.Record()
		if err != nil {
			return err
		}
		if blocker.Assignee == s.For.Name && blocker.Status == beads.StatusClosed {
			continue // the actor closed it
		}
		item := Item{Issue: blocker.ID, By: blocker.Assignee, Command: "stig orient " + visible.Quoted(issue.ID)}
		switch closed := ClosedAt(blocker, record); {
		case closed.After(claimed):
			item.Why, item.At, item.ID = WhyBlocker, closed, key(WhyBlocker, blocker.ID, stamp(closed))
			item.Text = "closed, and " + issue.ID + " in your hands waits for it: " + record.Text(beads.CloseReason)
			s.addOnce(closed, item)
		case closed.IsZero() && !s.graph.Closed(b):
			if at, by, times := reopened(record); times > 0 && !at.Before(day(claimed)) && by != s.For.Name {
				item.Why, item.At, item.By, item.ID = WhyReopened, at, by, key(WhyReopened, blocker.ID, strconv.Itoa(times))
				item.Text = "opened again, and " + issue.ID + " in your hands waits for it"
				s.addOnce(time.Time{}, item)
			}
		}
	}
	return nil
}

// addOnce adds an item unless another issue of the actor already added it.
func (s *search) addOnce(closed time.Time, item Item) {
	if !slices.ContainsFunc(s.found, func(f found) bool { return f.ID == item.ID }) {
		s.add(closed, found{Item: item})
	}
}

// reopened returns the day on which an issue was last reopened, by whom, and how often it was
// reopened.
func reopened(record *beads.Record) (at time.Time, by string, times int) {
	doc := notes.Parse(record.Text(beads.Notes))
	for _, section := range doc.Named(signals.ReopenSection) {
		for _, p := range notes.Parts(doc.Body(section)) {
			rest, ok := strings.CutPrefix(p.Heading, signals.Reopening+" (")
			if !ok {
				continue
			}
			date, rest, _ := strings.Cut(rest, ")")
			at, _ = time.Parse(time.DateOnly, date) // zero if the date is missing
			by, times = strings.TrimPrefix(rest, " by "), times+1
		}
	}
	return at, by, times
}
