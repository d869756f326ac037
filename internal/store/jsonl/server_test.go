package jsonl

import (
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
)

// TestDiscoverServer finds the settings of a store on a server wherever a file of issues would
// be found, and before such a file.
func TestDiscoverServer(t *testing.T) {
	const settings = `.beads/stig.json: {"store": "mysql://db.example/harbor"}`
	const url = "mysql://db.example/harbor"
	for _, c := range []struct {
		name  string
		files []string
		where Where
		want  string // path of the settings, URL, path of the copy
	}{
		{"from below", []string{".git/", settings, "a/b/"}, Where{Dir: "a/b"}, ".beads/stig.json " + url + " "},
		{"before a file", []string{".git/", settings, ".beads/issues.jsonl"}, Where{}, ".beads/stig.json " + url + " .beads/issues.jsonl"},
		{"with a copy to come", []string{".git/", `.beads/stig.json: {"store": "mysql://db.example/harbor", "sync_file": true}`}, Where{},
			".beads/stig.json " + url + " .beads/issues.jsonl"},
		{"redirect", []string{".git/", ".beads/redirect: x", `x/stig.json: {"store": "mysql://db.example/harbor"}`}, Where{}, "x/stig.json " + url + " "},
		{"BEADS_DIR", []string{`b/stig.json: {"store": "mysql://mara@db.example:3307/harbor"}`}, Where{BeadsDir: "b"}, "b/stig.json mysql://mara@db.example:3307/harbor "},
		{"settings by name", []string{settings}, Where{File: ".beads/stig.json"}, ".beads/stig.json " + url + " "},
		{"file by name", []string{settings, ".beads/issues.jsonl"}, Where{File: ".beads/issues.jsonl"}, ".beads/issues.jsonl  "},
		{"URL", []string{".git/", "a/"}, Where{Dir: "a", File: url}, ".beads/stig.json " + url + " "},
		{"URL of the settings", []string{".git/", settings, ".beads/issues.jsonl"}, Where{File: "mysql://mara@db.example:3306/harbor"},
			".beads/stig.json mysql://mara@db.example:3306/harbor .beads/issues.jsonl"},
		{"URL of another database", []string{".git/", settings, ".beads/issues.jsonl"}, Where{File: "mysql://db.example/other"},
			".beads/stig-other.json mysql://db.example/other "},
		{"URL before a file", []string{".git/", ".beads/issues.jsonl", "a/"}, Where{Dir: "a", File: url}, ".beads/stig.json " + url + " "},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files...)
			c.where.Dir = filepath.Join(root, c.where.Dir)
			p, err := Discover(c.where)
			if err != nil {
				t.Fatal(err)
			}
			below := func(path string) string {
				return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, root), string(filepath.Separator)))
			}
			if got := below(p.Path) + " " + p.URL + " " + below(p.Copy); got != c.want {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
			if server := p.URL != ""; (p.Mode == beads.Server) != server {
				t.Errorf("mode %v with URL %q", p.Mode, p.URL)
			}
		})
	}
}

// TestDiscoverServerRefuses names the place of a wrong setting, and never repeats a password.
func TestDiscoverServerRefuses(t *testing.T) {
	for _, c := range []struct{ settings, err string }{
		{"{\n  \"store\": \"mysql://db/x\",\n  \"stor\": 1\n}", `stig.json:3: unknown key "stor"`},
		{`{"store": "mysql://mara:hunter2@db/x"}`, "stig.json: store: must not contain a password"},
		{`{"store": "http://db/x"}`, `stig.json: store: must read mysql://USER@HOST:PORT/DATABASE; found "http://db/x"`},
		{`{}`, "stig.json: store: must read"},
		{`[]`, "stig.json:1: must be an object of JSON"},
		{`{"store": "mysql://db/x"`, "stig.json:1: must be an object of JSON"},
		{`{"store": "mysql://db/x", "store": "mysql://db/y"}`, "stig.json:1: store: is there twice"},
		{`{"store": "mysql://db/x", "sync_file": 1}`, "stig.json:1: sync_file: must be true or false"},
		{`{"store": 5}`, "stig.json:1: store: must be a text"},
		{`{"store": {"a": 1}}`, "stig.json:1: store: must be a text"},
		{`{"store": "mysql://db/x", "tls": null}`, "stig.json:1: tls: must be a text"},
		{"{\"store\": \"mysql://db/x\"}\n{}", "stig.json:2: must end after the object"},
		{`{"store": "mysql://db/x",}`, "stig.json:1: "},
		{"", "stig.json:1: must be an object of JSON"},
		{`{"store": "mysql://mara:hun%zzter2@db/x"}`, "stig.json: store: must not contain a password"},
		{`{"store": "mysql://db/x?tls=off"}`, `stig.json: store: takes no parameters`},
		{`{"store": "mysql://db/x", "tls": "no"}`, `stig.json: tls: must be "verify" or "off"; found "no"`},
	} {
		root := tree(t, ".git/", ".beads/stig.json: "+c.settings, ".beads/issues.jsonl")
		_, err := Discover(Where{Dir: root})
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s\n got %v\nwant %s", c.settings, err, c.err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: repeats the password", err)
		}
	}
	_, err := Discover(Where{Dir: t.TempDir(), File: "postgres://db/x"})
	if err == nil || !strings.Contains(err.Error(), "postgres://db/x: must read mysql://") {
		t.Errorf("got %v", err)
	}
	_, err = Discover(Where{Dir: t.TempDir(), File: "mysql://mara:hunter2@db/x"})
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "--store: must not contain a password") {
		t.Errorf("got %v", err)
	}
}

// TestDiscoverForeignAddress refuses a server's address as other programs write it, without its
// password, and takes a file whose name contains such characters for a file.
func TestDiscoverForeignAddress(t *testing.T) {
	for store, want := range map[string]string{
		"mara:hunter2@tcp(db.example:3306)/harbor":    "--store: must not contain a password",
		"mara:hun/ter2@tcp(db.example)/harbor?tls=on": "--store: must not contain a password",
		"mara:hunter2@db.example/harbor":              "--store: must not contain a password",
		"mysql:mara:hunter2@db.example/harbor":        "--store: must not contain a password",
		"mara@tcp(db.example)/harbor":                 "mara@tcp(db.example)/harbor: must read mysql://USER@HOST:PORT/DATABASE",
	} {
		_, err := Discover(Where{Dir: t.TempDir(), File: store})
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hun") {
			t.Errorf("%s: got %v", store, err)
		}
	}
	root := tree(t, "12:30/mara@db.jsonl", "mara@db.jsonl")
	for _, file := range []string{"./12:30/mara@db.jsonl", "mara@db.jsonl"} {
		if p, err := Discover(Where{Dir: root, File: file}); err != nil || p.URL != "" {
			t.Errorf("%s: got %+v, %v", file, p, err)
		}
	}
}

// TestSettingsText round-trips through ReadSettings.
func TestSettingsText(t *testing.T) {
	want := Settings{Store: "mysql://db.example:3306/harbor", SyncFile: true, TLS: "off"}
	root := tree(t, "stig.json: "+want.Text())
	got, err := ReadSettings(filepath.Join(root, "stig.json"))
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}
