package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// workedExamples lists what recover --all prints after some steps. A step is a stig or git
// command, or one of: "save NAME" copies the store; "put NAME" writes that copy back, as
// another program does; "in DIR" changes to another clone; "as OLD NEW" replaces the first OLD
// in the store with NEW, as another program does; "drop TEXT" removes the lines that contain a
// text. Expected are the issue, the part, the state, and whether a place or a commit is named.
var workedExamples = []struct {
	name  string
	steps string
	want  string
}{
	{"three titles, checkout", `stig edit demo-1 --title A; stig edit demo-1 --title B; stig edit demo-1 --title C; git checkout -q -- .beads`,
		`demo-1 key title lost`},
	{"an old copy that is committed", `save old; stig comment demo-1 -m hard; git commit -qam work; put old; git commit -qam copy`,
		`demo-1 comment mara lost in`},
	{"an old copy of two commits", `save old; stig edit demo-1 --title A; git commit -qam one; stig edit demo-1 --title B; git commit -qam two; put old; git commit -qam copy; stig comment demo-2 -m on; git commit -qam on`,
		`demo-1 key title lost in`},
	{"a label taken away, checkout", `stig edit demo-1 --add-label wet; git commit -qam work; stig edit demo-1 --remove-label wet; git checkout -q -- .beads`,
		`demo-1 label wet (removed) lost`},
	{"made, edited, checkout", `stig create Ring --parent demo-e; stig edit demo-e.1 --title Louder; git checkout -q -- .beads`,
		`demo-e.1 issue lost, demo-e.1 key title lost`},
	{"an undone delete, edit, overwritten", `stig delete demo-5 --reason no; save old; git commit -qam gone; stig undo; stig edit demo-5 --title A; put old`,
		`demo-5 key delete_reason (removed) lost, demo-5 key deleted_at (removed) lost, demo-5 key deleted_by (removed) lost, demo-5 key original_type (removed) lost, demo-5 key status lost, demo-5 key title lost`},
	{"equal values on two branches", `git switch -qc side; stig edit demo-1 --add-label late -p 3; git commit -qam side; git switch -q main; stig edit demo-1 --add-label late; stig edit demo-1 --remove-label late; git commit -qam main`,
		`demo-1 key priority elsewhere in, demo-1 label late elsewhere in`},
	{"and merged", `stig setup git; git add -A; git commit -qm setup; git switch -qc side; stig edit demo-1 --add-label late; git commit -qam side; git switch -q main; stig edit demo-1 --add-label late; stig edit demo-1 --remove-label late; stig edit demo-1 -p 1; git commit -qam main; git merge -q --no-edit side`,
		``},
	{"a draft undone, criteria by a merge", `stig setup git; git add -A; git commit -qm setup; git switch -qc side; stig edit demo-1 --acceptance holds; git commit -qam side; git switch -q main; stig edit demo-1 --acceptance draft; stig undo; stig edit demo-1 -p 1; git commit -qam main; git merge -q --no-edit side; git branch -qD side`,
		``},
	{"stash, a newer edit elsewhere, dropped", `stig edit demo-1 --title A; git stash -q; git switch -qc side; stig edit demo-1 --title B; git commit -qam side; git switch -q main; git stash drop -q`,
		`demo-1 key title elsewhere in, demo-1 key title lost`},
	{"stash", `stig edit demo-1 --title A; git stash -q`, `demo-1 key title elsewhere in`},
	{"switch -c, checkout", `stig edit demo-1 --title A; git switch -qc side; git checkout -q -- .beads`, `demo-1 key title lost`},
	{"an older branch", `git branch side; stig claim demo-1; stig release demo-1; stig edit demo-1 --title A; git commit -qam main; git switch -q side`,
		`demo-1 key title elsewhere in`},
	{"a branch that is gone", `git switch -qc side; stig edit demo-1 --title A; git commit -qam side; git switch -q main; git branch -qD side`,
		`demo-1 key title lost`},
	{"amended", `stig edit demo-1 --title A; git commit -qam one; stig edit demo-1 --title B; git commit -qa --amend -m two`, ``},
	{"rebased", `stig setup git; git add -A; git commit -qm setup; git switch -qc side; stig edit demo-1 --title A; git commit -qam side; git switch -q main; stig comment demo-2 -m on; git commit -qam main; git switch -q side; git rebase -q main`, ``},
	{"squashed", `git switch -qc side; stig edit demo-1 --title A; git commit -qam one; stig comment demo-1 -m on; git commit -qam two; git switch -q main; git merge -q --squash side; git commit -qm squashed; git branch -qD side`, ``},
	{"cherry-picked", `stig setup git; git add -A; git commit -qm setup; git switch -qc side; stig comment demo-2 -m on; git commit -qam one; stig edit demo-1 --title A; git commit -qam two; git switch -q main; git cherry-pick side; git branch -qD side`,
		`demo-2 comment mara lost`},
	{"reverted", `stig edit demo-1 --title A; stig comment demo-1 -m on; git commit -qam work; git revert --no-edit HEAD`,
		`demo-1 comment mara removed in, demo-1 key title removed in`},
	{"reverted by hand, in its words", `save old; stig edit demo-1 --title A; git commit -qam work; put old; git commit -qam Revert`,
		`demo-1 key title removed in`},
	{"an old copy that is named like a revert", `save old; stig edit demo-1 --title A; git commit -qam work; put old; stig comment demo-2 -m on; git commit -qam Revert`,
		`demo-1 key title lost in`},
	{"reverted on another branch", `git switch -qc side; stig edit demo-1 --title A; git commit -qam side; git revert --no-edit HEAD; git switch -q main`,
		`demo-1 key title elsewhere in`},
	{"a merge that takes ours", `git switch -qc side; stig edit demo-1 --title A; git commit -qam side; git switch -q main; stig comment demo-2 -m on; git commit -qam main; git merge -q -s ours --no-edit side`,
		`demo-1 key title lost in`},
	{"a merge with a side that reverted", `stig setup git; git add -A; git commit -qm setup; stig edit demo-1 --title A; git commit -qam work; git branch side; git revert --no-edit HEAD; git switch -q side; stig comment demo-2 -m on; git commit -qam side; git switch -q main; git merge -q --no-edit side; git branch -qD side`,
		`demo-1 key title edited in`},
	{"another title since", `stig edit demo-1 --title A; git checkout -q -- .beads; stig edit demo-1 --title B`, `demo-1 key title edited`},
	{"taken back by another program", `save old; stig edit demo-1 --title A; put old; as 2026-11-05T00:00:00Z 2026-12-01T00:00:00Z`, `demo-1 key title taken back`},
	{"and committed", `save old; stig edit demo-1 --title A; put old; as 2026-11-05T00:00:00Z 2026-12-01T00:00:00Z; git commit -qam back`, `demo-1 key title removed in`},
	{"taken back twice within a second", `stig edit demo-1 -p 3; git commit -qam work; stig edit demo-1 -p 2; stig undo; git checkout -q -- .beads; stig undo`, ``},
	{"both sides of a merge, and taken back", `stig setup git; git add -A; git commit -qm setup; git switch -qc side; stig edit demo-1 -p 3; git commit -qam side; git switch -q main; stig comment demo-1 -m on; git commit -qam main; git merge -q --no-edit side; git branch -qD side; stig edit demo-1 -p 2`, ``},
	{"taken back on a branch of a merged side", `stig setup git; git add -A; git commit -qm setup; git switch -qc side; stig edit demo-1 -p 3; git commit -qam side; git switch -qc third; stig edit demo-1 -p 2; git commit -qam third; git switch -q main; stig comment demo-1 -m on; git commit -qam main; git merge -q --no-edit side; git branch -qD third`,
		`demo-1 key priority lost`},
	{"the same, where another program wrote the side's value", `git switch -qc side; stig edit demo-1 -p 3; git commit -qam side; git switch -qc third; stig edit demo-1 -p 2; git commit -qam third; git switch -q side; as 2026-11-20T09:00:00Z 2026-11-20T09:30:00Z; stig comment demo-1 -m on; git commit -qam side; git branch -qD third`,
		`demo-1 key priority lost`},
	{"dropped for what a pull brought", `git clone -q . other; in other; stig comment demo-1 -m on; as 2026-11-20T09:00:00Z 2026-11-20T09:30:00Z; git commit -qam other; in .; stig edit demo-1 --title A; git stash -q; git pull -q other main; git stash drop -q`,
		`demo-1 key title lost`},
	{"a merge gave it another id", `stig setup git; git add -A; git commit -qm setup; git clone -q . other; stig create Ring --parent demo-e; git commit -qam ring; in other; stig setup git; stig create Bell --parent demo-e; as "created_by":"mara" "created_by":"tove"; git commit -qam bell; in .; git pull -q --no-edit --no-rebase other main`, ``},
	{"and then it went", `stig setup git; git add -A; git commit -qm setup; git clone -q . other; stig create Ring --parent demo-e; git commit -qam ring; in other; stig setup git; stig create Bell --parent demo-e; as "created_by":"mara" "created_by":"tove"; git commit -qam bell; in .; git pull -q --no-edit --no-rebase other main; drop Ring`,
		`demo-e.niqyj6 issue lost`},
	{"a merge gave another id to what stig did not make", `stig setup git; git add -A; git commit -qm setup; git clone -q . other; stig create Ring --parent demo-e; stig log demo-e.1 --forget; stig edit demo-e.1 -p 1; git commit -qam ring; in other; stig setup git; stig create Bell --parent demo-e; as "created_by":"mara" "created_by":"tove"; git commit -qam bell; in .; git pull -q --no-edit --no-rebase other main`, ``},
	{"lost before a merge that did not know it", `stig setup git; git add -A; git commit -qm setup; save old; stig edit demo-1 --title A; git commit -qam work; git switch -qc side; stig comment demo-1 -m on; git commit -qam side; git switch -q main; put old; git commit -qam copy; git merge -q --no-edit side; git branch -qD side`,
		`demo-1 key title edited in`},
	{"a delete that was lost, and a claim", `stig delete demo-5 --reason no; git checkout -q -- .beads; stig claim demo-5`,
		`demo-5 key delete_reason edited, demo-5 key deleted_at edited, demo-5 key deleted_by edited, demo-5 key original_type edited, demo-5 key status edited`},
	{"two clones", `stig setup git; git add -A; git commit -qm setup; git clone -q . other; stig edit demo-1 --add-label wet --title A; git commit -qam one; in other; stig setup git; git pull -q; stig edit demo-1 --remove-label wet --title B; git commit -qam two; in .; git pull -q other main`,
		`demo-1 key title edited, demo-1 label wet removed in`},
}

// TestWorkedExamples runs the examples.
func TestWorkedExamples(t *testing.T) {
	for _, e := range workedExamples {
		t.Run(e.name, func(t *testing.T) {
			c := newEditedClone(t, writtenEdit{})
			top := c.dir
			for step := range strings.SplitSeq(e.steps, "; ") {
				verb, rest, _ := strings.Cut(step, " ")
				switch args := strings.Fields(rest); verb {
				case "stig":
					c.stig(0, "mara", args...)
				case "git":
					c.git(args...)
				case "save":
					c.write(filepath.Join(top, ".git", rest), c.read())
				case "put":
					text, err := os.ReadFile(filepath.Join(top, ".git", rest))
					if err != nil {
						t.Fatal(err)
					}
					c.write(c.store, string(text))
				case "as":
					c.write(c.store, strings.Replace(c.read(), args[0], args[1], 1))
				case "drop":
					c.write(c.store, strings.Join(slices.DeleteFunc(strings.SplitAfter(c.read(), "\n"), func(line string) bool { return strings.Contains(line, rest) }), ""))
				case "in":
					c.dir = filepath.Join(top, rest)
					c.store = filepath.Join(c.dir, ".beads", "issues.jsonl")
				}
			}
			if got := c.listed(strings.Contains(e.want, "lost")); got != e.want {
				t.Errorf("recover --all lists\n%s\nwant\n%s", got, e.want)
			}
		})
	}
}

// listed is the output of recover --all.
func (c *editedClone) listed(lost bool) string {
	c.t.Helper()
	type value struct{ ID, What, State, Where string }
	var found struct{ Lost, Others []value }
	exit := 0
	if lost {
		exit = 1
	}
	if err := json.Unmarshal([]byte(c.stig(exit, "mara", "recover", "--all", "--json")), &found); err != nil {
		c.t.Fatal(err)
	}
	var list []string
	for _, v := range append(found.Lost, found.Others...) {
		what := v.What
		if author, ok := strings.CutPrefix(what, "comment "); ok {
			what = "comment " + strings.Fields(author)[0]
		}
		if v.Where != "" {
			v.State += " in"
		}
		list = append(list, v.ID+" "+what+" "+v.State)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
