package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// change is one issue at two times. before is nil if the issue is new.
type change struct {
	subject
	since  string
	before *beads.Record
	was    *signals.Table
	wasDoc *notes.Doc
	commit string // named by its close reason, if git may have it
}

// changeOf reads an issue as it is now and as it was before, under the id that it had then.
func changeOf(f *beads.Snapshot, at int, wasID string, past Past, rules Rules) (*change, error) {
	record, err := f.At(at).Record()
	if err != nil {
		return nil, err
	}
	c := &change{subject: subjectOf(f, rules, f.At(at), record), since: past.Name}
	text := ""
	if was, ok := past.File.Index(wasID); ok {
		if c.before, err = past.File.At(was).Record(); err != nil {
			return nil, err
		}
		text = c.before.Text(beads.Notes)
	}
	c.wasDoc = notes.Parse(text)
	c.was = signals.Read(c.wasDoc, rules.Schema)
	return c, nil
}

func (c *change) judge() {
	c.closedByHand()
	c.forged()
	c.untried()
	if c.before == nil {
		return
	}
	c.deleted()
	c.backwards()
	c.promoted()
	c.trail()
}

// closedByHand reports issues that were closed since without stig, which leaves a close reason
// that says whether the criteria ran.
func (c *change) closedByHand() {
	reason := strings.TrimSpace(c.record.Text(beads.CloseReason))
	if !c.closed() || gate.ByStig(reason) {
		return
	}
	if c.closedSo(func(reason string) bool { return !gate.ByStig(reason) }) {
		return
	}
	message := "without a reason"
	if reason != "" {
		message = "with the reason " + opening(reason)
	}
	c.add(RuleByHand, 0, 0, fmt.Sprintf("closed since %s by hand, %s", c.since, message), c.closeAgain())
}

// closedSo reports whether the same close was there before, with a reason for which like is
// true.
func (c *change) closedSo(like func(reason string) bool) bool {
	return c.before != nil && c.before.Text(beads.Status) == beads.StatusClosed &&
		c.before.Text(beads.ClosedAt) == c.record.Text(beads.ClosedAt) && like(c.before.Text(beads.CloseReason))
}

// deleted reports issues that became tombstones.
func (c *change) deleted() {
	if c.issue.Status != beads.StatusTombstone || c.before.Text(beads.Status) == beads.StatusTombstone {
		return
	}
	c.add(RuleDeleted, 0, 0, fmt.Sprintf("deleted since %s; it was %s", c.since, c.before.Text(beads.Status)),
		"check that this was intended: a deleted issue is not worked on and does not block")
}

// backwards reports signals that moved backwards or became older, unless a state estimate since
// then explains it.
func (c *change) backwards() {
	if c.explained() {
		return
	}
	for _, s := range signals.All() {
		if !c.was.Has(s) || !c.table.Has(s) {
			continue
		}
		was, is := c.was.Value(s), c.table.Value(s)
		line, column := c.table.Place(s)
		switch before, after := c.was.Updated(s), c.table.Updated(s); {
		case retreats(s, was, is):
			c.add(RuleBackwards, line, column,
				fmt.Sprintf("%s: %s → %s, unexplained", s, was, is),
				fmt.Sprintf("type stig checkpoint %s --done … --learned … with the reason", c.issue.ID))
		case signals.IsDate(before) && signals.IsDate(after) && after < before:
			c.add(RuleBackwards, line, column,
				fmt.Sprintf("%s: dated %s, was dated %s", s, after, before),
				fmt.Sprintf("see in stig trajectory %s whether an old table overwrote a newer one", c.issue.ID))
		}
	}
}

// retreats reports whether a signal moved backwards. Surprise, Cynefin and depth have no
// direction, and blocked is not a stage of progress.
func retreats(s signals.Signal, was, is string) bool {
	switch s {
	case signals.Progress, signals.RegressionGuard:
		if s == signals.Progress && (was == signals.ProgressBlocked || is == signals.ProgressBlocked) {
			return false
		}
		return slices.Index(s.Domain(), is) < slices.Index(s.Domain(), was)
	case signals.Confidence:
		return signals.Weaker(is, was) < 0
	case signals.EvidenceFreshness:
		return signals.IsDate(was) && (!signals.IsDate(is) || is < was)
	case signals.Escalation:
		return is == signals.EscalationNone && was != is
	}
	return false
}

// explained reports whether somebody left a state estimate since, on or after the last day of
// the signals.
func (c *change) explained() bool {
	estimate, has := signals.LastEstimate(c.doc)
	if !has || !signals.IsDate(estimate.Date) {
		return false
	}
	was, had := signals.LastEstimate(c.wasDoc)
	if had && was.Date == estimate.Date && was.Body == estimate.Body || had && signals.IsDate(was.Date) && estimate.Date < was.Date {
		return false
	}
	for _, s := range signals.All() {
		if c.was.Raw(s) != c.table.Raw(s) && signals.IsDate(c.table.Updated(s)) && c.table.Updated(s) > estimate.Date {
			return false
		}
	}
	return true
}

// promoted reports confidence that rose while the evidence stayed the same. If the row has a
// date, unfounded reports it.
func (c *change) promoted() {
	was, is := c.was.Value(signals.Confidence), c.table.Value(signals.Confidence)
	freshness := c.table.Value(signals.EvidenceFreshness)
	if signals.Weaker(was, is) >= 0 || freshness != c.was.Value(signals.EvidenceFreshness) || signals.IsDate(c.table.Updated(signals.Confidence)) {
		return
	}
	line, column := c.table.Place(signals.Confidence)
	c.add(RuleUnfounded, line, column,
		fmt.Sprintf("%s → %s on evidence %s", was, is, freshness),
		evidenceHint(c.issue.ID))
}

// trail reports questions and answers that are gone or were edited.
func (c *change) trail() {
	sections := c.doc.Named(signals.EscalationSection)
	if len(sections) == 0 {
		return // the whole section vanished, which is already reported
	}
	now := signals.Escalations(c.doc)
	for _, p := range signals.Escalations(c.wasDoc) {
		kept := func(q signals.Part) bool {
			return q.Kind == p.Kind && q.Date == p.Date && q.By == p.By && visible.OneLine(q.Text) == visible.OneLine(p.Text)
		}
		if slices.ContainsFunc(now, kept) {
			continue
		}
		c.add(RuleTrail, sections[0].Line, 1,
			fmt.Sprintf("%q of %s is gone or edited since %s: %s", p.Kind, cmp.Or(p.Date, "no date"), c.since, opening(p.Text)),
			fmt.Sprintf("restore it from git show %s", c.since))
	}
}
