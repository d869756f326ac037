package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/testkit/sample"
)

// TestRecoverModel does random work on a store. If everything is done on purpose, with undo,
// branches, merges, stashes and reverts, recover must never list anything. If uncommitted work
// is lost now and then, recover --apply must restore the store, and then list nothing. .ci/long
// runs it a thousand times each.
func TestRecoverModel(t *testing.T) {
	for seed := range sample.Rounds(2) {
		for _, accidents := range []bool{false, true} {
			t.Run(fmt.Sprintf("accidents %t, seed %d", accidents, seed), func(t *testing.T) {
				newModel(t, uint64(seed)).run(accidents)
			})
		}
	}
}

// model is one random run.
type model struct {
	t             *testing.T
	rnd           *rand.Rand
	dir, store    string
	now           time.Time
	ids, branches []string
	log           []string
	count         int
}

const modelSteps = 50

func newModel(t *testing.T, seed uint64) *model {
	m := &model{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), dir: t.TempDir(), branches: []string{"main"}, now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	m.store = filepath.Join(m.dir, ".beads", "issues.jsonl")
	m.git("init", "-q", "-b", "main")
	m.git("config", "user.name", "ann")
	m.git("config", "user.email", "ann@harbor.example")
	m.stig("init", "--prefix", "m")
	for n := range 4 {
		m.create(fmt.Sprint("issue ", n))
	}
	if m.rnd.Float64() < .8 {
		m.stig("setup", "git")
	}
	m.git("add", "-A")
	m.git("commit", "-qm", "start")
	return m
}

// run works, and runs recover after each step.
func (m *model) run(accidents bool) {
	for range modelSteps {
		m.onPurpose()
		switch {
		case !accidents && m.rnd.Float64() < .25:
			m.asserts("recover lists what was taken away on purpose", m.stig("recover"))
		case accidents && m.rnd.Float64() < .15:
			m.accident()
		}
	}
}

// accident loses uncommitted work, and restores it with recover.
func (m *model) accident() {
	for range 1 + m.rnd.IntN(4) {
		m.edit()
	}
	before := m.canonical()
	m.asserts("recover lists something before anything was lost", m.stig("recover"))
	m.lose()
	if maps.Equal(m.canonical(), before) {
		return
	}
	m.stig("recover")
	m.stig("recover", "--apply")
	if after := m.canonical(); !maps.Equal(after, before) {
		for id := range before {
			if after[id] != before[id] {
				m.t.Errorf("%s has become\n%s\nwant\n%s", id, after[id], before[id])
			}
		}
		m.fails("recover --apply did not bring all back")
	}
	m.asserts("recover lists something after --apply", m.stig("recover"))
}

func (m *model) asserts(what string, exit int) {
	if exit != 0 {
		m.fails(what)
	}
}

func (m *model) fails(what string) {
	m.t.Helper()
	m.t.Fatalf("%s, after\n%s", what, strings.Join(m.log, "\n"))
}

// stig runs the program, and returns its exit code.
func (m *model) stig(args ...string) int {
	m.now = m.now.Add(time.Duration(m.rnd.IntN(2)) * time.Second)
	env := append(stigCommand(m.dir).Env, "STIG_ACTOR=ann", "STIG_NOW="+m.now.Format(time.RFC3339))
	var out bytes.Buffer
	both := &oneAtATime{to: &out}
	exit := runInside(m.dir, env, both, both, args...)
	m.log = append(m.log, fmt.Sprintf("stig %q: %d %.300s", args, exit, &out))
	if args[0] == "create" && exit == 0 {
		m.ids = append(m.ids, strings.TrimRight(strings.Fields(out.String())[0], ":"))
	}
	return exit
}

// git runs git, and returns its output and whether it succeeded.
func (m *model) git(args ...string) (string, bool) {
	cmd := exec.Command("git", args...)
	cmd.Dir = m.dir
	cmd.Env = append(stigCommand(m.dir).Env, "GIT_EDITOR=true", "STIG_NOW="+m.now.Format(time.RFC3339))
	out, err := cmd.CombinedOutput()
	m.log = append(m.log, fmt.Sprintf("git %q: %v %.200s", args, err, out))
	return strings.TrimSpace(string(out)), err == nil
}

func (m *model) create(title string) { m.stig("create", title, "-q") }

func (m *model) one(list ...string) string { return list[m.rnd.IntN(len(list))] }

// edit makes a random edit of any kind, or one that stig refuses.
func (m *model) edit() {
	m.count++
	i, other, v := m.one(m.ids...), m.one(m.ids...), fmt.Sprint("v", m.count)
	tenth := fmt.Sprint(float64(m.rnd.IntN(10)) / 10)
	edits := [][]string{
		{"edit", i, "--title", v}, {"edit", i, "-d", m.one(v, v+"\nmore", "")}, {"edit", i, "--design", v}, {"edit", i, "--acceptance", v},
		{"edit", i, "--add-label", m.one("a", "b", "c", "d")}, {"edit", i, "--remove-label", m.one("a", "b", "c", "d")},
		{"comment", i, "-m", v}, {"dep", "add", i, "--on", other}, {"dep", "rm", i, "--on", other},
		{"edit", i, "-p", fmt.Sprint(m.rnd.IntN(5))}, {"checkpoint", i, "--done", v, "--remains", v + "r", "--surprise", tenth},
		{"signals", "set", i, "surprise=" + tenth}, {"edit", i, "-a", m.one("bo", "none", "@me")}, {"claim", i}, {"release", i},
		{"trace", "add", i, "finding", "-m", v}, {"create", v, "-q"}, {"delete", i, "--reason", "not wanted any more"},
		{"close", i, "--reason", "it is done now " + v, "--waive", "only an eye sees it here"}, {"reopen", i, "--reason", "again " + v},
		{"escalate", i, "-m", "what? " + v, "--option", "a", "--option", "b"}, {"resolve", i, "--option", "1", "--actor", "bo"},
		{"close", i, "--duplicate-of", other}, {"edit", i, "--defer", m.one("3d", "none")},
	}
	args := edits[m.rnd.IntN(len(edits))]
	if rare := args[0] == "delete" || slices.Contains(args, "--duplicate-of"); rare && m.rnd.Float64() > .4 {
		return
	}
	m.stig(args...)
}

func (m *model) isDirty() bool {
	out, _ := m.git("status", "--porcelain")
	return out != ""
}

// onPurpose does one step that people do.
func (m *model) onPurpose() {
	switch x := m.rnd.Float64(); {
	case x < .62:
		m.edit()
	case x < .72:
		m.stig("undo", m.one("1", "1", "2"))
	case x < .82:
		m.git("commit", "-qam", fmt.Sprint("c", len(m.log)))
	case x < .88:
		name := fmt.Sprint("b", len(m.branches))
		if len(m.branches) == 4 || m.rnd.Float64() > .6 {
			m.git("switch", "-q", m.one(m.branches...))
		} else if _, ok := m.git("switch", "-qc", name); ok {
			m.branches = append(m.branches, name)
		}
	case x < .94:
		m.merge()
	case x < .97:
		if _, ok := m.git("stash"); ok {
			m.git("stash", "pop")
		}
	default:
		m.revert()
	}
}

func (m *model) merge() {
	if m.isDirty() {
		m.git("commit", "-qam", "before the merge")
	}
	if _, ok := m.git("merge", "-q", "--no-edit", m.one(m.branches...)); !ok {
		m.git("merge", "--abort")
	}
}

func (m *model) revert() {
	commits, _ := m.git("log", "--format=%H", "--no-merges", "-5")
	if list := strings.Fields(commits); len(list) > 1 && !m.isDirty() {
		if _, ok := m.git("revert", "--no-edit", list[0]); !ok {
			m.git("revert", "--abort")
		}
	}
}

// lose loses uncommitted work.
func (m *model) lose() {
	switch m.rnd.IntN(4) {
	case 0:
		m.git("checkout", "-q", "--", ".beads/issues.jsonl")
	case 1:
		if old, ok := m.git("show", "HEAD:.beads/issues.jsonl"); ok {
			m.replace(old + "\n")
		}
	case 2:
		if _, ok := m.git("stash"); ok {
			m.git("stash", "drop")
		}
	default:
		m.git("reset", "-q", "--hard")
	}
}

// replace writes an old copy of the store, as a program without the lock does.
func (m *model) replace(text string) {
	m.t.Helper()
	if err := os.WriteFile(m.store+".x", []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(m.store+".x", m.store); err != nil {
		m.t.Fatal(err)
	}
}

// canonical returns the content of the issues, without edit dates and the order of lists.
func (m *model) canonical() map[string]string {
	m.t.Helper()
	text, err := os.ReadFile(m.store)
	if err != nil {
		m.t.Fatal(err)
	}
	said := map[string]string{}
	for line := range bytes.Lines(text) {
		var issue map[string]any
		if err := json.Unmarshal(line, &issue); err != nil {
			m.fails(fmt.Sprint("the store cannot be read: ", err))
		}
		var parts []string
		for key, value := range issue {
			list, isList := value.([]any)
			switch {
			case key == "updated_at", key == "closed_at", isList && len(list) == 0:
			case isList:
				for _, element := range list {
					if edge, is := element.(map[string]any); is && key == "dependencies" {
						element = []any{edge["depends_on_id"], edge["type"]} // one that is created again has the same content
					}
					parts = append(parts, fmt.Sprint(key, ": ", element))
				}
			default:
				parts = append(parts, fmt.Sprint(key, ": ", value))
			}
		}
		slices.Sort(parts)
		said[fmt.Sprint(issue["id"])] = strings.Join(parts, "\n")
	}
	return said
}
