package git_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stig/internal/fault"
	"stig/internal/git"
)

// TestHistory follows a file through a rename, a branch and a merge that agrees with neither
// side, and reads its versions.
func TestHistory(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	repo := git.Client{Dir: dir, Env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")}
	must := func(argv ...string) {
		t.Helper()
		if _, err := repo.Must(ctx, argv...); err != nil {
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
		repo.Env = append(repo.Env, "GIT_COMMITTER_DATE=2026-11-0"+string(rune('0'+day))+"T08:00:00Z")
		must("add", ".")
		must("commit", "-q", "-m", subject)
	}
	must("init", "-q", "-b", "main")
	path := filepath.Join(dir, "new.txt")
	if _, err := repo.History(ctx, path, ""); !fault.Is(err, fault.NoRevision) {
		t.Errorf("without a commit: %v", err)
	}
	commit("old.txt", "1\n2\n3\n4\n", "first")
	must("mv", "old.txt", "new.txt")
	commit("other.txt", "", "renamed")
	must("checkout", "-q", "-b", "side")
	commit("new.txt", "1\n2\n3\nside\n", "side")
	must("checkout", "-q", "main")
	commit("new.txt", "1\n2\n3\nmain\n", "main")
	if result, err := repo.Run(ctx, "merge", "-q", "side"); err != nil || result.Exit == 0 {
		t.Fatalf("merged without a conflict: %v", err)
	}
	commit("new.txt", "1\n2\n3\nboth\n", "merge :")
	commit("other.txt", "x", "elsewhere")

	changes, err := repo.History(ctx, path, "")
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
	if err := repo.Blobs(ctx, blobs, func(_ string, text []byte) { texts = append(texts, string(text)) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1\n2\n3\nboth\n", "1\n2\n3\nmain\n", "1\n2\n3\nside\n", "1\n2\n3\n4\n", "1\n2\n3\n4\n"}; !reflect.DeepEqual(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
	versions, err := git.Past{Client: repo, Path: path}.Versions(ctx, "")
	if err != nil || len(versions) != 5 || versions[0].Subject != "first" || versions[0].Author != "a" {
		t.Errorf("%v: the oldest comes first, with its author: %+v", err, versions)
	}
	if since, err := repo.History(ctx, path, "HEAD~1"); err != nil || len(since) != 0 {
		t.Errorf("since HEAD~1: %v, %v", since, err)
	}
	if err := repo.Blobs(ctx, []string{strings.Repeat("1", 40)}, func(string, []byte) {}); !fault.Is(err, fault.Store) {
		t.Errorf("a blob that is not there: %v", err)
	}
}
