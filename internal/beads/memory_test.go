package beads

import (
	"slices"
	"strings"
	"testing"
)

// TestMemories reads the memories that bd keeps beside the issues, and nothing else.
func TestMemories(t *testing.T) {
	content := `{"_schema":"beads-jsonl/1"}` + "\n" + `{"id":"a","title":"memory"}` + "\n" +
		`{"_type":"memory","key":"tides","value":"the office \u00fcber\nnoon"}` + "\n" +
		`{"_type":"wisp","key":"w","value":"no"}` + "\n\xef\xbb\xbf\n" + `{"_type":"memory","id":"m"}` + "\r\n" + `{"_type":"memory","key":"k","value":7}`
	file, err := NewSnapshot(Place{Path: "x"}, Source{Lines: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	got, err := file.Memories()
	want := []Memory{{"tides", "the office über\nnoon"}, {}, {Key: "k"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	short := file.others[1]
	short.size += 1000
	if _, err := file.Memories(); err == nil {
		t.Error("read beyond the end")
	}
}
