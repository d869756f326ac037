package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/visible"
)

// Deletion says why issues are deleted, and by whom.
type Deletion struct {
	Reason, Actor string
	Force         bool // even if others depend on them, or another actor or a swarm works on them
}

// Deleted names the deleted issue.
type Deleted struct {
	ID         string      `json:"id"`
	Title      string      `json:"title"`
	Dependents []beads.Ref `json:"dependents"` // issues whose dependency on it was removed
}

func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// Delete turns issues into tombstones, as bd 0.49 does: the line stays, with the status
// tombstone, so that merging a branch that still has the issue does not restore it. Rows of
// other issues that refer to them are removed. All issues are deleted, or none. Unless forced,
// Delete returns a fault.Conflict if issues outside of ids depend on them, another actor has
// one in progress, or a swarm is running on one. It returns a fault.Refused if bd keeps the
// store in a database: use bd delete there.
func Delete(ctx context.Context, s beads.Store, o beads.Options, ids []string, d Deletion) ([]*Deleted, []beads.Change, error) {
	if s.Place().ByBD() {
		return nil, nil, &fault.Error{Code: fault.Refused, Path: s.Place().Name(), Reason: "bd keeps these issues in a database, and only bd can delete them",
			Hint: "type bd delete " + strings.Join(ids, " ") + " --force"}
	}
	var list []*Deleted
	o.Notes = nil // the notes of a deleted issue stay in its line
	lines, err := s.Edit(ctx, o, func(tx *beads.Tx) error {
		found, err := d.find(tx, ids)
		if err != nil {
			return err
		}
		list = nil
		for _, issue := range found {
			deleted, err := d.delete(tx, issue, found, o.Now)
			if err != nil {
				return err
			}
			list = append(list, deleted)
		}
		return nil
	})
	return list, lines, err
}

// Deletable checks that the issues may be deleted, and returns them. It writes nothing.
func Deletable(f *beads.Snapshot, ids []string, d Deletion) ([]*Deleted, error) {
	found, err := f.FindAll(ids)
	if err != nil {
		return nil, err
	}
	var list []*Deleted
	for _, issue := range found {
		if err := d.refuse(f, issue, found); err != nil {
			return nil, err
		}
		list = append(list, &Deleted{ID: issue.ID, Title: issue.Title, Dependents: f.Refs(dependents(f, issue, found))})
	}
	return list, nil
}

func (d Deletion) find(tx *beads.Tx, ids []string) (found []*beads.Issue, err error) {
	for _, id := range ids {
		if _, err := tx.Record(id); err != nil {
			return nil, err
		}
		issue, err := tx.Snapshot().Find(id)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(found, issue) {
			found = append(found, issue)
		}
	}
	return found, nil
}

func (d Deletion) delete(tx *beads.Tx, issue *beads.Issue, all []*beads.Issue, now time.Time) (*Deleted, error) {
	f := tx.Snapshot()
	if err := d.refuse(f, issue, all); err != nil {
		return nil, err
	}
	on := dependents(f, issue, all)
	for _, i := range on {
		for _, row := range f.At(i).Deps {
			if row.On != issue.ID {
				continue
			}
			if err := tx.DropRow(f.At(i).ID, row); err != nil {
				return nil, err
			}
		}
	}
	at := now.UTC().Truncate(time.Second).Format(time.RFC3339)
	return &Deleted{ID: issue.ID, Title: issue.Title, Dependents: f.Refs(on)}, tx.Set(issue.ID,
		beads.Set{Key: beads.Status, Text: beads.StatusTombstone}, beads.Set{Key: beads.ClosedAt},
		beads.Set{Key: "deleted_at", Text: at}, beads.Set{Key: "deleted_by", Text: d.Actor},
		beads.Set{Key: "delete_reason", Text: d.Reason}, beads.Set{Key: "original_type", Text: issue.Type})
}

func (d Deletion) refuse(f *beads.Snapshot, issue *beads.Issue, all []*beads.Issue) error {
	if d.Force {
		return nil
	}
	if issue.IsClaimed() && !clone.MayTake(d.Actor, issue.Assignee) {
		e := held(issue.ID, "is claimed by "+issue.Assignee)
		e.Hint = "let them release it, or delete it with --force"
		return e
	}
	r, err := issue.Record()
	if err == nil {
		err = explored(r)
	}
	if err != nil {
		return err
	}
	on := dependents(f, issue, all)
	if len(on) == 0 {
		return nil
	}
	var rows []string
	for _, i := range on {
		for _, row := range f.At(i).Deps {
			if row.On == issue.ID {
				rows = append(rows, fmt.Sprintf("%s (%s)", f.At(i).ID, row.Type))
				break
			}
		}
	}
	return &fault.Error{Code: fault.Conflict, ID: issue.ID, Reason: strings.Join(rows, ", ") + " " + verb(len(rows), "depends", "depend") + " on it",
		Hint: "type stig show " + issue.ID + " --deps to see them; --force drops these dependencies"}
}

// dependents returns the issues that have a row of any type on the issue, except those that are
// deleted too.
func dependents(f *beads.Snapshot, issue *beads.Issue, all []*beads.Issue) (list []int) {
	for i, other := range f.All() {
		at, ok := f.Index(other.ID)
		if !ok || at != i || other.Status == beads.StatusTombstone || slices.Contains(all, other) {
			continue
		}
		if slices.ContainsFunc(other.Deps, func(r beads.Dep) bool { return r.On == issue.ID }) {
			list = append(list, i)
		}
	}
	return list
}

// DuplicateOf returns the Closing of an issue as the duplicate of another one. As in bd, the
// close links the two (type duplicates) and ignores open dependencies, because the other issue
// has the work. Close then returns a fault.Usage if the other issue is the same one, deleted,
// or a duplicate of this one.
func DuplicateOf(of, by string) (Closing, error) {
	waiver, err := gate.Waive("the work is in the issue that it repeats", by)
	return Closing{Evidence: waiver, Actor: by, DuplicateOf: of}, err
}

// duplicate links the issue to the one that it duplicates, and returns the close reason.
func (c Closing) duplicate(tx *beads.Tx, id string) (reason string, err error) {
	other, err := tx.Snapshot().Find(c.DuplicateOf)
	if err != nil {
		return "", err
	}
	back := func(d beads.Dep) bool { return d.On == id && d.Type == "duplicates" }
	switch {
	case other.ID == id:
		return "", &fault.Error{Code: fault.Usage, ID: id, Reason: "cannot be a duplicate of itself", Hint: "name another issue with --of"}
	case other.Status == beads.StatusTombstone:
		return "", &fault.Error{Code: fault.Usage, ID: other.ID, Reason: "was deleted", Hint: "name another issue with --of"}
	case slices.ContainsFunc(other.Deps, back):
		return "", &fault.Error{Code: fault.Usage, ID: other.ID, Reason: "is a duplicate of " + id, Hint: "keep one of the two"}
	}
	return fmt.Sprintf("duplicate of %s, %s", other.ID, strings.TrimRight(visible.OneLine(other.Title), ".")),
		tx.AddRow(id, beads.Row{On: other.ID, Type: "duplicates", By: c.Actor})
}
