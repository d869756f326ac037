package beads

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUnread: malformed values are kept, with their meaning if it is certain.
func TestUnread(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`"dependencies":[{"depends_on_id":"b","type":"blocks"}],"updated_at":"2026-01-02T03:04:05+01:00","priority":2,"labels":null`, ""},
		{`"dependencies":["b"]`, `dependencies "b": b`},
		{`"dependencies":[" b ","c"]`, `dependencies " b ": b; dependencies "c": c`},
		{`"dependencies":[{"id":"b","type":"related"}]`, `dependencies {"id":"b","type":"related"}: b related`},
		{`"dependencies":[{"id":"b","dependency_type":"blocks","type":"task"}]`, `dependencies {"id":"b","dependency_type":"blocks","type":"task"}: b blocks`},
		{`"dependencies":[{"depends_on":["b","c"]}]`, `dependencies {"depends_on":["b","c"]}: b; dependencies {"depends_on":["b","c"]}: c`},
		{`"dependencies":[{"target":"b"},{"on":"c"}]`, `dependencies {"target":"b"}: b; dependencies {"on":"c"}: c`},
		{`"dependencies":[{"type":"blocks"}]`, `dependencies {"type":"blocks"}:  blocks`},
		{`"dependencies":[{},7,null,["b",1],{"x":1}]`, `dependencies {}:; dependencies 7:; dependencies null:; dependencies ["b",1]:; dependencies {"x":1}:`},
		{`"dependencies":"b"`, `dependencies "b": b; dependencies "b" [value-type]`},
		{`"dependencies":{"b":"blocks","c":{"type":"related"}}`, `dependencies {"b":"blocks","c":{"type":"related"}}: b blocks; dependencies {"b":"blocks","c":{"type":"related"}}: c related; dependencies {"b":"blocks","c":{"type":"related"}} [value-type]`},
		{`"dependencies":[{"depends_on_id":"b"}],"deps":["c"]`, ""},
		{`"dependencies":[{"depends_on_id":"b","type":"blocks"}],"blocked_by":["b","c"],"depends_on":"d"`, `blocked_by ["b","c"]: c; depends_on "d": d`},
		{`"blocked_by":[],"depends_on":null`, ""},
		{`"blocked_by":[7]`, `blocked_by [7]:`},
		{`"defer_until":"2099-01-01"`, `defer_until "2099-01-01" = 2099-01-01T00:00:00Z`},
		{`"defer_until":"2099-01-01 10:30"`, `defer_until "2099-01-01 10:30" = 2099-01-01T10:30:00Z`},
		{`"defer_until":"2099-01-01t10:30:00.5+0200"`, `defer_until "2099-01-01t10:30:00.5+0200" = 2099-01-01T08:30:00.5Z`},
		{`"defer_until":"2099-01-01 10:30:00 +0000 UTC"`, `defer_until "2099-01-01 10:30:00 +0000 UTC" = 2099-01-01T10:30:00Z`},
		{`"defer_until":"20990101"`, `defer_until "20990101" = 2099-01-01T00:00:00Z`},
		{`"defer_until":"01/02/2099"`, `defer_until "01/02/2099" = ?`},
		{`"defer_until":"2099-02-30"`, `defer_until "2099-02-30" = ?`},
		{`"defer_until":"next week"`, `defer_until "next week" = ?`},
		{`"defer_until":"12099-01-01T00:00:00Z"`, `defer_until "12099-01-01T00:00:00Z" = ?`},
		{`"defer_until":""`, ""},
		{`"defer_until":4070908800`, `defer_until 4070908800 [value-type]`},
		{`"created_at":"2026-02-30T00:00:00Z"`, `created_at "2026-02-30T00:00:00Z" = ?`},
		{`"created_at":"2026-02-28T24:00:00Z"`, `created_at "2026-02-28T24:00:00Z" = ?`},
		{`"due_at":"soon","started_at":"2026-01-31T00:00:00.123-07:00","closed_at":"x"`, `closed_at "x" = ?; due_at "soon" = ?`},
		{`"description":7,"labels":"x"`, `description 7 [value-type]; labels "x" [value-type]`},
		{`"pinned":"true","is_template":null`, `pinned "true" [value-type]`},
		{`"title":"x","title":"y"`, `title "y" [key-repeated]`},
		{`"title":"x","title":"x","ab":1,"ab":1`, ""},
		{`"x":1,"y":2,"x":3`, `x 3 [key-repeated]`},
	} {
		f := mustRead(t, writeStore(t, `{"id":"a",`+c.line+"}\n").Path)
		if f.Len() != 1 {
			t.Fatalf("%s: %v", c.line, f.Problems())
		}
		var got []string
		for _, u := range f.At(0).Unread {
			words := fmt.Sprintf("%s %s", u.Key, u.Raw)
			switch u.Rule {
			case UnreadRow:
				words += ": " + u.Dep.On + " " + u.Dep.Type
			case UnreadTime:
				words += " = ?"
				if !u.Time.IsZero() {
					words = strings.TrimSuffix(words, "?") + u.Time.Format(time.RFC3339Nano)
				}
			default:
				words += " [" + u.Rule + "]"
			}
			got = append(got, strings.TrimRight(words, " "))
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.line, got, c.want)
		}
	}
}

// TestPlainTime: the cheap test accepts no time that has to be parsed.
func TestPlainTime(t *testing.T) {
	for i, text := range []string{"2026-01-02T03:04:05Z", "2026-12-28T23:59:59Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
		"2026-01-02T24:00:00Z", "2026-01-02T00:60:00Z", "2026-01-02T00:00:60Z", "2026-01-02 00:00:00Z", "2026-01-02T00:00:00z", "2026-01-02T00:00:00", "2026-1-02T00:00:00ZZ", "202\xca-01-02T00:00:00Z"} {
		_, want := parseTime([]byte(text))
		got := isPlainTime([]byte(`"` + text + `"`))
		if got && !want {
			t.Errorf("%s: plain, and no time", text)
		}
		if got != (i < 2) {
			t.Errorf("%s: plain: %v", text, got)
		}
	}
}

// TestUnreadGate: one closed child is enough if the row says so, in any form.
func TestUnreadGate(t *testing.T) {
	row := func(on, kind, metadata string) string {
		return fmt.Sprintf(`{"depends_on_id":%q,"type":%q,"metadata":%s}`, on, kind, metadata)
	}
	line := `{"id":"a","dependencies":[` + strings.Join([]string{
		row("b", WaitsFor, `"{\"gate\":\"any-children\"}"`), row("c", WaitsFor, `{"gate":"any-children"}`),
		row("d", WaitsFor, `"{\"gate\":\"all-children\"}"`), row("e", "blocks", `{"gate":"any-children"}`), row("f", WaitsFor, `"any-children"`), row("g", WaitsFor, `null`),
	}, ",") + "]}"
	f := mustRead(t, writeStore(t, line).Path)
	if got := slices.Sorted(maps.Keys(f.At(0).AnyChild)); !slices.Equal(got, []string{"b", "c"}) || len(f.At(0).Deps) != 6 {
		t.Errorf("any child of %v, rows %v", got, f.At(0).Deps)
	}
}
