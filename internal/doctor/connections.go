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

// configuration reads each file by itself, so that a mistake in one does not
// hide the other.
func (e *examination) configuration() {
	a := e.app.Fresh(e.app.Ctx, e.app.Running) // what is read here must not stay
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
		read = []string{"no file, and none is needed"}
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
		e.todo("trust", "the commands in acceptance criteria may not run here, so that no issue can be verified",
			"read some with stig verify ID --plan, then type stig trust")
	}
}

// root is the directory that holds what assistants and pipelines read.
func (e *examination) root() string {
	if e.top != "" {
		return filepath.FromSlash(e.top)
	}
	return filepath.Dir(e.store.Dir)
}

// assistants examines the files that tell coding assistants about stig.
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
				e.todo("skill", path+" is not the one of this stig", "stig setup "+string(dir.Host)+" --force")
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
			e.broken("assistants", name+": "+err.Error(), "fix the block of stig in it")
		case has:
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		e.todo("assistants", "none is set up for stig", "stig setup --help, if one works here")
		return
	}
	e.ok("assistants", "%s", strings.Join(found, ", "))
}

// settings checks whether the hooks of a host call stig; "" if they do not.
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
		e.broken("assistants", path+": "+err.Error(), "fix the file, for "+string(s.Host)+" cannot read it either")
	case len(missing) == 0:
		return path
	case strings.Contains(string(text), "stig hook"):
		e.todo("assistants", fmt.Sprintf("%s: stig does not answer %s", path, strings.Join(missing, ", ")), "stig setup "+string(s.Host))
	}
	return ""
}

// obstacles looks for what keeps a host from running the hooks that it has of stig.
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
		e.todo("pipeline", "nothing runs stig check when a branch is pushed", "stig check --against "+e.trunk()+" --strict, in a job as docs/ci.md has it")
		return
	}
	e.ok("pipeline", "%s", strings.Join(found, ", "))
}

// trunk is the branch that others are merged into, as far as git knows it.
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

// runsCheck reports whether a pipeline runs the check, the action or a hook of it.
func runsCheck(text string) bool {
	return strings.Contains(text, "stig check") || strings.Contains(text, "/stig@") || strings.Contains(text, "stig-check")
}
