package beads

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	oldRow = `{"issue_id":"d-1","depends_on_id":"d-2","type":"blocks","created_at":"2026-01-01T00:00:00.5+01:00","metadata":"{}"}`
	newRow = `{"issue_id":"d-1","depends_on_id":"d-3","type":"blocks","created_at":"2026-11-20T15:11:12Z","created_by":"ann"}`
)

var rowCases = []struct {
	name, line string
	row        Row
	want       string
}{
	{"the first row", `{"id":"d-1","labels":["x"],` + updatedOld + `,"comments":[]}`, Row{"d-3", "blocks", "ann"},
		`{"id":"d-1","labels":["x"],"dependencies":[` + newRow + `],` + updatedNow + `,"comments":[]}`},
	{"nobody adds it", `{"id":"d-1",` + updatedOld + `}`, Row{On: "d-3", Type: "blocks"},
		`{"id":"d-1",` + updatedNow + `,"dependencies":[` + strings.Replace(newRow, `,"created_by":"ann"`, "", 1) + `]}`},
	{"after the others", `{"id":"d-1",` + updatedOld + `,"dependencies":[ ` + oldRow + ` ]}`, Row{"d-3", "blocks", "ann"},
		`{"id":"d-1",` + updatedNow + `,"dependencies":[ ` + oldRow + `,` + newRow + ` ]}`},
	{"spaced as the rows are", `{"id":"d-1",` + updatedOld + `,"dependencies":[{"depends_on_id": "d-2", "type": "x"} , {}]}`, Row{On: "d-3", Type: "a<b"},
		`{"id":"d-1",` + updatedNow + `,"dependencies":[{"depends_on_id": "d-2", "type": "x"} , {} , ` +
			`{"issue_id": "d-1", "depends_on_id": "d-3", "type": "a\u003cb", "created_at": "2026-11-20T15:11:12Z"}]}`},
	{"an empty list", `{"id":"d-1","dependencies":[ ],` + updatedOld + `}`, Row{"d-3", "blocks", "ann"},
		`{"id":"d-1","dependencies":[` + newRow + `],` + updatedNow + `}`},
	{"null", `{"id":"d-1","dependencies":null,` + updatedOld + `}`, Row{"d-3", "blocks", "ann"},
		`{"id":"d-1","dependencies":[` + newRow + `],` + updatedNow + `}`},
	{"another type of the pair", `{"id":"d-1",` + updatedOld + `,"dependencies":[` + strings.Replace(newRow, "blocks", "related", 1) + `]}`, Row{"d-3", "blocks", "ann"},
		`{"id":"d-1",` + updatedNow + `,"dependencies":[` + strings.Replace(newRow, "blocks", "related", 1) + `,` + newRow + `]}`},
	{"the last of a repeated key", `{"id":"d-1","dependencies":[` + newRow + `],"dependencies":[],` + updatedOld + `}`, Row{"d-3", "blocks", "ann"},
		`{"id":"d-1","dependencies":[` + newRow + `],"dependencies":[` + newRow + `],` + updatedNow + `}`},
	{"no change", `{"id":"d-1",` + updatedOld + `,"dependencies":[1,{"type":"bl\u006fcks","depends_on_id":"d-3"}]}`, Row{"d-3", "blocks", "ann"},
		`{"id":"d-1",` + updatedOld + `,"dependencies":[1,{"type":"bl\u006fcks","depends_on_id":"d-3"}]}`},
}

func TestWithRow(t *testing.T) {
	for _, c := range rowCases {
		t.Run(c.name, func(t *testing.T) {
			r := mustParse(t, c.line)
			got, err := r.withRow(testNow, c.row)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Bytes()) != c.want {
				t.Errorf("got  %s\nwant %s", got.Bytes(), c.want)
			}
			if (c.line == c.want) != (got == r) {
				t.Errorf("same record: %v", got == r)
			}
		})
	}
}

func TestWithoutRow(t *testing.T) {
	a, b, c := oldRow, newRow, `{"depends_on_id":"d-4"}`
	for _, tt := range []struct {
		name, list string
		drop       Dep
		want       string
	}{
		{"the only one", `,"dependencies":[ ` + a + ` ]`, Dep{"d-2", "blocks"}, ``},
		{"the first", `,"dependencies":[ ` + a + ` , ` + b + `,` + c + `]`, Dep{"d-2", "blocks"}, `,"dependencies":[ ` + b + `,` + c + `]`},
		{"the middle", `,"dependencies":[ ` + a + ` , ` + b + `,` + c + `]`, Dep{"d-3", "blocks"}, `,"dependencies":[ ` + a + `,` + c + `]`},
		{"the last, without a type", `,"dependencies":[` + a + ` , ` + c + ` ]`, Dep{"d-4", ""}, `,"dependencies":[` + a + ` ]`},
		{"twice", `,"dependencies":[` + b + `,` + a + `,` + b + `]`, Dep{"d-3", "blocks"}, `,"dependencies":[` + a + `]`},
		{"among others", `,"dependencies":[7,` + a + `,null]`, Dep{"d-2", "blocks"}, `,"dependencies":[7,null]`},
		{"another type", `,"dependencies":[` + a + `]`, Dep{"d-2", "related"}, `,"dependencies":[` + a + `]`},
		{"no list", `,"dependencies":"d-2"`, Dep{"d-2", "blocks"}, `,"dependencies":"d-2"`},
		{"no key", ``, Dep{"d-2", "blocks"}, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustParse(t, `{"id":"d-1",`+updatedOld+tt.list+`}`)
			got, err := r.withoutRow(testNow, tt.drop)
			if err != nil {
				t.Fatal(err)
			}
			updated := updatedNow
			if tt.list == tt.want {
				updated = updatedOld
			}
			if want := `{"id":"d-1",` + updated + tt.want + `}`; string(got.Bytes()) != want {
				t.Errorf("got  %s\nwant %s", got.Bytes(), want)
			}
		})
	}
}

// Rows and texts in one edit bump updated_at once, and undoing all of it is no change.
func TestRowsAndTexts(t *testing.T) {
	r := mustParse(t, `{"id":"d-1","status":"open",`+updatedOld+`}`)
	got, err := r.withRow(testNow, Row{"d-3", "blocks", "ann"})
	if err == nil {
		got, err = got.With(testNow, Set{Status, "closed"})
	}
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"id":"d-1","status":"closed",` + updatedNow + `,"dependencies":[` + newRow + `]}`; string(got.Bytes()) != want {
		t.Errorf("got  %s\nwant %s", got.Bytes(), want)
	}
	if got, err = got.withoutRow(testNow, Dep{"d-3", "blocks"}); err == nil {
		got, err = got.With(testNow, Set{Status, "open"})
	}
	if err != nil || got != r {
		t.Errorf("taking everything back gives %s, %v", got.Bytes(), err)
	}
}

func TestWithRowRefuses(t *testing.T) {
	for _, c := range []struct {
		line string
		row  Row
		want string
	}{
		{`{"id":"d-1","dependencies":"d-2"}`, Row{On: "d-3", Type: "blocks"}, `d-1: dependencies: must be a list; found "d-2"`},
		{`{"id":"d-1"}`, Row{On: "d-3"}, `d-1: dependencies: a dependency row needs an id and a type; found "d-3" and ""`},
		{`{"id":"d-1"}`, Row{On: "d\xff", Type: "blocks"}, `d-1: dependencies: the text must be valid UTF-8; found "\xff"`},
	} {
		if got, err := mustParse(t, c.line).withRow(testNow, c.row); got != nil || err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// FuzzDeps compares a row that is added and dropped with encoding/json's reading of the line,
// and every other byte with the original.
func FuzzDeps(f *testing.F) {
	for _, c := range rowCases {
		f.Add(c.line, c.row.On, c.row.Type, c.row.By)
	}
	f.Fuzz(func(t *testing.T, line, on, kind, by string) {
		r, bad := parseRecord([]byte(line))
		if bad != nil || strings.Contains(line, "\n") {
			return
		}
		got, err := r.withRow(testNow, Row{on, kind, by})
		list := r.Has(Dependencies) && r.Raw(Dependencies)[0] != '['
		if list || on == "" || kind == "" || !utf8.ValidString(on+"\x00"+kind+"\x00"+by) {
			if err == nil {
				t.Fatalf("accepted %q %q %q in %s", on, kind, by, line)
			}
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "there is no time after") {
				return
			}
			t.Fatal(err)
		}
		before, now := r.Deps(), got.Deps()
		if slices.Contains(before, Dep{on, kind}) {
			if got != r {
				t.Fatalf("no change, but another record: %s", got.Bytes())
			}
		} else {
			if !slices.Equal(now, append(before, Dep{on, kind})) {
				t.Fatalf("%v became %v", before, now)
			}
			checkRows(t, r, got, map[string]any{"issue_id": r.Text(ID), "depends_on_id": on, "type": kind, "created_by": by})
		}
		checkOutside(t, r, got, Dependencies)

		gone, err := got.withoutRow(testNow, Dep{on, kind})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(gone.Deps(), Dep{on, kind}) {
			t.Fatalf("%q %q is still there: %s", on, kind, gone.Bytes())
		}
		checkOutside(t, r, gone, Dependencies)
		if rest := r.elements(Dependencies); len(rest) > 0 && !slices.Contains(before, Dep{on, kind}) && gone != r {
			t.Fatalf("adding and dropping changed\n%s to\n%s", line, gone.Bytes())
		}
	})
}

// checkRows compares the lists of rows with encoding/json's reading.
func checkRows(t *testing.T, before, after *Record, added map[string]any) {
	t.Helper()
	var want, got []any
	if raw := before.Raw(Dependencies); raw != nil {
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(after.Raw(Dependencies), &got); err != nil {
		t.Fatal(err)
	}
	if added["created_by"] == "" {
		delete(added, "created_by")
	}
	added["created_at"] = "2026-11-20T15:11:12Z"
	if want = append(want, added); !reflect.DeepEqual(want, got) {
		t.Fatalf("rows are\n%v, want\n%v", got, want)
	}
}
