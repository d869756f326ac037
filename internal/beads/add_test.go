package beads

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"stig/internal/fault"
)

const addedLine = `{"id":"d-3","title":"t","status":"open","priority":2,"created_at":"2026-11-20T15:11:12Z",` + updatedNow + `}`

var addCases = []struct{ name, store, want string }{
	{"into an empty file", "", addedLine + "\n"},
	{"into a file of one mark", "\xef\xbb\xbf", "\xef\xbb\xbf" + addedLine + "\n"},
	{"at the end", `{"id":"d-1"}` + "\n", `{"id":"d-1"}` + "\n" + addedLine + "\n"},
	{"at the end that has no newline", `{"id":"d-1"}`, `{"id":"d-1"}` + "\n" + addedLine},
	{"in the middle", `{"id":"d-1"}` + "\n" + `{"id":"d-5"}`, `{"id":"d-1"}` + "\n" + addedLine + "\n" + `{"id":"d-5"}`},
	{"at the beginning", "\xef\xbb\xbf" + `{"id":"d-5"}` + "\n", "\xef\xbb\xbf" + addedLine + "\n" + `{"id":"d-5"}` + "\n"},
	{"in a file without order", `{"id":"d-5"}` + "\n" + `{"id":"d-1"}` + "\n", `{"id":"d-5"}` + "\n" + `{"id":"d-1"}` + "\n" + addedLine + "\n"},
	{"past blank lines", `{"id":"d-1"}` + "\n\n", `{"id":"d-1"}` + "\n\n" + addedLine + "\n"},
	{"past lines that are no issues", `{"id":"d-1"}` + "\n" + `{"_type":"memory"}` + "\n", `{"id":"d-1"}` + "\n" + `{"_type":"memory"}` + "\n" + addedLine + "\n"},
	{"with CR LF", `{"id":"d-1"}` + "\r\n", `{"id":"d-1"}` + "\r\n" + addedLine + "\r\n"},
	{"with CR LF and no newline at the end", `{"id":"d-1"}` + "\r\n" + `{"id":"d-2"}`, `{"id":"d-1"}` + "\r\n" + `{"id":"d-2"}` + "\n" + addedLine},
	{"spaced as the lines are", `{"id": "d-1", "title": "a"}` + "\n", `{"id": "d-1", "title": "a"}` + "\n" +
		`{"id": "d-3", "title": "t", "status": "open", "priority": 2, "created_at": "2026-11-20T15:11:12Z", "updated_at": "2026-11-20T15:11:12Z"}` + "\n"},
}

func add(tx *Tx, n New) error {
	_, err := tx.Add(n)
	return err
}

func TestAdd(t *testing.T) {
	for _, c := range addCases {
		t.Run(c.name, func(t *testing.T) {
			s := writeStore(t, c.store)
			changes, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error {
				return add(tx, New{ID: "d-3", Title: "t", Status: "open", Priority: 2})
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := content(t, s); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if len(changes) != 1 || changes[0].ID != "d-3" || changes[0].Line != 0 || changes[0].Before != nil || !strings.Contains(c.want, string(changes[0].After)) {
				t.Errorf("changes %+v", changes)
			}
		})
	}
}

// TestAddSeveral adds several issues in one edit with changed lines; each goes to its place.
func TestAddSeveral(t *testing.T) {
	s := writeStore(t, `{"id":"d-2",`+updatedOld+`}`+"\n"+`{"id":"d-4",`+updatedOld+`}`)
	_, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error {
		for _, id := range []string{"d-9", "d-3.1", "d-3", "d-1", "d-8"} {
			if err := add(tx, New{ID: id, Title: id}); err != nil {
				return err
			}
		}
		return errors.Join(tx.Set("d-4", Set{Status, "open"}), tx.AddRow("d-2", Row{On: "d-1", Type: "blocks"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	f := mustRead(t, s.Path)
	for _, is := range f.All() {
		ids = append(ids, is.ID)
	}
	if got := strings.Join(ids, " "); got != "d-1 d-2 d-3 d-3.1 d-4 d-8 d-9" {
		t.Errorf("order %s", got)
	}
	if text := content(t, s); strings.HasSuffix(text, "\n") || strings.Count(text, "\n") != 6 {
		t.Errorf("line ends: %q", text)
	}
	if d := f.At(1).Deps; len(d) != 1 || f.At(4).Status != "open" {
		t.Errorf("the changed lines are not as set: %v %q", d, f.At(4).Status)
	}
}

func TestAddEncodes(t *testing.T) {
	n := New{ID: "d-3", Title: "a<b & é", Description: "d\n", AcceptanceCriteria: "`x`", Notes: "n\u2028", Status: "open",
		Type: "task", Assignee: "bo", By: "ann", Labels: []string{"x", "<y>"}, Deps: []Dep{{"d-1", "parent-child"}}}
	const asGo = `{"id":"d-3","title":"a\u003cb \u0026 é","description":"d\n","acceptance_criteria":"` + "`x`" + `","notes":"n\u2028","status":"open","priority":0,` +
		`"issue_type":"task","assignee":"bo","created_at":"2026-11-20T15:11:12Z","created_by":"ann",` + updatedNow + `,"labels":["x","\u003cy\u003e"],` +
		`"dependencies":[{"issue_id":"d-3","depends_on_id":"d-1","type":"parent-child","created_at":"2026-11-20T15:11:12Z","created_by":"ann"}]}`
	unescaped := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028")
	for _, c := range []struct{ name, near, want string }{
		{"as Go does", `{"id":"d-1","title":"caf\u00e9 é"}`, asGo},
		{"raw", `{"id":"d-1","title":"x->y"}`, unescaped.Replace(asGo)},
		{"ASCII alone", `{"id":"d-1","title":"caf\u00e9"}`, strings.ReplaceAll(asGo, "é", `\u00e9`)},
	} {
		s := writeStore(t, c.near+"\n"+`{"id":"d-2"}`+"\n")
		if _, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error { return add(tx, n) }); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(content(t, s), "\n")[2]; got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestAddRefuses(t *testing.T) {
	s := writeStore(t, `{"id":"d-1","title":"t"}`+"\n")
	before := content(t, s)
	for _, n := range []New{
		{ID: "d-1", Title: "taken"}, {ID: "", Title: "t"}, {ID: "d-2"},
		{ID: "d-2", Title: "\xff"}, {ID: "d-2", Title: "t", Labels: []string{"\xff"}}, {ID: "d-2", Title: "t", Deps: []Dep{{On: "d-1"}}},
	} {
		if _, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error { return add(tx, n) }); err == nil {
			t.Errorf("accepted %+v", n)
		}
	}
	twice := func(tx *Tx) error {
		return errors.Join(add(tx, New{ID: "d-2", Title: "t"}), add(tx, New{ID: "d-2", Title: "t"}))
	}
	if _, err := edit(t, s, Options{Now: testNow}, twice); err == nil {
		t.Error("accepted one id twice")
	}
	if _, err := edit(t, s, Options{Now: testNow, DryRun: true}, func(tx *Tx) error { return add(tx, New{ID: "d-2", Title: "t"}) }); err != nil {
		t.Error(err)
	}
	if content(t, s) != before {
		t.Errorf("the store became %s", content(t, s))
	}
}

// FuzzAdd: the new line decodes to the requested issue, and no byte before or after it changes.
func FuzzAdd(f *testing.F) {
	for _, c := range addCases {
		f.Add(c.store, "d-3", "t", "label")
	}
	f.Fuzz(func(t *testing.T, store, id, title, label string) {
		s := writeStore(t, store)
		_, taken := mustRead(t, s.Path).Index(id)
		changes, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error {
			return add(tx, New{ID: id, Title: title, Labels: []string{label}})
		})
		if err != nil {
			if content(t, s) != store {
				t.Fatalf("refused, but written: %v", err)
			}
			if !fault.Is(err, fault.Refused) && id != "" && title != "" && utf8.ValidString(strings.Join([]string{id, title, label}, " ")) {
				t.Fatal(err)
			}
			return
		}
		if taken {
			t.Fatalf("%q was taken", id)
		}
		line := string(changes[0].After)
		got := content(t, s)
		if !onlyAdds(store, got, line) {
			t.Fatalf("%q became %q, which is not the same with %q", store, got, line)
		}
		if strings.HasSuffix(store, "\n") != strings.HasSuffix(got, "\n") && store != "" && store != byteOrderMark {
			t.Fatalf("the end of the file changed: %q", got)
		}
		var read struct {
			ID, Title string
			Labels    []string
			Created   string `json:"created_at"`
		}
		if err := json.Unmarshal([]byte(line), &read); err != nil {
			t.Fatal(err)
		}
		if read.ID != id || read.Title != title || !reflect.DeepEqual(read.Labels, []string{label}) || read.Created == "" {
			t.Fatalf("reads as %+v", read)
		}
		if _, ok := mustRead(t, s.Path).Index(id); !ok {
			t.Fatalf("%q cannot be found in %q", id, got)
		}
	})
}

// onlyAdds reports whether got is store plus the line and one line ending.
func onlyAdds(store, got, line string) bool {
	for at := range got {
		if !strings.HasPrefix(got[at:], line) {
			continue
		}
		before, after := got[:at], got[at+len(line):]
		for _, end := range []string{"\n", "\r\n"} {
			if rest, ok := strings.CutPrefix(after, end); ok && before+rest == store {
				return true
			}
			if rest, ok := strings.CutSuffix(before, end); ok && rest+after == store {
				return true
			}
		}
	}
	return false
}
