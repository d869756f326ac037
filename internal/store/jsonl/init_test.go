package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
)

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
		dir := filepath.Join(t.TempDir(), "9 Harbor 7.x", beads.DirName)
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
	if err := os.MkdirAll(filepath.Join(held, beads.DirName, "dolt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Init(held, "lamp"); err == nil || !strings.Contains(err.Error(), "there is a store already") {
		t.Errorf("made where a Dolt database is: %v", err)
	}
}
