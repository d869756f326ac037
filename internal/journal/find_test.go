package journal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/cue"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/journal"
	"stig/internal/testkit/memory"
	"stig/signals"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// held is what a clone has outside the store, as lines of a-1.
type held struct {
	head    string
	outside map[string]string // by the name of its place
	deleted []string
}

func (h held) Head(context.Context, []string) (journal.Lines, error) { return linesOf(h.head), nil }

func (h held) Outside(_ context.Context, _ []string, visit func(string, journal.Lines) bool) error {
	for where, line := range h.outside {
		visit(where, linesOf(line))
	}
	return nil
}

func (h held) Past(context.Context, time.Time, []string) (journal.Past, error) { return nil, nil }

func (h held) Branches(context.Context, time.Time, []string) (journal.Past, error) { return nil, nil }

func (h held) Deleted([]string) (map[string]bool, error) {
	deleted := map[string]bool{}
	for _, id := range h.deleted {
		deleted[id] = true
	}
	return deleted, nil
}

func linesOf(line string) journal.Lines {
	if r, err := beads.ParseRecord([]byte(line)); err == nil {
		return journal.Lines{r.Text(beads.ID): r}
	}
	return nil
}

// edit is a record of one change of the title of a-1.
func edit(seq, was, now string, change ...func(*clone.Record)) clone.Record {
	quoted := func(s string) string {
		if s == "" {
			return ""
		}
		return fmt.Sprintf("%q", s)
	}
	r := clone.Record{Seq: seq, At: noon, Actor: "mara", Worktree: "/w", Branch: "main", Head: "c1", Result: clone.Written,
		Changes: []clone.Change{{Issue: "a-1", Kind: "key", Name: "title", Was: quoted(was), Now: quoted(now)}}}
	for _, c := range change {
		c(&r)
	}
	return r
}

func ended(result clone.Result) func(*clone.Record) {
	return func(r *clone.Record) { r.Result = result }
}
func seen(r *clone.Record)                           { r.Seen = true }
func forgets(r *clone.Record)                        { r.Forgets = true }
func records(records ...clone.Record) []clone.Record { return records }

func titled(title string) string { return fmt.Sprintf(`{"id":"a-1","title":%q}`, title) }

// later is the line with a date after that of the edits.
func later(title string) string {
	return fmt.Sprintf(`{"id":"a-1","title":%q,"updated_at":%q}`, title, noon.Add(time.Hour).Format(time.RFC3339))
}

// TestFindByValue: the fate of the last title that an earlier version wrote, whose records name
// no versions.
func TestFindByValue(t *testing.T) {
	tests := []struct {
		name    string
		journal []clone.Record
		store   string // the line of a-1, "" for none
		held    held
		want    string // the state and the value, "" for nothing
	}{
		{"it is there", records(edit("1", "a", "b")), titled("b"), held{}, ""},
		{"in other spelling", records(edit("1", "a", "<b>")), `{"id":"a-1","title":"\u003cb\u003e"}`, held{}, ""},
		{"what it replaced is back", records(edit("1", "a", "b")), titled("a"), held{}, `lost "b"`},
		{"its place is empty", records(edit("1", "a", "b")), `{"id":"a-1"}`, held{}, `lost "b"`},
		{"the issue is gone", records(edit("1", "a", "b")), "", held{}, `lost "b"`},
		{"what was replaced long ago is back", records(edit("1", "a", "b"), edit("2", "b", "c")), titled("a"), held{}, `lost "c"`},
		{"somebody wrote something else", records(edit("1", "a", "b")), titled("x"), held{}, `edited "b"`},
		{"stig removed it", records(edit("1", "a", "b"), edit("2", "b", "")), `{"id":"a-1"}`, held{}, ""},
		{"stig undid it", records(edit("1", "a", "b"), edit("2", "b", "a")), titled("a"), held{}, ""},
		{"it was let go", records(edit("1", "a", "b"), edit("2", "b", "", forgets)), titled("a"), held{}, ""},
		{"written again after it was let go", records(edit("1", "a", "b"), edit("2", "b", "", forgets), edit("3", "a", "b")), titled("a"), held{}, `lost "b"`},
		{"the write failed", records(edit("1", "a", "b", ended(clone.Failed))), titled("a"), held{}, ""},
		{"the writer was ended", records(edit("1", "a", "b", ended(clone.Unfinished))), titled("a"), held{}, `unfinished "b"`},
		{"an edit that ended unfinished hides nothing", records(edit("1", "a", "b"), edit("2", "b", "c", ended(clone.Unfinished))), titled("a"), held{}, `unfinished "c"; lost "b"`},
		{"unfinished over what is there", records(edit("1", "a", "b"), edit("2", "b", "c", ended(clone.Unfinished))), titled("b"), held{}, `unfinished "c"`},
		{"what stig took away is back", records(edit("1", "a", "")), titled("a"), held{}, "lost "},
		{"something else stands where stig took something away", records(edit("1", "a", "")), titled("x"), held{}, ""},
		{"a stash holds the removal", records(edit("1", "a", "")), titled("a"), held{outside: map[string]string{"stash@{0}": `{"id":"a-1"}`}}, "elsewhere "},
		{"a removal that was let go", records(edit("1", "a", ""), edit("2", "", "", forgets)), titled("a"), held{}, ""},
		{"the issue is a tombstone", records(edit("1", "a", "b")), `{"id":"a-1","title":"a","status":"tombstone"}`, held{}, ""},
		{"the issue was deleted", records(edit("1", "a", "b")), "", held{deleted: []string{"a-1"}}, ""},

		{"in a stash", records(edit("1", "a", "b")), titled("a"), held{outside: map[string]string{"stash@{0}": titled("b")}}, `elsewhere "b"`},
		{"a stash holds something else", records(edit("1", "a", "b")), titled("a"), held{outside: map[string]string{"stash@{0}": titled("c")}}, `lost "b"`},
		{"in the commit of HEAD, and a branch too", records(edit("1", "a", "b")), titled("a"),
			held{head: titled("b"), outside: map[string]string{"side": titled("b")}}, `lost "b"`},
		{"another program took it back later", records(edit("1", "a", "b")), later("a"), held{}, `taken back "b"`},
		{"in a line of another program that is committed", records(edit("1", "a", "b")), later("a"), held{head: later("a")}, `lost "b"`},
		{"seen, and another program took it", records(edit("1", "", "b", seen)), `{"id":"a-1"}`, held{}, `lost "b"`},
		{"another issue has its id", records(
			clone.Record{Seq: "0", At: noon, Worktree: "/w", Branch: "main", Result: clone.Written, Changes: []clone.Change{{Issue: "a-1", Kind: "issue", Name: "a-1",
				Now: `{"id":"a-1","title":"a","description":"d","created_at":"2026-11-01T00:00:00Z"}`}}}),
			`{"id":"a-1","title":"z","created_at":"2026-11-09T00:00:00Z"}`, held{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q := journal.Question{
				Place:   clone.Place{Worktree: "/w", Branch: "main", Head: "c1"},
				Journal: clone.Journal{Records: test.journal}, Store: journal.InSnapshot(read(t, store(test.store))), Held: test.held,
			}
			if got := found(t, q); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// versioned is a record of one change of a-1's title that names the lines before and after.
func versioned(seq, was, now string, change ...func(*clone.Record)) clone.Record {
	r := edit(seq, was, now, change...)
	r.Versions = []clone.Version{journal.VersionBetween("a-1", linesOf(titled(was))["a-1"], linesOf(titled(now))["a-1"])}
	return r
}

// row is a change in a-1's signal table.
func row(name, was, now string) clone.Change {
	return clone.Change{Issue: "a-1", Kind: "signal", Name: name, Was: was, Now: now}
}

func in(worktree string) func(*clone.Record) {
	return func(r *clone.Record) { r.Worktree = worktree }
}

// TestFind: the fate of values from records that name versions, and of values written by
// several.
func TestFind(t *testing.T) {
	tests := []struct {
		name    string
		journal []clone.Record
		store   string
		held    held
		quick   bool
		want    string
	}{
		{"an edit without a result from which another starts", records(versioned("1", "a", "b", ended(clone.Unfinished)), versioned("2", "b", "c")), titled("a"), held{}, false, `lost "c"`},
		{"an edit without a result from which none starts", records(versioned("1", "a", "b"), versioned("2", "b", "c", ended(clone.Unfinished))), titled("b"), held{}, false, `unfinished "c"`},
		{"a value of another program, in the same second", records(versioned("1", "a", "b"), versioned("2", "b", "a")), `{"id":"a-1","title":"b","design":"x"}`, held{}, false, ""},
		{"a value of another program, later", records(versioned("1", "a", "b"), versioned("2", "b", "a")), later("b"), held{}, false, `taken back "a"`},
		{"one of two tips was let go", records(versioned("1", "a", "b"), versioned("2", "a", "c"), edit("3", "b", "", forgets, func(r *clone.Record) {
			r.Versions = []clone.Version{{Issue: "a-1", Tips: []string{"1"}}}
		})), titled("a"), held{}, false, `lost "c"`},
		{"of another work tree", records(versioned("1", "a", "b", in("/x"))), titled("a"), held{}, false, `lost "b"`},
		{"of another work tree, asked in a hurry", records(versioned("1", "a", "b", in("/x"))), titled("a"), held{}, true, ""},
		{"lost in another work tree, which misses it itself", records(versioned("1", "a", "b", in("/x"))), titled("a"),
			held{outside: map[string]string{"work tree /x": titled("a")}}, false, `elsewhere "b"`},
		{"a default that came with a table made again", records(
			edit("1", "a", "b", func(r *clone.Record) { r.Changes = []clone.Change{row("surprise", "", "0.7\t2026-11-20")} }),
			edit("2", "a", "b", func(r *clone.Record) {
				r.Changes = []clone.Change{row("schema-version", "", "1\t2026-11-20"), row("surprise", "", signals.Surprise.Default()+"\t2026-11-20")}
			})), titled("a"), held{}, false, "lost 0.7\t2026-11-20; lost 1\t2026-11-20"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := found(t, journal.Question{Place: clone.Place{Worktree: "/w"}, Journal: clone.Journal{Records: test.journal},
				Store: journal.InSnapshot(read(t, store(test.store))), Held: test.held, Quick: test.quick})
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// found lists findings as STATE VALUE.
func found(t *testing.T, q journal.Question) string {
	t.Helper()
	findings, err := journal.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range findings {
		got = append(got, string(f.State)+" "+f.Text)
	}
	return strings.Join(got, "; ")
}

func store(line string) *memory.Store {
	if line != "" {
		line += "\n"
	}
	return memory.New(line)
}

func read(t testing.TB, s beads.Store) *beads.Snapshot {
	t.Helper()
	f, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestApply restores what was there when the findings were made, and keeps what was written
// since.
func TestApply(t *testing.T) {
	const table = `<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | 0.1 | 2026-11-01 |\n<!-- /stigmergic-signals -->`
	tests := []struct {
		name, store string
		changes     []clone.Change
		since       string // the line when Apply runs, "" for the store's
		want        string // in the line afterwards
		kept        int
	}{
		{name: "a key", store: titled("a"), changes: []clone.Change{{Kind: "key", Name: "title", Was: `"a"`, Now: `"b"`}}, want: `"title":"b"`},
		{name: "a number", store: `{"id":"a-1","title":"a","priority":2}`, changes: []clone.Change{{Kind: "key", Name: "priority", Was: "2", Now: "0"}}, want: `"priority":0`},
		{name: "a section", store: titled("a"), changes: []clone.Change{{Kind: "section", Name: "x", Now: "y"}}, want: `"notes":"<!-- x -->\ny\n<!-- /x -->"`},
		{name: "a row", store: `{"id":"a-1","title":"a","notes":"` + table + `"}`, changes: []clone.Change{{Kind: "signal", Name: "surprise", Was: "0.1\t2026-11-01", Now: "0.4\t2026-11-20"}}, want: `| surprise | 0.4 | 2026-11-20 |`},
		{name: "a row of no table", store: titled("a"), changes: []clone.Change{{Kind: "signal", Name: "surprise", Now: "0.4\t2026-11-20"}}, want: `| surprise | 0.4 | 2026-11-20 |\n| progress | not-started |`},
		{name: "a label", store: `{"id":"a-1","title":"a","labels":["p"]}`, changes: []clone.Change{{Kind: "label", Name: "q", Now: "q"}}, want: `["p","q"]`},
		{name: "an edge", store: titled("a"), changes: []clone.Change{{Kind: "edge", Name: "b blocks", Now: `{"issue_id":"a-1","depends_on_id":"b","type":"blocks"}`}}, want: `"dependencies":[{"issue_id":"a-1","depends_on_id":"b","type":"blocks"}]`},
		{name: "a comment", store: `{"id":"a-1","title":"a","comments":[{"id":1,"author":"m","text":"u"}]}`, changes: []clone.Change{{Kind: "comment", Name: "m 4c94485e", Now: `{"id":2,"author":"m","text":"v"}`}}, want: `[{"id":1,"author":"m","text":"u"},{"id":2,"author":"m","text":"v"}]`},
		{name: "an issue", store: "", changes: []clone.Change{{Kind: "issue", Name: "a-1", Now: `{"id":"a-1","title":"a","odd":[1]}`}, {Kind: "key", Name: "assignee", Now: `"mara"`}}, want: `{"id":"a-1","title":"a","assignee":"mara","odd":[1]}`},
		{name: "a close", store: `{"id":"a-1","title":"a","status":"open"}`, changes: []clone.Change{{Kind: "key", Name: "status", Was: `"open"`, Now: `"closed"`}, {Kind: "key", Name: "close_reason", Now: `"done well"`}}, want: `"status":"closed","updated_at":"2026-11-20T12:00:00Z","close_reason":"done well"`},
		{name: "edited since it was found", store: titled("a"), since: titled("x"), changes: []clone.Change{{Kind: "key", Name: "title", Was: `"a"`, Now: `"b"`}}, want: `"title":"x"`, kept: 1},
		{name: "deleted since it was found", store: titled("a"), since: `{"id":"a-1","title":"a","status":"tombstone"}`, changes: []clone.Change{{Kind: "key", Name: "title", Was: `"a"`, Now: `"b"`}}, want: `"title":"a"`, kept: 1},
		{name: "put back since it was found", store: titled("a"), since: titled("b"), changes: []clone.Change{{Kind: "key", Name: "title", Was: `"a"`, Now: `"b"`}}, want: `{"id":"a-1","title":"b"}`},
		{name: "a credential", store: titled("a"), changes: []clone.Change{{Kind: "section", Name: "x", Now: "0011223344556677", Hash: true}}, want: titled("a"), kept: 1},
		{name: "of an issue that nobody has", store: "", changes: []clone.Change{{Kind: "label", Name: "q", Now: "q"}}, kept: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := store(test.store)
			file := read(t, s)
			var records []clone.Record
			for i, c := range test.changes {
				c.Issue = "a-1"
				records = append(records, clone.Record{Seq: fmt.Sprint(i), At: noon, Worktree: "/w", Branch: "main", Result: clone.Written, Changes: []clone.Change{c}})
			}
			q := journal.Question{Place: clone.Place{Worktree: "/w", Branch: "main"}, Journal: clone.Journal{Records: records}, Store: journal.InSnapshot(file), Held: held{}}
			findings, err := journal.Find(t.Context(), q)
			if err != nil || len(findings) != len(test.changes) {
				t.Fatalf("%d findings, %v", len(findings), err)
			}
			if test.since != "" {
				s.Write(test.since + "\n")
			}
			result, err := journal.Apply(t.Context(), s, beads.Options{Now: noon}, findings, cue.Embedded())
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.ReplaceAll(s.Text(), `\u003c`, "<"), `\u003e`, ">")
			if !strings.Contains(got, test.want) || len(result.Kept) != test.kept {
				t.Errorf("%d kept, want %d; got %s\nwant %s", len(result.Kept), test.kept, got, test.want)
			}
		})
	}
}
