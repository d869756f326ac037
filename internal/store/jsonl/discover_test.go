package jsonl

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/fault"
)

// tree creates files below a new directory, each "path" or "path: content"; a path that ends in
// "/" is a directory.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		path, content, _ := strings.Cut(file, ": ")
		if strings.HasSuffix(path, ".git/") { // without a HEAD it is not a repository
			path += "HEAD"
		}
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "/") {
			err = os.MkdirAll(full, 0o755)
		} else {
			err = os.WriteFile(full, []byte(strings.ReplaceAll(content, "ROOT", root)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDiscover(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		where Where  // below the root
		path  string // found, below the root
		err   string // or the message
	}{
		{"here", []string{".git/", ".beads/issues.jsonl"}, Where{}, ".beads/issues.jsonl", ""},
		{"from below", []string{".git/", ".beads/issues.jsonl", "a/b/"}, Where{Dir: "a/b"}, ".beads/issues.jsonl", ""},
		{"from inside", []string{".git/", ".beads/issues.jsonl"}, Where{Dir: ".beads"}, ".beads/issues.jsonl", ""},
		{"the nearest", []string{".git/", ".beads/issues.jsonl", "a/.beads/issues.jsonl", "a/b/"}, Where{Dir: "a/b"}, "a/.beads/issues.jsonl", ""},
		{"past one without issues", []string{".git/", ".beads/issues.jsonl", "a/.beads/hooks/"}, Where{Dir: "a"}, ".beads/issues.jsonl", ""},
		{"past what a sandbox leaves", []string{".git/", ".beads/issues.jsonl", "a/.git/stig/"}, Where{Dir: "a"}, ".beads/issues.jsonl", ""},
		{"not past the repository", []string{".beads/issues.jsonl", "r/.git/", "r/a/"}, Where{Dir: "r/a"}, "",
			"ROOT/r/a: no .beads store found here or above, up to ROOT/r"},
		{"nor past a submodule", []string{".beads/issues.jsonl", "m/.git: gitdir: ../.git/modules/m", ".git/modules/m/HEAD"}, Where{Dir: "m"}, "",
			"ROOT/m: no .beads store found"},
		{"not exported yet", []string{".git/", `.beads/metadata.json: {"backend": "dolt", "dolt_mode": "embedded"}`, ".beads/embeddeddolt/"}, Where{File: ".beads/issues.jsonl"}, ".beads/issues.jsonl", ""},
		{"another name", []string{".git/", `.beads/metadata.json: {"backend": "dolt", "dolt_mode": "embedded"}`, ".beads/embeddeddolt/"}, Where{File: ".beads/x.jsonl"}, "",
			"ROOT/.beads/x.jsonl: cannot be read: no such file or directory"},
		{"issues before beads", []string{".git/", ".beads/beads.jsonl", ".beads/issues.jsonl"}, Where{}, ".beads/issues.jsonl", ""},
		{"beads before others", []string{".git/", ".beads/a.jsonl", ".beads/beads.jsonl"}, Where{}, ".beads/beads.jsonl", ""},
		{"the one other", []string{".git/", ".beads/mine.jsonl", ".beads/interactions.jsonl", ".beads/beads.base.jsonl", ".beads/sync_base.jsonl",
			".beads/deletions.jsonl", ".beads/routes.jsonl", ".beads/events.jsonl", ".beads/.hidden.jsonl"}, Where{}, ".beads/mine.jsonl", ""},
		{"several others", []string{".git/", ".beads/b.jsonl", ".beads/a.jsonl"}, Where{}, "",
			"ROOT/.beads: contains several .jsonl files: a.jsonl, b.jsonl"},
		{"side files alone", []string{".git/", ".beads/interactions.jsonl"}, Where{}, "", "no .beads store found"},
		{"redirect from the project", []string{".git/", ".beads/redirect: # moved\n\n x/.beads \n", "x/.beads/issues.jsonl", ".beads/issues.jsonl"},
			Where{}, "x/.beads/issues.jsonl", ""},
		{"redirect from .beads", []string{".git/", ".beads/redirect: ../../x/.beads", "x/.beads/issues.jsonl", "p/.git/", "p/.beads/redirect: ../../x/.beads"},
			Where{Dir: "p"}, "x/.beads/issues.jsonl", ""},
		{"redirect from the project first", []string{".git/", ".beads/redirect: x", ".beads/x/issues.jsonl", "x/issues.jsonl"}, Where{}, "x/issues.jsonl", ""},
		{"redirect, absolute", []string{".git/", ".beads/redirect: ROOT/x", "x/beads.jsonl"}, Where{}, "x/beads.jsonl", ""},
		{"redirect, once", []string{".git/", ".beads/redirect: x/.beads", "x/.beads/redirect: y", "y/issues.jsonl"}, Where{}, "",
			`ROOT/.beads/redirect: leads to "ROOT/x/.beads", which contains no .jsonl file`},
		{"redirect to nowhere", []string{".git/", ".beads/redirect: nowhere", ".beads/issues.jsonl"}, Where{}, "",
			`ROOT/.beads/redirect: leads to "nowhere", which is not a directory`},
		{"redirect, empty", []string{".git/", ".beads/redirect: \n"}, Where{}, "", "ROOT/.beads/redirect: names no directory"},
		{"file", []string{".git/", "x/data.jsonl"}, Where{File: "x/data.jsonl"}, "x/data.jsonl", ""},
		{"file from Dir", []string{".git/", "x/data.jsonl"}, Where{Dir: "x", File: "data.jsonl"}, "x/data.jsonl", ""},
		{"file before BEADS_DIR", []string{"x/data.jsonl", "b/issues.jsonl"}, Where{File: "x/data.jsonl", BeadsDir: "b"}, "x/data.jsonl", ""},
		{"file is a directory", []string{"x/"}, Where{File: "x"}, "", "ROOT/x: is a directory"},
		{"file is missing", nil, Where{File: "x.jsonl"}, "", "ROOT/x.jsonl: cannot be read: no such file or directory"},
		{"BEADS_DIR", []string{".git/", ".beads/issues.jsonl", "b/issues.jsonl"}, Where{BeadsDir: "b"}, "b/issues.jsonl", ""},
		{"BEADS_DIR with redirect", []string{"b/redirect: c", "c/issues.jsonl"}, Where{BeadsDir: "b"}, "c/issues.jsonl", ""},
		{"BEADS_DIR without issues", []string{".git/", ".beads/issues.jsonl", "b/"}, Where{BeadsDir: "b"}, "", "ROOT/b: contains no .jsonl file"},
		{"BEADS_DIR is missing", []string{".git/", ".beads/issues.jsonl"}, Where{BeadsDir: "b"}, "", "ROOT/b: cannot be read: no such file or directory"},
		{"no such Dir", nil, Where{Dir: "x"}, "", "ROOT/x: cannot be read: no such file or directory"},
		{"whose store cannot be told", []string{".git/", ".beads/issues.jsonl", ".beads/metadata.json: <<<<<<< ours"}, Where{}, "",
			`ROOT/.beads/metadata.json: does not say where the issues are: invalid character '<' looking for beginning of value`},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files...)
			w := c.where
			w.Dir = filepath.Join(root, w.Dir)
			s, err := Discover(w)
			if c.err != "" {
				e, ok := fault.As(err, fault.Store)
				if !ok || !strings.Contains(err.Error(), strings.ReplaceAll(c.err, "ROOT", root)) || e.Hint == "" {
					t.Errorf("got %v, %v; want %s", s, err, c.err)
				}
				return
			}
			want := filepath.Join(root, c.path)
			if err != nil || s.Path != want || s.Dir != filepath.Dir(want) {
				t.Errorf("got %v, %v; want %s", s, err, want)
			}
		})
	}
}

func TestDiscoverMode(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		mode  beads.Mode
		br    bool
	}{
		{"issues alone", nil, beads.Plain, false},
		{"database", []string{".beads/beads.db", `.beads/metadata.json: {"database":"beads.db"}`}, beads.BD, false},
		{"database of another name", []string{".beads/old.db"}, beads.BD, false},
		{"no-db", []string{".beads/beads.db", ".beads/config.yaml: issue-prefix: h\nno-db: true # for now\n"}, beads.Plain, false},
		{"no-db quoted", []string{".beads/beads.db", ".beads/config.yaml: \"no-db\": \"true\"\r\n"}, beads.Plain, false},
		{"no-db off", []string{".beads/beads.db", ".beads/config.yaml: no-db: false\n"}, beads.BD, false},
		{"no-db as a comment", []string{".beads/beads.db", ".beads/config.yaml: # no-db: true\nsync:\n  no-db: true\n"}, beads.BD, false},
		{"Dolt by metadata", []string{`.beads/metadata.json: {"database":"dolt", "backend":"Dolt"}` + "\n"}, beads.Export, false},
		{"Dolt on a server", []string{`.beads/metadata.json: {"backend":"dolt","dolt_mode":"server"}` + "\n"}, beads.BD, false},
		{"Dolt by directory", []string{".beads/dolt/x", ".beads/beads.db"}, beads.BD, false},
		{"Dolt, embedded", []string{".beads/embeddeddolt/x"}, beads.BD, false},
		{"a file named dolt", []string{".beads/dolt"}, beads.Plain, false},
		{"beads_rust by lock", []string{".beads/beads.db", ".beads/.write.lock"}, beads.Plain, true},
		{"beads_rust by history", []string{".beads/beads.db", ".beads/.br_history/x"}, beads.Plain, true},
		{"beads_rust by its lines", []string{".beads/beads.db", `.beads/issues.jsonl: {"id":"h-1","title":"x","compaction_level":0}`}, beads.Plain, true},
		{"bd's lines", []string{".beads/beads.db", `.beads/issues.jsonl: {"id":"h-1","title":"\"compaction_level\":0","compaction_level":1}`}, beads.BD, false},
		{"lines from before bd", []string{".beads/beads.db", ".beads/.local_version", `.beads/issues.jsonl: {"id":"h-1","title":"x","compaction_level":0}`}, beads.BD, false},
		{"both", []string{".beads/beads.db", ".beads/.br_history/x", ".beads/.local_version"}, beads.BD, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, append([]string{".git/", ".beads/issues.jsonl"}, c.files...)...)
			for _, w := range []Where{{Dir: root}, {Dir: root, File: ".beads/issues.jsonl"}, {Dir: root, BeadsDir: ".beads"}} {
				s, err := Discover(w)
				if err != nil || s.Mode != c.mode || s.BR != c.br {
					t.Errorf("%+v: mode %v, br %v, %v", w, s.Mode, s.BR, err)
				}
			}
		})
	}
	// Beside a file elsewhere, such names mean nothing.
	root := tree(t, "dolt/x", "app.db", "issues.jsonl")
	if s, err := Discover(Where{Dir: root, File: "issues.jsonl"}); err != nil || s.Mode != beads.Plain {
		t.Errorf("mode %v, %v", s.Mode, err)
	}
}

func TestDiscoverHints(t *testing.T) {
	root := tree(t, ".git/", ".beads/metadata.json: {\"backend\":\"dolt\"}\n", "a/")
	_, err := Discover(Where{Dir: filepath.Join(root, "a")})
	e, ok := fault.As(err, fault.Store)
	if !ok || !strings.Contains(e.Hint, filepath.Join(root, ".beads")+" contains no .jsonl file: write it with bd export -o ") {
		t.Errorf("%v, hint %q", err, e.Hint)
	}
}

// A bd database is a store even before bd has exported anything. An explicitly named file
// beside the export is that file.
func TestDiscoverDolt(t *testing.T) {
	root := tree(t, ".git/", ".beads/embeddeddolt/x", "a/")
	p, err := Discover(Where{Dir: filepath.Join(root, "a")})
	if want := filepath.Join(root, ".beads", "issues.jsonl"); err != nil || p.Mode != beads.BD || p.Path != want {
		t.Errorf("%+v, %v; want %s", p, err, want)
	}
	root = tree(t, ".git/", ".beads/embeddeddolt/x", ".beads/issues.jsonl", ".beads/copy.jsonl")
	for name, mode := range map[string]beads.Mode{"issues.jsonl": beads.BD, "copy.jsonl": beads.Export} {
		if p, err := Discover(Where{Dir: root, File: filepath.Join(".beads", name)}); err != nil || p.Mode != mode {
			t.Errorf("%s: mode %d, %v; want %d", name, p.Mode, err, mode)
		}
	}
}

// From a linked worktree its own store is found first, then that of the main checkout, whether
// the worktree is inside or beside it.
func TestDiscoverWorktree(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("these tests need git: ", err)
	}
	root := tree(t, "main/.beads/issues.jsonl", "main/kept")
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", filepath.Join(root, "main"), "-c", "user.name=ann", "-c", "user.email=ann@example.org"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", "kept")
	git("commit", "-q", "-m", "keep")
	for _, tree := range []string{"../beside", "inside"} {
		git("worktree", "add", "-q", tree)
		dir := filepath.Join(root, "main", tree)
		if err := os.Mkdir(filepath.Join(dir, "deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		find := func(want string) {
			t.Helper()
			if s, err := Discover(Where{Dir: filepath.Join(dir, "deep")}); err != nil || s.Path != want {
				t.Errorf("from %s: %v %v, want %s", tree, s, err, want)
			}
		}
		find(filepath.Join(root, "main/.beads/issues.jsonl"))
		own := filepath.Join(dir, ".beads/issues.jsonl")
		if err := fault.Join(os.Mkdir(filepath.Dir(own), 0o755), os.WriteFile(own, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		find(own)
	}
}
