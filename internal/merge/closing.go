package merge

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stig/internal/beads"
	"stig/internal/gate"
	"stig/notes"
	"stig/signals"
)

const (
	deletedAt       beads.Key = "deleted_at"
	closedBySession beads.Key = "closed_by_session"
	originalType    beads.Key = "original_type"
)

// closing are the keys about how an issue was closed, or from deleted_at on deleted. They are
// merged one by one; for an issue that is open after the merge they go into a merged estimate,
// since bd rejects a store that has them there.
var closing = []beads.Key{
	beads.ClosedAt, beads.CloseReason, closedBySession, deletedAt, "deleted_by", "delete_reason", originalType,
}

// stamps are the alternative spellings that programs write; one is enough.
var stamps = []beads.Key{beads.ClosedAt, closedBySession, deletedAt, originalType}

// closure is the merge of the closing keys.
type closure struct {
	versions
	settled *beads.Record // the side whose status counts
	lead    *beads.Record // the side whose values count if both have one
	lost    []closedValue // values that are not kept under their keys
}

// closedValue is a value of a closing key on one side.
type closedValue struct {
	key  beads.Key
	from *beads.Record
	lead *beads.Record // the side whose value the key gets; nil if it can have none
}

// closure returns the decisions for the closing keys, and the merged status. Without a base it
// is unknown which side changed the status.
func (v versions) closure() (*closure, value) {
	settled, status := v.settled(), value{}
	if v.unknown && !equal(v.ours.Raw(beads.Status), v.theirs.Raw(beads.Status)) {
		side := v.answers[string(beads.Status)]
		settled = v.of(side)
		if side == "" {
			status.questions = []Question{v.asked(beads.Status)}
		}
	} else {
		status.warning = v.deletion(settled)
	}
	status.raw = settled.Raw(beads.Status)
	return &closure{versions: v, settled: settled, lead: v.closedBest(settled)}, status
}

// settled is the side whose status counts: the one that changed it. If both did, closed beats
// open, and of two closed or two open ones the newer counts. What was closed before and is open
// on one side is open, unless the other side closed it again later.
func (v versions) settled() *beads.Record {
	b, o, t := v.base.Raw(beads.Status), v.ours.Raw(beads.Status), v.theirs.Raw(beads.Status)
	open, shut := v.ours, v.theirs
	if closed(open) {
		open, shut = shut, open
	}
	differ := closed(v.ours) != closed(v.theirs)
	switch {
	case equal(o, t):
		return v.newer()
	case differ && closed(v.base) && v.closedAgain(shut).After(stamp(open)):
		return shut
	case differ && closed(v.base):
		return open
	case equal(b, t), none(t):
		return v.ours
	case equal(b, o), none(o):
		return v.theirs
	case differ:
		return shut
	}
	return v.newer()
}

// closedAgain is when a side closed or deleted an issue that was closed before; zero if it did
// not.
func (v versions) closedAgain(side *beads.Record) time.Time {
	for _, k := range []beads.Key{deletedAt, beads.ClosedAt} {
		if at, ok := side.Time(k); ok && !equal(side.Raw(k), v.base.Raw(k)) {
			return at
		}
	}
	if equal(side.Raw(beads.Status), v.base.Raw(beads.Status)) {
		return time.Time{}
	}
	return stamp(side)
}

// closedBest is the side whose closing values count if both have one: of two closed ones the
// verified one, else the one closed later; else the one whose status counts.
func (v versions) closedBest(settled *beads.Record) *beads.Record {
	if !closed(v.ours) || !closed(v.theirs) {
		return settled
	}
	if verified(v.ours) != verified(v.theirs) {
		if verified(v.ours) {
			return v.ours
		}
		return v.theirs
	}
	o, _ := v.ours.Time(beads.ClosedAt)
	t, _ := v.theirs.Time(beads.ClosedAt)
	switch o.Compare(t) {
	case -1:
		return v.theirs
	case 1:
		return v.ours
	}
	return v.newer()
}

func verified(r *beads.Record) bool {
	return strings.HasPrefix(strings.TrimSpace(r.Text(beads.CloseReason)), gate.Verified)
}

// deletion describes the outcome for an issue that one side deleted while the other changed it,
// which no list shows; "" for any other.
func (v versions) deletion(settled *beads.Record) string {
	deleted := func(r *beads.Record) bool { return closed(r) && len(r.Raw(deletedAt)) > 0 }
	sides := "deleted in ours, changed in theirs"
	switch {
	case deleted(v.base), deleted(v.ours) == deleted(v.theirs):
		return ""
	case deleted(v.theirs):
		sides = "changed in ours, deleted in theirs"
	}
	if deleted(settled) {
		return sides + ": it stays deleted"
	}
	return sides + ": it is restored with the status " + settled.Text(beads.Status)
}

// merge merges one closing key.
func (c *closure) merge(k beads.Key) value {
	merged, ok := c.plain(k)
	other := c.other(c.lead)
	switch {
	case ok:
	case none(c.lead.Raw(k)):
		merged.raw = other.Raw(k)
	default:
		merged.raw = c.lead.Raw(k)
		if !none(other.Raw(k)) {
			c.lost = append(c.lost, closedValue{k, other, c.lead})
		}
	}
	if c.stays(k) || none(merged.raw) {
		return merged
	}
	from := c.ours
	if !bytes.Equal(from.Raw(k), merged.raw) {
		from = c.theirs
	}
	c.lost = append(c.lost, closedValue{k, from, nil})
	return value{}
}

// stays reports whether the merged issue can have a closing key.
func (c *closure) stays(k beads.Key) bool {
	if slices.Index(closing, k) < slices.Index(closing, deletedAt) {
		return closed(c.settled)
	}
	return c.settled.Text(beads.Status) == beads.StatusTombstone
}

// tells reports whether a value deserves a section: no key has it, and its words differ from
// those that count.
func (s closedValue) tells() bool {
	return s.lead == nil || !slices.Contains(stamps, s.key) &&
		!slices.Equal(strings.Fields(s.from.Text(s.key)), strings.Fields(s.lead.Text(s.key)))
}

// warning says which value is not kept under its key, and where it is.
func (c *closure) warning() string {
	var parts, homeless []string
	for _, s := range c.lost {
		switch value := quoted(s.from, s.key); {
		case s.lead == nil:
			homeless = append(homeless, fmt.Sprintf("%s %s", s.key, value))
		case s.tells():
			parts = append(parts, fmt.Sprintf("both changed %s: kept %s, %s; %s is in the merged estimate", s.key, quoted(s.lead, s.key), c.why(), value))
		}
	}
	if len(homeless) > 0 {
		parts = append(parts, fmt.Sprintf("in the merged estimate, since its status is %s: %s", c.settled.Text(beads.Status), strings.Join(homeless, ", ")))
	}
	return strings.Join(parts, "; ")
}

// why says why the lead's values count.
func (c *closure) why() string {
	if verified(c.lead) && !verified(c.other(c.lead)) {
		return "the verified one"
	}
	return "the later"
}

// keepLost adds the merged estimate of lost values to the notes. It is an error if they cannot
// take it.
func (c *closure) keepLost(r *beads.Record) (*beads.Record, error) {
	if !slices.ContainsFunc(c.lost, closedValue.tells) {
		return r, nil
	}
	name, text := c.section()
	written := r.Text(beads.Notes)
	doc := notes.Parse(written)
	if _, there := doc.Live(name); there {
		return r, nil
	}
	failed := func(err error) (*beads.Record, error) {
		return nil, fmt.Errorf("both changed it, and its notes cannot keep how it was closed: %w", err)
	}
	switch {
	case len(doc.Malformed()) > 0:
		return failed(errors.New("they are malformed"))
	case strings.ContainsRune(written+text, utf8.RuneError):
		return failed(errors.New("not all of it is readable"))
	}
	d := documents{base: document{record: c.base}}
	d.base.read()
	doc, err := d.insertMerged(doc, name, text)
	if err != nil {
		return failed(err)
	}
	return r.Put(beads.Notes, doc.Text()), nil
}

// section is the merged estimate of lost values, dated by when the issue was closed there.
func (c *closure) section() (name, text string) {
	lines := []string{"From the side that closed it:"}
	date := stamp(c.newer())
	for _, s := range c.lost {
		lines = append(lines, fmt.Sprintf("- %s: %s", s.key, strings.TrimSpace(valueText(s.from, s.key))))
		if at, ok := s.from.Time(beads.ClosedAt); ok {
			date = at
		}
	}
	slices.Sort(lines[1:])
	text = strings.Join(slices.Compact(lines), "\n")
	day := ""
	if !date.IsZero() {
		day = date.UTC().Format(time.DateOnly)
	}
	return signals.MergedEstimateName(day, text), text
}
