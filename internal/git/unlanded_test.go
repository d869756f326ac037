package git_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"stig/internal/git"
)

// night lands three issues on stig/work: for a-1 stig commits the work, for a-2 the worker made
// two commits, and for a-3 it changes what a-1 made.
func (c cloned) night() {
	c.Helper()
	for _, step := range []struct{ issue, run, file, text string }{
		{"a-1", "r-0000000001", "one", "1\n2\n3\n"}, {"a-2", "", "two", "2\n"}, {"a-3", "r-0000000003", "one", "1\n2\n3\nmore\n"},
	} {
		tree := c.prepare(step.issue)
		c.put(tree.Dir, step.file, step.text)
		if step.run == "" {
			c.git(tree.Dir, "add", "-A")
			c.git(tree.Dir, "commit", "-qm", "by the worker itself")
			c.put(tree.Dir, step.file, step.text+"again\n")
			c.git(tree.Dir, "commit", "-qam", "and again")
		}
		message := step.issue + ": a title\n\nRun: " + step.run + "\n\n" + git.IssueTrailer + ": " + step.issue
		if _, err := tree.Commit(c.Context(), message, "mole"); err != nil {
			c.Fatal(err)
		}
		if _, err := tree.Merge(c.Context()); err != nil {
			c.Fatal(err)
		}
		if err := errors.Join(tree.Land(c.Context()), tree.Remove(c.Context())); err != nil {
			c.Fatal(err)
		}
	}
}

func (c cloned) unlanded() (issues []string) {
	c.Helper()
	units, err := git.Unlanded(c.Context(), c.WorktreeOptions, c.git(c.Root, "rev-parse", "HEAD"))
	if err != nil {
		c.Fatal(err)
	}
	for _, u := range units {
		issues = append(issues, u.Issue)
	}
	return issues
}

// own commits something unrelated to the night on the person's branch.
func (c cloned) own(file, text string) {
	c.put(c.Root, file, text)
	c.git(c.Root, "add", "-A")
	c.git(c.Root, "commit", "-qm", "my own work on "+file)
}

// However a person brings work to their branch, it is recognized there, and the rest is not.
func TestUnlanded(t *testing.T) {
	t.Parallel()
	all := []string{"a-1", "a-2", "a-3"}
	for name, test := range map[string]struct {
		do   func(c cloned)
		left []string
	}{
		"nothing":   {func(cloned) {}, all},
		"forward":   {func(c cloned) { c.git(c.Root, "merge", "-q", "--ff-only", "stig/work") }, nil},
		"merge":     {func(c cloned) { c.own("mine", "m\n"); c.git(c.Root, "merge", "-q", "--no-edit", "stig/work") }, nil},
		"own work":  {func(c cloned) { c.own("mine", "m\n") }, all},
		"the store": {func(c cloned) { c.own(".beads/issues.jsonl", `{"id":"a-9"}`) }, all},
		"squash": {func(c cloned) {
			c.own("mine", "m\n")
			c.git(c.Root, "merge", "-q", "--squash", "stig/work")
			c.git(c.Root, "commit", "-q", "--no-edit")
			c.own("one", "rewritten\n")
		}, nil},
		"squash under a name of its own, and changes since": {func(c cloned) {
			c.own("mine", "m\n")
			c.git(c.Root, "merge", "-q", "--squash", "stig/work")
			c.git(c.Root, "commit", "-qm", "the night")
			c.own("one", "rewritten\n")
		}, nil},
		"squash of the first two": {func(c cloned) {
			c.git(c.Root, "merge", "-q", "--squash", "stig/work^")
			c.git(c.Root, "commit", "-qm", "half of the night")
		}, []string{"a-3"}},
		"squash with the store": {func(c cloned) {
			c.git(c.Root, "merge", "-q", "--squash", "stig/work")
			c.put(c.Root, ".beads/issues.jsonl", `{"id":"a-1","status":"closed"}`)
			c.git(c.Root, "commit", "-qam", "the night, and its closings")
		}, nil},
		"rebase": {func(c cloned) {
			c.own("mine", "m\n")
			c.git(c.Root, "switch", "-q", "--detach", "stig/work")
			c.git(c.Root, "rebase", "-q", "main")
			c.git(c.Root, "switch", "-q", "-C", "main")
		}, nil},
		"pick of one commit": {func(c cloned) { c.own("mine", "m\n"); c.git(c.Root, "cherry-pick", "stig/work~2") }, []string{"a-2", "a-3"}},
		"pick of a merge":    {func(c cloned) { c.own("mine", "m\n"); c.git(c.Root, "cherry-pick", "-m1", "stig/work^") }, []string{"a-1", "a-3"}},
		"pick under a name of its own": {func(c cloned) {
			c.git(c.Root, "cherry-pick", "-n", "stig/work~2")
			c.git(c.Root, "commit", "-qm", "mine now")
		}, []string{"a-2", "a-3"}},
		"one of two commits": {func(c cloned) { c.git(c.Root, "cherry-pick", "stig/work^^2^") }, all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClone(t)
			c.night()
			test.do(c)
			if left := c.unlanded(); !slices.Equal(left, test.left) {
				t.Errorf("left: %v, want %v", left, test.left)
			}
		})
	}
}

// An issue landed a second time is not taken for delivered because of the first.
func TestUnlandedAgain(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.night()
	c.git(c.Root, "merge", "-q", "--squash", "stig/work")
	c.git(c.Root, "commit", "-q", "--no-edit")
	tree := c.prepare("a-1")
	c.put(tree.Dir, "one", "otherwise\n")
	if _, err := tree.Commit(t.Context(), "a-1: a title\n\nRun: r-0000000004\n\n"+git.IssueTrailer+": a-1", "mole"); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tree.Land(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := c.unlanded(); !slices.Equal(left, []string{"a-1"}) {
		t.Errorf("left: %v", left)
	}
	units, err := git.Unlanded(t.Context(), c.WorktreeOptions, c.git(c.Root, "rev-parse", "HEAD"))
	if err != nil || len(units) != 1 {
		t.Fatal(units, err)
	}
	stat, err := git.StatOf(t.Context(), c.WorktreeOptions, units[0])
	if err != nil || stat != (git.Stat{Files: 1, Added: 1, Deleted: 4}) {
		t.Errorf("%+v, %v", stat, err)
	}
	if diff, err := git.DiffOf(t.Context(), c.WorktreeOptions, units[0]); err != nil || !strings.Contains(diff, "+otherwise") {
		t.Errorf("%s, %v", diff, err)
	}
}

// Commits of older versions name their issue in the subject alone.
func TestUnlandedOfOldSubjects(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.git(c.Root, "switch", "-qc", "side")
	c.own("one", "1\n")
	c.git(c.Root, "commit", "-q", "--allow-empty", "-m", "a-1: work of mole\n\nRun: r-0000000001")
	c.git(c.Root, "switch", "-qc", "stig/a%2F2")
	c.own("two", "2\n")
	c.git(c.Root, "switch", "-q", "side")
	c.git(c.Root, "merge", "-q", "--no-ff", "-m", "Merge branch 'stig/a%2F2' into stig/work", "stig/a%2F2")
	c.git(c.Root, "switch", "-q", "main")
	c.git(c.Root, "branch", "-m", "side", "stig/work")
	if left := c.unlanded(); !slices.Equal(left, []string{"a-1", "a/2"}) {
		t.Errorf("left: %v", left)
	}
}
