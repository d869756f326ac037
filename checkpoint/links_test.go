package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stig/beads"
	"stig/checkpoint"
)

func storeOf(t *testing.T, lines ...string) beads.Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".beads")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "issues.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return beads.Store{Path: path, Dir: dir}
}

func textOf(t *testing.T, s beads.Store) string {
	t.Helper()
	text, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Of many who claim an issue one gets it, and the file says the same.
func TestClaimOne(t *testing.T) {
	s := storeOf(t, `{"id":"demo-1","title":"t","status":"open"}`)
	const many = 12
	results := make([]error, many)
	var group sync.WaitGroup
	for n := range many {
		group.Go(func() {
			_, results[n] = checkpoint.Claim(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1", fmt.Sprint("w", n))
		})
	}
	group.Wait()
	winner := -1
	for n, err := range results {
		var refused *checkpoint.ClaimError
		switch {
		case err == nil && winner >= 0:
			t.Fatalf("w%d and w%d both got it", winner, n)
		case err == nil:
			winner = n
		case !errors.As(err, &refused):
			t.Fatal(err)
		}
	}
	if winner < 0 {
		t.Fatal("nobody got it")
	}
	for n, err := range results {
		var refused *checkpoint.ClaimError
		if n != winner && (!errors.As(err, &refused) || refused.Holder != fmt.Sprint("w", winner)) {
			t.Errorf("w%d was told %v, and w%d has it", n, err, winner)
		}
	}
	if want := fmt.Sprintf(`"assignee":"w%d"`, winner); !strings.Contains(textOf(t, s), want) {
		t.Errorf("the file says %s", textOf(t, s))
	}
}

// When another program loses what was written, the edit is made once more: an
// issue that is still there is not made twice, one that is gone is.
func TestCreateOnceMore(t *testing.T) {
	for _, c := range []struct {
		name string
		lose func(t *testing.T, s beads.Store, before string)
	}{
		{"still there", func(*testing.T, beads.Store, string) {}},
		{"gone", func(t *testing.T, s beads.Store, before string) {
			if err := os.WriteFile(s.Path, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storeOf(t, `{"id":"demo-1","title":"t","status":"open"}`)
			before, told := textOf(t, s), 0
			options := beads.Options{Now: rules().Now, After: func(context.Context, beads.Store, []beads.Change) error {
				if told++; told > 1 {
					return nil
				}
				c.lose(t, s, before)
				return &beads.LostError{}
			}}
			created, err := checkpoint.Create(t.Context(), s, options, checkpoint.Draft{Title: "new", Type: "task"}, rules())
			if err != nil || told != 2 {
				t.Fatalf("told %d times, %v", told, err)
			}
			if n := strings.Count(textOf(t, s), `"title":"new"`); n != 1 || len(created.Lines) != 1 {
				t.Errorf("%d issues were made, %d lines reported", n, len(created.Lines))
			}
		})
	}
}

// One bad target keeps all from being told.
func TestPropagateAllOrNone(t *testing.T) {
	s := storeOf(t, `{"id":"demo-1","title":"t","status":"open"}`, `{"id":"demo-2","title":"t","status":"open"}`,
		`{"id":"demo-3","title":"t","status":"open","notes":"<!-- x -->"}`)
	before := textOf(t, s)
	_, err := checkpoint.Propagate(t.Context(), s, beads.Options{Now: rules().Now}, "demo-1", []string{"demo-2", "demo-3"}, "news", rules())
	if err == nil || textOf(t, s) != before {
		t.Errorf("%v, and the store is %s", err, textOf(t, s))
	}
}

// What a link refuses names the row that closes the circle.
func TestLinkNamesTheRow(t *testing.T) {
	s := storeOf(t, `{"id":"demo-1","title":"t","status":"open"}`,
		`{"id":"demo-2","title":"t","status":"open","dependencies":[{"depends_on_id":"demo-1","type":"blocks"}]}`)
	_, err := checkpoint.Create(t.Context(), s, beads.Options{Now: rules().Now}, checkpoint.Draft{
		Title: "new", Type: "task", Parent: "demo-1", Deps: []beads.Dep{{On: "demo-2", Type: "waits-for"}},
	}, rules())
	var refused *checkpoint.LinkError
	if !errors.As(err, &refused) || refused.From != "demo-1.1" || !strings.Contains(refused.Reason, "demo-2 can start only after demo-1 is closed") {
		t.Errorf("got %v", err)
	}
}
