package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stig/app"
	"stig/beads"
	"stig/jsonl"
	"stig/process"
	"stig/setup"
)

// variables are those of the environment that change what stig does.
var variables = []string{
	"STIG_ACTOR", "BD_ACTOR", "BEADS_DIR", "STIG_TRUST", "NO_COLOR", "CLICOLOR_FORCE", "VISUAL", "EDITOR", "STIG_NOW",
}

func (d *doctor) environment() {
	var set []string
	for _, name := range variables {
		if value := d.app.Getenv(name); value != "" {
			set = append(set, name+"="+value)
		}
	}
	if len(set) == 0 {
		set = []string{"no variable that stig reads is set"}
	}
	d.ok("environment", "%s", strings.Join(set, ", "))
	if fixed := d.app.Getenv("STIG_NOW"); fixed != "" {
		if _, err := d.app.Clock(); err != nil {
			d.failed("clock", err)
			return
		}
		d.todo("clock", "STIG_NOW fixes the time at "+fixed+": whatever is written gets that date", "unset STIG_NOW, unless this is a test")
	}
}

func (d *doctor) actor() {
	name, err := d.app.ActorName(d.ctx)
	switch {
	case err != nil:
		d.failed("actor", err)
	case name == "":
		d.todo("actor", "no actor set", "export STIG_ACTOR=NAME")
	default:
		d.ok("actor", "%s", name)
	}
}

// findStore looks for the store without the configuration, which may be what is
// broken.
func (d *doctor) findStore() bool {
	where := d.app.Where()
	store, err := jsonl.Discover(where)
	if err != nil && where.File == "" && where.BeadsDir == "" && jsonl.Vacant(where.Dir) == nil {
		d.todo("store", "there is no .beads with issues from here up to the root of the repository", "stig init")
		return false
	}
	if err != nil {
		d.failed("store", err)
		return false
	}
	store.Path = app.Shortest(store.Path)
	d.store = store
	file, err := d.app.At(store).Snapshot()
	if err != nil {
		d.failed("store", err)
		return false
	}
	defer file.Close()
	if problems := file.Problems(); len(problems) > 0 {
		d.broken("store", fmt.Sprintf("%s: %s wrong, beginning with line %d: %s", store.Path,
			app.Counted(len(problems), "line"), problems[0].Line, problems[0].Message), "stig vet")
		return true
	}
	d.ok("store", "%s: %s", store.Path, app.Counted(file.Len(), "issue"))
	return true
}

// trackers says whose store it is, and which of their programs are here.
func (d *doctor) trackers() {
	switch d.store.Mode {
	case beads.Dolt:
		d.ok("mode", "the issues live in a Dolt database; stig reads its export, bd writes, and bd export brings the file up to date")
	case beads.SQLite:
		if d.have("bd") {
			d.ok("mode", "bd keeps a SQLite database beside the file, and is told of what stig writes")
			break
		}
		d.todo("mode", "bd keeps a SQLite database beside the file, and no bd is on PATH to be told of writes",
			"install bd, then type bd sync --import-only")
	default:
		if d.store.NoDB {
			d.ok("mode", "the file is the store; bd works on it too (no-db in config.yaml)")
			break
		}
		d.ok("mode", "the file is the store")
	}
	for _, program := range []string{"bd", "br"} {
		if d.have(program) {
			d.program(program, "version")
		}
	}
}

// patience is how long a program may take to say its version.
const patience = 5 * time.Second

func (d *doctor) program(name string, argv ...string) {
	ctx, done := context.WithTimeout(d.ctx, patience)
	defer done()
	result, err := process.Run(ctx, process.Command{Argv: append([]string{name}, argv...), Dir: d.store.Dir, Env: d.app.Environ()})
	if err == nil && result.Exit != 0 {
		err = fmt.Errorf("exit %d", result.Exit)
	}
	if err != nil {
		d.todo(name, fmt.Sprintf("is on PATH and does not say its version: %v", err), "see what "+name+" "+strings.Join(argv, " ")+" says")
		return
	}
	said, _, _ := strings.Cut(strings.TrimSpace(string(result.Stdout)), "\n")
	d.ok(name, "%s", strings.TrimSpace(said))
}

// repository looks at git around the store; false where there is none.
func (d *doctor) repository() bool {
	if !d.have("git") {
		d.todo("git", "is not on PATH: no history, no merging, no stig check --against", "install git")
		return false
	}
	var err error
	if d.git, d.path, err = d.app.Git(d.store); err != nil {
		d.failed("git", err)
		return false
	}
	version, err := d.git.Must(d.ctx, "--version")
	if err != nil {
		d.failed("git", err)
		return false
	}
	d.top = d.said("rev-parse", "--show-toplevel")
	if d.top == "" {
		d.todo("git", "the store is in no repository: it has no history, and nobody else gets it", "git init")
		return false
	}
	branch := d.said("symbolic-ref", "--short", "-q", "HEAD")
	if branch == "" {
		branch = "no branch"
	}
	d.ok("git", "%s, on %s", strings.TrimPrefix(version, "git version "), branch)
	switch {
	case d.said("ls-files", "--", d.path) != "":
		d.ok("history", "git keeps the store")
	case d.ignored(d.path):
		d.todo("history", "git ignores the store: nobody else gets it, and it has no history", "git add -f "+d.store.Path)
	default:
		d.todo("history", "the store is not committed: nobody else gets it, and it has no history", "git add "+d.store.Path)
	}
	return true
}

// said is what git prints, "" when it fails: then it has nothing to say.
func (d *doctor) said(argv ...string) string {
	result, err := d.git.Run(d.ctx, argv...)
	if err != nil || result.Exit != 0 {
		return ""
	}
	return strings.TrimSpace(string(result.Stdout))
}

// ignored reports whether git leaves a path out, be it there or not. git refuses
// this one question in the environment in which git.Client asks.
func (d *doctor) ignored(path string) bool {
	result, err := process.Run(d.ctx, process.Command{Argv: []string{"git", "-c", "core.fsmonitor=false", "check-ignore", "-q", "--", path}, Dir: d.git.Dir, Env: d.git.Env})
	return err == nil && result.Exit == 0
}

// unfinished looks at what a merge that git has not finished left of the store.
func (d *doctor) unfinished() {
	u, err := d.app.Unfinished(d.ctx, d.store, true)
	switch {
	case err != nil:
		d.failed("merge", err)
	case u != nil:
		d.broken("merge", "the store "+u.Reason, u.Hint)
	}
}

func (d *doctor) mergeDriver() {
	driver, err := setup.DriverOf(d.ctx, d.app, d.store)
	if err != nil {
		d.failed("merging", err)
		return
	}
	missing, err := driver.Missing(d.ctx)
	if err != nil {
		d.failed("merging", err)
		return
	}
	attribute, err := driver.Attribute(d.ctx)
	switch {
	case err != nil:
		d.failed("merging", err)
	case len(missing) == 0 && !d.have("stig"):
		d.broken("merging", "git merges the store with stig, which is not on PATH", "put stig in PATH")
	case len(missing) == 0:
		d.ok("merging", "git merges the store with stig, by issue, section and signal")
	case attribute != "unspecified" && attribute != "stig":
		d.todo("merging", fmt.Sprintf("git merges the store with %q", attribute), "stig setup git --force, to put stig in its place")
	case len(missing) == 1 && strings.HasPrefix(missing[0], setup.NoFallback):
		_, do, custom := strings.Cut(missing[0], "; type ")
		if !custom {
			do = "stig setup git"
		}
		d.todo("merging", "git merges the store with stig; where stig does not run, it leaves out the other side's changes without markers", do)
	case len(missing) == 1:
		d.todo("merging", "git does not merge the store with stig yet; missing: "+missing[0], "stig setup git")
	default:
		d.todo("merging", "git merges the store line by line", "stig setup git")
	}
}

// lockFiles looks whether the files that are locked for a write show in git
// status. They stay where other programs look for them.
func (d *doctor) lockFiles() {
	touched, err := jsonl.Touched(d.store)
	if err != nil {
		d.failed("locks", err)
		return
	}
	for _, lock := range touched[1:] {
		name := filepath.Base(lock)
		in := app.Shortest(filepath.Join(filepath.Dir(lock), ".gitignore"))
		switch {
		case d.said("ls-files", "--", lock) != "":
			d.todo("locks", name+" is committed, and is of no use to anybody else", "git rm --cached "+app.Shortest(lock)+" && echo "+name+" >>"+in)
			return
		case !d.ignored(lock):
			d.todo("locks", name+" shows in git status once something was written", "echo "+name+" >>"+in)
			return
		}
	}
	d.ok("locks", "git ignores the files that are locked for a write")
}

// gitHooks lists the hooks that git runs here, and whether they call stig.
func (d *doctor) gitHooks() {
	dir := d.said("rev-parse", "--git-path", "hooks")
	if dir == "" {
		return
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(d.git.Dir, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.failed("hooks", err)
		return
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() || strings.Contains(e.Name(), ".") {
			continue // samples, and what another program put aside
		}
		found = append(found, e.Name()+calls(filepath.Join(dir, e.Name())))
	}
	if len(found) == 0 {
		found = []string{"none; stig needs none"}
	}
	d.ok("hooks", "%s", strings.Join(found, ", "))
}

// calls names the trackers that a hook mentions.
func calls(path string) string {
	text, err := jsonl.ReadText(path)
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

// mentions reports whether a text has a program's name as a word of its own.
func mentions(text, program string) bool {
	part := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_' }
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !part(r) }) {
		if word == program {
			return true
		}
	}
	return false
}
