package beads

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"stig/internal/testkit/sample"
)

// A store read repeatedly with a memo always equals one read without, whatever happened to its
// lines. Cached values stay while a line's bytes stay, wherever the line moves, and no longer.
func TestMemo(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 8))
	lines := strings.Split("\xef\xbb\xbf"+strings.TrimSuffix(string(generate(400)), "\n"), "\n")
	memo := NewMemo()
	remembered := map[string]string{} // keyed by line
	for round := range sample.Rounds(12) {
		text := strings.Join(lines, "\n")
		f, err := NewSnapshot(Place{Path: "x"}, Source{Lines: strings.NewReader(text), Size: int64(len(text)), Summed: true, Memo: memo})
		if err != nil {
			t.Fatal(err)
		}
		for _, is := range f.issues {
			line, err := is.AppendLine(nil)
			if err != nil {
				t.Fatal(err)
			}
			found, _ := is.Remembered("x").(string)
			if was := remembered[string(line)]; found != was {
				t.Fatalf("round %d: of line %d %q is remembered, want %q", round, is.Line, found, was)
			}
			is.Remember("x", fmt.Sprint(round, is.ID))
			remembered[string(line)] = fmt.Sprint(round, is.ID)
			is.version, is.kept = 0, nil
		}
		if why := unlike(f, indexText(t, text)); why != "" {
			t.Fatalf("round %d: %s", round, why)
		}
		for _, is := range f.issues { // unlike compared the rest
			line, _ := is.AppendLine(nil)
			is.version, _ = memo.known(line)
			is.kept = memo.lines[is.version]
		}
		at, to := random.IntN(len(lines)), random.IntN(len(lines))
		switch random.IntN(4) {
		case 0:
			delete(remembered, strings.TrimPrefix(lines[at], byteOrderMark))
			lines = append(lines[:at], lines[at+1:]...)
		case 1:
			lines[at], lines[to] = lines[to], lines[at]
		case 2:
			lines = append(lines, fmt.Sprintf(`{"id":"new-%d","title":"new","status":"open"}`, round))
		default:
			delete(remembered, strings.TrimPrefix(lines[at], byteOrderMark))
			lines[at] = strings.Replace(lines[at], `"title":"`, fmt.Sprintf(`"title":"%d `, round), 1)
		}
	}
}

// An edit carries cached values over to the next snapshot, except for changed lines. A snapshot
// from before an edit accepts no more values.
func TestMemoAfterEdit(t *testing.T) {
	const text = `{"id":"a","title":"one"}` + "\n" + `{"id":"b","title":"two"}` + "\n"
	memo := NewMemo()
	f, err := NewSnapshot(Place{Path: "x"}, Source{Lines: strings.NewReader(text), Size: int64(len(text)), Summed: true, Memo: memo})
	if err != nil {
		t.Fatal(err)
	}
	for _, is := range f.issues {
		is.Remember("x", is.ID)
	}
	tx, err := Try(f, Options{}, func(tx *Tx) error { return tx.Set("a", Set{Key: Title, Text: "three"}) })
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReader(string(tx.Patches()[0].With) + text[tx.Patches()[0].End:])
	next, err := tx.After(Source{Lines: changed, Memo: memo})
	if err != nil || next == nil {
		t.Fatal(next, err)
	}
	if a, b := next.At(0).Remembered("x"), next.At(1).Remembered("x"); a != nil || b != "b" {
		t.Errorf("after the edit %v and %v are remembered", a, b)
	}
	f.At(0).Remember("x", "late")
	if late := f.At(0).Remembered("x"); late != nil {
		t.Errorf("%v is remembered of a line that is gone", late)
	}
}
