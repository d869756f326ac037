package service_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/workspace"
)

// front returns a front end that works in a directory, as root on a local server.
func front(t *testing.T, dir, store string) *workspace.Run {
	t.Helper()
	environ, home := map[string]string{"STIG_ACTOR": "mara", "PATH": os.Getenv("PATH")}, t.TempDir()
	own := func() (string, error) { return home, nil }
	a := &workspace.Run{
		Getenv: func(name string) string { return environ[name] }, Env: os.Environ, HomeDir: own, ConfigDir: own,
		Now: time.Now, Say: func(workspace.Level, string) {}, Ctx: t.Context(), Running: "test", Dir: dir, Store: store,
	}
	t.Cleanup(func() { _ = a.OnServers().Close() })
	return a
}

// TestFilesHaveNoServer: services for a store on a server refuse a store in a file.
func TestFilesHaveNoServer(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, beads.DirName), 0o755), os.WriteFile(filepath.Join(dir, beads.DirName, "issues.jsonl"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	a := front(t, dir, "")
	_, syncing := service.SyncCopy(t.Context(), a, true)
	_, _, _, migrating := service.MigrateServer(t.Context(), a, true)
	_, copying := service.CopyStore(t.Context(), a, service.CopyRequest{From: ".beads/issues.jsonl", To: ".beads"})
	for _, err := range []error{syncing, migrating} {
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.Usage || !strings.Contains(err.Error(), "works only on a store on a server") {
			t.Errorf("%v", err)
		}
	}
	if copying == nil {
		t.Error("copied into a directory")
	}
}
