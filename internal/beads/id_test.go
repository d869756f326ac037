package beads

import (
	"fmt"
	"hash/maphash"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestNewID(t *testing.T) {
	seed := Seed{Title: "Light the lamp", Now: testNow}
	f := mustRead(t, writeStore(t, "").Path)
	first, err := f.NewID("d", seed)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^d-[0-9a-z]{3}$`).MatchString(first) || !strings.ContainsAny(first[2:], "0123456789") {
		t.Errorf("id %q", first)
	}
	if again, _ := f.NewID("d", seed); again != first {
		t.Errorf("the same seed gave %q, then %q", first, again)
	}
	for _, other := range []Seed{{Title: "Ring the bell", Now: testNow}, {Title: seed.Title, Description: "d", Now: testNow},
		{Title: seed.Title, By: "ann", Now: testNow}, {Title: seed.Title, Now: testNow.Add(time.Nanosecond)}} {
		if id, _ := f.NewID("d", other); id == first {
			t.Errorf("%+v gave %q too", other, id)
		}
	}
	taken := mustRead(t, writeStore(t, fmt.Sprintf(`{"id":%q}`, first)+"\n").Path)
	if id, err := taken.NewID("d", seed); id == first || err != nil {
		t.Errorf("a taken id was given: %q, %v", id, err)
	}
}

// A growing store keeps getting unused ids, longer ones in time.
func TestNewIDFillsUp(t *testing.T) {
	const ids = 3000
	f := mustRead(t, writeStore(t, "").Path)
	seed := maphash.MakeSeed()
	f.byID = newIDTable(seed, ids)
	lengths := map[int]int{}
	for n := range ids {
		id, err := f.NewID("d", Seed{Title: fmt.Sprint(n)})
		if err != nil {
			t.Fatal(err)
		}
		lengths[len(id)-len("d-")]++
		f.issues = append(f.issues, &Issue{ID: id, sum: sumOf(seed, id)})
		if f.byID.put(f.issues, n) >= 0 {
			t.Fatalf("%s was given twice", id)
		}
	}
	for length, n := range lengths {
		if length < 3 || length > 5 {
			t.Errorf("%d ids of %d characters", n, length)
		}
	}
	if lengths[3] == 0 || lengths[4] == 0 {
		t.Errorf("lengths %v", lengths)
	}
}

func TestHashLength(t *testing.T) {
	for n, want := range map[int]int{0: 3, 160: 3, 170: 4, 900: 4, 1000: 5, 5800: 5, 6000: 6, 1 << 40: 8} {
		if got := hashLength(n); got != want {
			t.Errorf("%d issues: %d characters, want %d", n, got, want)
		}
	}
}

func TestChildID(t *testing.T) {
	f := mustRead(t, writeStore(t, `{"id":"my.app-a1"}
{"id":"my.app-a1.2","status":"tombstone"}
{"id":"my.app-a1.2.7"}
{"id":"my.app-a1.1"}
{"id":"my.app-a1.x"}
{"id":"my.app-a1.03"}
`).Path)
	for parent, want := range map[string]string{
		"my.app-a1": "my.app-a1.3", "my.app-a1.2": "my.app-a1.2.8", "my.app-a1.2.7": "my.app-a1.2.7.1", "my.app-a": "my.app-a.1",
	} {
		if got, err := f.ChildID(parent, nil); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", parent, got, err, want)
		}
	}
	if got, err := f.ChildID("my.app-a1.2.7.1", nil); err == nil {
		t.Errorf("a fourth level: %q", got)
	}
}
