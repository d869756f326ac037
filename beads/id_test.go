package beads

import (
	"fmt"
	"hash/maphash"
	"os"
	"path/filepath"
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

// A store that fills up keeps getting free ids, longer ones in time.
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

func TestPrefix(t *testing.T) {
	for _, c := range []struct{ name, store, config, kept, want string }{
		{"configured", `{"id":"a-1"}`, "issue-prefix: \"my-app\" # ours\n", "kept", "my-app"},
		{"configured as nothing", `{"id":"a-1"}`, "issue-prefix: \"\"\n", "", "a"},
		{"most common", `{"id":"b-1"}` + "\n" + `{"id":"my-b-1"}` + "\n" + `{"id":"my-b-1.2"}`, "", "kept", "my-b"},
		{"among records", `{"id":"b-wisp-1"}` + "\n" + `{"id":"b-wisp-2"}` + "\n" + `{"id":"b-1"}`, "", "", "b"},
		{"as common as another", `{"id":"b-1"}` + "\n" + `{"id":"a-1"}`, "", "", "a"},
		{"kept", `{"id":"b"}`, "", "kept\n", "kept"},
		{"the directory", "", "", "", "harbor-7-x"},
	} {
		dir := filepath.Join(t.TempDir(), "9 Harbor 7.x", storeDir)
		files := map[string]string{"issues.jsonl": c.store, "config.yaml": c.config, prefixFile: c.kept}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range files {
			if text != "" || name == "issues.jsonl" {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got, err := mustRead(t, filepath.Join(dir, "issues.jsonl")).Prefix(); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestInit(t *testing.T) {
	dir := t.TempDir()
	s, made, err := Init(dir, "lamp")
	if err != nil || len(made) != 3 {
		t.Fatal(made, err)
	}
	found, err := Discover(Where{Dir: dir})
	if err != nil || found != s {
		t.Errorf("found %+v, %v; made %+v", found, err, s)
	}
	if prefix, err := mustRead(t, s.Path).Prefix(); prefix != "lamp" || err != nil {
		t.Errorf("prefix %q, %v", prefix, err)
	}
	if _, _, err := Init(dir, "lamp"); err == nil {
		t.Error("made twice")
	}
	if content(t, s) != "" {
		t.Errorf("the store holds %q", content(t, s))
	}
	for _, prefix := range []string{"", "-a", "a-", "1a", "a b", "a.b"} {
		if _, _, err := Init(t.TempDir(), prefix); err == nil {
			t.Errorf("accepted the prefix %q", prefix)
		}
	}
	held := t.TempDir()
	if err := os.MkdirAll(filepath.Join(held, storeDir, "dolt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Init(held, "lamp"); err == nil || !strings.Contains(err.Error(), "no .beads store") {
		t.Errorf("made where a Dolt database is: %v", err)
	}
}
