package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/fault"
)

// repositoryAt creates a repository with one commit for each text of a file, under its name at
// that time.
func repositoryAt(t *testing.T, versions ...struct{ name, text string }) Client {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir),
		"GIT_AUTHOR_NAME=m", "GIT_AUTHOR_EMAIL=m@example.org", "GIT_COMMITTER_NAME=m", "GIT_COMMITTER_EMAIL=m@example.org")
	g := Client{Dir: dir, Env: env}
	must := func(argv ...string) {
		t.Helper()
		if _, err := g.Must(context.Background(), argv...); err != nil {
			t.Fatal(err)
		}
	}
	if len(versions) == 0 {
		return g
	}
	must("init", "-q", "-b", "main")
	last := ""
	for _, v := range versions {
		path := filepath.Join(dir, v.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if last != "" && last != v.name {
			must("mv", last, v.name)
		}
		if err := os.WriteFile(path, []byte(v.text), 0o644); err != nil {
			t.Fatal(err)
		}
		must("add", "-A")
		must("commit", "-q", "-m", "one more")
		last = v.name
	}
	return g
}

type version = struct{ name, text string }

func TestFileAt(t *testing.T) {
	long := strings.Repeat("a line of the store\n", 30)
	g := repositoryAt(t,
		version{"a b.jsonl", long}, version{"a b.jsonl", long + "2\n"}, version{"sub/c.jsonl", long + "2\n"},
		version{"sub/d.jsonl", long + "2\n3\r\n"})
	for _, test := range []struct{ revision, want, err string }{
		{"HEAD", long + "2\n3\r\n", ""},
		{"HEAD~1", long + "2\n", ""},
		{"HEAD~3", long, ""},
		{"main", long + "2\n3\r\n", ""},
		{"HEAD~9", "", `"HEAD~9": git has no such commit`},
		{"--output=x", "", `"--output=x": git has no such commit`},
		{"HEAD:sub", "", "git has no such commit"},
	} {
		var got bytes.Buffer
		below := g
		below.Dir = filepath.Join(g.Dir, "sub")
		err := below.FileAt(context.Background(), test.revision, filepath.Join(g.Dir, "sub", "d.jsonl"), &got)
		if test.err == "" && (err != nil || got.String() != test.want) {
			t.Errorf("%s: got %q, %v; want %q", test.revision, got.String(), err, test.want)
		}
		if test.err != "" && (!fault.Is(err, fault.NoRevision) || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: got %v, want %q", test.revision, err, test.err)
		}
	}
	err := g.FileAt(context.Background(), "HEAD", filepath.Join(g.Dir, "other"), &bytes.Buffer{})
	if !fault.Is(err, fault.NoRevision) || !strings.Contains(err.Error(), "was not committed at HEAD") {
		t.Errorf("a file that is not committed: got %v", err)
	}
	outside := repositoryAt(t)
	err = outside.FileAt(context.Background(), "HEAD", filepath.Join(outside.Dir, "x"), &bytes.Buffer{})
	if !fault.Is(err, fault.NoRevision) || !strings.Contains(err.Error(), "is not in a git repository") {
		t.Errorf("outside of a repository: got %v", err)
	}
}

// TestGitWaits: another git process may lock the index for a moment.
func TestGitWaits(t *testing.T) {
	g := repositoryAt(t, version{"a", "1"})
	lock := filepath.Join(g.Dir, ".git", "index.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(g.Dir, "b"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	removed := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), pause*3)
		defer cancel()
		<-ctx.Done()
		removed <- os.Remove(lock)
	}()
	_, err := g.Must(context.Background(), "add", "b")
	if e := <-removed; e != nil || err != nil {
		t.Fatal(e, err)
	}
}

// The error is not what git printed before it failed, which may be a long history.
func TestMustSaysWhatWentWrong(t *testing.T) {
	g := repositoryAt(t, version{"a", "one"}, version{"a", "two"})
	blob, err := g.Must(context.Background(), "rev-parse", "HEAD~1:a")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(g.Dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	_, err = g.Must(context.Background(), "log", "--patch", "--format=format:printed")
	if err == nil || strings.Contains(err.Error(), "printed") || !strings.Contains(err.Error(), blob) {
		t.Errorf("%v", err)
	}
}

// A repository may name programs in its configuration, and a clone may contain a bare
// repository with such a configuration.
func TestGitStartsNothingOfARepository(t *testing.T) {
	g := repositoryAt(t, version{"a.jsonl", "1\n"}, version{"b.jsonl", "1\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0\" >>'"+ran+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	must := func(g Client, argv ...string) {
		t.Helper()
		if _, err := g.Must(context.Background(), argv...); err != nil {
			t.Fatal(err)
		}
	}
	hostile := func(dir string, keys ...string) {
		t.Helper()
		for _, key := range keys {
			must(g, "config", "--file", filepath.Join(dir, "config"), key, program)
		}
	}
	git := filepath.Join(g.Dir, ".git")
	inner := filepath.Join(g.Dir, "inner") // a nested repository listed in the index
	must(g, "init", "-q", inner)
	must(Client{Dir: inner, Env: g.Env}, "commit", "-q", "--allow-empty", "-m", "inner")
	put(t, "1\n", filepath.Join(inner, "f"))
	put(t, "1\n", filepath.Join(g.Dir, "c"))
	must(Client{Dir: inner, Env: g.Env, Trusted: true}, "add", "f")
	must(g, "add", "inner", "c")
	hostile(git, "core.fsmonitor", "core.pager", "core.editor", "diff.external", "gpg.program", "core.sshCommand",
		"filter.x.clean", "filter.x.smudge", "filter.Y.process", "diff.x.textconv", "diff.x.command", "credential.helper", "core.askPass")
	must(g, "config", "log.showSignature", "true")
	must(g, "config", "filter.x.required", "true")
	must(g, "config", "core.hooksPath", filepath.Dir(program))
	if err := os.Link(program, filepath.Join(filepath.Dir(program), "post-index-change")); err != nil {
		t.Fatal(err)
	}
	put(t, "*.jsonl filter=x diff=x\nc filter=Y\n", filepath.Join(git, "info", "attributes"))
	put(t, "* filter=z\n", filepath.Join(inner, ".git", "info", "attributes"))
	hostile(filepath.Join(inner, ".git"), "core.fsmonitor", "filter.z.clean")
	put(t, "2\n", filepath.Join(inner, "f"))
	put(t, "2\n", filepath.Join(g.Dir, "b.jsonl"))
	bare := filepath.Join(g.Dir, "bare")
	must(g, "init", "-q", "--bare", bare)
	hostile(bare, "core.fsmonitor")
	must(g, "config", "--file", filepath.Join(bare, "config"), "core.bare", "false")
	must(g, "config", "--file", filepath.Join(bare, "config"), "core.worktree", bare)

	if tree, err := g.Tree(context.Background()); err != nil || !tree.Dirty {
		t.Errorf("%+v, %v", tree, err)
	}
	if _, err := g.History(context.Background(), filepath.Join(g.Dir, "b.jsonl"), ""); err != nil {
		t.Error(err)
	}
	if err := g.FileAt(context.Background(), "HEAD~1", filepath.Join(g.Dir, "b.jsonl"), &bytes.Buffer{}); err != nil {
		t.Error(err)
	}
	g.Dir = bare
	if place, err := g.Place(context.Background()); err != nil || place != (Place{}) {
		t.Errorf("%+v, %v", place, err)
	}
	if _, err := g.Run(context.Background(), "status"); err != nil {
		t.Error(err)
	}
	g.Dir = filepath.Dir(git)
	if text := g.Changes(context.Background(), "HEAD", "none", 1<<16); !strings.Contains(text, "+2") {
		t.Errorf("changes are %q", text)
	}
	if _, err := g.Must(context.Background(), "hash-object", "--", "b.jsonl"); err != nil {
		t.Error(err)
	}
	if said, err := os.ReadFile(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("git ran %s, %v", said, err)
	}
}

// A partial clone names where to fetch missing objects, through a program of its own.
func TestGitFetchesNothing(t *testing.T) {
	g := repositoryAt(t, version{"a", "1\n"}, version{"a", "2\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	blob := must(t, g, "rev-parse", "HEAD:a")
	if err := os.Remove(filepath.Join(g.Dir, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	lacks := map[string]func() error{
		"file":    func() error { return g.FileAt(ctx, "HEAD", filepath.Join(g.Dir, "a"), &bytes.Buffer{}) },
		"blobs":   func() error { return g.Blobs(ctx, []string{blob}, func(string, []byte) {}) },
		"names":   func() error { _, err := g.Names(ctx, "HEAD:a"); return err },
		"history": func() error { _, err := g.Must(ctx, "log", "--patch", "--", "a"); return err },
	}
	check := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := lacks[name](); !fault.Is(err, fault.Store) || !strings.Contains(err.Error(), "git lacks") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	check("file", "blobs")
	for _, setting := range []string{
		"extensions.partialClone=origin", "core.repositoryFormatVersion=1", "remote.origin.promisor=true", "remote.origin.url=ssh://localhost/x",
		"core.sshCommand=touch " + ran + "; false", "protocol.ext.allow=always", "protocol.allow=always",
	} {
		key, value, _ := strings.Cut(setting, "=")
		must(t, g, "config", key, value)
	}
	check("file", "blobs", "names", "history")
	must(t, g, "config", "remote.origin.url", "ext::touch "+ran)
	check("file", "blobs", "names", "history")
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("git ran a program: %v", err)
	}
}
