package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"stig/internal/gate"
)

// TestUpgrade opens what each earlier program left, as written by .ci/fixtures: a store, its
// configuration, journal, verdicts, sessions, workers and swarms. This version reads all of it,
// continues, and loses nothing.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	fixtures, err := filepath.Glob(fromHere("testdata", "upgrade", "*.txtar"))
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for i, fixture := range fixtures {
		if i < len(fixtures)-1 && i%8 != 0 { // the first and the last stay
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(fixture), ".txtar"), func(t *testing.T) {
			u := unpackUpgrade(t, fixture)
			u.reads()
			u.remembers()
			u.writes()
		})
	}
}

// upgraded is a repository in which an earlier version worked.
type upgraded struct {
	t    *testing.T
	dir  string // the repository
	env  []string
	left string // the store as it was left
	had  func(file string) bool
}

func unpackUpgrade(t *testing.T, fixture string) *upgraded {
	t.Helper()
	archive, err := txtar.ParseFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u := &upgraded{t: t, dir: filepath.Join(top, "pier")}
	u.had = func(part string) bool {
		return slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return strings.Contains(f.Name, part) })
	}
	for _, f := range archive.Files {
		name, data := moved(top, f)
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if f.Name == "pier/.beads/issues.jsonl" {
			u.left = string(data)
		}
	}
	u.env = append(os.Environ(), "HOME="+filepath.Join(top, "home"), "XDG_STATE_HOME="+filepath.Join(top, "state"),
		"XDG_CONFIG_HOME="+filepath.Join(top, "config"), "XDG_CACHE_HOME="+filepath.Join(top, "cache"), "BEADS_DIR=",
		"STIG_ACTOR=mara", "STIG_NOW=2026-11-20T10:00:00Z", "STIG_TRUST=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	p := &pipeline{t: t, dir: u.dir, env: append(slices.Clone(u.env), "GIT_AUTHOR_NAME=Mara", "GIT_AUTHOR_EMAIL=mara@pier.example",
		"GIT_COMMITTER_NAME=Mara", "GIT_COMMITTER_EMAIL=mara@pier.example")}
	p.must(u.dir, "git init -q -b main && git add . && git commit -q -m 'Build the pier'")
	if err := os.Rename(filepath.Join(top, "git-stig"), filepath.Join(u.dir, ".git", "stig")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return u
}

// sealed matches a line that starts with the checksum of its JSON.
var sealed = regexp.MustCompile(`(?m)^[0-9a-f]{8} (\{.*\})$`)

// moved returns a file of a fixture as the earlier version would have left it in top: paths are
// in texts, checksums and file names.
func moved(top string, f txtar.File) (name string, data []byte) {
	data = bytes.ReplaceAll(f.Data, []byte("@TOP@"), []byte(top))
	data = sealed.ReplaceAllFunc(data, func(line []byte) []byte {
		return fmt.Appendf(nil, "%08x %s", crc32.Checksum(line[9:], crc32.MakeTable(crc32.Castagnoli)), line[9:])
	})
	var kept struct {
		Format, Checksum string
		Verdict          json.RawMessage
	}
	if json.Unmarshal(data, &kept) == nil && strings.HasPrefix(kept.Format, "stig verdict") {
		data = bytes.Replace(data, []byte(kept.Checksum), []byte(gate.Hash(kept.Format+"\n"+string(kept.Verdict))), 1)
	}
	root := filepath.Join(top, "pier")
	switch dir, file := filepath.Split(f.Name); {
	case strings.HasPrefix(file, "seen-"):
		sum := sha256.Sum256([]byte(root + "\x00.beads/issues.jsonl"))
		return dir + "seen-" + hex.EncodeToString(sum[:8]) + ".json", data
	case strings.HasSuffix(dir, "/trust/"):
		return dir + "pier-" + gate.Hash(root)[:16] + ".json", data
	}
	return f.Name, data
}

// does runs a command that must succeed, and returns its output.
func (u *upgraded) does(args ...string) string {
	u.t.Helper()
	var out, said strings.Builder
	if code := runInside(u.dir, u.env, &out, &said, args...); code != 0 {
		u.t.Errorf("stig %s: exit %d\n%s%s", strings.Join(args, " "), code, out.String(), said.String())
	}
	return out.String()
}

// shows checks the output of a command.
func (u *upgraded) shows(want string, args ...string) {
	u.t.Helper()
	if out := u.does(args...); !strings.Contains(out, want) {
		u.t.Errorf("stig %s: no %q in\n%s", strings.Join(args, " "), want, out)
	}
}

func (u *upgraded) store() string {
	return readFile(u.t, filepath.Join(u.dir, ".beads", "issues.jsonl"))
}

// reads reads the store, and changes no byte of it.
func (u *upgraded) reads() {
	u.shows("pier-5", "list")
	u.shows("the rope is wet", "orient", "pier-4")
	u.shows("Which colour has the rail?", "resolve", "--list")
	u.does("orient")
	u.does("check")
	u.does("doctor")
	if u.store() != u.left {
		u.t.Errorf("reading changed the store:\n%s", u.store())
	}
}

// remembers checks what is kept beside the store.
func (u *upgraded) remembers() {
	if u.had("git-stig/journal-") {
		u.shows("checkpoint", "log", "pier-4")
		u.shows("nothing", "recover")
	}
	if u.had("verdicts/") {
		var found int
		err := filepath.WalkDir(filepath.Join(u.dir, ".git", "stig", "verdicts"), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Name() == "pier-2.json" {
				if v, ok := (gate.Verdicts{Dir: filepath.Dir(path)}).Last("pier-2"); ok && v.Passed() {
					found++
				}
			}
			return err
		})
		if err != nil || found != 1 {
			u.t.Errorf("the verdict on pier-2 is not read: %v", err)
		}
	}
	if u.had("git-stig/leases.json") {
		u.shows("mara", "actor", "list")
		u.shows("pier-4", "actor", "show", "mara")
	}
	if u.had("git-stig/runs-") {
		u.shows("pier-", "actor", "runs", "cy")
	}
	if u.had("pier/.stig/actors/tide.md") {
		u.shows("lunch", "worker", "status", "tide")
	}
	if strings.Contains(u.left, "swarm/") {
		u.does("swarm", "status", "pier-1")
	}
}

// writes continues the work, and compares every issue with how it was left.
func (u *upgraded) writes() {
	u.does("verify", "pier-2")
	u.does("resolve", "pier-3", "-m", "red", "--actor", "tove")
	u.does("edit", "pier-5", "--title", "Count the gulls and terns")
	u.does("signals", "init", "pier-5")
	u.does("checkpoint", "pier-4", "--surprise", "0.6", "--learned", "the hook is loose")
	u.does("close", "pier-4", "--reason", "the lamp hangs on its hook")
	u.shows("confidence", "show", "pier-5", "--notes") // as configured
	now := strings.Split(u.store(), "\n")
	for line := range strings.Lines(u.left) {
		id := regexp.MustCompile(`"id":"(.*?)"`).FindStringSubmatch(line)[1]
		at := slices.IndexFunc(now, func(l string) bool { return strings.HasPrefix(l, `{"id":"`+id+`"`) })
		switch {
		case at < 0:
			u.t.Errorf("%s is lost", id)
		case id != "pier-3" && id != "pier-4" && id != "pier-5" && now[at]+"\n" != line:
			u.t.Errorf("%s was changed:\n%s%s", id, line, now[at])
		}
	}
	for _, kept := range []string{`"custom_field":{"kept":[1.50,"as it is"]}`, `written by hand\n`, "Which colour has the rail?"} {
		if !strings.Contains(u.store(), kept) {
			u.t.Errorf("lost: %s", kept)
		}
	}
	u.shows("pier-4", "log")
}
