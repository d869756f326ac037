package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/merge"
)

// writtenEdit is a way to write the store: what others wrote before, and what mara writes then.
type writtenEdit struct {
	name   string
	before [][]string // by tove
	edits  [][]string // by mara
	makes  bool       // creates an issue, which undo turns into a tombstone
}

// writtenEdits are all commands that write the store, on new issues and on issues with content.
var writtenEdits = []writtenEdit{
	{name: "claim", edits: [][]string{{"claim", "demo-2"}}},
	{name: "claim with a table", before: [][]string{{"signals", "init", "demo-2"}}, edits: [][]string{{"claim", "demo-2"}}},
	{name: "release", before: [][]string{{"claim", "demo-2", "--actor", "mara"}}, edits: [][]string{{"release", "demo-2"}}},
	{name: "checkpoint first", edits: [][]string{{"checkpoint", "demo-1", "--surprise", "0.3", "--done", "one bank", "--remains", "the other"}}},
	{name: "checkpoint later", before: [][]string{{"checkpoint", "demo-1", "--surprise", "0.3", "--done", "one bank", "--remains", "the other"}},
		edits: [][]string{{"checkpoint", "demo-1", "--surprise", "0.5", "--done", "both banks", "--learned", "it swings"}}},
	{name: "checkpoint below prose", edits: [][]string{{"checkpoint", "demo-5", "--done", "one bank"}}},
	{name: "checkpoint evidence", edits: [][]string{{"checkpoint", "demo-1", "--evidence", "make rope: ok", "--confidence", "prototype", "--regression-guard", "manual"}}},
	{name: "checkpoint twice", edits: [][]string{
		{"checkpoint", "demo-1", "--done", "one bank"}, {"checkpoint", "demo-1", "--done", "both banks", "--surprise", "0.1"}}},
	{name: "checkpoint fold", edits: [][]string{{"checkpoint", "demo-4", "--fold"}}},
	{name: "checkpoint escalate", edits: [][]string{{"checkpoint", "demo-1", "--done", "one bank", "--escalate", "Which rope?"}}},
	{name: "escalate first", edits: [][]string{{"escalate", "demo-1", "-m", "Which rope?", "--option", "hemp", "--option", "wire"}}},
	{name: "escalate second", before: [][]string{{"escalate", "demo-1", "-m", "Which rope?"}, {"resolve", "demo-1", "-m", "hemp", "--actor", "ines"}},
		edits: [][]string{{"escalate", "demo-1", "-m", "Which knot?"}}},
	{name: "resolve", before: [][]string{{"escalate", "demo-1", "-m", "Which rope?"}}, edits: [][]string{{"resolve", "demo-1", "-m", "hemp"}}},
	{name: "close", edits: [][]string{{"close", "demo-2", "--reason", "the bell hangs over the deck", "--waive", "nobody can hear it here"}}},
	{name: "close claimed", before: [][]string{{"checkpoint", "demo-2", "--done", "hung", "--progress", "implementing"}, {"claim", "demo-2", "--actor", "mara"}},
		edits: [][]string{{"close", "demo-2", "--reason", "the bell hangs over the deck", "--waive", "nobody can hear it here"}}},
	{name: "reopen", before: [][]string{{"close", "demo-2", "--reason", "the bell hangs over the deck", "--waive", "nobody can hear it here"}},
		edits: [][]string{{"reopen", "demo-2", "--reason", "it fell into the sea"}}},
	{name: "edit", edits: [][]string{{"edit", "demo-1", "--title", "Span wires", "--description", "One bank.", "--acceptance", "it holds"}}},
	{name: "edit of a list", edits: [][]string{{"edit", "demo-3", "--add-label", "wet", "-a", "ines", "--defer", "3d"}}},
	{name: "comment", edits: [][]string{{"comment", "demo-1", "-m", "it swings"}}},
	{name: "trace", edits: [][]string{{"trace", "add", "demo-1", "finding", "-m", "it swings"}}},
	{name: "delete", edits: [][]string{{"delete", "demo-5", "--reason", "nobody sails"}}},
	{name: "duplicate", edits: [][]string{{"close", "demo-5", "--duplicate-of", "demo-2"}}},
	{name: "dep add", edits: [][]string{{"dep", "add", "demo-2", "--on", "demo-1"}}},
	{name: "dep rm", edits: [][]string{{"dep", "rm", "demo-3", "--on", "demo-1"}}},
	{name: "dep rm of several", edits: [][]string{{"dep", "rm", "demo-6", "--on", "demo-1"}}},
	{name: "propagate", edits: [][]string{{"propagate", "demo-1", "--to", "demo-2", "--to", "demo-3", "-m", "hemp rots"}}},
	{name: "propagate second", before: [][]string{{"propagate", "demo-1", "--to", "demo-2", "-m", "wire cuts"}},
		edits: [][]string{{"propagate", "demo-1", "--to", "demo-2", "-m", "hemp rots"}}},
	{name: "signals init", edits: [][]string{{"signals", "init"}}},
	{name: "signals init evidence", edits: [][]string{{"signals", "init", "demo-1", "--evidence"}}},
	{name: "signals set", before: [][]string{{"signals", "init", "demo-1"}}, edits: [][]string{{"signals", "set", "demo-1", "surprise=0.4", "cynefin=complex"}}},
	{name: "signals reconcile", edits: [][]string{{"signals", "reconcile", "demo-7"}}},
	{name: "vet fix", edits: [][]string{{"vet", "demo-8", "--fix"}}},
	{name: "create", makes: true, edits: [][]string{{"create", "Ring it", "--parent", "demo-e", "-l", "red", "-d", "Loud."}}},
	{name: "create with deps", makes: true, edits: [][]string{{"create", "Ring it", "--deps", "demo-1", "--deps", "related:demo-2", "--acceptance", "it rings"}}},
	{name: "create what others depend on", makes: true, edits: [][]string{{"create", "Ring it", "--parent", "demo-e"}, {"create", "Louder", "--parent", "demo-e.1", "--deps", "demo-2"},
		{"dep", "add", "demo-2", "--on", "demo-e.1", "-t", "related"}}},
	{name: "several", before: [][]string{{"checkpoint", "demo-2", "--done", "one bank"}}, edits: [][]string{
		{"claim", "demo-2"}, {"checkpoint", "demo-2", "--done", "both banks", "--surprise", "0.2"},
		{"escalate", "demo-2", "-m", "Which bell?"}, {"resolve", "demo-2", "-m", "brass", "--self"},
		{"dep", "add", "demo-2", "--on", "demo-1"}, {"release", "demo-2"}}},
}

// editedTable is a signal table whose planning-depth is not filled in.
const editedTable = "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| schema-version | 1 | 2026-11-01 |\n| cynefin | complex | 2026-11-05 |\n| surprise | 0.2 | 2026-11-03 |\n| progress | exploring | 2026-11-02 |\n| escalation | none | — |\n| planning-depth | %s | 2026-11-05 |\n<!-- /stigmergic-signals -->"

// writtenStore is the store that the edits apply to.
func writtenStore(t *testing.T) string {
	t.Helper()
	table := strings.Replace(editedTable, "%s", "deep", 1)
	var text bytes.Buffer
	for _, issue := range []map[string]any{
		{"id": "demo-1", "title": "Span the ropes", "description": "Both banks."},
		{"id": "demo-2", "title": "Hang the bell", "assignee": ""},
		{"id": "demo-3", "title": "Paint the post", "dependencies": []any{map[string]any{
			"issue_id": "demo-3", "depends_on_id": "demo-1", "type": "blocks", "created_at": "2026-11-01T00:00:00Z", "created_by": "ines"}}},
		{"id": "demo-4", "title": "Tar the keel", "notes": table + "\n\n<!-- checkpoint-context -->\n## State estimate (2026-11-05)\n\nWhat was done: half.\n<!-- /checkpoint-context -->\n\n" +
			"<!-- merged-estimate 2026-11-04 0a1b2c3d -->\n## State estimate (2026-11-04)\n\nWhat was done: a quarter.\n<!-- /merged-estimate 2026-11-04 0a1b2c3d -->\n\nSeen from the sea."},
		{"id": "demo-5", "title": "Sew the sail", "notes": "Ask the sailmaker.\n\nTwice.\n"},
		{"id": "demo-6", "title": "Coil the line", "dependencies": []any{
			map[string]any{"issue_id": "demo-6", "depends_on_id": "demo-2", "type": "blocks", "created_at": "2026-11-01T00:00:00Z", "created_by": "ines"},
			map[string]any{"issue_id": "demo-6", "depends_on_id": "demo-1", "type": "related", "created_at": "2026-11-01T00:00:00Z", "created_by": "ines"},
			map[string]any{"issue_id": "demo-6", "depends_on_id": "demo-1", "type": "blocks", "created_at": "2026-11-01T00:00:00Z", "created_by": "ines", "metadata": "{}"}}},
		{"id": "demo-7", "title": "Weigh the anchor", "notes": table + "\n\n---\n\n" + strings.Replace(table, "0.2", "0.3", 1)},
		{"id": "demo-8", "title": "Read the log", "notes": strings.Replace(editedTable, "%s", "medium", 1)},
		{"id": "demo-e", "title": "Epic", "issue_type": "epic"},
	} {
		for key, value := range map[string]any{"status": "open", "priority": 2, "issue_type": "task", "created_at": "2026-11-01T00:00:00Z", "updated_at": "2026-11-05T00:00:00Z"} {
			if issue[key] == nil {
				issue[key] = value
			}
		}
		line, err := json.Marshal(issue)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	return text.String()
}

// editedClone is a clone with a store for one entry of writtenEdits.
type editedClone struct {
	t     *testing.T
	dir   string
	store string
}

// newEditedClone creates a clone in which the commands before the edit are committed.
func newEditedClone(t *testing.T, e writtenEdit) *editedClone {
	t.Helper()
	c := &editedClone{t: t, dir: t.TempDir()}
	c.store = filepath.Join(c.dir, ".beads", "issues.jsonl")
	if err := os.Mkdir(filepath.Dir(c.store), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write(c.store, writtenStore(t))
	c.git("init", "-q", "-b", "main")
	for _, args := range e.before {
		c.stig(0, "tove", args...)
	}
	c.git("add", ".beads")
	c.git("commit", "-qm", "begin")
	return c
}

func (c *editedClone) git(args ...string) {
	c.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=mara", "-c", "user.email=mara@harbor.example"}, args...)...)
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// stig runs the program as an actor, and checks its exit code.
func (c *editedClone) stig(exit int, actor string, args ...string) string {
	c.t.Helper()
	cmd := stigCommand(c.dir, args...)
	cmd.Env = append(cmd.Env, "STIG_ACTOR="+actor)
	var out bytes.Buffer
	both := &oneAtATime{to: &out}
	got := runInside(c.dir, cmd.Env, both, both, args...)
	if got != exit {
		c.t.Fatalf("stig %q: exit %d, want %d\n%s", args, got, exit, &out)
	}
	return out.String()
}

func (c *editedClone) edit(e writtenEdit) {
	c.t.Helper()
	for _, args := range e.edits {
		c.stig(0, "mara", args...)
	}
}

func (c *editedClone) write(path, text string) {
	c.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *editedClone) read() string {
	c.t.Helper()
	text, err := os.ReadFile(c.store)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// says checks that the store has the same content as a text of it.
func (c *editedClone) says(want string, makes bool) {
	c.t.Helper()
	got := c.read()
	wanted, is := saidBy(c.t, want), saidBy(c.t, got)
	for id, line := range is {
		switch {
		case makes && wanted[id] == "" && strings.Contains(line, "tombstone"):
		case wanted[id] != line:
			c.t.Errorf("%s says\n%s\nwant\n%s", id, line, wanted[id])
		}
	}
	for id := range wanted {
		if is[id] == "" {
			c.t.Errorf("%s is missing", id)
		}
	}
	earlier := filepath.Join(c.dir, "earlier.jsonl")
	c.write(earlier, want)
	if out := c.stig(0, "mara", "diff", "--files", earlier, c.store); !makes && !strings.HasPrefix(out, "nothing differs") {
		c.t.Errorf("stig diff: %s", out)
	}
}

// saidBy returns the parts of each issue in a store, in order, by id.
func saidBy(t *testing.T, text string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for line := range strings.Lines(text) {
		r, err := beads.ParseRecord([]byte(strings.TrimSuffix(line, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, p := range merge.Parts(r) {
			parts = append(parts, fmt.Sprintf("%s %s: %q\n", p.Kind, p.Name, strings.TrimSpace(p.Text)))
		}
		slices.Sort(parts)
		said[r.Text(beads.ID)] = strings.Join(parts, "")
	}
	return said
}

// TestUndoAll: for every command that writes, undo restores the store's content, and recover
// then finds nothing.
func TestUndoAll(t *testing.T) {
	t.Parallel()
	for _, e := range writtenEdits {
		t.Run(e.name, func(t *testing.T) {
			c := newEditedClone(t, e)
			before := c.read()
			c.edit(e)
			if c.read() == before {
				t.Fatal("the edit changed nothing")
			}
			if len(e.edits) > 2 { // in one edit
				c.stig(0, "mara", "undo", strconv.Itoa(len(e.edits)))
			} else {
				for range e.edits {
					c.stig(0, "mara", "undo")
				}
			}
			c.says(before, e.makes)
			if out := c.stig(0, "mara", "recover"); out != "nothing is lost\n" {
				t.Errorf("stig recover: %s", out)
			}
		})
	}
}

// TestRecoverAll: for every command that writes, recover restores what a checkout of the file
// removed, and undo reverts that. Then recover finds nothing, nor after another checkout.
func TestRecoverAll(t *testing.T) {
	t.Parallel()
	for _, e := range writtenEdits {
		t.Run(e.name, func(t *testing.T) {
			c := newEditedClone(t, e)
			before := c.read()
			c.edit(e)
			after := c.read()
			c.git("checkout", "-q", "--", ".beads")
			c.stig(1, "mara", "recover")
			c.stig(0, "mara", "recover", "--apply")
			c.says(after, false)
			c.missesNothing()
			c.stig(0, "mara", "undo")
			c.says(before, e.makes)
			c.missesNothing()
			c.git("checkout", "-q", "--", ".beads")
			if !e.makes { // otherwise these are the tombstones
				c.missesNothing()
			}
		})
	}
}

// TestRecoverUndone: for every command that writes, if the edit was committed and a checkout
// removed its undo, recover restores the undo, and undo reverts that, twice.
func TestRecoverUndone(t *testing.T) {
	t.Parallel()
	for _, e := range writtenEdits {
		t.Run(e.name, func(t *testing.T) {
			c := newEditedClone(t, e)
			before := c.read()
			c.edit(e)
			after := c.read()
			c.git("commit", "-qam", "edit")
			c.stig(0, "mara", "undo", strconv.Itoa(len(e.edits)))
			for range 2 {
				c.missesNothing()
				c.git("checkout", "-q", "--", ".beads")
				c.stig(1, "mara", "recover")
				c.stig(0, "mara", "recover", "--apply")
				c.says(before, e.makes)
				c.missesNothing()
			}
			c.stig(0, "mara", "undo")
			c.says(after, false)
			c.missesNothing()
		})
	}
}

// missesNothing checks that nothing is lost, and that --apply does not change the store.
func (c *editedClone) missesNothing() {
	c.t.Helper()
	before := c.read()
	if out := c.stig(0, "mara", "recover"); out != "nothing is lost\n" {
		c.t.Errorf("stig recover: %s%s", out, c.stig(0, "mara", "recover", "--all"))
	}
	if c.stig(0, "mara", "recover", "--apply"); c.read() != before {
		c.t.Errorf("stig recover --apply: the store has become\n%s", c.read())
	}
}
