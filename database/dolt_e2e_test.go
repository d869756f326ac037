//go:build e2e

package database_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/beads"
	"stig/database"
	"stig/fault"
	"stig/internal/servers"
	"stig/mysql"
)

// onDolt makes a store on Dolt with two issues.
func onDolt(t *testing.T) (*database.Store, mysql.Config) {
	t.Helper()
	c := servers.Need(t, servers.Dolt).Database("dolt")
	return create(t, c, `{"id":"demo-1","title":"Light the lamp","status":"open"}`+"\n"+`{"id":"demo-2","title":"Grind the lens","status":"open"}`+"\n"), c
}

// log lists the messages and authors of the commits, the oldest first.
func log(t *testing.T, db *sql.DB) (list []string) {
	t.Helper()
	rows, err := db.Query("SELECT CONCAT(message, ' by ', committer) FROM dolt_log")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		list = append(list, line)
	}
	slices.Reverse(list)
	return list[1:] // Dolt makes the first
}

func rename(t *testing.T, s *database.Store, id, title string) {
	t.Helper()
	edit(t, s, func(tx *beads.Tx) error { return tx.Set(id, beads.Set{Key: beads.Title, Text: title}) })
}

// TestCommits edits within a second, and a second later, beside a table of somebody else.
func TestCommits(t *testing.T) {
	s, c := onDolt(t)
	db := s.DB()
	exec(t, db, "CREATE TABLE theirs (n INT PRIMARY KEY)")
	for i := range 3 {
		rename(t, s, "demo-1", fmt.Sprint("lamp ", i))
	}
	rename(t, s, "demo-2", "lens")
	if got, want := log(t, db), []string{"stig init by mara", "stig test by mara"}; !slices.Equal(got, want) {
		t.Errorf("within the second: %q, want %q", got, want)
	}
	for end := time.Now().Add(10 * time.Second); len(log(t, db)) < 3 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	rename(t, s, "demo-2", "lenses")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, c, "")
	want := []string{"stig init by mara", "stig test by mara",
		"stig test demo-1; stig test demo-1; stig test demo-1; stig test demo-2 by mara", "stig test demo-2 by mara"}
	if got := log(t, s.DB()); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var left string
	if err := s.DB().QueryRow("SELECT GROUP_CONCAT(table_name ORDER BY table_name) FROM dolt_status").Scan(&left); err != nil || left != "theirs" {
		t.Errorf("not committed: %q, %v", left, err)
	}
}

// TestHistory reads what was, commit by commit, across a merge.
func TestHistory(t *testing.T) {
	ctx := t.Context()
	s, c := onDolt(t)
	rename(t, s, "demo-1", "one")
	_ = s.Close()
	s = open(t, c, "")
	exec(t, s.DB(), "CALL DOLT_BRANCH('side')")
	side := c
	side.Database += "/side"
	there := open(t, side, "")
	rename(t, there, "demo-2", "two")
	if entries, err := there.State().Load(ctx, "claims"); len(entries) > 0 || err != nil {
		t.Errorf("live state of a new branch: %v, %v", entries, err)
	}
	_ = there.Close()
	history, err := s.History(ctx)
	if err != nil {
		t.Fatal(err)
	}
	versions, err := history.Versions(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for _, v := range versions {
		subjects = append(subjects, v.Subject+" by "+v.Author)
	}
	if want := []string{"Initialize data repository by Dolt System Account", "stig init by mara", "stig test by mara", "stig test demo-1 by mara"}; !slices.Equal(subjects, want) {
		t.Errorf("got %q, want %q", subjects, want)
	}
	last := versions[3]
	texts := map[string]string{}
	take := func(name string, text []byte) { texts[name] = string(text) }
	if err := history.Texts(ctx, versions, "", take); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(texts[last.Before[0]], "Light the lamp") || !strings.Contains(texts[last.After], `"one"`) || strings.Contains(texts[last.After], "demo-2") {
		t.Errorf("the last commit changed %q to %q", texts[last.Before[0]], texts[last.After])
	}
	if since, err := history.Versions(ctx, "HEAD~1"); err != nil || len(since) != 1 || since[0].Commit != last.Commit {
		t.Errorf("since HEAD~1: %v, %v", since, err)
	}
	for revision, want := range map[string]string{"HEAD": "one", "HEAD~1": "Light the lamp", "side": "one", last.Commit: "one", time.Now().Add(time.Hour).Format(time.RFC3339): "one"} {
		file, err := history.Snapshot(ctx, revision)
		if err != nil {
			t.Errorf("%s: %v", revision, err)
			continue
		}
		if is, err := file.Find("demo-1"); err != nil || is.Title != want {
			t.Errorf("%s: %+v, %v", revision, is, err)
		}
	}
	if common, err := history.Common(ctx, "side"); err != nil || common != last.Commit {
		t.Errorf("common with side: %s, %v; want %s", common, err, last.Commit)
	}
	for revision, none := range map[string]bool{"nowhere": false, "HEAD~3": true} {
		_, err := history.Snapshot(ctx, revision)
		if !fault.Is(err, fault.NoRevision) || errors.Is(err, beads.ErrBefore) != none {
			t.Errorf("%s: %v", revision, err)
		}
	}
}

// TestNoHistory asks a server that keeps none.
func TestNoHistory(t *testing.T) {
	s := create(t, servers.Need(t, servers.MariaDB).Database("none"), "")
	if history, err := s.History(t.Context()); history != nil || err != nil {
		t.Errorf("got %v, %v", history, err)
	}
}
