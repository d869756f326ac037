package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stig/checkpoint"
	"stig/internal/gate"
	"stig/internal/git"
)

// The committed criteria are found at any line of the store, and without a committed version
// nothing counts as edited.
func TestEditedSince(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := git.Client{Dir: dir, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")}
	path := filepath.Join(dir, "issues.jsonl")
	edited := func(id, text string) *checkpoint.Edited {
		t.Helper()
		e, err := checkpoint.EditedSince(t.Context(), repo, path, id, gate.Find(text, "", ""))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	const two, one = "```sh\ntrue; true\n```\n\n```sh\nfalse; true\n```", "```sh\ntrue; true\n```"
	line := func(id, criteria string) string {
		return fmt.Sprintf(`{"id":%q,"title":%q,"acceptance_criteria":%q}`, id, strings.Repeat("tide ", 20), criteria)
	}
	lines := []string{line("pier-first", two)}
	for n := range 3000 {
		lines = append(lines, line(fmt.Sprint("pier-", n), one))
	}
	lines = append(lines, "not JSON, with pier-last in it", line("pier-last", two))
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if e := edited("pier-first", one); e != nil {
		t.Errorf("without git: %v", e)
	}
	for _, argv := range [][]string{{"init", "-q"}, {"add", "."},
		{"-c", "user.name=m", "-c", "user.email=m@pier", "commit", "-qm", "tide"}} {
		if _, err := repo.Must(t.Context(), argv...); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"pier-first", "pier-last"} {
		e := edited(id, one)
		if want := (&checkpoint.Edited{Was: 2, Is: 1, Gone: []string{"false; true"}}); !reflect.DeepEqual(e, want) {
			t.Errorf("%s: got %+v, want %+v", id, e, want)
		}
		if e := edited(id, two); e != nil {
			t.Errorf("%s unchanged: %v", id, e)
		}
	}
	if e := edited("pier-1500", ""); e == nil || e.String() != "criteria edited since HEAD: 1 command → 0" {
		t.Errorf("got %v", e)
	}
	if e := edited("pier-new", one); e != nil {
		t.Errorf("an issue that is not committed: %v", e)
	}
}
