package checkpoint_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
)

// plain creates a store from the lines.
func plain(t *testing.T, lines ...string) beads.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".beads", "issues.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	place, err := jsonl.Discover(jsonl.Where{File: path})
	if err != nil {
		t.Fatal(err)
	}
	return jsonl.Open(place)
}

func stored(t *testing.T, s beads.Store) []string {
	t.Helper()
	text, err := os.ReadFile(s.Place().Path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func options() beads.Options { return beads.Options{Now: rules().Now} }

func amend(a checkpoint.Amendment) func(int) checkpoint.Amendment {
	return func(int) checkpoint.Amendment { return a }
}

// TestAmendFields edits each field of a line and checks that the rest of the line keeps its
// bytes.
func TestAmendFields(t *testing.T) {
	const line = `{"id":"d-1","title":"t","status":"open","priority": 2,"issue_type":"task","mine":1.50,"labels": ["b" , "c"]}`
	day := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name string
		set  checkpoint.Amendment
		want string // the line, without updated_at
	}{
		{"priority", checkpoint.Amendment{Priority: new(0)}, strings.Replace(line, ": 2", ": 0", 1)},
		{"type", checkpoint.Amendment{Type: new("bug")}, strings.Replace(line, "task", "bug", 1)},
		{"design", checkpoint.Amendment{Design: new("a & b\n")}, strings.Replace(line, `"t"`, `"t","design":"a \u0026 b"`, 1)},
		{"assignee", checkpoint.Amendment{Assignee: new("ann")}, strings.Replace(line, `"task"`, `"task","assignee":"ann"`, 1)},
		{"estimate", checkpoint.Amendment{Estimate: new(90)}, strings.Replace(line, `"task"`, `"task","estimated_minutes":90`, 1)},
		{"no estimate", checkpoint.Amendment{Estimate: new(0)}, line},
		{"defer", checkpoint.Amendment{Defer: &day}, strings.Replace(line, `"task"`, `"task","defer_until":"2026-12-01T00:00:00Z"`, 1)},
		{"external", checkpoint.Amendment{ExternalRef: new("gh-9")}, strings.Replace(line, `"task"`, `"task","external_ref":"gh-9"`, 1)},
		{"labels", checkpoint.Amendment{AddLabels: []string{"a", "c"}, RemoveLabels: []string{"b", "x"}}, strings.Replace(line, `["b" , "c"]`, `["c","a"]`, 1)},
		{"label after others", checkpoint.Amendment{AddLabels: []string{"a"}}, strings.Replace(line, `"c"]`, `"c" , "a"]`, 1)},
		{"no label left", checkpoint.Amendment{RemoveLabels: []string{"b", "c"}}, strings.Replace(line, `,"labels": ["b" , "c"]`, "", 1)},
		{"parent", checkpoint.Amendment{Parent: new("e")}, strings.Replace(line, `"c"]`,
			`"c"],"dependencies":[{"issue_id":"d-1","depends_on_id":"d-e","type":"parent-child","created_at":"2026-11-20T09:00:00Z","created_by":"ann"}]`, 1)},
		{"the same", checkpoint.Amendment{Title: new("t"), Priority: new(2), Type: new("task"), RemoveLabels: []string{"x"}}, line},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := plain(t, line, `{"id":"d-e","title":"e","status":"open","issue_type":"epic"}`)
			list, lines, err := checkpoint.Amend(context.Background(), s, options(), []string{"d-1"}, "ann", amend(test.set))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Replace(stored(t, s)[0], `,"updated_at":"2026-11-20T09:00:00Z"`, "", 1)
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if (len(lines) == 0) != (test.want == line) || (len(list[0].Changed) == 0) != (test.want == line) {
				t.Errorf("changed %q, %d lines", list[0].Changed, len(lines))
			}
		})
	}
}

// TestAmendRefused: nothing is written if one of several edits is refused.
func TestAmendRefused(t *testing.T) {
	lines := []string{`{"id":"d-1","title":"t","status":"open"}`, `{"id":"d-2","title":"t","status":"closed"}`,
		`{"id":"d-3","title":"t","status":"open","dependencies":[{"depends_on_id":"d-1","type":"parent-child"}]}`}
	tests := []struct {
		name string
		ids  []string
		set  checkpoint.Amendment
		want string
	}{
		{"closed", []string{"d-1", "d-2"}, checkpoint.Amendment{Title: new("x")}, "d-2: is closed"},
		{"type", []string{"d-1"}, checkpoint.Amendment{Type: new("taks")}, `d-1: type: must be one of bug, feature, task, epic, chore, or one that the store uses; found "taks"`},
		{"priority", []string{"d-1"}, checkpoint.Amendment{Priority: new(7)}, "d-1: priority: must be 0 to 4; found 7"},
		{"label", []string{"d-1"}, checkpoint.Amendment{AddLabels: []string{"a"}, RemoveLabels: []string{"a"}}, `d-1: label "a" is both added and removed`},
		{"own child", []string{"d-1"}, checkpoint.Amendment{Parent: new("d-3")}, "this would form a dependency cycle"},
		{"over", []string{"d-1"}, checkpoint.Amendment{Parent: new("d-2")}, "d-2: cannot add a child"},
		{"unknown", []string{"d-1", "d-9"}, checkpoint.Amendment{Priority: new(0)}, "d-9: no such issue"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := plain(t, lines...)
			_, _, err := checkpoint.Amend(context.Background(), s, options(), test.ids, "", amend(test.set))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if !slices.Equal(stored(t, s), lines) {
				t.Errorf("written: %q", stored(t, s))
			}
		})
	}
}

// TestAmendDeferred: a date replaces the status deferred, which would keep the issue from ever
// being ready.
func TestAmendDeferred(t *testing.T) {
	s := plain(t, `{"id":"d-1","title":"t","status":"deferred","defer_until":"2027-01-01T00:00:00Z"}`)
	past := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	list, _, err := checkpoint.Amend(context.Background(), s, options(), []string{"d-1"}, "", amend(checkpoint.Amendment{Defer: &past}))
	if err != nil || len(list[0].Warnings) != 1 || !strings.Contains(list[0].Warnings[0], "which is in the past") {
		t.Errorf("%v, %+v", err, list)
	}
	if _, _, err = checkpoint.Amend(context.Background(), s, options(), []string{"d-1"}, "", amend(checkpoint.Amendment{Defer: &time.Time{}})); err != nil {
		t.Fatal(err)
	}
	if want := `{"id":"d-1","title":"t","status":"open","updated_at":"2026-11-20T09:00:01Z"}`; stored(t, s)[0] != want {
		t.Errorf("got %s", stored(t, s)[0])
	}
}

// TestDelete checks what a deletion leaves in the store, and when it is refused.
func TestDelete(t *testing.T) {
	lines := []string{
		`{"id":"d-1","title":"t","notes":"n","status":"closed","issue_type":"bug","closed_at":"2026-01-01T00:00:00Z"}`,
		`{"id":"d-2","title":"t","status":"open","dependencies":[{"depends_on_id":"d-1","type":"blocks"}]}`,
		`{"id":"d-3","title":"t","status":"in_progress","assignee":"bo"}`,
	}
	s := plain(t, lines...)
	remove := func(force bool, ids ...string) error {
		_, _, err := checkpoint.Delete(context.Background(), s, options(), ids, checkpoint.Deletion{Reason: "twice", Actor: "ann", Force: force})
		return err
	}
	if err := remove(false, "d-3", "d-1"); err == nil || !slices.Equal(stored(t, s), lines) {
		t.Errorf("deleted what another works on: %v", err)
	}
	if err := remove(false, "d-1"); !fault.Is(err, fault.Conflict) || err.Error() != "d-1: d-2 (blocks) depends on it" {
		t.Errorf("got %v", err)
	}
	if err := remove(true, "d-1", "1"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"id":"d-1","title":"t","notes":"n","status":"tombstone","issue_type":"bug","updated_at":"2026-11-20T09:00:00Z",` +
			`"deleted_at":"2026-11-20T09:00:00Z","deleted_by":"ann","delete_reason":"twice","original_type":"bug"}`,
		`{"id":"d-2","title":"t","status":"open","updated_at":"2026-11-20T09:00:00Z"}`,
		lines[2],
	}
	if got := stored(t, s); !slices.Equal(got, want) {
		t.Errorf("got  %s", strings.Join(got, "\n"))
	}
	if err := remove(false, "d-1"); err == nil || !strings.Contains(err.Error(), "d-1 was deleted") {
		t.Errorf("got %v", err)
	}
}

// TestDuplicate: an issue with open blockers closes as a duplicate, with the row that bd
// writes.
func TestDuplicate(t *testing.T) {
	s := plain(t, `{"id":"d-1","title":"Read both. ","status":"open"}`,
		`{"id":"d-2","title":"t","status":"open","dependencies":[{"depends_on_id":"d-1","type":"blocks"}]}`)
	duplicate := func(id, of string) (*checkpoint.Closed, error) {
		closing, err := checkpoint.DuplicateOf(of, "ann")
		if err != nil {
			t.Fatal(err)
		}
		return checkpoint.Close(context.Background(), s, options(), id, closing, rules())
	}
	closed, err := duplicate("d-2", "1")
	if err != nil {
		t.Fatal(err)
	}
	if want := "Unverified: duplicate of d-1, Read both. Waived: the work is in the issue that it repeats. By ann."; closed.Reason != want {
		t.Errorf("got %q", closed.Reason)
	}
	if got := stored(t, s)[1]; !strings.Contains(got, `"depends_on_id":"d-1","type":"duplicates"`) || !strings.Contains(got, `"status":"closed"`) {
		t.Errorf("got %s", got)
	}
	for of, want := range map[string]string{"d-1": "cannot be a duplicate of itself", "d-2": "d-2: is a duplicate of d-1"} {
		if _, err := duplicate("d-1", of); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %s: %v", of, err)
		}
	}
}

// TestCreateAll: a batch is one edit, and later issues can name earlier ones.
func TestCreateAll(t *testing.T) {
	s := plain(t, `{"id":"d-1","title":"t","status":"open"}`)
	drafts := []checkpoint.Draft{
		{Name: "epic", Title: "Epic", Type: "epic"},
		{Title: "First", Type: "task", Parent: "epic", Name: "first"},
		{Title: "Second", Type: "task", Parent: "epic", Deps: []beads.Dep{{On: "first", Type: "blocks"}, {On: "d-1", Type: "blocks"}}},
		{Title: "First", Type: "task", Parent: "d-1"},
		{Title: "First", Type: "task", Parent: "d-1"},
		{Title: "Alike", Type: "task"},
		{Title: "Alike", Type: "task"},
	}
	created, lines, err := checkpoint.CreateAll(context.Background(), s, options(), drafts, rules())
	if err != nil || len(lines) != len(drafts) {
		t.Fatal(err, len(lines))
	}
	epic := created[0].ID
	if created[1].ID != epic+".1" || created[2].ID != epic+".2" || created[3].ID != "d-1.1" || created[4].ID != "d-1.2" || created[5].ID == created[6].ID {
		t.Errorf("ids %v", created)
	}
	before := stored(t, s)
	loop := []checkpoint.Draft{{Name: "a", Title: "A", Type: "epic"}, {Name: "b", Title: "B", Type: "task", Deps: []beads.Dep{{On: "a", Type: "blocks"}}},
		{Title: "C", Type: "task", Parent: "a", Deps: []beads.Dep{{On: "b", Type: "blocks"}}}}
	_, _, err = checkpoint.CreateAll(context.Background(), s, options(), loop, rules())
	var of *checkpoint.BatchError
	if !errors.As(err, &of) || of.At != 2 || !strings.Contains(err.Error(), "dependency cycle") || !slices.Equal(stored(t, s), before) {
		t.Errorf("got %v", err)
	}
}
