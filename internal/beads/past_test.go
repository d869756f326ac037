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
		there     bool
	}{
		{"p-1", "one", true},
		{"p-2", "last", true},
		{"p-3", "names p-2", true},
		{"p-4", "", false},
		{"", "", false},
	}
	for _, test := range tests {
		r := RecordIn([]byte(text), test.id)
		if (r != nil) != test.there || r != nil && r.Text(Title) != test.title {
			t.Errorf("%q: got %v, want %q", test.id, r, test.title)
		}
	}
}
