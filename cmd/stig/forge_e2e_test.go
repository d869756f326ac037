//go:build e2e

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/testkit/forges"
)

var requests = flag.Int("requests", len(judgements), "requests for review in TestGitea, one of each kind on a server")

// TestGitea runs the scripts of landing by review, and what judges and reviewers do, on a real
// Gitea.
func TestGitea(t *testing.T) {
	program := os.Getenv("STIG_TEST_GITEA")
	if program == "" {
		t.Fatal(`no Gitea: type eval "$(bash .ci/servers gitea)", or set STIG_TEST_GITEA`)
	}
	for _, name := range []string{"land_review", "land_feedback", "land_projects", "land_pushed", "land_stack"} {
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
	tests := []func(*testing.T, *forges.Gitea){protected, func(t *testing.T, g *forges.Gitea) { reviewed(t, g) }}
	for done := 0; done < *requests; done += len(judgements) { // with 100 at once, Gitea tries to merge all of them after each landing, for an hour
		tests = append(tests, func(t *testing.T, g *forges.Gitea) { judged(t, g, len(judgements)) })
	}
	for n, test := range tests {
		t.Run(fmt.Sprintf("people %d", n), func(t *testing.T) {
			g, err := forges.StartGitea(program, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			test(t, g)
		})
	}
}

// protected protects the main branch as docs/reviews.md says: only the store is pushed, and a
// request needs its job and an approval.
func protected(t *testing.T, g *forges.Gitea) {
	var rule map[string]any
	if err := json.Unmarshal([]byte(blocks(readFile(t, "..", "..", "docs", "reviews.md"), "json")[1]), &rule); err != nil {
		t.Fatal(err)
	}
	run := inReview(t, g, 1)
	if err := g.Protect(rule); err != nil {
		t.Fatal(err)
	}
	run("stig land --sync; git commit -qam 'the store' && git push -q origin main")
	if out := run("echo x >code; git add code; git commit -qm code; git push origin main 2>&1 || git reset -q --hard HEAD^"); !strings.Contains(out, "rejected") {
		t.Errorf("code was pushed to the main branch:\n%s", out)
	}
	job := rule["status_check_contexts"].([]any)[0].(string)
	for _, step := range []struct {
		lacks string // in the refusal of a merge before the step
		do    func() error
	}{
		{"Work in progress", func() error { return g.Ready(1) }},
		{"status checks", func() error { return g.Pass(1, job) }},
		{"approvals", func() error { return g.Approve(1) }},
	} {
		if err := g.Merge(1); err == nil || !strings.Contains(err.Error(), step.lacks) {
			t.Errorf("want a refusal with %q, got: %v", step.lacks, err)
		}
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Judge("squash", 1); err != nil {
		t.Fatal(err)
	}
	if out := run("stig land --sync"); !strings.Contains(out, "closed") {
		t.Errorf("not closed:\n%s", out)
	}
}
