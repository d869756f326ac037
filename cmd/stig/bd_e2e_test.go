//go:build e2e

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/testkit/servers"
)

// TestRealBD runs the scripts of testdata/bd with the bd that STIG_TEST_BD names: nodb* with a
// bd before 1.0, dolt* with a later one.
func TestRealBD(t *testing.T) {
	bd := os.Getenv("STIG_TEST_BD")
	if bd == "" {
		t.Fatal("STIG_TEST_BD names no bd")
	}
	said, err := exec.Command(bd, "version").Output()
	version := regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(string(said))
	if err != nil || version == "" {
		t.Fatalf("%s version: %v, %q", bd, err, said)
	}
	kind := "dolt"
	if strings.HasPrefix(version, "0.") {
		kind = "nodb"
	}
	files, err := filepath.Glob(fromHere("testdata", "bd", kind+"_*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts for %s: %v", kind, err)
	}
	t.Logf("with bd %s", version)
	run := func(t *testing.T, server func() *servers.Server) {
		commands, give := scriptCommands(), setUp
		commands["init-bd"] = initBD(server)
		testscript.Run(t, testscript.Params{
			Files:               files,
			RequireExplicitExec: true,
			Cmds:                commands,
			Setup:               func(env *testscript.Env) error { return setUpBD(env, give, bd) },
		})
	}
	if kind != "dolt" {
		run(t, nil)
		return
	}
	t.Run("embedded", func(t *testing.T) { run(t, nil) })
	t.Run("server", func(t *testing.T) {
		server := servers.Need(t, servers.Dolt)
		run(t, func() *servers.Server { return server })
	})
}

// initBD creates a bd workspace with Dolt, embedded or on a server: init-bd prefix
func initBD(server func() *servers.Server) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != 1 {
			ts.Fatalf("usage: init-bd prefix")
		}
		argv := []string{"init", "--prefix=" + args[0], "--quiet", "--skip-hooks", "--skip-agents"}
		if server != nil {
			c := server().Config
			name := "script_" + strconv.FormatInt(time.Now().UnixNano(), 36)
			argv = append(argv, "--server", "--external", "--server-host="+c.Host, "--server-port="+strconv.Itoa(c.Port), "--database="+name)
		}
		ts.Check(ts.Exec("bd", argv...))
	}
}

// setUpBD gives a script the real bd without its daemon, the real clock, and a git identity.
func setUpBD(env *testscript.Env, give func(*testscript.Env) error, bd string) error {
	if err := give(env); err != nil {
		return err
	}
	bin := filepath.Join(env.WorkDir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	if err := os.Symlink(bd, filepath.Join(bin, "bd")); err != nil {
		return err
	}
	env.Setenv("GIT_PATH", env.Getenv("PATH"))
	env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
	for _, variable := range []string{
		"STIG_NOW=", "BEADS_NO_DAEMON=1", "GIT_AUTHOR_NAME=mara", "GIT_AUTHOR_EMAIL=mara@harbor.example",
		"GIT_COMMITTER_NAME=mara", "GIT_COMMITTER_EMAIL=mara@harbor.example",
	} {
		name, value, _ := strings.Cut(variable, "=")
		env.Setenv(name, value)
	}
	return nil
}
