package gate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stig/gate"
)

// TestHistory follows a file through a rename, a branch and a merge that
// agrees with neither side, and reads its versions.
func TestHistory(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	git := gate.Git{Dir: dir, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")}
	must := func(argv ...string) {
		t.Helper()
		if _, err := git.Must(ctx, argv...); err != nil {
			t.Fatal(err)
		}
	}
	day := 0
	commit := func(name, text, subject string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		day++
		git.Env = append(git.Env, "GIT_COMMITTER_DATE=2026-11-0"+string(rune('0'+day))+"T08:00:00Z")
		must("add", ".")
		must("commit", "-q", "-m", subject)
	}
	must("init", "-q", "-b", "main")
	path := filepath.Join(dir, "new.txt")
	var unknown *gate.RevisionError
	if _, err := git.History(ctx, path, ""); !errors.As(err, &unknown) {
		t.Errorf("without a commit: %v", err)
	}
	commit("old.txt", "1\n2\n3\n4\n", "first")
	must("mv", "old.txt", "new.txt")
	commit("other.txt", "", "renamed")
	must("checkout", "-q", "-b", "side")
	commit("new.txt", "1\n2\n3\nside\n", "side")
	must("checkout", "-q", "main")
	commit("new.txt", "1\n2\n3\nmain\n", "main")
	if result, err := git.Run(ctx, "merge", "-q", "side"); err != nil || result.Exit == 0 {
		t.Fatalf("merged without a conflict: %v", err)
	}
	commit("new.txt", "1\n2\n3\nboth\n", "merge :")
	commit("other.txt", "x", "elsewhere")

	changes, err := git.History(ctx, path, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var blobs []string
	for _, c := range changes {
		got = append(got, c.Subject+strings.Repeat("+", len(c.Before)))
		blobs = append(blobs, c.After)
	}
	if want := []string{"merge :++", "main+", "side+", "renamed+", "first+"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var texts []string
	if err := git.Blobs(ctx, blobs, func(_ string, text []byte) { texts = append(texts, string(text)) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1\n2\n3\nboth\n", "1\n2\n3\nmain\n", "1\n2\n3\nside\n", "1\n2\n3\n4\n", "1\n2\n3\n4\n"}; !reflect.DeepEqual(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	if since, err := git.History(ctx, path, "HEAD~1"); err != nil || len(since) != 0 {
		t.Errorf("since HEAD~1: %v, %v", since, err)
	}
	if err := git.Blobs(ctx, []string{strings.Repeat("1", 40)}, func(string, []byte) {}); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("a blob that is not there: %v", err)
	}
}
