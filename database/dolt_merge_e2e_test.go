//go:build e2e

package database_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/beads"
	"stig/database"
	"stig/fault"
	"stig/internal/servers"
	"stig/merge"
	"stig/mysql"
)

// united merges as the file is merged, with answers about an issue.
func united(id string, answers merge.Answers) func(database.Merging) (database.United, error) {
	return func(m database.Merging) (u database.United, err error) {
		text := merge.Options{}.Stores(m.Base, m.Ours, m.Theirs).Text
		if answers != nil {
			r, err := merge.Resolve(text, merge.Origin{}, id, answers)
			if err != nil {
				return u, err
			}
			text = text[:r.Start] + r.Text + text[r.End:]
		}
		for _, c := range merge.Open(text, merge.Origin{}) {
			u.Asked = append(u.Asked, c.ID)
		}
		u.Text = merge.Settled(text)
		return u, nil
	}
}

// branches makes a store on Dolt and a branch of it.
func branches(t *testing.T, text string) (ours, theirs *database.Store, c mysql.Config) {
	t.Helper()
	c = servers.Need(t, servers.Dolt).Database("merge")
	s := create(t, c, text)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, c, "")
	exec(t, s.DB(), "CALL DOLT_BRANCH('side')")
	side := c
	side.Database += "/side"
	return s, open(t, side, ""), c
}

// set sets texts of an issue: key, value, key, value.
func set(t *testing.T, s *database.Store, id, updated string, values ...string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, updated)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Edit(context.Background(), beads.Options{Now: at, Notes: func(_, _ string) error { return nil }}, func(tx *beads.Tx) error {
		for i := 0; i < len(values); i += 2 {
			if err := tx.Set(id, beads.Set{Key: beads.Key(values[i]), Text: values[i+1]}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

const apart = `{"id":"demo-1","title":"Light the lamp","status":"open"}
{"id":"demo-2","title":"Grind the lens","description":"slowly","status":"open"}
{"id":"demo-3","title":"Paint the door","status":"open","comments":[{"id":1,"author":"a","text":"b","created_at":"2026-03-01T00:00:00Z"}]}
`

// TestMergeAlike merges branches on which different issues, and different parts of one,
// changed: nothing is to be decided, and copies of the store do not hide what came.
func TestMergeAlike(t *testing.T) {
	ours, theirs, c := branches(t, apart)
	set(t, ours, "demo-1", "2026-03-02T00:00:00Z", "title", "Light it")
	set(t, ours, "demo-3", "2026-03-02T00:00:00Z", "title", "Paint it")
	set(t, theirs, "demo-2", "2026-03-03T00:00:00Z", "title", "Grind it")
	set(t, theirs, "demo-1", "2026-03-04T00:00:00Z", "description", "with oil")
	comment := func(s *database.Store, text string) {
		edit(t, s, func(tx *beads.Tx) error { return tx.AddComment("demo-3", beads.Comment{Author: "mara", Text: text}) })
	}
	comment(ours, "ours")
	comment(theirs, "theirs")
	edit(t, theirs, func(tx *beads.Tx) error {
		_, err := tx.Add(beads.New{ID: "demo-4", Title: "Trim the wick"})
		return err
	})
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	before := textOf(t, ours)
	if done, err := ours.Merge(t.Context(), database.MergeOptions{Branch: "side", Actor: "mara", DryRun: true}, united("", nil)); err != nil || done.Done || textOf(t, open(t, c, "")) != before {
		t.Errorf("a dry run: %+v, %v", done, err)
	}
	done, err := ours.Merge(t.Context(), database.MergeOptions{Branch: "side", Actor: "mara", DryRun: false}, united("", nil))
	if err != nil || !done.Done || done.Nothing || len(done.Tables) != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	text := textOf(t, ours)
	for _, want := range []string{"Light it", "with oil", "Grind it", "Paint it", `"ours"`, `"theirs"`, "Trim the wick"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, text)
		}
	}
	if text != textOf(t, open(t, c, "")) {
		t.Error("who read it before reads something else")
	}
	var parents, status int
	row := ours.DB().QueryRow("SELECT (SELECT COUNT(*) FROM dolt_commit_ancestors WHERE commit_hash = HASHOF('HEAD')), (SELECT COUNT(*) FROM dolt_status WHERE table_name <> 'stig_live')")
	if err := row.Scan(&parents, &status); err != nil || parents != 2 || status != 0 {
		t.Errorf("%d parents, %d tables not committed, %v", parents, status, err)
	}
	set(t, ours, "demo-2", "2026-03-05T00:00:00Z", "title", "Grind on")
	if !strings.Contains(textOf(t, open(t, c, "")), "Grind on") {
		t.Error("an edit after the merge is lost")
	}
	if done, err := ours.Merge(t.Context(), database.MergeOptions{Branch: "side", Actor: "mara", DryRun: false}, united("", nil)); err != nil || !done.Nothing {
		t.Errorf("merged again: %+v, %v", done, err)
	}
}

// TestMergeAsks leaves to a person what needs a decision; nobody can write meanwhile, and
// the other issues are merged.
func TestMergeAsks(t *testing.T) {
	ours, theirs, c := branches(t, apart)
	for _, s := range []*database.Store{ours, theirs} {
		name := map[bool]string{true: "ours", false: "theirs"}[s == ours]
		set(t, s, "demo-1", "2026-03-02T00:00:00Z", "description", name)
		set(t, s, "demo-2", "2026-03-02T00:00:00Z", "description", name, "title", name)
	}
	set(t, theirs, "demo-3", "2026-03-02T00:00:00Z", "title", "Paint it")
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	var asked []string
	counted := func(m database.Merging) (database.United, error) {
		u, err := united("", nil)(m)
		asked = u.Asked
		return u, err
	}
	done, err := ours.Merge(t.Context(), database.MergeOptions{Branch: "side", Actor: "mara", DryRun: false}, counted)
	if err != nil || done.Done || !slices.Equal(asked, []string{"demo-1", "demo-2"}) {
		t.Fatalf("%+v, %v, asked %q", done, err, asked)
	}
	other := open(t, c, "")
	if text := textOf(t, other); !strings.Contains(text, "Paint it") || strings.Contains(text, `"theirs"`) {
		t.Errorf("what is not asked is not merged, or what is was taken:\n%s", text)
	}
	_, err = other.Edit(t.Context(), beads.Options{Now: now, Wait: time.Second}, func(tx *beads.Tx) error { return tx.Set("demo-3", beads.Set{Key: beads.Title, Text: "x"}) })
	if e, ok := fault.As(err, fault.Store); !ok || e.Hint != "type stig merge --database" {
		t.Errorf("written in between: %v", err)
	}
	done, err = other.Merge(t.Context(), database.MergeOptions{Branch: "", Actor: "mara", DryRun: false}, united("demo-1", merge.Answers{"description": merge.Theirs}))
	if err != nil || done.Done {
		t.Fatalf("%+v, %v", done, err)
	}
	done, err = other.Merge(t.Context(), database.MergeOptions{Branch: "", Actor: "mara", DryRun: false}, united("demo-2", merge.Answers{"description": merge.Ours, "title": merge.Theirs}))
	if err != nil || !done.Done {
		t.Fatalf("%+v, %v", done, err)
	}
	text := textOf(t, ours)
	for _, want := range []string{`"id":"demo-1","title":"Light the lamp","description":"theirs"`, `"title":"theirs","description":"ours"`, "Paint it"} {
		if !strings.Contains(text, want) {
			t.Errorf("without %s:\n%s", want, text)
		}
	}
	set(t, ours, "demo-3", "2026-03-05T00:00:00Z", "title", "after")
}

// TestMergeRefuses names what cannot be merged.
func TestMergeRefuses(t *testing.T) {
	ours, _, _ := branches(t, apart)
	mariadb := create(t, servers.Need(t, servers.MariaDB).Database("merge"), "")
	for _, test := range []struct {
		s            *database.Store
		branch, want string
	}{
		{ours, "", "no merge has begun"},
		{ours, "nowhere", `Dolt has no branch "nowhere"`},
		{mariadb, "side", "has no branches to merge: the server is not Dolt"},
	} {
		for _, dry := range []bool{true, false} {
			_, err := test.s.Merge(t.Context(), database.MergeOptions{Branch: test.branch, Actor: "mara", DryRun: dry}, united("", nil))
			if e, ok := fault.As(err, fault.Refused); test.branch == "" && !errors.Is(err, database.ErrNoMerge) || test.branch != "" && (!ok || e.Reason != test.want) {
				t.Errorf("%q, dry run %v: %v", test.branch, dry, err)
			}
		}
	}
}
