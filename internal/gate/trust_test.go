package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/git"
)

func TestTrust(t *testing.T) {
	trust := Trust{Dir: filepath.Join(t.TempDir(), "state", "trust")}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.FixedZone("", 3600))
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	bay, reef, link := filepath.Join(home, "b", "bay"), filepath.Join(home, "a", "bay"), filepath.Join(home, "link")
	atoll := filepath.Join(home, "c", "atoll") // its record sorts before the others, its path after them
	for _, dir := range []string{bay, reef, atoll} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(bay, link); err != nil {
		t.Fatal(err)
	}
	if grants, err := trust.List(); len(grants) != 0 || err != nil {
		t.Errorf("nothing granted: %v, %v", grants, err)
	}
	if trust.Granted(bay, "c1") || trust.Granted(bay, "") || trust.Commits(bay) != nil {
		t.Error("trusted without a grant")
	}
	for root, commit := range map[string]string{link: "c1", reef: "", atoll: "c1"} {
		if err := trust.Grant(Grant{Root: root, Commit: commit, Time: now, By: "mara"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		root, commit string
		want         bool
	}{
		{bay, "c1", true}, {link, "c1", true}, {bay + "/", "c1", true},
		{bay, "c2", false}, {bay, "", false}, {filepath.Join(bay, "below"), "c1", false}, {filepath.Dir(bay), "c1", false},
		{reef, "", true}, {reef, "c1", false},
	} {
		if got := trust.Granted(c.root, c.commit); got != c.want {
			t.Errorf("%s at %q: %v", c.root, c.commit, got)
		}
	}
	if got := trust.Commits(link); len(got) != 1 || got[0] != "c1" {
		t.Errorf("commits %q", got)
	}
	if got := trust.Commits(reef); got != nil {
		t.Errorf("commits %q where the path alone is trusted", got)
	}
	keep(t, "half a record", filepath.Join(trust.Dir, "trust", "bay.tmp"))
	want := []Grant{{Root: reef, Time: now.UTC(), By: "mara"}, {Root: bay, Commit: "c1", Time: now.UTC(), By: "mara"}, {Root: atoll, Commit: "c1", Time: now.UTC(), By: "mara"}}
	if got, err := trust.List(); err != nil || !slices.Equal(got, want) {
		t.Errorf("list %v, %v", got, err)
	}
	if err := trust.Grant(Grant{Root: bay, Commit: "c2", Time: now, By: "mara"}); err != nil || !trust.Granted(bay, "c2") || trust.Granted(bay, "c1") {
		t.Errorf("granted anew: %v", err)
	}
	for _, want := range []bool{true, false} {
		if was, err := trust.Revoke(link); was != want || err != nil || trust.Granted(bay, "c2") {
			t.Errorf("revoked: %v, %v", was, err)
		}
	}
	if !trust.Granted(reef, "") {
		t.Error("another one was revoked too")
	}
}

// A grant counts for its own path, wherever its file is copied.
func TestTrustDamaged(t *testing.T) {
	trust := Trust{Dir: t.TempDir()}
	bay, reef := t.TempDir(), t.TempDir()
	if err := trust.Grant(Grant{Root: bay, Commit: "c1"}); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Join(trust.Dir, "trust"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	grant := filepath.Join(trust.Dir, "trust", files[0].Name())
	text, err := os.ReadFile(grant)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(text), "", "{", "null", `{"commit":"c1"}`} {
		keep(t, text, trust.file(git.RealPath(reef)))
		if trust.Granted(reef, "c1") || trust.Commits(reef) != nil {
			t.Errorf("%q: trusted", text)
		}
		grants, err := trust.List()
		if err == nil || len(grants) != 1 || !strings.Contains(err.Error(), trust.file(git.RealPath(reef))) {
			t.Errorf("%q: list %v, %v", text, grants, err)
		}
	}
	if was, err := trust.Revoke(reef); !was || err != nil {
		t.Errorf("a damaged grant cannot be revoked: %v, %v", was, err)
	}
	keep(t, "", filepath.Join(trust.file(git.RealPath(reef)), "file"))
	if was, err := trust.Revoke(reef); was || err == nil {
		t.Errorf("a record that cannot be removed: %v, %v", was, err)
	}
	if err := (Trust{Dir: grant}).Grant(Grant{Root: bay, Commit: "c1"}); err == nil {
		t.Error("a grant that cannot be written gives no error")
	}
}

// Without a home the record would be looked up in the working directory, the repository that
// asks for trust.
func TestTrustIsNoneOfTheRepository(t *testing.T) {
	state := t.TempDir()
	if err := (Trust{Dir: state}).Grant(Grant{Root: state, Commit: "c1"}); err != nil {
		t.Fatal(err)
	}
	t.Chdir(state)
	for _, dir := range []string{"", ".", "./"} {
		trust := Trust{Dir: dir}
		if trust.Granted(state, "c1") || trust.Commits(state) != nil {
			t.Errorf("%q: trusted", dir)
		}
		if grants, err := trust.List(); len(grants) != 0 || err != nil {
			t.Errorf("%q: list %v, %v", dir, grants, err)
		}
		if err := trust.Grant(Grant{Root: state, Commit: "c1"}); err == nil || !strings.Contains(err.Error(), "absolute") {
			t.Errorf("%q: granted, %v", dir, err)
		}
	}
}

// keep writes a file, and missing directories.
func keep(t *testing.T, text, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestKnow checks that a grant stores each command once, in order, with the same size each
// however many there are.
func TestKnow(t *testing.T) {
	checks := make([]Check, 4000)
	for i := range checks {
		checks[i].Text = fmt.Sprintf("go test ./part%d", i/2)
	}
	var g Grant
	g.Know(checks[:3])
	first, second := Hash("go test ./part0")[:knownDigits], Hash("go test ./part1")[:knownDigits]
	if want := first + " " + second; g.Commands != want {
		t.Errorf("%q, want %q", g.Commands, want)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g.Know(checks)
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / uint64(len(checks)); got > 1000 {
		t.Errorf("%d bytes allocated a command", got)
	}
	if got := len(strings.Fields(g.Commands)); got != len(checks)/2 || !strings.HasPrefix(g.Commands, first+" "+second+" ") {
		t.Errorf("%d commands, beginning with %.40q", got, g.Commands)
	}
	for _, c := range checks {
		if !g.Knows(c) {
			t.Fatalf("%q is not known", c.Text)
		}
	}
	if g.Knows(Check{Text: "go test ./other"}) {
		t.Error("another command is known")
	}
}

// TestAgreeTogether: concurrent agreements to different things all count; and an agreement
// after revocation does not restore trust.
func TestAgreeTogether(t *testing.T) {
	trust, root := Trust{Dir: filepath.Join(t.TempDir(), "state")}, t.TempDir()
	if err := trust.Agree(root, "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without trust: %v", err)
	}
	if err := trust.Grant(Grant{Root: root, Commit: "c1"}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if err := trust.Agree(root, fmt.Sprint("hash-", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	g, _ := trust.At(root)
	for i := range 8 {
		if !g.Agreed(fmt.Sprint("hash-", i)) {
			t.Errorf("lost: hash-%d of %q", i, g.Actors)
		}
	}
	if was, err := trust.Revoke(root); !was || err != nil {
		t.Errorf("revoke: %t, %v", was, err)
	}
	if err := trust.Agree(root, "late"); !errors.Is(err, fs.ErrNotExist) || trust.Granted(root, "c1") {
		t.Errorf("after it was revoked: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(trust.Dir, "trust")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
