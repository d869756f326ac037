package doctor

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/file"
	"stig/internal/git"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// repository examines git around the store; it returns false if there is none.
func (e *examination) repository() bool {
	if !e.have("git") {
		e.todo("git", "not on PATH: no history, no merging, no stig check --against", "install git")
		return false
	}
	var err error
	if e.store.Mode == beads.Server {
		e.path, err = filepath.Abs(e.store.Path)
		e.git = e.app.GitIn(filepath.Dir(e.store.Dir))
	} else {
		e.git, e.path, err = e.app.Git(e.store)
	}
	if err != nil {
		e.failed("git", err)
		return false
	}
	version, err := e.git.Must(e.ctx, "--version")
	if err != nil {
		e.failed("git", err)
		return false
	}
	top, err := e.git.Run(e.ctx, "rev-parse", "--show-toplevel")
	if err == nil {
		err = git.Foreign(top)
	}
	if err != nil {
		e.failed("git", err)
		return false
	}
	if e.top = strings.TrimSpace(string(top.Stdout)); top.Exit != 0 || e.top == "" {
		e.todo("git", "the store is not in a git repository: nobody else gets it, and it has no history", "git init")
		return false
	}
	branch := cmp.Or(e.said("symbolic-ref", "--short", "-q", "HEAD"), "no branch")
	e.ok("git", "%s, on %s", strings.TrimPrefix(version, "git version "), branch)
	switch {
	case e.said("ls-files", "--", e.path) != "" && e.store.Mode == beads.Server:
		e.ok("history", "git tracks %s; the server holds the issues", e.store.Path)
	case e.said("ls-files", "--", e.path) != "":
		e.ok("history", "git tracks the store")
	case e.store.Mode == beads.Server && !workspace.Exists(e.store.Path):
	case e.store.Mode == beads.Server:
		e.todo("history", "git does not track "+e.store.Path+": other clones cannot find the store", "git add -f "+e.store.Path)
	case e.ignored(e.path):
		e.todo("history", "git ignores the store: nobody else gets it, and it has no history", "git add -f "+e.store.Path)
	default:
		e.todo("history", "the store is not committed: nobody else gets it, and it has no history", "git add "+e.store.Path)
	}
	return true
}

// said returns what git prints; "" if it fails.
func (e *examination) said(argv ...string) string {
	result, err := e.git.Run(e.ctx, argv...)
	if err != nil || result.Exit != 0 {
		return ""
	}
	return strings.TrimSpace(string(result.Stdout))
}

// ignored reports whether git ignores a path, whether or not it exists.
func (e *examination) ignored(path string) bool {
	ignored, err := e.git.Ignores(e.ctx, path)
	return err == nil && ignored
}

// unfinished reports what an unfinished git merge left of the store.
func (e *examination) unfinished() {
	u, err := e.app.Unfinished(e.ctx, e.store, true)
	switch {
	case err != nil:
		e.failed("merge", err)
	case u != nil:
		e.broken("merge", "the store "+u.Reason, u.Hint)
	}
}

func (e *examination) mergeDriver() {
	if e.store.File() == "" {
		return
	}
	driver, err := DriverOf(e.ctx, e.app, e.store)
	if err != nil {
		e.failed("merging", err)
		return
	}
	missing, err := driver.Missing(e.ctx)
	if err != nil {
		e.failed("merging", err)
		return
	}
	now, err := driver.Merging(e.ctx)
	switch {
	case err != nil:
		e.failed("merging", err)
	case len(missing) == 0 && now.absent != "":
		e.broken("merging", now.String(), "put "+now.absent+" on PATH")
	case len(missing) == 0:
		e.ok("merging", "git merges the store with stig, by issue, section and signal")
	case now.attribute != "stig" && now.command != "":
		e.todo("merging", now.String(), "stig setup git --force, to replace it with stig")
	case now.attribute != "stig":
		e.todo("merging", now.String(), "stig setup git")
	case len(missing) == 1 && strings.HasPrefix(missing[0], NoFallback):
		_, do, custom := strings.Cut(missing[0], "; type ")
		if !custom {
			do = "stig setup git"
		}
		e.todo("merging", "git merges the store with stig; if stig cannot run, git drops the other side's changes without conflict markers", do)
	default:
		e.todo("merging", now.String(), "stig setup git")
	}
}

// lockFiles checks whether the store's lock files show in git status. They cannot move, because
// other programs look for them there.
func (e *examination) lockFiles() {
	touched, err := jsonl.Touched(e.store)
	if err != nil {
		e.failed("locks", err)
		return
	}
	if len(touched) == 0 {
		return
	}
	for _, lock := range touched[1:] {
		name := filepath.Base(lock)
		in := workspace.Shortest(filepath.Join(filepath.Dir(lock), ".gitignore"))
		switch {
		case e.said("ls-files", "--", lock) != "":
			e.todo("locks", name+" is committed, but no other clone needs it", "git rm --cached "+workspace.Shortest(lock)+" && echo "+name+" >>"+in)
			return
		case workspace.Exists(lock) && !e.ignored(lock):
			e.todo("locks", name+" shows in git status", "echo "+name+" >>"+in)
			return
		}
	}
	e.ok("locks", "git ignores the lock files")
}

// gitHooks reports the hooks that git runs here, and whether they call stig.
func (e *examination) gitHooks() {
	dir := e.said("rev-parse", "--git-path", "hooks")
	if dir == "" {
		return
	}
	dir = file.Under(e.git.Dir, dir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.failed("hooks", err)
		return
	}
	var found []string
	for _, entry := range entries {
		if entry.IsDir() || strings.Contains(entry.Name(), ".") {
			continue // samples and files that another program put aside
		}
		found = append(found, entry.Name()+calls(filepath.Join(dir, entry.Name())))
	}
	if len(found) == 0 {
		found = []string{"none; stig needs none"}
	}
	e.ok("hooks", "%s", strings.Join(found, ", "))
}

// calls returns the programs that a hook mentions, in parentheses; "" for none.
func calls(path string) string {
	text, err := file.Read(path)
	if err != nil {
		return " (cannot be read)"
	}
	var named []string
	for _, program := range []string{"stig", "bd", "br", "pre-commit"} {
		if mentions(string(text), program) {
			named = append(named, program)
		}
	}
	if len(named) == 0 {
		return ""
	}
	return " (" + strings.Join(named, ", ") + ")"
}

// mentions reports whether text contains the name of a program as a separate word.
func mentions(text, program string) bool {
	part := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_' }
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !part(r) }) {
		if word == program {
			return true
		}
	}
	return false
}
