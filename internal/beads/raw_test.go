package beads

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestPutRaw: one key gets other bytes, and everything else stays.
func TestPutRaw(t *testing.T) {
	for _, test := range []struct{ line, key, raw, want string }{
		{`{"id":"a","x": 1 ,"y":2}`, "x", `[1,  2]`, `{"id":"a","x": [1,  2] ,"y":2}`},
		{`{"id":"a","x":1,"x":2}`, "x", `3`, `{"id":"a","x":1,"x":3}`},
		{`{"id":"a","x":1,"y":2}`, "x", ``, `{"id":"a","y":2}`},
		{`{"id":"a"}`, "x", ``, `{"id":"a"}`},
		{`{"id":"a","odd":1}`, "labels", `["k"]`, `{"id":"a","labels":["k"],"odd":1}`},
		{`{"id": "a", "odd": 1}`, "new", `{}`, `{"id": "a", "odd": 1, "new": {}}`},
		{`{"z":1}`, "id", `"a"`, `{"id":"a","z":1}`},
		{`{}`, "new\n", `1`, `{"new\n":1}`},
	} {
		r, err := ParseRecord([]byte(test.line))
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.PutRaw(Key(test.key), []byte(test.raw))
		if err != nil || string(got.Bytes()) != test.want {
			t.Errorf("%s: %s = %s: got %s, %v; want %s", test.line, test.key, test.raw, got.Bytes(), err, test.want)
		}
	}
	r, err := ParseRecord([]byte(`{"id":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{" 1", "1 ", "1,\"z\":2", "}", "[1", "tru", "\"a\nb\""} {
		if got, err := r.PutRaw("x", []byte(raw)); err == nil {
			t.Errorf("%q was taken for a value: %s", raw, got.Bytes())
		}
	}
}

func TestElementsAndKeys(t *testing.T) {
	r, err := ParseRecord([]byte(`{"id": "a", "l": [ {"x":1} ,2, "c" ], "id": "b", "n": null}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Key{"id", "l", "n"}; !slices.Equal(r.Keys(), want) {
		t.Errorf("keys %q, want %q", r.Keys(), want)
	}
	if got := string(bytes.Join(r.Elements("l"), []byte("|"))); got != `{"x":1}|2|"c"` {
		t.Errorf("elements %s", got)
	}
	if r.Elements("n") != nil || r.Elements("none") != nil {
		t.Error("what is no list has elements")
	}
	put, err := r.PutElements("l", r.Elements("l")[1:])
	if want := `{"id": "a", "l": [2, "c"], "id": "b", "n": null}`; err != nil || string(put.Bytes()) != want {
		t.Errorf("got %s, %v; want %s", put.Bytes(), err, want)
	}
	if put, err = r.PutElements("l", nil); err != nil || put.Has("l") {
		t.Errorf("got %s, %v", put.Bytes(), err)
	}
	if got := string(r.Put("n", "x").Bytes()); got != `{"id": "a", "l": [ {"x":1} ,2, "c" ], "id": "b", "n": "x"}` {
		t.Errorf("put: %s", got)
	}
}

func TestAppendLine(t *testing.T) {
	s := writeStore(t, "\xef\xbb\xbf{\"id\":\"a\"}\r\n{ \"id\":\"b\" }")
	f := mustRead(t, s.Path)
	for i, want := range []string{`{"id":"a"}`, `{ "id":"b" }`} {
		line, err := f.At(i).AppendLine([]byte("> "))
		if err != nil || string(line) != "> "+want || f.At(i).Size() != len(want) {
			t.Errorf("line %d: %q, size %d, %v; want %q", i, line, f.At(i).Size(), err, want)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.At(0).AppendLine(nil); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a closed file: %v", err)
	}
}

// Long texts are decoded by other code than short ones.
func TestLongTexts(t *testing.T) {
	for _, part := range []string{"plain", `a\nb\u00e9\ud83d\ude00\ud83d\\ \"`, "\xff\xe9 \\t", "é\\u2028"} {
		raw := strings.Repeat(part, 3000)
		if got, want := longText([]byte(raw)), string(appendText(nil, []byte(raw))); got != want {
			t.Errorf("%q: differs from what a short text gives", part)
		}
		if got := textOf([]byte(`"` + raw + `"`)); got != longText([]byte(raw)) {
			t.Errorf("%q: %d bytes", part, len(got))
		}
		quoted, err := json.Marshal(textOf([]byte(`"` + raw + `"`)))
		if got := Meaning([]byte(`"` + raw + `"`)); err != nil || got != string(quoted) {
			t.Errorf("%q: another meaning than encoding/json has", part)
		}
	}
}
