package beads

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var testNow = time.Date(2026, 11, 20, 10, 11, 12, 900_000_000, time.FixedZone("", -5*3600))

const (
	updatedNow = `"updated_at":"2026-11-20T15:11:12Z"`
	updatedOld = `"updated_at":"2026-01-01T00:00:00Z"`
)

// withCases are lines before and after setting one key.
var withCases = []struct {
	name, line string
	key        Key
	text, want string
}{
	{"new key at its slot", `{"id":"d-1","title":"t","acceptance_criteria":"a","status":"open",` + updatedOld + `}`, Notes, "x",
		`{"id":"d-1","title":"t","acceptance_criteria":"a","notes":"x","status":"open",` + updatedNow + `}`},
	{"new key without its neighbours", `{"id":"d-1","priority":1,` + updatedOld + `}`, Notes, "x",
		`{"id":"d-1","notes":"x","priority":1,` + updatedNow + `}`},
	{"new key after the last", `{"id":"d-1",` + updatedOld + `}`, CloseReason, "done",
		`{"id":"d-1",` + updatedNow + `,"close_reason":"done"}`},
	{"spaced line", `{"id": "d-1", "status": "open", "updated_at": "2026-01-01T00:00:00Z"}`, Notes, "x",
		`{"id": "d-1", "notes": "x", "status": "open", "updated_at": "2026-11-20T15:11:12Z"}`},
	{"updated_at is added", `{"id": "d-1"}`, Notes, "x",
		`{"id": "d-1", "notes": "x", "updated_at": "2026-11-20T15:11:12Z"}`},
	{"the least line", `{"id":"d-1"}`, Status, "open",
		`{"id":"d-1","status":"open",` + updatedNow + `}`},
	{"empty object", `{}`, Notes, "x",
		`{"notes":"x",` + updatedNow + `}`},
	{"unknown keys in front", `{"zz":0,"status":"open",` + updatedOld + `}`, Notes, "x",
		`{"notes":"x","zz":0,"status":"open",` + updatedNow + `}`},
	{"after _type", `{"_type":"issue","status":"open",` + updatedOld + `}`, Notes, "x",
		`{"_type":"issue","notes":"x","status":"open",` + updatedNow + `}`},
	{"after the last of a repeated key", `{"id":"d-1","design":"a","zz":1,"design":"b",` + updatedOld + `}`, Notes, "x",
		`{"id":"d-1","design":"a","zz":1,"design":"b","notes":"x",` + updatedNow + `}`},
	{"null is replaced", `{"id":"d-1","notes":null,` + updatedOld + `}`, Notes, "x",
		`{"id":"d-1","notes":"x",` + updatedNow + `}`},
	{"number is replaced", `{"id":"d-1","notes":1.50,` + updatedOld + `}`, Notes, "x",
		`{"id":"d-1","notes":"x",` + updatedNow + `}`},
	{"raw numbers and unknown keys stay", `{"id":"d-1","n":1.50e+00,"notes":"a","x":{"b" :[ 1,2 ]},` + updatedOld + `}`, Notes, "b",
		`{"id":"d-1","n":1.50e+00,"notes":"b","x":{"b" :[ 1,2 ]},` + updatedNow + `}`},
	{"remove the middle", `{"id":"d-1","notes":"x","status":"open",` + updatedOld + `}`, Notes, "",
		`{"id":"d-1","status":"open",` + updatedNow + `}`},
	{"remove the first", `{ "notes" : "x" , "id":"d-1",` + updatedOld + `}`, Notes, "",
		`{ "id":"d-1",` + updatedNow + `}`},
	{"remove the last", `{"id":"d-1",` + updatedOld + ` , "close_reason":"x" }`, CloseReason, "",
		`{"id":"d-1",` + updatedNow + ` }`},
	{"remove the only", `{ "notes":"x" }`, Notes, "",
		`{  ` + updatedNow + `}`},
	{"remove a repeated key", `{"notes":"a","id":"d-1","notes":"b",` + updatedOld + `}`, Notes, "",
		`{"id":"d-1",` + updatedNow + `}`},
	{"the last of a repeated key is set", `{"id":"d-1","notes":"a","notes":"b",` + updatedOld + `}`, Notes, "c",
		`{"id":"d-1","notes":"a","notes":"c",` + updatedNow + `}`},
	{"key written with escapes", `{"id":"d-1","\u006eotes":"a",` + updatedOld + `}`, Notes, "c",
		`{"id":"d-1","\u006eotes":"c",` + updatedNow + `}`},
	{"markup escaped as Go does", `{"id":"d-1","title":"é",` + updatedOld + `}`, Notes, "<a> & \u2028é😀\"\\\b\x01\t",
		`{"id":"d-1","title":"é","notes":"\u003ca\u003e \u0026 \u2028é😀\"\\\b\u0001\t",` + updatedNow + `}`},
	{"markup raw where the line has it so", `{"id":"d-1","title":"a->b",` + updatedOld + `}`, Notes, "<&> \u2029",
		`{"id":"d-1","title":"a->b","notes":"<&> ` + "\u2029" + `",` + updatedNow + `}`},
	{"ASCII alone where the line has it so", `{"id":"d-1","title":"caf\u00e9",` + updatedOld + `}`, Notes, "é😀~",
		`{"id":"d-1","title":"caf\u00e9","notes":"\u00e9\ud83d\ude00~",` + updatedNow + `}`},
	{"escapes that Go writes too say nothing", `{"id":"d-1","title":"\u2028\ufffd\u0041\\u00e9",` + updatedOld + `}`, Notes, "é",
		`{"id":"d-1","title":"\u2028\ufffd\u0041\\u00e9","notes":"é",` + updatedNow + `}`},
	{"unchanged lines keep odd escapes", `{"id":"d-1","notes":"a\/b\u000a\u0063\nlast\ud800",` + updatedOld + `}`, Notes, "a/b\nnew\nc\nlast\ufffd",
		`{"id":"d-1","notes":"a\/b\u000anew\n\u0063\nlast\ud800",` + updatedNow + `}`},
	{"removed and moved lines", `{"id":"d-1","notes":"\u0061\n\u0062\n\u0063\n\u0064",` + updatedOld + `}`, Notes, "c\nx\na\nd\n",
		`{"id":"d-1","notes":"\u0063\nx\n\u0061\n\u0064\n",` + updatedNow + `}`},
	{"repeated lines keep their own bytes", `{"id":"d-1","notes":"\u0061\nb\n\u0061\u0020\nz\n\u002d\n-",` + updatedOld + `}`, Notes, "a\nB\na \nz\n-\n-",
		`{"id":"d-1","notes":"\u0061\nB\n\u0061\u0020\nz\n\u002d\n-",` + updatedNow + `}`},
	{"repeated lines in the middle", `{"id":"d-1","notes":"X\n-\n\u002d\nY",` + updatedOld + `}`, Notes, "x\n-\n-\ny",
		`{"id":"d-1","notes":"x\n-\n\u002d\ny",` + updatedNow + `}`},
	{"what stands before an addition that repeats it", `{"id":"d-1","notes":"\u0061\nb",` + updatedOld + `}`, Notes, "a\nb\na\nb",
		`{"id":"d-1","notes":"\u0061\nb\na\nb",` + updatedNow + `}`},
	{"CR LF inside a text", `{"id":"d-1","notes":"a\r\nb\u000d\nc",` + updatedOld + `}`, Notes, "a\r\nX\nb\r\nc",
		`{"id":"d-1","notes":"a\r\nX\nb\u000d\nc",` + updatedNow + `}`},
	{"invalid UTF-8 stays in lines that stay", "{\"id\":\"d-1\",\"notes\":\"\xff\\nb\"," + updatedOld + "}", Notes, "\ufffd\nc",
		"{\"id\":\"d-1\",\"notes\":\"\xff\\nc\"," + updatedNow + "}"},
	{"no change", `{"id":"d-1","notes":"\u0061",` + updatedOld + `}`, Notes, "a",
		`{"id":"d-1","notes":"\u0061",` + updatedOld + `}`},
	{"absent stays absent", `{"id":"d-1",` + updatedOld + `}`, Notes, "",
		`{"id":"d-1",` + updatedOld + `}`},
	{"null stays null", `{"id":"d-1","notes":null,` + updatedOld + `}`, Notes, "",
		`{"id":"d-1","notes":null,` + updatedOld + `}`},
	{"later than what was there", `{"id":"d-1","updated_at":"2030-01-01T00:00:00.7+01:00"}`, Notes, "x",
		`{"id":"d-1","notes":"x","updated_at":"2029-12-31T23:00:01Z"}`},
	{"later within the same second", `{"id":"d-1","updated_at":"2026-11-20T15:11:12.5Z"}`, Notes, "x",
		`{"id":"d-1","notes":"x","updated_at":"2026-11-20T15:11:13Z"}`},
	{"not before created_at", `{"id":"d-1","created_at":"2026-11-21T00:00:00.1Z",` + updatedOld + `}`, Notes, "x",
		`{"id":"d-1","notes":"x","created_at":"2026-11-21T00:00:00.1Z","updated_at":"2026-11-21T00:00:01Z"}`},
	{"made by a clock that was far ahead", `{"id":"d-1","created_at":"2027-01-01T00:00:00.1Z",` + updatedOld + `}`, Notes, "x",
		`{"id":"d-1","notes":"x","created_at":"2027-01-01T00:00:00.1Z",` + updatedNow + `}`},
	{"an unreadable updated_at", `{"id":"d-1","updated_at":17}`, Notes, "x",
		`{"id":"d-1","notes":"x",` + updatedNow + `}`},
	{"blanks at both ends", "\t {\"id\":\"d-1\"," + updatedOld + "} \r", Notes, "x",
		"\t {\"id\":\"d-1\",\"notes\":\"x\"," + updatedNow + "} \r"},
}

func mustParse(t testing.TB, line string) *Record {
	t.Helper()
	r, bad := parseRecord([]byte(line))
	if bad != nil {
		t.Fatalf("%+v: %s", bad, line)
	}
	return r
}

func TestWith(t *testing.T) {
	for _, c := range withCases {
		t.Run(c.name, func(t *testing.T) {
			r := mustParse(t, c.line)
			got, err := r.With(testNow, Set{c.key, c.text})
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Bytes()) != c.want {
				t.Errorf("got  %s\nwant %s", got.Bytes(), c.want)
			}
			if string(r.Bytes()) != c.line {
				t.Errorf("the record itself changed to %s", r.Bytes())
			}
			if (c.line == c.want) != (got == r) {
				t.Errorf("same record: %v", got == r)
			}
		})
	}
}

// Several keys each go to their places, with one bump, in one call or several.
func TestWithSeveral(t *testing.T) {
	r := mustParse(t, `{"id":"d-1","status":"open","updated_at":"2026-01-01T00:00:00Z"}`)
	want := `{"id":"d-1","status":"closed",` + updatedNow + `,"closed_at":"2026-11-20T15:11:12Z","close_reason":"done"}`
	sets := []Set{{Status, "closed"}, {ClosedAt, "2026-11-20T15:11:12Z"}, {CloseReason, "draft"}, {CloseReason, "done"}}
	once, err := r.With(testNow, sets...)
	if err != nil {
		t.Fatal(err)
	}
	several := r
	for _, s := range sets {
		if several, err = several.With(testNow, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, got := range []*Record{once, several} {
		if string(got.Bytes()) != want {
			t.Errorf("got  %s\nwant %s", got.Bytes(), want)
		}
	}
	back, err := once.With(testNow, Set{Status, "open"}, Set{ClosedAt, ""}, Set{CloseReason, ""})
	if err != nil {
		t.Fatal(err)
	}
	if back != r {
		t.Errorf("taking everything back gives %s", back.Bytes())
	}
}

func TestWithRefuses(t *testing.T) {
	for _, c := range []struct {
		set  Set
		want string
	}{
		{Set{UpdatedAt, "2026-01-01T00:00:00Z"}, `d-1: updated_at: is set by the store itself`},
		{Set{ID, "d-2"}, `d-1: id: an issue keeps its id`},
		{Set{"colour", "red"}, `d-1: colour: is not a key of an issue`},
		{Set{Priority, "1"}, `d-1: priority: does not hold a text`},
		{Set{Notes, "a\xffb"}, `d-1: notes: the text must be valid UTF-8; found "\xff"`},
		{Set{ClosedAt, "today"}, `d-1: closed_at: must be a time like 2006-01-02T15:04:05Z; found "today"`},
	} {
		r := mustParse(t, `{"id":"d-1","title":"t"}`)
		got, err := r.With(testNow, Set{Notes, "fine"}, c.set)
		if got != nil || err == nil || err.Error() != c.want {
			t.Errorf("%v: got error %v, want %s", c.set, err, c.want)
		}
	}
	r := mustParse(t, `{"id":"d-1","updated_at":"9999-12-31T23:59:59Z"}`)
	if got, err := r.With(testNow, Set{Notes, "x"}); err == nil {
		t.Errorf("a time after 9999 was written: %s", got.Bytes())
	}
}

func TestRecordValues(t *testing.T) {
	r := mustParse(t, `{"id":"d-1","title":"a\ud83d\ude00\ud83d!","notes":null,"priority":3,"design":["x"],`+
		`"labels":["one",2,"t\u0077o"],"created_at":"2026-01-02T03:04:05.678901-05:00","closed_at":"soon"}`)
	for k, want := range map[Key]string{ID: "d-1", Title: "a😀\ufffd!", Notes: "", Priority: "", Design: "", Assignee: ""} {
		if got := r.Text(k); got != want {
			t.Errorf("%s: got %q, want %q", k, got, want)
		}
	}
	for k, want := range map[Key]bool{ID: true, Notes: false, Priority: true, Design: true, Assignee: false} {
		if got := r.Has(k); got != want {
			t.Errorf("has %s: %v", k, got)
		}
	}
	if got := strings.Join(r.Labels(), " "); got != "one two" {
		t.Errorf("labels %q", got)
	}
	if got, ok := r.Time(CreatedAt); !ok || !got.Equal(time.Date(2026, 1, 2, 8, 4, 5, 678901000, time.UTC)) {
		t.Errorf("created_at %v %v", got, ok)
	}
	for _, k := range []Key{ClosedAt, UpdatedAt, Title} {
		if got, ok := r.Time(k); ok {
			t.Errorf("%s reads as the time %v", k, got)
		}
	}
}

// settable are the keys that the fuzz targets set.
var settable = []Key{Title, Description, Design, AcceptanceCriteria, Notes, Status, IssueType, Assignee, CloseReason}

func FuzzSet(f *testing.F) {
	for i, c := range withCases {
		f.Add(c.line, i, c.text)
	}
	f.Fuzz(func(t *testing.T, line string, which int, text string) {
		r, bad := parseRecord([]byte(line))
		if bad != nil || strings.Contains(line, "\n") {
			return
		}
		k := settable[uint(which)%uint(len(settable))]
		got, err := r.With(testNow, Set{k, text})
		if !utf8.ValidString(text) {
			if err == nil {
				t.Fatalf("accepted %q", text)
			}
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "there is no time after") {
				return
			}
			t.Fatal(err)
		}
		if r.Text(k) == text {
			if got != r {
				t.Fatalf("no change, but another record: %s", got.Bytes())
			}
			return
		}
		checkSet(t, r, got, k, text)
		checkOutside(t, r, got, k)
		if bytes.ContainsAny(got.Bytes(), "\n") {
			t.Fatalf("a newline got into the line: %q", got.Bytes())
		}
	})
}

// checkOutside compares all members but k and updated_at byte for byte, including blanks and
// order.
func checkOutside(t *testing.T, before, after *Record, k Key) {
	t.Helper()
	others := func(r *Record) (out []string) {
		for _, m := range r.members {
			if key := memberKey(r.line, m); key != string(k) && key != string(UpdatedAt) {
				out = append(out, string(r.line[m.key.start:m.val.end]))
			}
		}
		return out
	}
	want, got := strings.Join(others(before), "|"), strings.Join(others(after), "|")
	if want != got {
		t.Fatalf("other members changed:\n%s\n%s", want, got)
	}
	b, a := before.line, after.line
	if i := before.last(k); i >= 0 && after.last(k) >= 0 && before.Has(UpdatedAt) && before.last(UpdatedAt) > i {
		// Only the two values may differ: compare everything around them.
		j, u, v := after.last(k), before.last(UpdatedAt), after.last(UpdatedAt)
		around := func(line []byte, x, y span) string {
			return string(line[:x.start]) + "|" + string(line[x.end:y.start]) + "|" + string(line[y.end:])
		}
		want := around(b, before.members[i].val, before.members[u].val)
		if got := around(a, after.members[j].val, after.members[v].val); got != want {
			t.Fatalf("bytes around the values changed:\n%s\n%s", want, got)
		}
	}
}

func FuzzSetSame(f *testing.F) {
	for _, c := range withCases {
		f.Add(c.line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, bad := parseRecord([]byte(line))
		if bad != nil {
			return
		}
		var sets []Set
		for _, k := range settable {
			sets = append(sets, Set{k, r.Text(k)})
		}
		got, err := r.With(testNow, sets...)
		if err != nil {
			t.Fatal(err)
		}
		if got != r {
			t.Fatalf("setting what is there changed\n%s to\n%s", line, got.Bytes())
		}
	})
}
