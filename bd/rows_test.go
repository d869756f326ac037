package bd

import (
	"testing"
	"time"
)

// row is a row of a result as a server writes it: strings, and nil for NULL.
type row []any

// Scan gives the values to scanners in their order.
func (r row) Scan(places ...any) error {
	for k, place := range places {
		if err := place.(interface{ Scan(any) error }).Scan(r[k]); err != nil {
			return err
		}
	}
	return nil
}

// issueOf reads a row of which these columns are set, as a query gives it.
func issueOf(t *testing.T, set map[string]any) *issueRow {
	t.Helper()
	i := &issueRow{RecordType: "issue"}
	var values row
	var places []any
	for _, c := range i.columns() {
		values, places = append(values, set[c.name]), append(places, c.into)
		delete(set, c.name)
	}
	if err := scanInto(values, places...); err != nil || len(set) > 0 {
		t.Fatalf("%v; no such columns: %v", err, set)
	}
	return i
}

// The lines are those of bd 1.0.5 for the same rows: what is NULL, empty or 0 is left out
// where bd leaves it out, times are in UTC, and JSON is compact, with & < > escaped.
func TestLines(t *testing.T) {
	const made, later = "2026-11-20 09:00:00", "2026-11-20T09:00:01Z"
	at := func(s string) time.Time { return parseTime(s) }
	c := contents{
		issues: []*issueRow{
			issueOf(t, map[string]any{"id": "h-2", "title": "Second", "status": "open", "priority": "2", "issue_type": "task", "created_at": made, "updated_at": made}),
			issueOf(t, map[string]any{"id": "h-1", "title": "<First> & ü 漢", "description": "", "notes": "a\nb\u2028", "status": "closed", "priority": "0", "issue_type": "bug",
				"assignee": "ann", "owner": "", "estimated_minutes": "0", "created_at": []byte(made), "created_by": "ann", "updated_at": later, "started_at": later, "closed_at": later,
				"close_reason": "done", "due_at": later, "external_ref": "", "metadata": `{"b": [1, 2.50], "a": "<x>"}`, "compaction_level": int64(0), "ephemeral": "0",
				"pinned": int64(1), "waiters": `["mara"]`, "timeout_ns": "5", "work_type": "mutex", "await_type": nil}),
			issueOf(t, map[string]any{"id": "h-0", "title": "A template", "priority": "1", "is_template": "1", "created_at": made, "updated_at": made}),
			issueOf(t, map[string]any{"id": "h-3", "title": "A message", "issue_type": "message", "priority": "1", "created_at": made, "updated_at": made}),
			issueOf(t, map[string]any{"id": "h-4", "title": "Later", "status": "open", "priority": "2", "issue_type": "task", "metadata": "{}", "created_at": later, "updated_at": nil}),
		},
		labels: map[string][]string{"h-1": {"a", "b"}},
		depends: []dependencyRow{
			{IssueID: "h-1", DependsOnID: "h-2", Type: "blocks", CreatedAt: at(made), CreatedBy: "ann", Metadata: "{}"},
			{IssueID: "h-1", DependsOnID: "external:x", Type: "related", CreatedAt: at(made), CreatedBy: "ann", Metadata: "{}", ThreadID: "t"},
			{IssueID: "h-3", DependsOnID: "h-1", Type: "blocks", CreatedAt: at(made)},
		},
		comments: map[string][]commentRow{"h-2": {{"u-1", "h-2", "bo", "seen & <heard>", at(later)}}},
		infra:    infraTypes,
	}
	want := `{"_type":"issue","id":"h-1","title":"\u003cFirst\u003e \u0026 ü 漢","notes":"a\nb\u2028","status":"closed","priority":0,"issue_type":"bug","assignee":"ann","estimated_minutes":0,"created_at":"2026-11-20T09:00:00Z","created_by":"ann","updated_at":"2026-11-20T09:00:01Z","started_at":"2026-11-20T09:00:01Z","closed_at":"2026-11-20T09:00:01Z","close_reason":"done","due_at":"2026-11-20T09:00:01Z","external_ref":"","metadata":{"b":[1,2.50],"a":"\u003cx\u003e"},"labels":["a","b"],"dependencies":[{"issue_id":"h-1","depends_on_id":"h-2","type":"blocks","created_at":"2026-11-20T09:00:00Z","created_by":"ann","metadata":"{}"},{"issue_id":"h-1","depends_on_id":"external:x","type":"related","created_at":"2026-11-20T09:00:00Z","created_by":"ann","metadata":"{}","thread_id":"t"}],"pinned":true,"timeout":5,"waiters":["mara"],"work_type":"mutex","dependency_count":1,"dependent_count":1,"comment_count":0}
{"_type":"issue","id":"h-4","title":"Later","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-20T09:00:01Z","updated_at":"1970-01-01T00:00:00Z","dependency_count":0,"dependent_count":0,"comment_count":0}
{"_type":"issue","id":"h-2","title":"Second","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-20T09:00:00Z","updated_at":"2026-11-20T09:00:00Z","comments":[{"id":"u-1","issue_id":"h-2","author":"bo","text":"seen \u0026 \u003cheard\u003e","created_at":"2026-11-20T09:00:01Z"}],"dependency_count":0,"dependent_count":1,"comment_count":1}
`
	if got, err := c.lines(); err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}
