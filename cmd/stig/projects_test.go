package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/visible"
)

// manyProjects is a directory with the repository home and, in services, others.
type manyProjects struct {
	*twoProjects
}

// newManyProjects creates home and services svc-1 to svc-N, each with a question, the damaged
// store bad and the configured path gone, which does not exist.
func newManyProjects(t *testing.T, services int) manyProjects {
	p := manyProjects{&twoProjects{t: t, dir: t.TempDir()}}
	p.env = append(os.Environ(), append([]string{"HOME=" + p.dir, "XDG_STATE_HOME=" + filepath.Join(p.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(p.dir, "config"),
		"GIT_CONFIG_NOSYSTEM=1", "STIG_ACTOR=ann", "STIG_NOW=2026-11-20T09:00:00Z", "BEADS_DIR="}, forGit...)...)
	p.write(".gitconfig", "[user]\n\tname = ann\n\temail = ann@example.org\n")
	p.write("home/.stig.cue", "projects: {\n\tservices: path: \"../services/*\"\n\tgone: path: \"../gone\"\n}\n")
	p.question("home", "home", 10)
	for i := range services {
		name := fmt.Sprintf("svc-%d", i+1)
		p.question("services/"+name, name, 1+i%19)
	}
	p.write("services/bad/.beads/issues.jsonl", "{\"id\":\"bad-1\",\"title\":\"x\"}\n{\"id\":\"bad-2\",\n")
	p.write("services/notes/README", "no project")
	p.run("git init -q services/svc-1; git -C services/svc-1 add .; git -C services/svc-1 commit -qm plan")
	return p
}

// question writes a store with a question asked on a day of November, and a mention of ann.
func (p manyProjects) question(dir, name string, day int) {
	const notes = "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| escalation | pending | 2026-11-%02d |\n<!-- /stigmergic-signals -->\n\n" +
		"<!-- escalation-context -->\n## Pending (2026-11-%02d) by mara\nWhich port does it use in production, where all the others already have one?\n<!-- /escalation-context -->"
	text, err := json.Marshal(map[string]any{"id": name + "-1", "title": "Choose a port", "status": "open", "updated_at": "2026-11-20T08:00:00Z", "notes": fmt.Sprintf(notes, day, day),
		"comments": []any{map[string]any{"id": 1, "issue_id": name + "-1", "author": "mara", "text": "@ann look at this", "created_at": "2026-11-20T08:00:00Z"}}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(dir+"/.beads/issues.jsonl", string(text)+"\n")
}

// stig runs a command in home and returns its output, standard output alone, and exit code.
func (p manyProjects) stig(args ...string) (all, out string, code int) {
	var stdout, stderr bytes.Buffer
	code = runInside(filepath.Join(p.dir, "home"), p.env, &stdout, &stderr, args...)
	return stdout.String() + stderr.String(), stdout.String(), code
}

// files returns the hashes of all files of the services.
func (p manyProjects) files() map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(filepath.Join(p.dir, "services"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			all[path] = ""
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(text))
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// TestManyProjects checks that one screen has what waits in 20 projects, and which two of them
// cannot be read, and that reading writes nothing there.
func TestManyProjects(t *testing.T) {
	p := newManyProjects(t, 17)
	before := p.files()
	_, screen, code := p.stig("morning", "--all")
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	if code != 0 || len(lines) > 23 {
		t.Errorf("exit code %d, %d lines:\n%s", code, len(lines), screen)
	}
	for _, line := range lines {
		if visible.Columns(line) > 80 {
			t.Errorf("%d columns: %s", visible.Columns(line), line)
		}
	}
	if want := "18 decisions wait for you in 18 of 20 projects; 0 done in 0 runs; 2 unreadable"; lines[0] != want {
		t.Errorf("got %q, want %q", lines[0], want)
	}
	if want := "the first: stig -C ../services/svc-1 resolve svc-1-1 -m ANSWER"; lines[len(lines)-1] != want {
		t.Errorf("got %q, want %q", lines[len(lines)-1], want)
	}
	full, _, _ := p.stig("morning", "--all", "--full")
	inbox, _, _ := p.stig("inbox", "--all")
	questions, _, _ := p.stig("escalations", "--all")
	for name, text := range map[string]string{"morning": screen, "morning --full": full, "inbox": inbox, "escalations": questions} {
		issues := []string{"home-1"}
		for i := range 17 {
			issues = append(issues, fmt.Sprintf("svc-%d-1", i+1))
		}
		for _, issue := range issues {
			if !strings.Contains(text, strings.TrimSuffix(issue, "-1")+"  ") || !strings.Contains(text, issue+" ") {
				t.Errorf("%s: no %s:\n%s", name, issue, text)
			}
		}
		for _, unread := range []string{"bad (../services/bad): .beads/issues.jsonl:2: ", "gone (../gone): there is no directory .beads"} {
			if !strings.Contains(text, unread) {
				t.Errorf("%s: does not say %q:\n%s", name, unread, text)
			}
		}
	}
	for _, args := range [][]string{{"morning", "--all"}, {"inbox", "--all"}, {"resolve", "--list", "--all"}} {
		_, out, code := p.stig(append(args, "--json")...)
		var got struct{ Unreadable []struct{ Project string } }
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || len(got.Unreadable) != 2 || !strings.Contains(out, `"project":"svc-17"`) {
			t.Errorf("%v: %v, exit code %d, unreadable %v: %s", args, err, code, got.Unreadable, out)
		}
	}
	if !maps.Equal(before, p.files()) {
		t.Error("reading another project wrote there")
	}
}

// TestManyProjectsCut checks that a screen that is too small counts what it leaves out.
func TestManyProjectsCut(t *testing.T) {
	p := newManyProjects(t, 40)
	_, screen, _ := p.stig("morning", "--all")
	if lines := strings.Count(screen, "\n"); lines > 23 || !strings.Contains(screen, "\nand 24 more that wait: stig morning --all --full\n") {
		t.Errorf("%d lines:\n%s", lines, screen)
	}
	if strings.Index(screen, "svc-1-1 ") > strings.Index(screen, "svc-2-1 ") {
		t.Errorf("not the oldest first:\n%s", screen)
	}
	p.run("for i in $(seq 1 12); do mkdir -p services/x$i/.beads; echo '<<<<<<<' >services/x$i/.beads/issues.jsonl; done")
	_, screen, _ = p.stig("morning", "--all")
	if lines := strings.Count(screen, "\n"); lines > 23 || !strings.Contains(screen, "\nand 7 more unreadable: stig morning --all --full\n") {
		t.Errorf("%d lines:\n%s", lines, screen)
	}
}

// TestManyProjectsHere checks that this repository must be readable, and that its options stay.
func TestManyProjectsHere(t *testing.T) {
	p := newManyProjects(t, 1)
	p.write("home/.beads/issues.jsonl", "")
	if err := os.Remove(filepath.Join(p.dir, "home/.beads/issues.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"morning", "--all"}, {"inbox", "--all"}, {"resolve", "--list", "--all"}} {
		if said, _, code := p.stig(args...); code != 3 {
			t.Errorf("%v: exit code %d:\n%s", args, code, said)
		}
	}
}
