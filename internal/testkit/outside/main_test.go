// Package outside tests the built program with libraries that stig itself does not need: a
// browser visits the pages of the board, and a published schema validates SARIF. It is a
// separate module, so that go.mod of stig lists only what stig needs:
//
//	cd internal/testkit/outside && go test ./... && go test -tags e2e ./...
package outside

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// stig is the path of the program, root that of the module.
var stig, root string

// atEnd releases what all tests share.
var atEnd = func() {}

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run builds stig for the tests.
func run(m *testing.M) (code int, err error) {
	if root, err = filepath.Abs(filepath.Join("..", "..", "..")); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "stig-outside")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	stig = filepath.Join(dir, "stig")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", stig, "./cmd/stig")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	defer func() { atEnd() }()
	return m.Run(), nil
}

// store creates a directory with a store of these lines, and a home beside it.
type store struct{ dir, home string }

func newStore(t *testing.T, lines string) store {
	t.Helper()
	s := store{t.TempDir(), t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, ".beads", "issues.jsonl"), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// command returns stig as an actor at that morning, or now.
func (s store) command(actor, now string, args ...string) *exec.Cmd {
	c := exec.Command(stig, args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "HOME="+s.home, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "PATH="+filepath.Dir(stig)+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"STIG_ACTOR="+actor, "STIG_NOW="+now, "STIG_TRUST=1")
	return c
}

// morning is the time of tests whose pages show one.
const morning = "2026-11-20T09:00:00Z"

// as runs stig as an actor, which must succeed, and returns its output.
func (s store) as(t *testing.T, actor string, args ...string) string {
	t.Helper()
	out, err := s.command(actor, morning, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("stig %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// clone makes the directory of the store a git repository with its content committed.
func (s store) clone(t *testing.T) {
	t.Helper()
	for _, argv := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "mara"}, {"config", "user.email", "mara@pier.example"}, {"add", "-A"}, {"commit", "-q", "-m", "begin"}} {
		if out, err := exec.Command("git", append([]string{"-C", s.dir}, argv...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", argv, err, out)
		}
	}
}
