package connect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/app"
	"stig/host"
	"stig/jsonl"
)

// configuration reads each file by itself, so that a mistake in one does not
// hide the other.
func (d *doctor) configuration() {
	a := *d.app // what is read here must not stay
	a.Config = app.Config{}
	var read []string
	for _, path := range d.app.ConfigFiles(d.store) {
		if _, err := os.Stat(path); app.IsAbsent(err) {
			continue
		}
		if err := a.ReadConfig(path); err != nil {
			d.failed("config", err)
			return
		}
		read = append(read, app.Shortest(path))
	}
	if err := a.Narrow(); err != nil {
		d.failed("config", err)
		return
	}
	if a.Config.Schema.File != "" {
		read = append(read, app.Shortest(a.Config.Schema.File)+" (narrows the schema)")
	}
	if len(read) == 0 {
		read = []string{"no file, and none is needed"}
	}
	d.ok("config", "%s", strings.Join(read, ", "))
}

func (d *doctor) trust() {
	site, err := d.app.Site(d.ctx, d.store)
	if err != nil {
		d.failed("trust", err)
		return
	}
	trusted, err := d.app.Trusted(d.ctx, site)
	switch {
	case err != nil:
		d.failed("trust", err)
	case trusted:
		d.ok("trust", "the commands in acceptance criteria may run here")
	default:
		d.todo("trust", "the commands in acceptance criteria may not run here, so that no issue can be verified",
			"read some with stig verify ID --plan, then type stig trust")
	}
}

// root is the directory that holds what assistants and pipelines read.
func (d *doctor) root() string {
	if d.top != "" {
		return filepath.FromSlash(d.top)
	}
	return filepath.Dir(d.store.Dir)
}

// assistants looks for what tells coding assistants of stig.
func (d *doctor) assistants() {
	var found []string
	for _, dir := range host.SkillDirs() {
		path := filepath.Join(filepath.FromSlash(dir.Path), host.SkillName, "SKILL.md")
		text, err := jsonl.ReadText(filepath.Join(d.root(), path))
		switch {
		case err == nil && string(text) == host.Skill():
			found = append(found, path)
		case err == nil:
			d.todo("skill", path+" is not the one of this stig", "stig skill install")
		}
	}
	for _, s := range host.AllSettings() {
		if connected := d.settings(s); connected != "" {
			found = append(found, connected)
		}
	}
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		text, err := jsonl.ReadText(filepath.Join(d.root(), name))
		if err != nil {
			continue
		}
		has, err := host.HasBlock(text)
		switch {
		case errors.Is(err, host.ErrEdited):
			d.todo("assistants", name+": "+err.Error(), "see stig setup --help")
		case err != nil:
			d.broken("assistants", name+": "+err.Error(), "fix the block of stig in it")
		case has:
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		d.todo("assistants", "none is told of stig", "stig setup --help, if one works here")
		return
	}
	d.ok("assistants", "%s", strings.Join(found, ", "))
}

// settings looks whether the hooks of a host call stig; "" where they do not.
func (d *doctor) settings(s host.Settings) string {
	path := filepath.Join(s.Dir, s.File)
	text, err := jsonl.ReadText(filepath.Join(d.root(), path))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		d.failed("assistants", err)
		return ""
	}
	missing, err := s.Missing(text)
	switch {
	case err != nil:
		d.broken("assistants", path+": "+err.Error(), "fix the file, for "+string(s.Host)+" cannot read it either")
	case len(missing) == 0:
		return path
	case strings.Contains(string(text), "stig hook"):
		d.todo("assistants", fmt.Sprintf("%s: stig does not answer %s", path, strings.Join(missing, ", ")), "stig setup "+string(s.Host))
	}
	return ""
}

// pipelines looks for what runs stig check on a server or before a commit.
func (d *doctor) pipelines() {
	var found []string
	for _, pattern := range []string{
		".github/workflows/*.yml", ".github/workflows/*.yaml", ".gitlab-ci.yml", ".pre-commit-config.yaml", ".ci/*", "Jenkinsfile", "justfile", "Makefile",
	} {
		paths, err := filepath.Glob(filepath.Join(d.root(), filepath.FromSlash(pattern)))
		if err != nil {
			d.failed("pipeline", err)
			return
		}
		for _, path := range paths {
			if text, err := jsonl.ReadText(path); err == nil && runsCheck(string(text)) {
				found = append(found, app.Shortest(path))
			}
		}
	}
	if len(found) == 0 {
		d.todo("pipeline", "nothing runs stig check when a branch is pushed", "stig check --against "+d.trunk()+" --strict, in a job as docs/ci.md has it")
		return
	}
	d.ok("pipeline", "%s", strings.Join(found, ", "))
}

// trunk is the branch that others are merged into, as far as git knows it.
func (d *doctor) trunk() string {
	if d.top == "" {
		return "main"
	}
	if head := d.said("symbolic-ref", "--short", "-q", "refs/remotes/origin/HEAD"); head != "" {
		return strings.TrimPrefix(head, "origin/")
	}
	for _, name := range []string{"main", "master", "trunk"} {
		if d.said("rev-parse", "-q", "--verify", "refs/heads/"+name) != "" {
			return name
		}
	}
	return "main"
}

// runsCheck reports whether a pipeline runs the check, the action or a hook of it.
func runsCheck(text string) bool {
	return strings.Contains(text, "stig check") || strings.Contains(text, "/stig@") || strings.Contains(text, "stig-check")
}
