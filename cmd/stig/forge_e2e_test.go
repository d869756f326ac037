//go:build e2e

package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/testkit/forges"
)

var requests = flag.Int("requests", len(judgements), "requests for review in TestGitea")

// TestGitea runs the scripts of landing by review, and what judges and reviewers do, on a real
// Gitea.
func TestGitea(t *testing.T) {
	if testing.Short() {
		t.Skip("building Gitea takes minutes")
	}
	program := os.Getenv("STIG_TEST_GITEA")
	if program == "" {
		t.Fatal(`no Gitea: type eval "$(bash .ci/servers gitea)", or set STIG_TEST_GITEA`)
	}
	for _, name := range []string{"land_review", "land_feedback", "land_projects"} {
		p := scriptsIn(t, "script")
		p.Dir, p.Files = "", []string{filepath.Join(fromHere("testdata", "script"), name+".txtar")}
		p.Setup = func(env *testscript.Env) error {
			if err := setUp(env); err != nil {
				return err
			}
			env.Values["forge"].(*forgeHolder).start = func(dir string) (forges.Site, error) {
				dir += ".gitea"
				if err := os.Mkdir(dir, 0o700); err != nil {
					return nil, err
				}
				return forges.StartGitea(program, dir)
			}
			return nil
		}
		testscript.Run(t, p)
	}
	for name, test := range map[string]func(*testing.T, forges.Site){
		"judged":   func(t *testing.T, g forges.Site) { judged(t, g, *requests) },
		"reviewed": reviewed,
	} {
		t.Run(name, func(t *testing.T) {
			g, err := forges.StartGitea(program, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			test(t, g)
		})
	}
}
