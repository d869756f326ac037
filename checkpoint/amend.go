package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/notes"
)

// Amendment lists the fields to change. A nil field stays as it is; an empty text removes the
// field.
type Amendment struct {
	Title, Description, Design, Acceptance, Type, Assignee, ExternalRef *string

	Priority *int
	Estimate *int       // in minutes; 0 removes it
	Defer    *time.Time // not ready before then; the zero time removes the field
	Due      *time.Time // due time; the zero time removes the field
	Status   *string    // a status that an edit may set: see settable
	Notes    *string    // replaces the text outside of sections; refused unless there is none yet
	Append   *string    // text to append to the notes, outside of sections
	Parent   *string    // the epic that contains the issue; "" removes the issue from its epic

	Labels                  *[]string // replaces all labels; excludes the next two fields
	AddLabels, RemoveLabels []string

	Line  int      // line of the amendment in the input; 0 for none
	Types []string // custom types of the project, besides those of bd

	// MayTake reports whether the editor may take an in-progress issue from its holder; nil
	// means never.
	MayTake func(holder string) bool
}

// IsEmpty reports whether the amendment changes nothing.
func (a Amendment) IsEmpty() bool {
	return len(a.sets()) == 0 && a.Title == nil && a.Priority == nil && a.Estimate == nil && a.Defer == nil && a.Due == nil && a.Parent == nil &&
		a.Status == nil && a.Notes == nil && a.Append == nil && a.Labels == nil && len(a.AddLabels)+len(a.RemoveLabels) == 0
}

// Amended describes the changes to one issue.
type Amended struct {
	ID       string   `json:"id"`
	Changed  []string `json:"changed"` // the changed keys
	Warnings []string `json:"warnings"`
}

// Amend changes fields of several issues in one edit: all of them, or none. amend returns the
// amendment for an issue, by its index in ids. Criteria that differ from the committed ones are
// reported when the issue closes. Amend returns a fault.Usage for invalid values and for
// changes to a closed issue other than labels, external reference and estimate. It refuses a
// parent as Link does, and with fault.Refused if bd keeps a database.
func Amend(ctx context.Context, s beads.Store, o beads.Options, ids []string, by string, amend func(i int) Amendment) ([]*Amended, []beads.Change, error) {
	var list []*Amended
	appends := false
	o.Scope.IDs = ids
	o.Notes = func(before, after string) error { return notes.Permit{Append: appends}.Check(before, after) }
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
		now := make([]*Amended, 0, len(ids))
		for i, id := range ids {
			a := amend(i)
			appends = appends || a.Notes != nil || a.Append != nil
			amended, err := amendOne(tx, o.Now, id, by, a)
			if err != nil {
				return &BatchError{i, a.Line, err}
			}
			now = append(now, amended)
		}
		list = now
		return nil
	})
	return list, lines, err
}

func amendOne(tx *beads.Tx, now time.Time, id, by string, a Amendment) (*Amended, error) {
	before, err := tx.Record(id)
	if err != nil {
		return nil, err
	}
	id = before.Text(beads.ID)
	if err := a.check(tx.Snapshot(), before); err != nil {
		return nil, err
	}
	if err := tx.Set(id, a.sets()...); err != nil {
		return nil, err
	}
	if a.Priority != nil {
		if err := tx.SetNumber(id, beads.Priority, a.Priority); err != nil {
			return nil, err
		}
	}
	if a.Estimate != nil {
		estimate := a.Estimate
		if *estimate == 0 {
			estimate = nil
		}
		if err := tx.SetNumber(id, beads.EstimatedMinutes, estimate); err != nil {
			return nil, err
		}
	}
	if a.Defer != nil {
		if err := deferUntil(tx, id, before.Text(beads.Status), *a.Defer); err != nil {
			return nil, err
		}
	}
	if a.Due != nil {
		if err := tx.Set(id, timeSet(beads.DueAt, *a.Due)); err != nil {
			return nil, err
		}
	}
	if a.Status != nil {
		if err := tx.Set(id, beads.Set{Key: beads.Status, Text: *a.Status}); err != nil {
			return nil, err
		}
	}
	if err := a.note(tx, before); err != nil {
		return nil, err
	}
	if a.Labels != nil {
		a.AddLabels = *a.Labels
		a.RemoveLabels = slices.DeleteFunc(before.Labels(), func(l string) bool { return slices.Contains(a.AddLabels, l) })
	}
	if err := tx.SetLabels(id, a.AddLabels, a.RemoveLabels); err != nil {
		return nil, err
	}
	if a.Parent != nil {
		if err := move(tx, id, *a.Parent, by); err != nil {
			return nil, err
		}
	}
	after, err := tx.Record(id)
	if err != nil {
		return nil, err
	}
	if a.Description != nil || a.ExternalRef != nil {
		if err := takenByBR(tx, nil, id, after.Text(beads.Description), after.Text(beads.ExternalRef)); err != nil {
			if e, ok := err.(*fault.Error); ok {
				e.ID = id
			}
			return nil, err
		}
	}
	return &Amended{ID: id, Changed: changedKeys(before, after), Warnings: a.warnings(tx.Snapshot(), after, now)}, nil
}

// deferUntil sets the day before which an issue is not ready. An issue with the status deferred
// becomes open: from then on the date alone decides when it is ready.
func deferUntil(tx *beads.Tx, id, status string, until time.Time) error {
	set := []beads.Set{timeSet(beads.DeferUntil, until)}
	if status == beads.StatusDeferred {
		set = append(set, beads.Set{Key: beads.Status, Text: beads.StatusOpen})
	}
	return tx.Set(id, set...)
}

// timeSet returns the set of a key to a time; the zero time removes the key.
func timeSet(k beads.Key, t time.Time) beads.Set {
	if t.IsZero() {
		return beads.Set{Key: k}
	}
	return beads.Set{Key: k, Text: t.UTC().Truncate(time.Second).Format(time.RFC3339)}
}

// note appends the texts of the amendment to the issue's notes, outside of sections. It returns
// a fault.Refused if --notes would replace existing text.
func (a Amendment) note(tx *beads.Tx, before *beads.Record) error {
	if a.Notes == nil && a.Append == nil {
		return nil
	}
	id, doc := before.Text(beads.ID), notes.Parse(before.Text(beads.Notes))
	if there := doc.Outside(); a.Notes != nil && there != "" && there != strings.TrimSpace(*a.Notes) {
		return &fault.Error{Code: fault.Refused, ID: id, Reason: "the notes are not empty, and --notes would replace them",
			Hint: "type stig edit " + id + " --append-notes TEXT, or stig show " + id + " --notes to read it"}
	} else if there != "" {
		a.Notes = nil
	}
	for _, text := range []*string{a.Notes, a.Append} {
		if text == nil {
			continue
		}
		if strings.TrimSpace(*text) == "" {
			return &fault.Error{Code: fault.Usage, ID: id, Reason: "the text for the notes is empty", Hint: "give a text, or leave it out"}
		}
		var err error
		if doc, err = doc.Append(*text); err != nil {
			return err
		}
	}
	return tx.Set(id, beads.Set{Key: beads.Notes, Text: doc.Text()})
}

// move puts an issue into another epic, or removes it from its epic.
func move(tx *beads.Tx, id, parent, by string) error {
	record, err := tx.Record(id)
	if err != nil {
		return err
	}
	row := beads.Dep{Type: parentChild}
	if parent != "" {
		epic, err := tx.Snapshot().Find(parent)
		if err != nil {
			return err
		}
		row.On = epic.ID
		if beads.IsClosed(epic.Status) {
			return usage(fmt.Sprintf("%s: cannot add a child; its status is %s", epic.ID, epic.Status), "name another --parent")
		}
	}
	for _, old := range record.Deps() {
		if old.Type != parentChild || old.On == row.On {
			continue
		}
		if err := tx.DropRow(id, old); err != nil {
			return err
		}
	}
	if parent == "" || slices.Contains(record.Deps(), row) {
		return nil
	}
	if err := refuse(tx.Snapshot(), id, row); err != nil {
		return err
	}
	return tx.AddRow(id, beads.Row{On: row.On, Type: row.Type, By: by})
}

// parentChild is the type of the dependency row from a child to its epic.
const parentChild = "parent-child"

// check returns an error if the amendment is not allowed for the issue.
func (a Amendment) check(f *beads.Snapshot, r *beads.Record) error {
	id := r.Text(beads.ID)
	placed := func(err error) error {
		if e, ok := err.(*fault.Error); ok {
			e.ID = id
		}
		return err
	}
	if r.Text(beads.Status) == beads.StatusClosed && a.changesWork() {
		return placed(usage("is closed", fmt.Sprintf("type stig reopen %s --reason …", id)))
	}
	if a.Title != nil {
		if err := checkTitle(*a.Title); err != nil {
			return placed(err)
		}
	}
	if a.Type != nil {
		if err := checkIssueType(f, *a.Type, a.Types); err != nil {
			return placed(err)
		}
	}
	if a.Estimate != nil && *a.Estimate < 0 {
		return placed(usage(fmt.Sprintf("estimate: must not be negative; found %d", *a.Estimate), ""))
	}
	if a.Priority != nil {
		if err := checkPriority(*a.Priority); err != nil {
			return placed(err)
		}
	}
	if a.Status != nil {
		if err := a.checkStatus(f, r); err != nil {
			return placed(err)
		}
	}
	if a.Labels != nil {
		if len(a.AddLabels)+len(a.RemoveLabels) > 0 {
			return placed(usage("cannot set all labels and also add or remove some", "omit one of them"))
		}
		return placed(checkLabels(*a.Labels))
	}
	for _, label := range a.AddLabels {
		if slices.Contains(a.RemoveLabels, label) {
			return placed(usage(fmt.Sprintf("label %q is both added and removed", label), "omit one of them"))
		}
	}
	return placed(checkLabels(a.AddLabels))
}

// settable lists the statuses that an edit may set. Claiming and closing do more than set a
// status.
var settable = []string{beads.StatusOpen, beads.StatusBlocked, beads.StatusDeferred, beads.StatusPinned, beads.StatusHooked}

// checkStatus refuses statuses unknown to bd and to the store, and those that only a claim or a
// close sets. It returns a fault.Conflict for an issue that another actor has in progress.
func (a Amendment) checkStatus(f *beads.Snapshot, r *beads.Record) error {
	id, status := r.Text(beads.ID), *a.Status
	allowed := slices.Clone(settable)
	for _, issue := range f.All() {
		if issue.Status == status && status != beads.StatusTombstone && status != "" {
			allowed = append(allowed, status)
			break
		}
	}
	meant := beads.StatusMeant(status)
	switch {
	case status == beads.StatusClosed, !slices.Contains(allowed, status) && meant == beads.StatusClosed:
		return usage(fmt.Sprintf("status: only stig close sets closed; found %q", status), "type stig close "+id+" --reason TEXT")
	case status == beads.StatusInProgress, !slices.Contains(allowed, status) && meant == beads.StatusInProgress:
		return usage(fmt.Sprintf("status: only stig claim sets in_progress; found %q", status), "type stig claim "+id)
	case !slices.Contains(allowed, status):
		return usage(fmt.Sprintf("status: must be one of %s, or one that the store uses; found %q", strings.Join(settable, ", "), status), "")
	}
	holder := r.Text(beads.Assignee)
	if r.Text(beads.Status) == beads.StatusInProgress && holder != "" && (a.MayTake == nil || !a.MayTake(holder)) {
		e := held(id, "is claimed by "+holder)
		e.Hint = "let them release it, or type stig release " + id + " --force"
		return e
	}
	return nil
}

// changesWork reports whether the amendment changes the task, its assignee or its times.
func (a Amendment) changesWork() bool {
	return a.Title != nil || a.Description != nil || a.Design != nil || a.Acceptance != nil || a.Type != nil || a.Assignee != nil ||
		a.Priority != nil || a.Defer != nil || a.Due != nil || a.Status != nil || a.Parent != nil
}

// warnings lists changes that are allowed but rarely intended.
func (a Amendment) warnings(f *beads.Snapshot, after *beads.Record, now time.Time) []string {
	list := []string{}
	if a.Type != nil {
		list = append(list, oddType(f, *a.Type)...)
	}
	if a.Defer != nil && !a.Defer.IsZero() && !a.Defer.After(now) {
		list = append(list, fmt.Sprintf("deferred until %s, which is in the past; the issue is not deferred", a.Defer.UTC().Format(time.DateOnly)))
	}
	if a.Assignee != nil && *a.Assignee == "" && after.Text(beads.Status) == beads.StatusInProgress {
		list = append(list, "is in progress but has no assignee now; stig release also sets it to open")
	}
	return list
}

// changedKeys returns the keys whose values differ, except updated_at.
func changedKeys(before, after *beads.Record) []string {
	keys := []string{}
	for _, k := range slices.Concat(after.Keys(), before.Keys()) {
		if k != beads.UpdatedAt && string(before.Raw(k)) != string(after.Raw(k)) && !slices.Contains(keys, string(k)) {
			keys = append(keys, string(k))
		}
	}
	return keys
}

func (a Amendment) sets() (list []beads.Set) {
	for _, given := range []struct {
		key  beads.Key
		text *string
	}{
		{beads.Title, a.Title}, {beads.Description, a.Description}, {beads.Design, a.Design}, {beads.AcceptanceCriteria, a.Acceptance},
		{beads.IssueType, a.Type}, {beads.Assignee, a.Assignee}, {beads.ExternalRef, a.ExternalRef},
	} {
		if given.text != nil {
			list = append(list, beads.Set{Key: given.key, Text: strings.TrimSuffix(*given.text, "\n")})
		}
	}
	return list
}
