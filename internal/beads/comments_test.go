package beads

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const oldComment = `{"id":7,"issue_id":"d-1","author":"bo","text":"seen","created_at":"2026-01-01T00:00:00Z"}`

var (
	commentOf   = Comment{Author: "ann", Text: "it <works>"}
	commentText = `"issue_id":"d-1","author":"ann","text":"it \u003cworks\u003e","created_at":"2026-11-20T15:11:12Z"}`
)

var commentCases = []struct {
	name, line string
	want       string // N stands for a comment number, U for a UUID
}{
	{"the first", `{"id":"d-1","dependencies":[],` + updatedOld + `}`, `{"id":"d-1","dependencies":[],"comments":[{"id":N,` + commentText + `],` + updatedNow + `}`},
	{"after the others", `{"id":"d-1",` + updatedOld + `,"comments":[ ` + oldComment + ` ]}`,
		`{"id":"d-1",` + updatedNow + `,"comments":[ ` + oldComment + `,{"id":N,` + commentText + ` ]}`},
	{"spaced as the others are", `{"id":"d-1",` + updatedOld + `,"comments":[{"author": "x", "text": "y"} , {}]}`,
		`{"id":"d-1",` + updatedNow + `,"comments":[{"author": "x", "text": "y"} , {} , {"id": N, "issue_id": "d-1", "author": "ann", "text": "it \u003cworks\u003e", "created_at": "2026-11-20T15:11:12Z"}]}`},
	{"an empty list", `{"id":"d-1","comments":[ ],` + updatedOld + `}`, `{"id":"d-1","comments":[{"id":N,` + commentText + `],` + updatedNow + `}`},
	{"null", `{"id":"d-1","comments":null,` + updatedOld + `}`, `{"id":"d-1","comments":[{"id":N,` + commentText + `],` + updatedNow + `}`},
	{"where ids are strings", `{"id":"d-1",` + updatedOld + `,"comments":[{"id":"0199-a","author":"bo","text":"seen"}]}`,
		`{"id":"d-1",` + updatedNow + `,"comments":[{"id":"0199-a","author":"bo","text":"seen"},{"id":"U",` + commentText + `]}`},
	{"there already", `{"id":"d-1",` + updatedOld + `,"comments":[1,{"text":" it <works>\n","author":"\u0061nn"}]}`, ``},
}

func TestWithComment(t *testing.T) {
	number, uuid := regexp.MustCompile(`"id":( ?)\d{9,15},`), regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	for _, c := range commentCases {
		t.Run(c.name, func(t *testing.T) {
			r := mustParse(t, c.line)
			got, err := r.withComment(testNow, commentOf, Comments)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if got != r {
					t.Errorf("no change, but another record: %s", got.Bytes())
				}
				return
			}
			text := uuid.ReplaceAllString(number.ReplaceAllString(string(got.Bytes()), `"id":${1}N,`), "U")
			if text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
			if again, err := got.withComment(testNow, Comment{Author: commentOf.Author, Text: " " + commentOf.Text}, Comments); err != nil || again != got && string(again.Bytes()) != string(got.Bytes()) {
				t.Errorf("the same comment again: %s, %v", again.Bytes(), err)
			}
		})
	}
	number1, _ := mustParse(t, `{"id":"d-1"}`).withComment(testNow, commentOf, Comments)
	number2, _ := mustParse(t, `{"id":"d-1"}`).withComment(testNow, Comment{Author: "ann", Text: "another"}, Comments)
	if a, b := number1.Elements(Comments)[0][:20], number2.Elements(Comments)[0][:20]; string(a) == string(b) {
		t.Errorf("two comments have one number: %s", a)
	}
}

// Comments alone do not push updated_at ahead of the clock; with another change they do.
func TestCommentsBump(t *testing.T) {
	for _, c := range []struct{ old, want string }{
		{"2026-11-20T15:11:11Z", "2026-11-20T15:11:12Z"},
		{"2026-11-20T15:11:12Z", "2026-11-20T15:11:12Z"},
		{"2026-11-20T15:11:40Z", "2026-11-20T15:11:40Z"},
		{"2026-11-20T15:11:40.5Z", "2026-11-20T15:11:41Z"},
	} {
		r := mustParse(t, `{"id":"d-1","updated_at":"`+c.old+`"}`)
		one, err := r.withComment(testNow, commentOf, Comments)
		if err == nil {
			one, err = one.withComment(testNow, Comment{Author: "bo", Text: "so it does"}, Comments)
		}
		if err != nil || one.Text(UpdatedAt) != c.want || len(one.Elements(Comments)) != 2 {
			t.Errorf("%s became %s, want %s; %v", c.old, one.Text(UpdatedAt), c.want, err)
		}
	}
	r := mustParse(t, `{"id":"d-1","updated_at":"2026-11-20T15:11:40Z"}`)
	both, err := r.withComment(testNow, commentOf, Comments)
	if err == nil {
		both, err = both.withRow(testNow, Row{On: "d-2", Type: "blocks"})
	}
	if err != nil || both.Text(UpdatedAt) != "2026-11-20T15:11:41Z" {
		t.Errorf("with a row: %s, %v", both.Bytes(), err)
	}
}

func TestWithCommentRefuses(t *testing.T) {
	for _, c := range []struct {
		line    string
		comment Comment
		want    string
	}{
		{`{"id":"d-1","comments":"x"}`, commentOf, `d-1: comments: must be a list; found "x"`},
		{`{"id":"d-1"}`, Comment{Author: "", Text: "x"}, `d-1: comments: a comment needs an author and a text; found "" and "x"`},
		{`{"id":"d-1"}`, Comment{Author: "ann", Text: " \n"}, `d-1: comments: a comment needs an author and a text; found "ann" and " \n"`},
		{`{"id":"d-1"}`, Comment{Author: "ann", Text: "\xff"}, `d-1: comments: the text must be valid UTF-8; found "\xff"`},
	} {
		if got, err := mustParse(t, c.line).withComment(testNow, c.comment, Comments); got != nil || err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// An edit of a store takes the same path.
func TestAddComment(t *testing.T) {
	s := writeStore(t, `{"id":"d-1",`+updatedOld+`}`+"\n"+`{"id":"d-2"}`+"\n")
	changes, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error { return tx.AddComment("d-1", commentOf) })
	if err != nil || len(changes) != 1 || !strings.Contains(content(t, s), commentText) || !strings.HasSuffix(content(t, s), "\n"+`{"id":"d-2"}`+"\n") {
		t.Errorf("%v: %s", err, content(t, s))
	}
}

// FuzzComments compares an added comment with encoding/json's reading of the line, and every
// other byte with the original.
func FuzzComments(f *testing.F) {
	for _, c := range commentCases {
		f.Add(c.line, commentOf.Author, commentOf.Text)
	}
	f.Fuzz(func(t *testing.T, line, author, text string) {
		r, bad := parseRecord([]byte(line))
		if bad != nil || strings.Contains(line, "\n") {
			return
		}
		got, err := r.withComment(testNow, Comment{Author: author, Text: text}, Comments)
		list := r.Has(Comments) && r.Raw(Comments)[0] != '['
		if list || author == "" || strings.TrimSpace(text) == "" || !utf8.ValidString(author+"\x00"+text) {
			if err == nil {
				t.Fatalf("accepted %q %q in %s", author, text, line)
			}
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "there is no time after") {
				return
			}
			t.Fatal(err)
		}
		checkOutside(t, r, got, Comments)
		before, after := r.Elements(Comments), got.Elements(Comments)
		if got == r {
			return
		}
		if len(after) != len(before)+1 || len(before) > 0 && !reflect.DeepEqual(before, after[:len(before)]) {
			t.Fatalf("%d comments became %d: %s", len(before), len(after), got.Bytes())
		}
		var read struct{ Author, Text string }
		if err := json.Unmarshal(after[len(before)], &read); err != nil || read.Author != author || read.Text != text {
			t.Fatalf("reads as %+v, %v", read, err)
		}
	})
}

// TestComments reads comments as bd and br write them, and what other programs left there.
func TestComments(t *testing.T) {
	day := time.Date(2026, 11, 1, 8, 30, 0, 0, time.UTC)
	tests := []struct {
		value string
		want  []Comment
	}{
		{`[{"id":1,"issue_id":"a","author":"ann","text":"one\ntwo","created_at":"2026-11-01T09:30:00+01:00"}]`,
			[]Comment{{"ann", "one\ntwo", day}}},
		{`[{"id":"018f","text":"first"},{"author":"bo","text":"second","created_at":"soon"}]`,
			[]Comment{{Text: "first"}, {Author: "bo", Text: "second"}}},
		{`["by hand", 7, {}]`, []Comment{{Text: "by hand"}, {}}},
		{`[]`, nil},
		{`null`, nil},
		{`"none"`, nil},
	}
	for _, test := range tests {
		r, err := ParseRecord([]byte(`{"id":"a","comments":` + test.value + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Comments(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.value, got, test.want)
		}
	}
}
