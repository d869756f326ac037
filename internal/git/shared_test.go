package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stig/internal/git"
)

// watched is a clone with a watch, and bo's signature.
func watched(t *testing.T) (c cloned, w *git.Watch, who git.Signature) {
	t.Helper()
	c = newClone(t)
	at, err := git.CheckoutOf(c.Root)
	if err != nil {
		t.Fatal(err)
	}
	w = &git.Watch{Git: git.Client{Dir: c.Root, Env: c.Git.Env}, At: at, Onto: "stig/work", Without: []string{filepath.Join(c.Root, ".beads")}}
	if who, _, err = w.Sign(t.Context(), "bo"); err != nil {
		t.Fatal(err)
	}
	return c, w, who
}

func (c cloned) shared(w *git.Watch) git.Shared {
	c.Helper()
	s, err := w.Look(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return s
}

// as is the clone with git's identity set to a name.
func (c cloned) as(name string) cloned {
	c.Git.Env = append(slices.Clone(c.Git.Env), "GIT_AUTHOR_NAME="+name, "GIT_COMMITTER_NAME="+name)
	return c
}

// Each change of shared state is noticed, and attributed to the worker who signed it.
func TestSharedChanges(t *testing.T) {
	for name, test := range map[string]struct {
		before, do func(c cloned)
		want       []string // kind, name, and signer
	}{
		"nothing": {do: func(cloned) {}},
		"of stig": {do: func(c cloned) {
			c.git(c.Root, "branch", "stig/work")
			c.git(c.Root, "branch", "stig/a-1")
			c.git(c.Root, "update-ref", "refs/stig/x", "HEAD")
			c.put(c.Root, ".beads/issues.jsonl", "more")
		}},
		"settings":         {do: func(c cloned) { c.git(c.Root, "config", "user.name", "x") }, want: []string{"setting user.name "}},
		"a lock of stig":   {do: func(c cloned) { c.put(c.Root, ".git/info/exclude", "/.beads/.jsonl.lock\n") }},
		"hooks and info":   {do: func(c cloned) { c.put(c.Root, ".git/hooks/pre-push", ""); c.put(c.Root, ".git/info/exclude", "x") }, want: []string{"file of git hooks/pre-push ", "file of git info/exclude "}},
		"a sample":         {do: func(c cloned) { c.put(c.Root, ".git/hooks/pre-push.sample", "") }},
		"a file":           {do: func(c cloned) { c.put(c.Root, "new/x", "") }, want: []string{"file new/x "}},
		"one changed more": {before: func(c cloned) { c.put(c.Root, "f", "1") }, do: func(c cloned) { c.put(c.Root, "f", "10") }, want: []string{"file f "}},
		"hers":             {do: func(c cloned) { c.commitFile("g", "") }, want: []string{"branch main "}},
		"the worker's":     {do: func(c cloned) { c.as("bo").commitFile("g", "") }, want: []string{"branch main bo"}},
		"her switch":       {do: func(c cloned) { c.git(c.Root, "switch", "-q", "-c", "topic") }, want: []string{"branch topic ", "checkout ROOT "}},
		"its switch":       {do: func(c cloned) { c = c.as("bo"); c.git(c.Root, "switch", "-q", "-c", "topic") }, want: []string{"branch topic bo", "checkout ROOT bo"}},
		"hers on the worker's": {before: func(c cloned) { c.as("bo").commitFile("g", "") }, do: func(c cloned) { c.commitFile("g", "more") },
			want: []string{"branch main "}},
		"she merges what it made before": {before: func(c cloned) {
			c.git(c.Root, "switch", "-q", "-c", "topic")
			c.as("bo").commitFile("g", "")
			c.git(c.Root, "switch", "-q", "main")
		},
			do: func(c cloned) { c.git(c.Root, "merge", "-q", "topic") }, want: []string{"branch main "}},
		"without reflogs": {before: func(c cloned) {
			c.git(c.Root, "config", "core.logAllRefUpdates", "false")
			c.git(c.Root, "reflog", "expire", "--expire=all", "--all")
			remove(c, ".git/logs/refs/heads/main")
		},
			do: func(c cloned) { c.as("bo").commitFile("g", "") }, want: []string{"branch main bo"}},
		"a stash": {before: func(c cloned) { c.put(c.Root, "f", "x") }, do: func(c cloned) { c = c.as("bo"); c.git(c.Root, "stash", "-q") }, want: []string{"stash HASH bo"}},
		"a stash popped": {before: func(c cloned) { c.put(c.Root, "f", "x"); c.git(c.Root, "stash", "-q") },
			do: func(c cloned) { c.git(c.Root, "stash", "drop", "-q") }, want: []string{"stash HASH "}},
		"of another run":      {do: func(c cloned) { c.as("cy").commitFile("g", "") }},
		"another's own stash": {before: func(c cloned) { c.put(c.Root, "f", "x"); c = c.as("cy"); c.git(c.Root, "stash", "-q") }, do: func(c cloned) { c.git(c.Root, "stash", "drop", "-q") }},
		"a fetch":             {do: func(c cloned) { c.git(c.Root, "update-ref", "refs/remotes/origin/x", "HEAD") }},
		"a push":              {do: func(c cloned) { c = c.as("bo"); c.git(c.Root, "update-ref", "refs/remotes/origin/x", "HEAD") }, want: []string{"reference refs/remotes/origin/x bo"}},
		"a tag":               {do: func(c cloned) { c.git(c.Root, "tag", "v1") }, want: []string{"tag v1 "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, w, who := watched(t)
			who.Others = []string{"cy"}
			if test.before != nil {
				test.before(c)
			}
			was := c.shared(w)
			test.do(c)
			list, err := w.Changes(t.Context(), was, c.shared(w), who)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range list {
				if one.Kind == git.SharedStash {
					one.Name = "HASH"
				}
				got = append(got, strings.ReplaceAll(fmt.Sprintf("%s %s %s", one.Kind, one.Name, one.By), c.Root, "ROOT"))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// Settings that decide who commits or what runs are restored, unless a person changed them
// after the run; a run that began meanwhile does not report them.
func TestUndoSettings(t *testing.T) {
	c, w, who := watched(t)
	c.git(c.Root, "config", "user.name", "ann")
	c.git(c.Root, "config", "--add", "url.a.insteadOf", "b")
	c.git(c.Root, "config", "--add", "url.a.insteadOf", "c")
	before, err := os.ReadFile(filepath.Join(c.Root, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	was := c.shared(w)
	for key, value := range map[string]string{"user.name": "Robot", "core.hooksPath": "/x", "alias.st": "!x", "user.email": "x@y", "gc.auto": "7"} {
		c.git(c.Root, "config", key, value)
	}
	c.git(c.Root, "config", "--unset-all", "url.a.insteadOf")
	other := c.shared(w) // of a run that begins now
	now := c.shared(w)
	c.git(c.Root, "config", "user.email", "ann@pier") // she does
	list, err := w.Changes(t.Context(), was, now, who)
	if err == nil {
		err = w.UndoSettings(t.Context(), was, now, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	back := map[string]bool{}
	for _, one := range list {
		back[one.Name] = one.Back
	}
	if want := map[string]bool{"user.name": true, "core.hookspath": true, "alias.st": true, "url.a.insteadof": true, "user.email": false, "gc.auto": false}; fmt.Sprint(back) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", back, want)
	}
	if !other.Restore(was, now, list) {
		t.Error("nothing is restored")
	}
	later, err := w.Changes(t.Context(), other, c.shared(w), who)
	if err != nil || len(later) != 1 || later[0].Name != "user.email" {
		t.Errorf("the next run sees %v, %v", later, err)
	}
	if err := w.UndoSettings(t.Context(), was, now, list); err != nil { // after a kill
		t.Error(err)
	}
	c.git(c.Root, "config", "--unset", "user.email")
	c.git(c.Root, "config", "--unset", "gc.auto")
	if after, err := os.ReadFile(filepath.Join(c.Root, ".git", "config")); err != nil || !strings.EqualFold(string(after), string(before)) {
		t.Errorf("%v\n%s\nwant\n%s", err, after, before)
	}
}

// If the worker would sign as the person does, nothing is attributed to it.
func TestSignsAsThePerson(t *testing.T) {
	c, w, _ := watched(t)
	who, _, err := w.Sign(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	was := c.shared(w)
	c.commitFile("g", "")
	if list, err := w.Changes(t.Context(), was, c.shared(w), who); err != nil || len(list) != 1 || list[0].By != "" {
		t.Errorf("%+v, %v", list, err)
	}
}
