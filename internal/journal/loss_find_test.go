package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
)

const (
	table = `<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | 0.3 | 2026-11-20 |\n| progress | implementing | 2026-11-20 |\n<!-- /stigmergic-signals -->`
	state = `<!-- checkpoint-context -->\nhalf\n<!-- /checkpoint-context -->`
)

// issue is the line of an issue with these members.
func issue(id string, members ...string) string {
	return fmt.Sprintf(`{"id":%q,"title":"about %s","created_at":"2026-11-20T09:00:00Z"%s}`, id, id, strings.Join(append([]string{""}, members...), ","))
}

func noted(text string) string { return `"notes":"` + text + `"` }

// wrote is a record of what stig wrote.
func wrote(changes ...clone.Change) clone.Record {
	return clone.Record{Seq: "1", Result: clone.Written, Changes: changes}
}

// TestFind has a case for each way in which a store comes to lack something.
func TestFind(t *testing.T) {
	text := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	open, closed := `"status":"open"`, `"status":"closed","close_reason":"done"`
	merge := func(ours, base string) func() ([]byte, []byte, error) {
		return func() ([]byte, []byte, error) { return []byte(ours), []byte(base), nil }
	}
	at := func(when string, r clone.Record) clone.Record {
		r.At, _ = time.Parse(time.RFC3339, when)
		return r
	}
	later := `"updated_at":"2026-11-21T09:00:00Z"`
	comment := `"comments":[{"author":"ben","text":"the bolt is stiff"}]`
	for name, test := range map[string]struct {
		before, now []string
		records     []clone.Record
		past        *past
		want        string
	}{
		"nothing":            {before: []string{issue("a-1")}, now: []string{issue("a-1")}},
		"another order":      {before: []string{issue("a-1"), issue("a-2")}, now: []string{issue("a-2"), issue("a-1")}},
		"CR at line ends":    {before: []string{issue("a-1"), issue("a-2")}, now: []string{issue("a-1") + "\r", issue("a-2") + "\r"}},
		"spelled otherwise":  {before: []string{issue("a-1", comment)}, now: []string{strings.ReplaceAll(issue("a-1", comment), `":`, `": `)}},
		"an issue":           {before: []string{issue("a-1"), issue("a-2")}, now: []string{issue("a-2")}, want: "a-1 issue a-1"},
		"all of it":          {before: []string{issue("a-1"), issue("a-2")}, want: "a-1 issue a-1; a-2 issue a-2"},
		"a line that is cut": {before: []string{issue("a-1"), issue("a-2")}, now: []string{issue("a-1"), issue("a-2")[:20]}, want: "a-2 issue a-2"},
		"a tombstone":        {before: []string{issue("a-1", open, comment)}, now: []string{issue("a-1", `"status":"tombstone"`)}},
		"a tombstone goes":   {before: []string{issue("a-1", `"status":"tombstone"`)}},
		"one of two lines":   {before: []string{issue("a-1", comment), issue("a-1", comment)}, now: []string{issue("a-1", comment)}},
		"another prefix":     {before: []string{issue("a-1", comment)}, now: []string{strings.Replace(issue("a-1", comment), `"a-1"`, `"b-1"`, 1)}},
		"a comment":          {before: []string{issue("a-1", comment)}, now: []string{issue("a-1")}, want: "a-1 comment ben"},
		"a long text": {before: []string{issue("a-1", `"acceptance_criteria":"it works"`, `"assignee":"ben"`)}, now: []string{issue("a-1")},
			want: "a-1 key acceptance_criteria; a-1 key assignee, journalled, replaced"},
		"notes written over": {before: []string{issue("a-1", noted(table+`\n`+state))}, now: []string{issue("a-1", noted("x"))},
			want: "a-1 signal surprise; a-1 signal progress; a-1 section checkpoint-context"},
		"notes edited": {before: []string{issue("a-1", noted("hello"))}, now: []string{issue("a-1", noted("hullo"))}, want: "a-1 prose notes, journalled, replaced"},
		"notes gone":   {before: []string{issue("a-1", noted("hello"))}, now: []string{issue("a-1")}, want: "a-1 prose notes"},
		"a row": {before: []string{issue("a-1", noted(table))}, now: []string{issue("a-1", noted(strings.Replace(table, `| surprise | 0.3 | 2026-11-20 |\n`, "", 1)))},
			want: "a-1 signal surprise"},
		"a section twice now": {before: []string{issue("a-1", noted(table))}, now: []string{issue("a-1", noted(table+`\n`+table))},
			want: "a-1 signal surprise, journalled, replaced; a-1 signal progress, journalled, replaced"},
		"sections twice before":    {before: []string{issue("a-1", noted(state+`\n`+state))}, now: []string{issue("a-1", noted("x"))}, want: "a-1 prose notes"},
		"sections twice, made one": {before: []string{issue("a-1", noted(state+`\n`+state))}, now: []string{issue("a-1", noted(state))}, want: "a-1 prose notes, journalled, replaced"},
		"closed":                   {before: []string{issue("a-1", open)}, now: []string{issue("a-1", closed)}, want: "a-1 closed: done"},
		"closed before":            {before: []string{issue("a-1", closed)}, now: []string{issue("a-1", closed, comment)}},
		"closed by stig": {before: []string{issue("a-1", open)}, now: []string{issue("a-1", closed)},
			records: []clone.Record{wrote(clone.Change{Issue: "a-1", Kind: "key", Name: "status", Was: `"open"`, Now: `"closed"`})}},
		"taken away by stig": {before: []string{issue("a-1", comment, noted(state))}, now: []string{issue("a-1", comment)},
			records: []clone.Record{wrote(clone.Change{Issue: "a-1", Kind: "section", Name: "checkpoint-context", Was: "half"})}},
		"stig failed to": {before: []string{issue("a-1", noted(state))}, now: []string{issue("a-1")}, want: "a-1 section checkpoint-context",
			records: []clone.Record{{Result: clone.Failed, Changes: []clone.Change{{Issue: "a-1", Kind: "section", Name: "checkpoint-context", Was: "half"}}}}},
		"made by stig since": {before: []string{issue("a-1")}, now: []string{issue("a-1")}, want: "a-2 issue a-2, journalled",
			records: []clone.Record{wrote(clone.Change{Issue: "a-2", Kind: "issue", Name: "a-2", Now: issue("a-2")})}},
		"written by stig since": {before: []string{issue("a-1")}, now: []string{issue("a-1")}, want: "a-1 section checkpoint-context, journalled",
			records: []clone.Record{wrote(clone.Change{Issue: "a-1", Kind: "section", Name: "checkpoint-context", Now: "half"})}},
		"missed by another session": {before: []string{issue("a-1", comment)}, now: []string{issue("a-1")}, want: "a-1 comment ben, journalled",
			records: []clone.Record{{Seen: true, Changes: []clone.Change{{Issue: "a-1", Kind: "comment", Name: "ben 2a9229a6", Now: `{"author":"ben","text":"the bolt is stiff"}`}}}}},
		"an older value":                {before: []string{issue("a-1", noted("new"))}, now: []string{issue("a-1", noted("old"))}, want: "a-1 prose notes, journalled, replaced"},
		"an older value, written later": {before: []string{issue("a-1", noted("new"))}, now: []string{issue("a-1", noted("old"), later)}},
		"later than it was, and older than stig wrote": {before: []string{issue("a-1")}, now: []string{issue("a-1", noted("old"), later)}, want: "a-1 prose notes, journalled, replaced",
			records: []clone.Record{at("2026-11-21T09:00:02Z", wrote(clone.Change{Issue: "a-1", Kind: "prose", Name: "notes", Was: "old", Now: "new"}))}},
		"older than stig wrote": {before: []string{issue("a-1")}, now: []string{issue("a-1")}, want: "a-1 key priority, journalled, replaced",
			records: []clone.Record{wrote(clone.Change{Issue: "a-1", Kind: "key", Name: "priority", Was: "1", Now: "2"})}},
		"as stig wrote": {before: []string{issue("a-1", `"priority":1`)}, now: []string{issue("a-1", `"priority":2`)},
			records: []clone.Record{wrote(clone.Change{Issue: "a-1", Kind: "key", Name: "priority", Was: "1", Now: "2"})}},

		"taken away by the history": {before: []string{issue("a-1"), issue("a-2")}, now: []string{issue("a-2")},
			past: &past{Old: text(issue("a-1") + "\n" + issue("a-2")), New: text(issue("a-2"))}},
		"closed by the history": {before: []string{issue("a-1", open)}, now: []string{issue("a-1", closed)},
			past: &past{Old: text(issue("a-1", open)), New: text(issue("a-1", closed))}},
		"closed past the history": {before: []string{issue("a-1", open)}, now: []string{issue("a-1", closed)}, want: "a-1 closed: done",
			past: &past{Old: text(issue("a-1", open)), New: text(issue("a-1", open))}},
		"never committed": {before: []string{issue("a-1"), issue("a-2")}, now: []string{issue("a-2")}, want: "a-1 issue a-1",
			past: &past{Old: text(issue("a-2")), New: text(issue("a-2"))}},
		"held by both commits": {before: []string{issue("a-1"), issue("a-2")}, now: []string{issue("a-2")}, want: "a-1 issue a-1",
			past: &past{Old: text(issue("a-1")), New: text(issue("a-1"))}},
		"brought and gone": {before: []string{issue("a-1")}, now: []string{issue("a-1")}, want: "a-2 issue a-2",
			past: &past{Old: text(issue("a-1")), New: text(issue("a-1") + "\n" + issue("a-2"))}},
		"gone before the commits": {before: []string{issue("a-1")}, now: []string{issue("a-1")},
			past: &past{Old: text(issue("a-2")), New: text(issue("a-1") + "\n" + issue("a-2"))}},
		"an older value by the history": {before: []string{issue("a-1", noted("new"))}, now: []string{issue("a-1", noted("old"))},
			past: &past{Old: text(issue("a-1", noted("new"))), New: text(issue("a-1", noted("old")))}},
		"an older value, of what no commit held": {before: []string{issue("a-1", noted("new"))}, now: []string{issue("a-1", noted("old"))}, want: "a-1 prose notes, journalled, replaced",
			past: &past{Old: text(issue("a-1")), New: text(issue("a-1", noted("old")))}},
		"lost in a merge": {before: []string{issue("a-1", noted("new"), comment)}, now: []string{issue("a-1", noted("old"), later)},
			want: "a-1 prose notes, journalled, replaced; a-1 comment ben",
			past: &past{Old: text(issue("a-1", noted("new"), comment)), New: text(issue("a-1", noted("old"), later)), Merge: merge(issue("a-1", noted("new"), comment), issue("a-1", noted("old")))}},
		"set back by the other side of a merge": {before: []string{issue("a-1", noted("new"), comment)}, now: []string{issue("a-1", noted("old"))},
			past: &past{Old: text(issue("a-1", noted("new"), comment)), New: text(issue("a-1", noted("old"))), Merge: merge(issue("a-1", noted("new"), comment), issue("a-1", noted("new"), comment))}},
	} {
		if test.past != nil && test.past.Merge == nil {
			test.past.Merge = merge("", "")
		}
		found, err := find(question{Before: []byte(strings.Join(test.before, "\n")), Now: []byte(strings.Join(test.now, "\n")),
			Records: test.records, Past: test.past, Put: put})
		var got []string
		for _, g := range found.Gone {
			author, _, _ := strings.Cut(g.Name, " ")
			line := fmt.Sprintf("%s %s %s", g.ID, g.Kind, author)
			if g.Journalled {
				line += ", journalled"
			}
			if g.replaced {
				line += ", replaced"
			}
			got = append(got, line)
		}
		for _, c := range found.Closed {
			got = append(got, c.ID+" closed: "+c.Reason)
		}
		if text := strings.Join(got, "; "); err != nil || text != test.want {
			t.Errorf("%s: %q, want %q: %v", name, text, test.want, err)
		}
	}
}

// put sets a key of a record, as far as this test needs it.
func put(r *beads.Record, p merge.Part) (*beads.Record, error) {
	return r.PutRaw(beads.Key(p.Name), []byte(p.Text))
}

// TestFindKeepsWhatStigWrote: an issue that is gone comes back as stig wrote it last,
// and not as the session saw it.
func TestFindKeepsWhatStigWrote(t *testing.T) {
	found, err := find(question{Before: []byte(issue("a-1", `"priority":1`)), Put: put,
		Records: []clone.Record{wrote(clone.Change{Issue: "a-1", Kind: "key", Name: "priority", Was: "1", Now: "3"})}})
	if err != nil || len(found.Gone) != 1 || !strings.Contains(found.Gone[0].Was, `"priority":3`) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestReport(t *testing.T) {
	var found Losses
	for i := range 12 {
		found.Gone = append(found.Gone, Gone{ID: fmt.Sprint("a-", i), Edit: merge.Edit{Kind: merge.KindIssue}})
		found.Closed = append(found.Closed, Closed{ID: fmt.Sprint("b-", i)})
	}
	text := found.Report(beads.Place{Path: "x/issues.jsonl"})
	for _, want := range []string{"issues.jsonl: another", "  a-9: the issue\n  and something of 2 more\nhint: type stig recover --apply\n",
		"b-9 and 2 more: closed past stig close, without a verdict\nhint: type stig reopen b-0 --reason \"closed without a verdict\" && stig reopen b-1 "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	text = Losses{Gone: found.Gone[:1], Closed: found.Closed[:1]}.Report(beads.Place{Path: "issues.jsonl", Mode: beads.Export})
	if !strings.Contains(text, "stig recover a-0 to see") || !strings.Contains(text, "type bd reopen b-0\n") {
		t.Errorf("of a Dolt database:\n%s", text)
	}
}
