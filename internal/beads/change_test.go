package beads

import (
	"errors"
	"slices"
	"testing"

	"stig/internal/fault"
)

func TestMissing(t *testing.T) {
	for _, c := range []struct{ name, before, after, now, want string }{
		{"held", `{"id":"h-1","notes":"a"}`, `{"id":"h-1","notes":"b","updated_at":"2026-01-02T00:00:00Z"}`,
			`{"id":"h-1","notes":"b","updated_at":"2027-01-02T00:00:00+05:00"}`, ""},
		{"escaped otherwise", `{"id":"h-1"}`, `{"id":"h-1","notes":"a<b"}`, `{"id":"h-1","notes":"a\u003cb"}`, ""},
		{"lost", `{"id":"h-1","notes":"a"}`, `{"id":"h-1","notes":"b"}`, `{"id":"h-1","notes":"a"}`, "notes"},
		{"removed", `{"id":"h-1","notes":"a"}`, `{"id":"h-1"}`, `{"id":"h-1","notes":""}`, ""},
		{"back again", `{"id":"h-1","notes":"a"}`, `{"id":"h-1"}`, `{"id":"h-1","notes":"a"}`, "notes"},
		{"others' keys do not count", `{"id":"h-1","title":"a"}`, `{"id":"h-1","title":"a","notes":"b"}`, `{"id":"h-1","title":"z","notes":"b"}`, ""},
		{"time to the second", `{"id":"h-1"}`, `{"id":"h-1","due_at":"2026-01-02T00:00:00.7Z"}`, `{"id":"h-1","due_at":"2026-01-02T02:00:00+02:00"}`, ""},
		{"time", `{"id":"h-1"}`, `{"id":"h-1","due_at":"2026-01-02T00:00:00Z"}`, `{"id":"h-1","due_at":"2026-01-02T05:00:00Z"}`, "due_at"},
		{"closed at another time", `{"id":"h-1"}`, `{"id":"h-1","closed_at":"2026-01-02T00:00:00Z"}`, `{"id":"h-1","closed_at":"2026-01-02T00:00:05Z"}`, ""},
		{"closed at no time", `{"id":"h-1"}`, `{"id":"h-1","closed_at":"2026-01-02T00:00:00Z"}`, `{"id":"h-1"}`, "closed_at"},
		{"closed still", `{"id":"h-1","closed_at":"2026-01-02T00:00:00Z"}`, `{"id":"h-1"}`, `{"id":"h-1","closed_at":"2026-01-02T00:00:00Z"}`, "closed_at"},
		{"number", `{"id":"h-1","priority":2}`, `{"id":"h-1","priority":1}`, `{"id":"h-1","priority":2}`, "priority"},
		{"false is absent", `{"id":"h-1","pinned":true}`, `{"id":"h-1","pinned":false}`, `{"id":"h-1"}`, ""},
		{"label with others'", `{"id":"h-1"}`, `{"id":"h-1","labels":["x"]}`, `{"id":"h-1","labels":["a","x"]}`, ""},
		{"label lost", `{"id":"h-1","labels":["a"]}`, `{"id":"h-1","labels":["a","x"]}`, `{"id":"h-1","labels":["a"]}`, "labels"},
		{"label back", `{"id":"h-1","labels":["a"]}`, `{"id":"h-1"}`, `{"id":"h-1","labels":["a"]}`, "labels"},
		{"dependency rewritten", `{"id":"h-1"}`, `{"id":"h-1","dependencies":[{"issue_id":"h-1","depends_on_id":"h-2","type":"blocks"}]}`,
			`{"id":"h-1","dependencies":[{"depends_on_id":"h-2","type":"blocks","created_by":"import","metadata":"{}"}]}`, ""},
		{"dependency of another type", `{"id":"h-1"}`, `{"id":"h-1","dependencies":[{"depends_on_id":"h-2","type":"blocks"}]}`,
			`{"id":"h-1","dependencies":[{"depends_on_id":"h-2","type":"related"}]}`, "dependencies"},
		{"comment renumbered", `{"id":"h-1"}`, `{"id":"h-1","comments":[{"id":1,"author":"ann","text":"so "}]}`,
			`{"id":"h-1","comments":[{"id":9,"author":"ann","text":"so"}]}`, ""},
		{"new line", ``, `{"id":"h-3","title":"c"}`, `{"id":"h-3","title":"c"}`, ""},
		{"new line gone", ``, `{"id":"h-3","title":"c"}`, ``, "id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var now *Record
			if c.now != "" {
				var err error
				if now, err = ParseRecord([]byte(c.now)); err != nil {
					t.Fatal(err)
				}
			}
			change := Change{Before: []byte(c.before), After: []byte(c.after)}
			got, err := change.Missing(now, nil)
			var want []Key
			if c.want != "" {
				want = []Key{Key(c.want)}
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v; want %v", got, err, want)
			}
		})
	}
}

// The caller's function compares notes, given all three texts.
func TestMissingNotes(t *testing.T) {
	now, err := ParseRecord([]byte(`{"id":"h-1","notes":"b and more"}`))
	if err != nil {
		t.Fatal(err)
	}
	change := Change{Before: []byte(`{"id":"h-1","notes":"a"}`), After: []byte(`{"id":"h-1","notes":"b"}`)}
	for _, holds := range []bool{true, false} {
		missing, err := change.Missing(now, func(before, after, now string) bool {
			return holds && before == "a" && after == "b" && now == "b and more"
		})
		if err != nil || holds != (len(missing) == 0) {
			t.Errorf("missing %v, %v", missing, err)
		}
	}
}

// Notes change only if the edit says what must survive; an issue's first notes need no such
// function.
func TestTryRefusesNotes(t *testing.T) {
	s := writeStore(t, `{"id":"h-1"}`+"\n"+`{"id":"h-2","notes":"one"}`+"\n")
	for id, refused := range map[string]bool{"h-1": false, "h-2": true} {
		_, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error { return tx.Set(id, Set{Notes, "two"}) })
		if fault.Is(err, fault.Refused) != refused {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// What cannot be put back is an error, never an edit without it.
func TestPutBackFails(t *testing.T) {
	s := writeStore(t, `{"id":"h-1"}`+"\n")
	lost := errors.New("lost")
	_, err := edit(t, s, Options{Now: testNow}, func(tx *Tx) error {
		return tx.PutBack("h-1", func(*Record) (*Record, error) { return nil, lost })
	})
	if err != lost {
		t.Error(err)
	}
}
