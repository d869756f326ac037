//go:build e2e

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/cmd/stig/cli"
	"stig/internal/beads"
	"stig/internal/testkit/servers"
	"stig/internal/workspace"
)

// TestE2EScripts runs testdata/e2e: scripts that kill, wait or load. Every stig in them is a
// process.
func TestE2EScripts(t *testing.T) {
	t.Parallel()
	params := scriptsIn(t, "e2e")
	params.Setup = func(env *testscript.Env) error {
		env.Setenv(inProcesses, "1")
		return setUp(env)
	}
	testscript.Run(t, params)
}

// scriptServer is the variable that makes stig in a script keep each store on this server, in
// its own database. clockFile names a file with how far its clock is ahead.
const (
	scriptServer = "STIG_SCRIPT_SERVER"
	clockFile    = "STIG_CLOCK_FILE"
)

// onAnyStore are scripts of testdata/script that do not depend on a file: they pass on every
// store.
var onAnyStore = []string{
	"actor_show", "escalations_list", "graph_formats", "inbox_why", "list_filters", "orient_survey",
	"review_converges", "show_issue", "swarm_run", "work_closes",
}

// TestScriptsOnMariaDB runs a handful of scripts with their stores on a server.
func TestScriptsOnMariaDB(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Config
	c.Database = "information_schema"
	params := scriptsIn(t, "script")
	dir := params.Dir
	params.Dir = ""
	for _, name := range onAnyStore {
		params.Files = append(params.Files, filepath.Join(dir, name+".txtar"))
	}
	params.Setup = func(env *testscript.Env) error {
		env.Setenv(scriptServer, c.URL())
		env.Setenv("XDG_CACHE_HOME", env.WorkDir+"-cache") // a hook may see what is below WorkDir as work
		return setUp(env)
	}
	testscript.Run(t, params)
}

func init() {
	onScriptStore = func(a *workspace.Run) {
		if server := a.Getenv(scriptServer); server != "" {
			a.OpenStore = func(p beads.Place) beads.Store { return onServer(a, p, server) }
		}
	}
	newProcess = func() *cli.App {
		a := newApp()
		onScriptStore(a.Run)
		if path := os.Getenv(clockFile); path != "" {
			a.Now = nightClock(path)
		}
		return a
	}
}

// nightClock is the machine's clock, moved forward by the duration in the file.
func nightClock(path string) func() time.Time {
	return func() time.Time {
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		ahead, err := time.ParseDuration(string(text))
		if err != nil {
			panic(err)
		}
		return time.Now().Round(0).Add(ahead)
	}
}
