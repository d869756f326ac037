package traces

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/dag"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/internal/testkit/memory"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// line returns the line of an issue with those members.
func line(id string, members ...string) string {
	return "{" + strings.Join(append([]string{fmt.Sprintf(`"id":%q`, id)}, members...), ",") + "}"
}

func text(key, value string) string {
	raw, _ := json.Marshal(value)
	return fmt.Sprintf("%q:%s", key, raw)
}

func section(name, body string) string {
	return "<!-- " + name + " -->\n" + body + "\n<!-- /" + name + " -->"
}

func table(rows ...string) string {
	return section("stigmergic-signals", "| Signal | Value | Updated |\n|---|---|---|\n"+strings.Join(rows, "\n"))
}

// words returns events in short: name, issue, details.
func words(events []Event) (list []string) {
	for _, e := range events {
		of := []string{e.Event, e.ID}
		for _, s := range []string{e.By, e.Type, e.Summary, e.Signal, e.Was, e.Now, e.On, e.Gone, strings.Join(e.Fields, "+"), strings.Join(e.To, "+"), strings.Join(e.Needs, "+")} {
			if s != "" {
				of = append(of, s)
			}
		}
		list = append(list, strings.Join(of, " "))
	}
	return list
}

const finding = "finding: no feed\n\nto: bo\nneeds: diving\nstig: finding/1"

func comment(number int, author, said, at string) string {
	raw, _ := json.Marshal(said)
	return fmt.Sprintf(`{"id":%d,"author":%q,"text":%s,"created_at":%q}`, number, author, raw, at)
}

// TestEvents compares two lines of an issue, as after an edit by another program.
func TestEvents(t *testing.T) {
	row := func(value string) string { return "| surprise | " + value + " | 2026-11-20 |" }
	notes := func(parts ...string) string { return line("p-1", text("notes", strings.Join(parts, "\n\n"))) }
	asked := "## Pending (2026-11-20)\n\nWhich crane?\n\nBy: ann"
	for _, c := range []struct {
		name          string
		before, after string // "" for no issue
		want          []string
	}{
		{"made", "", line("p-1", text("title", "Lay it")), []string{"created p-1"}},
		{"made with a trace", "", line("p-1", `"comments":[`+comment(1, "ann", finding, "2026-11-20T09:00:00Z")+`]`),
			[]string{"created p-1", "trace p-1 ann finding no feed bo diving"}},
		{"gone", line("p-1"), "", []string{"vanished p-1 issue"}},
		{"a tombstone", line("p-1", `"status":"open"`), line("p-1", `"status":"tombstone"`), []string{"vanished p-1 issue"}},
		{"claimed", line("p-1", `"status":"open"`), line("p-1", `"status":"in_progress"`, `"assignee":"bo"`), []string{"claimed p-1 bo"}},
		{"released", line("p-1", `"status":"in_progress"`, `"assignee":"bo"`), line("p-1", `"status":"open"`), []string{"released p-1 bo"}},
		{"closed", line("p-1", `"status":"in_progress"`, `"assignee":"bo"`), line("p-1", `"status":"closed"`, `"assignee":"bo"`, `"closed_at":"2026-11-20T12:00:00Z"`, `"close_reason":"it lies"`),
			[]string{"closed p-1 it lies"}},
		{"reopened", line("p-1", `"status":"closed"`, `"close_reason":"x"`), line("p-1", `"status":"open"`), []string{"reopened p-1"}},
		{"reopened and claimed at once", line("p-1", `"status":"closed"`), line("p-1", `"status":"in_progress"`), []string{"reopened p-1"}},
		{"deferred", line("p-1", `"status":"open"`), line("p-1", `"status":"deferred"`), []string{"edited p-1 status"}},
		{"given to another", line("p-1", `"assignee":"bo"`), line("p-1", `"assignee":"ann"`), []string{"edited p-1 assignee"}},
		{"a reason put in later", line("p-1", `"status":"closed"`), line("p-1", `"status":"closed"`, `"close_reason":"x"`), []string{"edited p-1 close_reason"}},
		{"fields", line("p-1", `"title":"a"`, `"labels":["x"]`), line("p-1", `"title":"b"`, `"labels":["x","y"]`, `"design":"d"`), []string{"edited p-1 title+label+design"}},
		{"a later time alone", line("p-1", `"updated_at":"2026-11-20T12:00:00Z"`), line("p-1", `"updated_at":"2026-11-20T12:00:09.5Z"`), nil},
		{"in other bytes", line("p-1", `"title":"a<b"`), `{ "title" : "a\u003cb", "id":"p-1" }`, nil},
		{"a signal", notes(table(row("0.1"))), notes(table(row("0.4"))), []string{"signal p-1 surprise 0.1 0.4"}},
		{"the day of a signal", notes(table(row("0.1"))), notes(table("| surprise | 0.1 | 2026-11-21 |")), nil},
		{"a row that says what held", notes(), notes(table("| surprise | 0.0 | 2026-11-21 |")), nil},
		{"a row gone", notes(table(row("0.1"), "| progress | exploring | 2026-11-20 |")), notes(table(row("0.1"))), []string{"vanished p-1 progress exploring signal"}},
		{"a checkpoint", notes(), notes(section("checkpoint-context", "## State estimate (2026-11-20)\n\nhalf")), []string{"checkpoint p-1"}},
		{"a checkpoint gone", notes(section("checkpoint-context", "half")), notes(), []string{"vanished p-1 section checkpoint-context"}},
		{"another section", notes(), notes(section("synthesis", "so")), []string{"edited p-1 section synthesis"}},
		{"a question", notes(), notes(section("escalation-context", asked)), []string{"escalated p-1"}},
		{"an answer", notes(section("escalation-context", asked)), notes(section("escalation-context", asked+"\n\n## Resolved (2026-11-21)\n\nThe red one")), []string{"answered p-1"}},
		{"the same question twice", notes(section("escalation-context", asked)), notes(section("escalation-context", asked+"\n\n"+asked)), []string{"escalated p-1"}},
		{"questions gone", notes(section("escalation-context", asked)), notes(), []string{"vanished p-1 section escalation-context"}},
		{"a trace", line("p-1"), line("p-1", `"comments":[`+comment(1, "ann", finding, "2026-11-20T09:00:00Z")+`]`), []string{"trace p-1 ann finding no feed bo diving"}},
		{"a comment", line("p-1"), line("p-1", `"comments":[`+comment(1, "bo", "wet\nand cold", "2026-11-20T09:00:00Z")+`]`), []string{"trace p-1 bo comment wet"}},
		{"a comment that is a text", line("p-1"), line("p-1", `"comments":["wet"]`), []string{"trace p-1 comment wet"}},
		{"a comment gone", line("p-1", `"comments":[`+comment(1, "bo", "wet", "")+`]`), line("p-1"), []string{"vanished p-1 comment"}},
		{"comments with other numbers and times", line("p-1", `"comments":[`+comment(1, "bo", finding, "2026-11-20T09:00:00Z")+`]`),
			line("p-1", `"comments":[`+comment(9, "bo", finding, "2026-11-20T09:00:00.25Z")+`]`), nil},
		{"a row of dependencies", line("p-1"), line("p-1", `"dependencies":[{"issue_id":"p-1","depends_on_id":"p-2","type":"blocks"}]`), []string{"dependency p-1 blocks added p-2"}},
		{"and without it", line("p-1", `"dependencies":[{"issue_id":"p-1","depends_on_id":"p-2","type":"blocks"}]`), line("p-1"), []string{"dependency p-1 blocks removed p-2"}},
		{"all at once, in their order", line("p-1", `"status":"open"`, `"title":"a"`), line("p-1", `"status":"closed"`, `"title":"b"`, `"comments":[`+comment(1, "bo", finding, "")+`]`),
			[]string{"edited p-1 title", "trace p-1 bo finding no feed bo diving", "closed p-1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := change{id: "p-1"}
			if c.before != "" {
				change.before = []byte(c.before)
			}
			if c.after != "" {
				change.after = []byte(c.after)
			}
			edits, _, err := change.unexplained(left{})
			if err != nil {
				t.Fatal(err)
			}
			got := words(eventsOf(about{id: "p-1", at: noon}, edits))
			for i, want := range c.want {
				if i >= len(got) || !strings.HasPrefix(got[i], want) {
					t.Fatalf("got  %q\nwant %q", got, c.want)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func reading(t *testing.T, store string, journal ...clone.Record) Reading {
	t.Helper()
	file, err := memory.New(store).Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return Reading{Store: file, Graph: dag.New(file), Journal: journal, Now: noon}
}

// set returns a journal record that sets keys of an issue: key, was, now …
func set(seq, actor, id string, of ...string) clone.Record {
	r := clone.Record{Seq: seq, Actor: actor, At: noon, Result: clone.Written}
	for ; len(of) >= 3; of = of[3:] {
		r.Changes = append(r.Changes, clone.Change{Issue: id, Kind: string(merge.Key), Name: of[0], Was: of[1], Now: of[2]})
	}
	return r
}

func with(r clone.Record, change func(*clone.Record)) clone.Record {
	change(&r)
	return r
}

// TestLook: one look separates what stig wrote from what others did.
func TestLook(t *testing.T) {
	open := line("p-1", `"title":"a"`, `"status":"open"`)
	held := line("p-2", `"title":"b"`, `"status":"open"`, `"dependencies":[{"issue_id":"p-2","depends_on_id":"p-1","type":"blocks"}]`)
	claim := []string{"status", `"open"`, `"in_progress"`, "assignee", "", `"ann"`}
	issue := func(now string) clone.Record {
		return clone.Record{Seq: "m", Actor: "ann", At: noon, Result: clone.Written, Changes: []clone.Change{{Issue: "p-1", Kind: string(merge.KindIssue), Name: "p-1", Now: now}}}
	}
	claimed := line("p-1", `"title":"a"`, `"status":"in_progress"`, `"assignee":"ann"`)
	for _, c := range []struct {
		name          string
		before, after string
		journal       []clone.Record
		want          []string
	}{
		{"nothing", open, open, nil, nil},
		{"of stig, with who it was", open, claimed, []clone.Record{set("1", "ann", "p-1", claim...)}, []string{"claimed p-1 ann ann"}},
		{"claimed and given back before the look", open, open, []clone.Record{
			set("1", "ann", "p-1", claim...), set("2", "ann", "p-1", "status", `"in_progress"`, `"open"`, "assignee", `"ann"`, "")},
			[]string{"claimed p-1 ann ann", "released p-1 ann ann"}},
		{"of stig, and of another in the same line", open, strings.Replace(claimed, `"a"`, `"x"`, 1), []clone.Record{set("1", "ann", "p-1", claim...)},
			[]string{"claimed p-1 ann ann", "edited p-1 title"}},
		{"of stig, and then of another in the same key", open, line("p-1", `"title":"c"`, `"status":"open"`), []clone.Record{set("1", "ann", "p-1", "title", `"a"`, `"b"`)},
			[]string{"edited p-1 ann title", "edited p-1 title"}},
		{"failed", open, open, []clone.Record{with(set("1", "ann", "p-1", claim...), func(r *clone.Record) { r.Result = clone.Failed })}, nil},
		{"records of what was seen or forgotten", open, open, []clone.Record{
			with(set("1", "ann", "p-1", claim...), func(r *clone.Record) { r.Seen = true }), with(set("2", "ann", "p-1", claim...), func(r *clone.Record) { r.Forgets = true })}, nil},
		{"made by stig", "", open, []clone.Record{issue(open)}, []string{"created p-1 ann", "ready p-1"}},
		{"made by stig, then changed by it", "", claimed, []clone.Record{issue(open), set("2", "ann", "p-1", claim...)}, []string{"created p-1 ann", "claimed p-1 ann ann"}},
		{"made by stig, changed by it and then by another", "", line("p-1", `"title":"z"`, `"status":"open"`), []clone.Record{issue(open), set("2", "ann", "p-1", "title", `"a"`, `"b"`)},
			[]string{"created p-1 ann", "edited p-1 ann title", "edited p-1 title", "ready p-1"}},
		{"put back by another, beside another change", open, line("p-1", `"title":"a"`, `"status":"open"`, `"design":"d"`), []clone.Record{set("1", "ann", "p-1", "title", `"a"`, `"b"`)},
			[]string{"edited p-1 ann title", "edited p-1 design+title"}},
		{"made by stig with a credential, then changed by it and by another", "", line("p-1", `"title":"z"`, `"status":"open"`), []clone.Record{
			with(issue("x"), func(r *clone.Record) { r.Changes[0].Hash = true }), set("2", "ann", "p-1", "title", `"a"`, `"b"`)},
			[]string{"created p-1 ann", "edited p-1 ann title", "edited p-1 title", "ready p-1"}},
		{"made by stig, gone by hand", "", "", []clone.Record{issue(open)}, []string{"created p-1 ann"}},
		{"taken out and made again", open, open, []clone.Record{set("1", "ann", "p-1", "title", `"a"`, `"b"`), issue(open)}, []string{"edited p-1 ann title", "created p-1 ann"}},
		{"made by stig, then changed by another", "", line("p-1", `"title":"z"`, `"status":"open"`), []clone.Record{issue(open)},
			[]string{"created p-1 ann", "edited p-1 title", "ready p-1"}},
		{"closed, and the next is ready", open + "\n" + held, line("p-1", `"title":"a"`, `"status":"closed"`) + "\n" + held, []clone.Record{set("1", "bo", "p-1", "status", `"open"`, `"closed"`)},
			[]string{"closed p-1 bo", "ready p-2"}},
		{"held up by hand", open + "\n" + line("p-2", `"title":"b"`, `"status":"open"`), open + "\n" + held, nil, []string{"dependency p-2 blocks added p-1", "blocked p-2"}},
		{"gone by hand", open + "\n" + held, open, nil, []string{"vanished p-2 issue"}},
		{"a hashed value is stig's", open, line("p-1", `"title":"s"`, `"status":"open"`), []clone.Record{with(set("1", "ann", "p-1"), func(r *clone.Record) {
			r.Changes = []clone.Change{{Issue: "p-1", Kind: string(merge.Key), Name: "title", Was: "x", Now: string(merge.Part{Kind: merge.Key, Name: "title", Text: `"s"`}.Digest()), Hash: true}}
		})}, []string{"edited p-1 ann title"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen Seen
			if err := seen.Take(reading(t, c.before+"\n")); err != nil {
				t.Fatal(err)
			}
			events, err := seen.Look(reading(t, c.after+"\n", c.journal...))
			if got := words(events); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
			}
			if again, err := seen.Look(reading(t, c.after+"\n")); err != nil || len(again) > 0 {
				t.Errorf("told again: %q, %v", words(again), err)
			}
		})
	}
}

// TestSwitched: if another program changes more than 50 issues, one switch event comes first.
// The events of each issue are marked, so that only a watcher that names the issue gets them.
func TestSwitched(t *testing.T) {
	store := func(n int, title string) (text string) {
		for i := range n {
			text += line(fmt.Sprintf("p-%d", i), fmt.Sprintf(`"title":%q,"status":"open"`, title)) + "\n"
		}
		return text
	}
	for _, c := range []struct {
		issues int
		want   string
	}{{switchFrom, "edited p-0"}, {switchFrom + 1, "switched "}} {
		var seen Seen
		if err := seen.Take(reading(t, store(c.issues, "a"))); err != nil {
			t.Fatal(err)
		}
		own := set("1", "ann", "p-0", "status", `"open"`, `"closed"`)
		events, err := seen.Look(reading(t, store(c.issues, "b")))
		if err != nil || !strings.HasPrefix(words(events)[0], c.want) {
			t.Fatalf("%d: %q, %v", c.issues, words(events)[:1], err)
		}
		for _, e := range events[1:] {
			if e.InSwitch != (c.issues > switchFrom) {
				t.Errorf("%d: %+v", c.issues, e)
			}
		}
		if e := events[0]; c.issues > switchFrom && (e.Issues != c.issues || e.Counts[EventEdited] != c.issues) {
			t.Errorf("%+v", e)
		}
		if events, err = seen.Look(reading(t, store(c.issues, "b"), own)); err != nil || events[0].InSwitch || events[0].By != "ann" {
			t.Errorf("%q, %v", words(events), err)
		}
	}
}

// TestApplied checks which records a reading of the store contains: stig writes the journal
// first.
func TestApplied(t *testing.T) {
	title := func(seq, was, now string, result clone.Result) clone.Record {
		return with(set(seq, "ann", "p-1", "title", `"`+was+`"`, `"`+now+`"`), func(r *clone.Record) { r.Result = result })
	}
	unfinished, written, failed := clone.Unfinished, clone.Written, clone.Failed
	for _, c := range []struct {
		name    string
		title   string
		records []clone.Record
		old     string // settled records
		want    string
		rest    int
	}{
		{"none", "a", nil, "", "", 0},
		{"seen in the store", "b", []clone.Record{title("1", "a", "b", unfinished)}, "", "1", 0},
		{"not seen yet", "a", []clone.Record{title("1", "a", "b", unfinished)}, "", "", 1},
		{"written after the store was read", "a", []clone.Record{title("1", "a", "b", written)}, "", "", 1},
		{"the first of two", "b", []clone.Record{title("1", "a", "b", written), title("2", "b", "c", unfinished)}, "", "1", 1},
		{"both, of which the store shows the last", "c", []clone.Record{title("1", "a", "b", written), title("2", "b", "c", unfinished)}, "", "1 2", 0},
		{"failed", "a", []clone.Record{title("1", "a", "b", failed)}, "", "1", 0},
		{"written, and overwritten by another program", "z", []clone.Record{title("1", "a", "b", written)}, "1", "1", 0},
		{"ended before it wrote", "a", []clone.Record{title("1", "a", "b", unfinished)}, "1", "", 0},
		{"ended before it wrote, with one behind it", "c", []clone.Record{title("1", "a", "b", unfinished), title("2", "a", "c", written)}, "1 2", "2", 0},
		{"perhaps ended, with one behind it", "c", []clone.Record{title("1", "a", "b", unfinished), title("2", "a", "c", written)}, "", "", 2},
		{"of an issue that is gone", "a", []clone.Record{with(set("1", "ann", "p-9", "title", "", `"x"`), func(r *clone.Record) { r.Result = unfinished })}, "", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := reading(t, line("p-1", text("title", c.title))+"\n").Store
			applied, rest := AppliedRecords(c.records, store, func(r clone.Record) bool {
				return r.Result == failed || slices.Contains(strings.Fields(c.old), r.Seq)
			})
			var got []string
			for _, r := range applied {
				got = append(got, r.Seq)
			}
			if strings.Join(got, " ") != c.want || rest != c.rest {
				t.Errorf("got %q and %d more, want %q and %d", got, rest, c.want, c.rest)
			}
		})
	}
}
