package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"stig/internal/beads"
	"stig/internal/project"
)

// TestList checks what globs name: directories with a store, each project once, and none twice
// under one name.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"home", "services/auth", "services/mail", "libs/auth", "own/pay"} {
		if err := os.MkdirAll(filepath.Join(dir, name, beads.DirName), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "services/docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	settings := "external_projects:\n  bd: ../libs/auth\n  pay: ../elsewhere\n"
	if err := os.WriteFile(filepath.Join(dir, "home", beads.DirName, "config.yaml"), []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	home := beads.Place{Dir: filepath.Join(dir, "home", beads.DirName)}
	for _, test := range []struct {
		name  string
		paths map[string]string
		want  map[string]string
	}{
		{"settings of bd", map[string]string{"pay": "own/pay"}, map[string]string{"bd": "libs/auth", "pay": "own/pay"}},
		{"glob", map[string]string{"s": "services/*"}, map[string]string{"auth": "services/auth", "mail": "services/mail", "bd": "libs/auth", "pay": "elsewhere"}},
		{"this project and known ones", map[string]string{"s": "ho*", "pay": "own/*", "l": "libs/*"}, map[string]string{"bd": "libs/auth", "pay": "own/pay"}},
		{"name taken", map[string]string{"auth": "gone", "s": "services/a*"}, map[string]string{"auth": "gone", "s/auth": "services/auth", "bd": "libs/auth", "pay": "elsewhere"}},
		{"no match", map[string]string{"s": "nothing/*"}, map[string]string{"s": "nothing/*", "bd": "libs/auth", "pay": "elsewhere"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			configured := map[string]project.Setting{}
			for name, path := range test.paths {
				configured[name] = project.Setting{Path: filepath.Join(dir, path)}
			}
			got := map[string]string{}
			for _, p := range project.List(configured, home) {
				got[p.Name], _ = filepath.Rel(dir, p.Path)
			}
			if len(got) != len(test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			for name, path := range test.want {
				if got[name] != path {
					t.Errorf("%s is at %q, want %q", name, got[name], path)
				}
			}
		})
	}
}
