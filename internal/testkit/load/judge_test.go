package load_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/testkit/load"
	"stig/internal/testkit/memory"
)

// TestJudge checks that the judge finds each way in which a store can lose or invent edits.
func TestJudge(t *testing.T) {
	p := load.Plan{Writers: 2, Each: 2, Pairs: 2, Shared: 3, Beside: 3}
	write := func(s beads.Store, writer, n int) {
		a, b := p.Target(writer, n)
		if err := load.Write(context.Background(), s, time.Unix(1e9, 0), a, b, load.Name(writer, n)); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		made [][2]int // writer and n
		told []load.Answer
		want load.Verdict
	}{
		"all well":    {[][2]int{{0, 1}, {0, 2}, {0, 3}}, []load.Answer{load.Done, load.Done, load.Done, load.Refused}, load.Verdict{Done: 3, Refused: 1}},
		"lost":        {[][2]int{{0, 1}}, []load.Answer{load.Done, load.Done}, load.Verdict{Done: 2, Lost: 1}},
		"twice":       {[][2]int{{0, 1}, {0, 1}}, []load.Answer{load.Done}, load.Verdict{Done: 1, Half: 1}},
		"false":       {[][2]int{{0, 1}}, []load.Answer{load.Refused}, load.Verdict{Refused: 1, False: 1}},
		"unheard":     {[][2]int{{0, 1}}, []load.Answer{load.None, load.Unknown}, load.Verdict{Unheard: 1, Unknown: 1, Made: 1}},
		"strange":     {[][2]int{{1, 1}}, nil, load.Verdict{Strange: 1}},
		"shared lost": {[][2]int{{0, 1}, {0, 2}}, []load.Answer{load.Done, load.Done, load.Done}, load.Verdict{Done: 3, Lost: 1}},
	} {
		s := memory.New(string(p.Text()))
		for _, e := range test.made {
			write(s, e[0], e[1])
		}
		path := filepath.Join(t.TempDir(), "log")
		log, err := load.OpenLog(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, told := range test.told {
			err = log.Begin(i + 1)
			if told != load.None && err == nil {
				err = log.End(i+1, told, time.Millisecond)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		entries, err := load.ReadLog(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := load.Judge(p, []byte(s.Text()), [][]load.Entry{entries, nil})
		got.Faults = nil
		if err != nil || !same(got, test.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, test.want)
		}
	}
}

func same(a, b load.Verdict) bool {
	a.Faults, b.Faults = nil, nil
	return a.Done == b.Done && a.Refused == b.Refused && a.Unknown == b.Unknown && a.Unheard == b.Unheard && a.Made == b.Made &&
		a.Lost == b.Lost && a.Half == b.Half && a.Twice == b.Twice && a.False == b.False && a.Strange == b.Strange
}

// An edit that changed only one issue of the pair.
func TestJudgeHalf(t *testing.T) {
	p := load.Plan{Writers: 1, Each: 2, Pairs: 1}
	s := memory.New(string(p.Text()))
	_, b := p.Target(0, 1)
	if _, err := s.Edit(context.Background(), beads.Options{}, func(tx *beads.Tx) error {
		return tx.Set(b, beads.Set{Key: beads.Description, Text: "1"})
	}); err != nil {
		t.Fatal(err)
	}
	if got, err := load.Judge(p, []byte(s.Text()), [][]load.Entry{nil}); err != nil || got.Half != 1 || got.OK() {
		t.Errorf("%+v, %v", got, err)
	}
}
