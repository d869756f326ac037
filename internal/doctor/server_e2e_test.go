//go:build e2e

package doctor_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/doctor"
	"stig/internal/service"
	"stig/internal/store/mysql"
	"stig/internal/testkit/servers"
	"stig/internal/workspace"
)

// TestServer examines a store on a server, the user and the copy, and checks the hints for
// tables of a later version and for an unreachable server.
func TestServer(t *testing.T) {
	c := servers.Need(t, servers.MariaDB).Database("doctor")
	dir := t.TempDir()
	front := func(store string) *workspace.Run { return frontOf(t, dir, store) }
	if _, err := service.InitOnServer(t.Context(), front(c.URL()), service.ServerRequest{Prefix: "hb"}); err != nil {
		t.Fatal(err)
	}
	check := func(name string, state doctor.State, message string) {
		t.Helper()
		checkSymptom(t, front(""), name, state, message)
	}
	check("server", doctor.OK, "tables of version 2, answers in ")
	check("login", doctor.Todo, "connects as root without a password")
	check("tls", doctor.OK, "the server is on this machine")
	check("copy", doctor.OK, "stig store sync creates one")
	file := filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"hb-1"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("copy", doctor.Broken, "this version of hb-1 was never on ")
	if r, err := doctor.Migrate(t.Context(), front(""), false); err != nil || r.Counts[doctor.OK] != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	db, err := mysql.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO stig_edges VALUES ('hb-1', 7, 'hb-2', 'blocks')"); err != nil {
		t.Fatal(err)
	}
	check("tables", doctor.Todo, "stig_edges differs from the lines of hb-1")
	if _, err := doctor.Migrate(t.Context(), front(""), false); err != nil {
		t.Fatal(err)
	}
	if all := doctor.Examine(t.Context(), front("")).Symptoms; slices.ContainsFunc(all, func(s doctor.Symptom) bool { return s.Name == "tables" }) {
		t.Errorf("%+v", all)
	}
	if _, err := db.Exec("UPDATE stig_meta SET schema_version = 3"); err != nil {
		t.Fatal(err)
	}
	check("store", doctor.Broken, "the tables have version 3; this stig supports versions up to 2")
	if _, err := doctor.Migrate(t.Context(), front(""), false); err == nil || !strings.Contains(err.Error(), "version 3") {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".beads", "stig.json"), []byte(`{"store": "mysql://root@127.0.0.1:1/harbor"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	check("store", doctor.Broken, "the server does not answer")
}

// frontOf is a front end that works in a directory, on a store that is named or found there.
func frontOf(t *testing.T, dir, store string) *workspace.Run {
	own := func() (string, error) { return dir, nil }
	environ := map[string]string{"STIG_ACTOR": "mara", "PATH": os.Getenv("PATH")}
	a := &workspace.Run{
		Getenv: func(name string) string { return environ[name] }, Env: os.Environ, HomeDir: own, ConfigDir: own,
		Now: time.Now, Say: func(workspace.Level, string) {}, Ctx: t.Context(), Running: "test", Dir: dir, Store: store,
	}
	t.Cleanup(func() { _ = a.OnServers().Close() })
	return a
}

func checkSymptom(t *testing.T, a *workspace.Run, name string, state doctor.State, message string) {
	t.Helper()
	all := doctor.Examine(t.Context(), a).Symptoms
	at := slices.IndexFunc(all, func(s doctor.Symptom) bool { return s.Name == name })
	if at < 0 || all[at].State != state || !strings.Contains(all[at].Found, message) {
		t.Errorf("%s: %+v", name, all)
	}
}

// TestCluster examines a node of a cluster that has all, one that may be behind, and one that is
// cut off.
func TestCluster(t *testing.T) {
	cluster := servers.Need(t, servers.Galera)
	c, dir := cluster.Database("doctor"), t.TempDir()
	if _, err := service.InitOnServer(t.Context(), frontOf(t, dir, c.URL()), service.ServerRequest{Prefix: "hb"}); err != nil {
		t.Fatal(err)
	}
	check := func(name string, state doctor.State, message string) {
		t.Helper()
		checkSymptom(t, frontOf(t, dir, ""), name, state, message)
	}
	check("cluster", doctor.OK, "3 nodes have the quorum, and this one has all but 0 edits")
	db, err := mysql.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	desync := func(value string) {
		t.Helper()
		if _, err := db.Exec("SET GLOBAL wsrep_desync = " + value); err != nil {
			t.Fatal(err)
		}
	}
	desync("ON")
	check("cluster", doctor.Todo, "what is read here may be behind")
	desync("OFF")
	if err := cluster.Nodes[0].Isolate(); err != nil {
		t.Fatal(err)
	}
	check("store", doctor.Broken, "the server has no quorum")
	if err := cluster.Nodes[0].Rejoin(); err != nil {
		t.Fatal(err)
	}
}
