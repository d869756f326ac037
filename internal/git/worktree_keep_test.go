package git_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"stig/internal/git"
)

// files is the content of a directory without git's own.
func (c cloned) files(dir string) map[string]string {
	c.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || name == ".git" {
			if d.IsDir() && name != "." {
				found[name+"/"] = ""
			}
			return err
		}
		info, _ := d.Info()
		text, err := os.ReadFile(path)
		found[name] = info.Mode().String() + " " + string(text)
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	return found
}

// The tree is restored whatever happened to it: tracked, untracked and ignored files, the
// index, and the commit.
func TestKeep(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.put(c.Root, "run.sh", "exit 0\n")
	c.put(c.Root, "deep/in/a", "a\n")
	c.commit(c.Root, "more")
	tree := c.prepare("a-1")
	if !tree.New {
		t.Error("a tree that was made is not new")
	}
	c.put(tree.Dir, "f", "by setup\n") // which makes the tree dirty, and adds ignored files
	c.put(tree.Dir, "made", "by setup\n")
	c.put(tree.Dir, "x.o", "by setup\n")
	was, index := c.files(tree.Dir), c.git(tree.Dir, "status", "--porcelain")
	back, err := tree.Keep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.put(tree.Dir, "f", "by a check\n")
	c.put(tree.Dir, "made", "by a check\n")
	c.put(tree.Dir, "new/dir/b.o", "by a check\n")
	c.put(tree.Dir, "new/c", "by a check\n")
	for _, err := range []error{os.RemoveAll(filepath.Join(tree.Dir, "deep")), os.Chmod(filepath.Join(tree.Dir, "run.sh"), 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.git(tree.Dir, "add", "-A")
	c.git(tree.Dir, "commit", "-q", "-m", "by a check")
	if err := back(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := c.files(tree.Dir); !reflect.DeepEqual(now, was) {
		t.Errorf("got  %v\nwant %v", now, was)
	}
	if now := c.git(tree.Dir, "status", "--porcelain"); now != index {
		t.Errorf("status %q, was %q", now, index)
	}
	if head := c.git(tree.Dir, "rev-parse", "HEAD"); head != tree.Head {
		t.Errorf("HEAD is %s, was %s", head, tree.Head)
	}
	// a process was killed before it restored the tree: it is recreated
	if _, err := tree.Keep(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.put(tree.Dir, "left", "by a check\n")
	if again := c.prepare("a-1"); !again.New {
		t.Error("the tree of a process that was killed is taken as it is")
	}
	c.absent(tree.Dir, "left")
}

// A tree reports how it differs from its commit, and what it lacks of it.
func TestStands(t *testing.T) {
	t.Parallel()
	c, lib := newClone(t), newClone(t)
	c.git(c.Root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Root, "lib")
	c.put(c.Root, ".gitattributes", "*.bin filter=lfs\n")
	c.put(c.Root, "a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
	c.commit(c.Root, "lib")
	tree := c.prepare("a-1")
	there := c.Git
	there.Dir, there.Top, there.Trusted = tree.Dir, tree.Dir, true
	modules, pointers, err := there.Lacking(t.Context())
	if err != nil || !reflect.DeepEqual(modules, []string{"lib"}) || !reflect.DeepEqual(pointers, []string{"a.bin"}) {
		t.Errorf("lacks %v, %v, %v", modules, pointers, err)
	}
	stands := func(want ...string) {
		t.Helper()
		got, err := tree.Stands(t.Context())
		if err != nil || len(got) != len(want) {
			t.Fatalf("%v, %v", got, err)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("got %q, want %q", got[i], want[i])
			}
		}
	}
	stands()
	c.git(tree.Dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	if modules, _, err := there.Lacking(t.Context()); err != nil || modules != nil {
		t.Errorf("lacks %v, %v", modules, err)
	}
	stands()
	inner := filepath.Join(tree.Dir, "lib")
	c.put(inner, "f", "mine\n")
	stands("lib: is a submodule with uncommitted changes")
	c.commit(inner, "mine")
	c.put(tree.Dir, "f", "mine\n")
	c.put(tree.Dir, "g", "mine\n")
	stands("f: differs from the commit", "lib: is a submodule at ", "g: is not in the commit")
	c.put(tree.Dir, "h.o", "ignored\n")
	if got, err := there.Ignored(t.Context()); err != nil || !reflect.DeepEqual(got, []string{"h.o"}) {
		t.Errorf("ignored: %v, %v", got, err)
	}
}

// Changes made by a checkout are not work, whatever git status says.
func TestContentOfCheckouts(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.put(c.Root, "crlf.txt", "one\r\n")
	c.put(c.Root, "lf.bat", "one\n")
	c.commit(c.Root, "endings")
	c.put(c.Root, ".gitattributes", "*.txt text eol=lf\n*.bat text eol=crlf\n*.up filter=up\n")
	c.put(c.Root, "a.up", "up\n")
	c.git(c.Root, "add", ".gitattributes", "a.up")
	c.git(c.Root, "commit", "-q", "-m", "attributes")
	c.git(c.Root, "config", "filter.up.smudge", "tr a-z A-Z")
	c.git(c.Root, "config", "filter.up.clean", "cat")
	tree := c.prepare("a-1")
	there := c.Git
	there.Dir, there.Trusted = tree.Dir, true
	old := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC) // git looks again
	if err := os.Chtimes(filepath.Join(tree.Dir, "crlf.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	if status := c.git(tree.Dir, "status", "--porcelain"); !strings.Contains(status, "crlf.txt") || !strings.Contains(status, "a.up") {
		t.Fatalf("git takes for changed: %q", status)
	}
	for _, step := range []struct {
		file, text string
		want       []string
	}{{"", "", nil}, {"crlf.txt", "two\r\n", []string{"crlf.txt"}}, {"crlf.txt", "one\r\n", nil}, {"own/x", "x", nil}, {"other/x", "x", []string{"other/x"}}} {
		if step.file != "" {
			c.put(tree.Dir, step.file, step.text)
		}
		state, paths, err := there.Content(t.Context(), tree.Base, func(path string, tracked bool) bool { return !tracked && strings.HasPrefix(path, "own/") })
		if err != nil || !reflect.DeepEqual(paths, step.want) || (state == git.NoContent) != (step.want == nil) {
			t.Errorf("%s %q: %v, %v; want %v", step.file, step.text, paths, err, step.want)
		}
	}
}
