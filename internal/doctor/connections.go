package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/assistant"
	"stig/internal/file"
	"stig/internal/workspace"
)

// configuration reads the files of the configuration one by one, and reports them or the first
// error.
func (e *examination) configuration() {
	a := e.app.Fresh(e.app.Ctx, e.app.Running) // the run keeps its own configuration
	var read []string
	for _, path := range e.app.ConfigFiles(e.store) {
		if _, err := os.Stat(path); workspace.IsAbsent(err) {
			continue
		}
		if err := a.ReadConfig(path); err != nil {
			e.failed("config", err)
			return
		}
		read = append(read, workspace.Shortest(path))
	}
	if err := a.Narrow(); err != nil {
		e.failed("config", err)
		return
	}
	if a.Config.Schema.File != "" {
		read = append(read, workspace.Shortest(a.Config.Schema.File)+" (narrows the schema)")
	}
	if len(read) == 0 {
		read = []string{"no file; stig needs none"}
	}
	e.ok("config", "%s", strings.Join(read, ", "))
}

func (e *examination) trust() {
	code, err := e.app.Code(e.ctx, e.store)
	if err != nil {
		e.failed("trust", err)
		return
	}
	trusted, err := e.app.Trusted(e.ctx, code)
	switch {
	case err != nil:
		e.failed("trust", err)
	case trusted:
		e.ok("trust", "the commands in acceptance criteria may run here")
	default:
		e.todo("trust", "the commands in acceptance criteria may not run here, so no issue can be verified",
			"review them with stig verify ID --plan, then type stig trust")
	}
}

// root returns the directory with the files that assistants and pipelines read.
func (e *examination) root() string {
	if e.top != "" {
		return filepath.FromSlash(e.top)
	}
	return filepath.Dir(e.store.Dir)
}

// assistants examines the files that connect coding assistants to stig.
func (e *examination) assistants() {
	var found []string
	for _, dir := range assistant.SkillDirs() {
		for _, skill := range assistant.SkillFiles(false) {
			path := filepath.Join(filepath.FromSlash(dir.Path), skill.Name, "SKILL.md")
			text, err := file.Read(filepath.Join(e.root(), path))
			switch {
			case err == nil && string(text) == skill.Whole():
				found = append(found, path)
			case err == nil:
				e.todo("skill", path+" differs from the skill of this stig", "stig setup "+string(dir.Host)+" --force")
			}
		}
	}
	e.orders()
	for _, s := range assistant.AllSettings() {
		if connected := e.settings(s); connected != "" {
			found = append(found, connected)
		}
		e.obstacles(s)
	}
	for _, name := range assistant.Instructions() {
		text, err := file.Read(filepath.Join(e.root(), name))
		if err != nil {
			continue
		}
		has, err := assistant.HasBlock(text)
		switch {
		case errors.Is(err, assistant.ErrEdited):
			e.todo("assistants", name+": "+err.Error(), "see stig setup --help")
		case err != nil:
			e.broken("assistants", name+": "+err.Error(), "fix the stig block in it")
		case has:
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		e.todo("assistants", "none is connected to stig", "stig setup --help, if you use one here")
		return
	}
	e.ok("assistants", "%s", strings.Join(found, ", "))
}

// settings returns the settings file of a host if its hooks call stig; "" if they do not.
func (e *examination) settings(s assistant.Settings) string {
	path := filepath.Join(s.Dir, s.File)
	text, err := file.Read(filepath.Join(e.root(), path))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		e.failed("assistants", err)
		return ""
	}
	missing, err := s.Missing(text)
	switch {
	case err != nil:
		e.broken("assistants", path+": "+err.Error(), "fix the file: "+string(s.Host)+" cannot read it either")
	case len(missing) == 0:
		return path
	case strings.Contains(string(text), "stig hook"):
		e.todo("assistants", fmt.Sprintf("%s: no stig hook for %s", path, strings.Join(missing, ", ")), "stig setup "+string(s.Host))
	}
	return ""
}

// obstacles reports what keeps a host from running the hooks of stig in its settings.
func (e *examination) obstacles(s assistant.Settings) {
	list, err := Obstacles(e.ctx, e.app, s, SetupOptions{})
	if err != nil {
		e.failed("assistants", err)
	}
	for _, obstacle := range list {
		e.todo("assistants", obstacle.File+": "+obstacle.Found, obstacle.Do)
	}
}

// pipelines looks for CI pipelines and commit hooks that run stig check.
func (e *examination) pipelines() {
	var found []string
	for _, pattern := range []string{
		".github/workflows/*.yml", ".github/workflows/*.yaml", ".gitlab-ci.yml", ".pre-commit-config.yaml", ".ci/*", "Jenkinsfile", "justfile", "Makefile",
	} {
		paths, err := filepath.Glob(filepath.Join(e.root(), filepath.FromSlash(pattern)))
		if err != nil {
			e.failed("pipeline", err)
			return
		}
		for _, path := range paths {
			if text, err := file.Read(path); err == nil && runsCheck(string(text)) {
				found = append(found, workspace.Shortest(path))
			}
		}
	}
	if len(found) == 0 {
		e.todo("pipeline", "nothing runs stig check when a branch is pushed", "stig check --against "+e.trunk()+" --strict, in a CI job; see docs/ci.md")
		return
	}
	e.ok("pipeline", "%s", strings.Join(found, ", "))
}

// trunk returns the branch that others are merged into, as far as git knows; main by default.
func (e *examination) trunk() string {
	if e.top == "" {
		return "main"
	}
	if head := e.said("symbolic-ref", "--short", "-q", "refs/remotes/origin/HEAD"); head != "" {
		return strings.TrimPrefix(head, "origin/")
	}
	for _, name := range []string{"main", "master", "trunk"} {
		if e.said("rev-parse", "-q", "--verify", "refs/heads/"+name) != "" {
			return name
		}
	}
	return "main"
}

// runsCheck reports whether a pipeline runs stig check, its action or its commit hook.
func runsCheck(text string) bool {
	return strings.Contains(text, "stig check") || strings.Contains(text, "/stig@") || strings.Contains(text, "stig-check")
}
