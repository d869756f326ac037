//go:build e2e

package sql_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
)

// TestNear compares what an excerpt and the whole store report about an issue, for every issue
// of random stores. They have rows of all types, cycles, nested epics and ids without an issue.
func TestNear(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		seed := uint64(time.Now().UnixNano())
		random := rand.New(rand.NewPCG(seed, 0))
		s := create(t, c, tangled(random, 60))
		whole, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		for i, issue := range whole.All() {
			part, err := s.Near(t.Context(), beads.Scope{IDs: []string{issue.ID}, Beside: true})
			if err != nil {
				t.Fatal(err)
			}
			at, _ := part.Index(issue.ID)
			got, want := answersOf(part, at), answersOf(whole, i)
			if _, exceeded := part.Exceeded(); exceeded {
				t.Errorf("seed %d: %s needs more than its excerpt of %d issues", seed, issue.ID, part.Len())
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: %s\n%q\nwant\n%q", seed, issue.ID, got, want)
			}
		}
	})
}

// answersOf returns what commands ask about an issue and its neighbours.
func answersOf(f *beads.Snapshot, i int) (list []string) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	g, worker := dag.New(f), dag.Worker{Now: now, Name: "mara"}
	say := func(what string, ids []int) {
		var names []string
		for _, at := range ids {
			names = append(names, fmt.Sprint(f.At(at).ID, " ", g.State(at, worker), " ", g.IsReady(at, now)))
		}
		list = append(list, what+": "+strings.Join(names, ", "))
	}
	list = append(list, fmt.Sprint(g.Standing(i, worker).Words(i, func(at int) string { return f.At(at).ID })))
	say("waiting", g.Waiting(i))
	say("blockers", g.OpenBlockers(i))
	say("parents", g.Parents(i))
	list = append(list, fmt.Sprint(g.Missing(i), g.Converges(i)))
	for _, d := range g.ClosedDependencies(i) {
		list = append(list, fmt.Sprint("built on ", f.At(d.Index).ID, d.Distance))
	}
	if ring := g.RingThrough(i); ring != nil {
		list = append(list, dag.Circle(ring, func(at int) string { return f.At(at).ID })...)
	}
	for _, in := range dag.AllIncoming(f, i) {
		list = append(list, f.At(in.From).ID+" "+in.Type)
	}
	if epic, ok := g.Epic(i); ok {
		closed, all := g.Progress(epic)
		list = append(list, fmt.Sprint("epic ", closed, all, g.Ends(epic)))
		for _, child := range g.Children(epic) {
			list = append(list, f.At(child).ID)
		}
	}
	say("children", g.Children(i))
	return list
}

// tangled returns a store with cycles, missing issues and malformed rows.
func tangled(random *rand.Rand, issues int) string {
	types := []string{"blocks", "blocks", "blocks", "parent-child", "parent-child", "waits-for", "conditional-blocks", "related", "discovered-from", "", "strange"}
	statuses := []string{"open", "open", "open", "closed", "closed", "in_progress", "deferred", "tombstone", "blocked"}
	var b strings.Builder
	for i := range issues {
		var rows []string
		for range random.IntN(4) {
			on := fmt.Sprintf("d-%d", random.IntN(issues+3)) // three of them are missing
			if i > 0 && random.IntN(3) > 0 {
				on = fmt.Sprintf("d-%d", random.IntN(i)) // mostly without cycles
			}
			if random.IntN(30) == 0 {
				on = "external:api:auth"
			}
			rows = append(rows, fmt.Sprintf(`{"depends_on_id":%q,"type":%q}`, on, types[random.IntN(len(types))]))
		}
		kind := []string{"task", "epic"}[random.IntN(2)]
		fmt.Fprintf(&b, `{"id":"d-%d","title":"t%d","status":%q,"issue_type":%q,"close_reason":%q,"dependencies":[%s]}`+"\n",
			i, random.IntN(40), statuses[random.IntN(len(statuses))], kind, []string{"done", "Failed: no", "Not planned: x"}[random.IntN(3)], strings.Join(rows, ","))
	}
	return b.String()
}

// TestNearFollows compares stig_edges with the lines after each of many edits of dependency
// rows.
func TestNearFollows(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
		s, db := create(t, c, tangled(random, 12)), reach(t, c)
		for range 40 {
			id, row := fmt.Sprintf("d-%d", random.IntN(12)), beads.Dep{On: fmt.Sprintf("d-%d", random.IntN(12)), Type: "blocks"}
			o := options()
			o.Scope.IDs = []string{id}
			_, _ = s.Edit(t.Context(), o, func(tx *beads.Tx) error { // a deleted issue refuses edits
				if random.IntN(3) == 0 {
					return tx.DropRow(id, row)
				}
				return tx.AddRow(id, beads.Row{On: row.On, Type: row.Type, By: "mara"})
			})
		}
		var got, want []string
		rows, err := db.Query("SELECT issue, target, type FROM stig_edges ORDER BY issue, n")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var issue, target, kind string
			if err := rows.Scan(&issue, &target, &kind); err != nil {
				t.Fatal(err)
			}
			got = append(got, issue+" "+target+" "+kind)
		}
		whole, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		var issues []*beads.Issue
		for _, issue := range whole.All() {
			issues = append(issues, issue)
		}
		slices.SortFunc(issues, func(a, b *beads.Issue) int { return strings.Compare(a.ID, b.ID) })
		for _, issue := range issues {
			for _, d := range issue.Rows() {
				want = append(want, issue.ID+" "+d.On+" "+d.Type)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q\nwant\n%q", got, want)
		}
	})
}

// TestMigrate creates tables of version 1 and migrates them, twice.
func TestMigrate(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		text := tangled(rand.New(rand.NewPCG(1, 2)), 30)
		s, db := create(t, c, text), reach(t, c)
		dump := func() (rows []string) {
			t.Helper()
			for _, query := range []string{
				"SELECT CONCAT(issue, ' ', n, ' ', target, ' ', type) FROM stig_edges ORDER BY issue, n",
				"SELECT CONCAT(id, HEX(title_hash), COALESCE(parent, '-'), COALESCE(closed_at, '-'), COALESCE(cynefin, '-')) FROM stig_lines ORDER BY id",
			} {
				found, err := db.Query(query)
				if err != nil {
					t.Fatal(err)
				}
				for found.Next() {
					var row string
					if err := found.Scan(&row); err != nil {
						t.Fatal(err)
					}
					rows = append(rows, row)
				}
				_ = found.Close()
			}
			return rows
		}
		want := dump()
		exec(t, db, "DROP TABLE stig_edges")
		exec(t, db, "DROP INDEX stig_lines_title ON stig_lines")
		exec(t, db, "ALTER TABLE stig_live DROP COLUMN ends")
		for _, column := range []string{"title_hash", "parent", "defer_until", "closed_at", "cynefin", "surprise", "progress", "escalation"} {
			exec(t, db, "ALTER TABLE stig_lines DROP COLUMN "+column)
		}
		exec(t, db, "UPDATE stig_meta SET schema_version = 1")
		if _, err := s.Snapshot(); err == nil || !strings.Contains(err.Error(), "have version 1; this stig needs version 2") {
			t.Error(err)
		}
		for n := range 2 {
			from, to, err := sql.Migrate(t.Context(), sql.Options{Config: c}, false)
			if err != nil || from != 1+n || to != 2 {
				t.Fatal(from, to, err)
			}
			if got := dump(); !slices.Equal(got, want) {
				t.Errorf("%q\nwant\n%q", got, want)
			}
		}
		if got := textOf(t, s); got != text {
			t.Errorf("%s\nwant\n%s", got, text)
		}
	})
}
