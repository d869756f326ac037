package service

import (
	"os"
	"testing"

	"stig/internal/git"
	"stig/internal/workspace"
)

// TestGitIsAskedOnce checks that what git told a run is cached for that run only, except that
// there is no repository or no user name.
func TestGitIsAskedOnce(t *testing.T) {
	dir, err := workspace.RealPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func() *workspace.Run {
		return &workspace.Run{Getenv: os.Getenv, Env: func() []string { return append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1") }, Dir: dir}
	}
	a := run()
	do := func(argv ...string) {
		t.Helper()
		if _, err := a.GitIn(dir).Must(t.Context(), argv...); err != nil {
			t.Fatal(err)
		}
	}
	is := func(a *workspace.Run, name, root string) {
		t.Helper()
		person, err := a.Person(t.Context())
		if err != nil || person != name {
			t.Errorf("the user is %q, %v; want %q", person, err, name)
		}
		if place, err := a.PlaceOf(t.Context(), dir); err != nil || place.Root != root {
			t.Errorf("the repository is %q, %v; want %q", place.Root, err, root)
		}
	}
	if place, err := a.PlaceOf(t.Context(), dir); err != nil || place != (git.Place{}) {
		t.Errorf("before git init: %+v, %v", place, err)
	}
	do("init", "-q")
	is(a, "", dir)
	do("config", "user.name", "mara")
	is(a, "mara", dir)
	do("config", "user.name", "bo")
	is(run(), "bo", dir)
	if err := os.RemoveAll(dir + "/.git"); err != nil {
		t.Fatal(err)
	}
	is(a, "mara", dir)
	if place, err := run().PlaceOf(t.Context(), dir); err != nil || place != (git.Place{}) {
		t.Errorf("another run: %+v, %v", place, err)
	}
}
