package beads

import "testing"

func TestRecordIn(t *testing.T) {
	text := "\xef\xbb\xbf{\"id\":\"p-1\",\"title\":\"one\"}\r\n" +
		"not json\n" +
		`{"title":"names p-2","description":"\"id\":\"p-2\"","id":"p-3"}` + "\n" +
		`{"title":"first","id":"p-\u0032"}` + "\n" +
		`{"id":"p-2","title":"last"}` + "\n" +
		`{"id":"p-2","title":"cut sh`
	tests := []struct {
		id, title string
		line      int // 0: no such issue
	}{
		{"p-1", "one", 1},
		{"p-2", "last", 5},
		{"p-3", "names p-2", 3},
		{"p-4", "", 0},
		{"", "", 0},
	}
	for _, test := range tests {
		r := RecordIn([]byte(text), test.id)
		if r == nil {
			if test.line > 0 {
				t.Errorf("%q: not found", test.id)
			}
			continue
		}
		if r.Line() != test.line || r.Text(Title) != test.title {
			t.Errorf("%q: line %d %q, want line %d %q", test.id, r.Line(), r.Text(Title), test.line, test.title)
		}
	}
}
