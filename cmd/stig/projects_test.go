package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
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
	var said bytes.Buffer // ann is known in svc-1, whose inbox may then record since when
	if runInside(filepath.Join(p.dir, "services", "svc-1"), append(p.env, "STIG_NOW=2026-11-19T09:00:00Z"), &said, &said, "comment", "svc-1-1", "-m", "80 is taken") != 0 {
		t.Fatal(said.String())
	}
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

// TestManyProjectsHere checks that a glob without a match is named, and that this repository must
// be readable.
func TestManyProjectsHere(t *testing.T) {
	p := newManyProjects(t, 1)
	p.write("home/.stig.cue", `projects: none: path: "../none/*"`)
	if said, _, code := p.stig("morning", "--all"); code != 0 || !strings.Contains(said, "unreadable  none (../none/*): there is no directory with .beads that matches\n") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
	if err := os.Remove(filepath.Join(p.dir, "home/.beads/issues.jsonl")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"morning", "--all"}, {"inbox", "--all"}, {"resolve", "--list", "--all"}} {
		if said, _, code := p.stig(args...); code != 3 {
			t.Errorf("%v: exit code %d:\n%s", args, code, said)
		}
	}
}

// newWork creates the repositories home, api and web with issues, and raw, which has conflict
// markers. Each run of agent.sh writes its issue's id.
func newWork(t *testing.T) manyProjects {
	p := manyProjects{&twoProjects{t: t, dir: t.TempDir()}}
	p.env = append(os.Environ(), append([]string{"HOME=" + p.dir, "XDG_STATE_HOME=" + filepath.Join(p.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(p.dir, "config"),
		"GIT_CONFIG_NOSYSTEM=1", "STIG_ACTOR=bo", "STIG_TRUST=1", "BEADS_DIR="}, forGit...)...)
	p.write(".gitconfig", "[user]\n\tname = ann\n\temail = ann@example.org\n")
	p.write("home/.stig.cue", `projects: {api: path: "../api", web: path: "../web", raw: path: "../raw", gone: path: "../gone"}`)
	p.write("web/.stig.cue", `commits: subject: "web {id}"`)
	p.write("home/agent.sh", "#!/bin/sh\necho \"$STIG_ISSUE\" >>\"$HOME/ran\"\necho done >\"$STIG_ISSUE\"\n")
	const issue = `{"id":%q,"title":"Make it","status":"open","priority":%d,"acceptance_criteria":"~~~sh\ntest -s %[1]s\n~~~"}` + "\n"
	for project, issues := range map[string]map[string]int{"home": {"home-1": 2, "home-2": 0}, "api": {"api-1": 1, "api-2": 4}, "web": {"web-1": 3}, "raw": {"raw-1": 0}} {
		text := ""
		for id, priority := range issues {
			text += fmt.Sprintf(issue, id, priority)
		}
		p.write(project+"/.beads/issues.jsonl", text)
		p.run(fmt.Sprintf("chmod +x home/agent.sh; git init -q -b main %[1]s; git -C %[1]s add .; git -C %[1]s commit -qm plan", project))
	}
	p.run("echo '<<<<<<< ours' >>raw/.beads/issues.jsonl")
	return p
}

// ran returns the issues that runs worked on, in order.
func (p manyProjects) ran() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "ran"))
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestWorkAll checks that one loop takes the best ready issue of all projects, each in its own
// clone and configuration, and names those that it cannot serve.
func TestWorkAll(t *testing.T) {
	p := newWork(t)
	said, _, code := p.stig("work", "--all", "--until-empty", "--", "./agent.sh")
	if got, want := p.ran(), "home-2 api-1 home-1 web-1 api-2"; got != want || code != 0 {
		t.Errorf("ran %q, want %q; exit code %d:\n%s", got, want, code, said)
	}
	for _, part := range []string{" gone: not served: there is no directory", " raw: not served: ", " api bo api-1 Make it: closed", "5 closed", "next: stig morning --all"} {
		if !strings.Contains(said, part) {
			t.Errorf("does not say %q:\n%s", part, said)
		}
	}
	p.run(`test "$(git -C web log -1 --format=%s stig/work)" = "web web-1"; grep -q '"status":"closed"' web/.beads/issues.jsonl; git -C raw diff --exit-code main -- agent.sh; ! git -C home rev-parse -q --verify stig/web-1`)
}

// TestWorkAllBounds checks that limits count the runs in all projects.
func TestWorkAllBounds(t *testing.T) {
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"once", "home-2", []string{"--once"}},
		{"max runs", "home-2 api-1", []string{"--max-runs", "2"}},
		{"filter", "home-2", []string{"--until-empty", "priority=0"}},
		{"dry run", "", []string{"--dry-run"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newWork(t)
			said, _, _ := p.stig(append(append([]string{"work", "--all"}, test.args...), "--", "./agent.sh")...)
			if got := p.ran(); got != test.want {
				t.Errorf("ran %q, want %q:\n%s", got, test.want, said)
			}
			if test.name == "dry run" && !strings.Contains(said, "would take home-2: Make it (ready, in project home)") {
				t.Errorf("got\n%s", said)
			}
		})
	}
	p := newWork(t)
	if said, _, code := p.stig("work", "--all", "api-1", "--", "./agent.sh"); code != 2 {
		t.Errorf("an issue is accepted:\n%s", said)
	}
}

// TestTraceTo checks that a trace to PROJECT:NAME is written to that project alone, on the issue
// NAME or for the addressee NAME, through its own store.
func TestTraceTo(t *testing.T) {
	p := newManyProjects(t, 2)
	said, _, code := p.stig("trace", "add", "home-1", "finding", "-m", "the port is taken", "--to", "svc-1:svc-1-1", "--actor", "bo")
	if want := ": finding on svc-1-1 of project svc-1\n"; code != 0 || !strings.Contains(said, want) {
		t.Errorf("exit code %d, no %q:\n%s", code, want, said)
	}
	p.run(`! grep -q 'port is taken' home/.beads/issues.jsonl; grep -q 'bo.*the port is taken.*From home-1 of project home' services/svc-1/.beads/issues.jsonl; grep -q '"actor":"bo"' services/svc-1/.git/stig/journal*`)
	if said, _, code := p.stig("trace", "add", "svc-2-1", "query", "-m", "which port?", "--to", "svc-2:mara"); code != 0 || !strings.Contains(said, ": query on svc-2-1 of project svc-2\n") {
		t.Errorf("exit code %d:\n%s", code, said)
	}
	p.run(`cd services/svc-2; grep -q 'to: mara' .beads/issues.jsonl`)
	before := p.files()
	for _, test := range []struct {
		want string
		args []string
		code int
	}{
		{"project svc-2 (../services/svc-2): no issue mara; a trace for an actor of that name is left on an issue there, and home-1 is none", []string{"home-1", "query", "-m", "x", "--to", "svc-2:mara"}, 4},
		{"no-1: no such issue", []string{"no-1", "finding", "-m", "x", "--to", "svc-2:svc-2-1"}, 4},
		{"project gone (../gone): there is no directory .beads", []string{"home-1", "finding", "-m", "x", "--to", "gone:gone-1"}, 3},
		{"project bad (../services/bad): .beads/issues.jsonl:2: ", []string{"bad-1", "finding", "-m", "x", "--to", "bad:bad-1"}, 3},
		{"in another project; found 2 addressees", []string{"home-1", "finding", "-m", "x", "--to", "svc-2:svc-2-1,mara"}, 2},
		{"must be PROJECT:NAME", []string{"home-1", "finding", "-m", "x", "--to", "svc-2:"}, 2},
	} {
		if said, _, code := p.stig(append([]string{"trace", "add"}, test.args...)...); code != test.code || !strings.Contains(said, test.want) {
			t.Errorf("%v: exit code %d, want %d, %q:\n%s", test.args, code, test.code, test.want, said)
		}
	}
	for path, text := range p.files() {
		if before[path] != text && !strings.HasSuffix(path, ".lock") {
			t.Errorf("a refused trace changed %s", path)
		}
	}
}

// TestWorkAllKilled checks that a loop of several projects that is killed during a run is resumed
// by the next one, which does each issue once.
func TestWorkAllKilled(t *testing.T) {
	p := newWork(t)
	p.write("killer.sh", `[ "$STIG_ISSUE" != api-1 ] || [ -e "$HOME/killed" ] || { touch "$HOME/killed"; kill -9 $PPID; exec sleep 60; }
		echo "$STIG_ISSUE" >>"$HOME/ran"; echo done >"$STIG_ISSUE"`)
	work := func() ([]byte, error) {
		cmd := exec.Command(program(t), "work", "--all", "--until-empty", "--", "sh", filepath.Join(p.dir, "killer.sh"))
		cmd.Dir, cmd.Env = filepath.Join(p.dir, "home"), p.env
		return cmd.CombinedOutput()
	}
	if out, err := work(); err == nil {
		t.Fatalf("it was not killed:\n%s", out)
	}
	out, err := work()
	if err != nil || !bytes.Contains(out, []byte(" api bo api-1 Make it: closed")) {
		t.Errorf("%v:\n%s", err, out)
	}
	if got, want := p.ran(), "home-2 api-1 home-1 web-1 api-2"; got != want {
		t.Errorf("ran %q, want %q:\n%s", got, want, out)
	}
	p.run(`test "$(cat {home,api,web}/.beads/issues.jsonl | grep -c '"status":"closed"')" = 5`)
}
