package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/app"
	"stig/host"
)

// installedSkill is the skill in the folders of some hosts.
type installedSkill struct {
	files []app.HostFile
	force bool
	typed string // the command that installs these
}

// Skill puts the skill where those readers look for skills, all of them where none
// is named.
func Skill(ctx context.Context, a *app.App, readers []string, o Options) (*Result, error) {
	skill, err := skillFiles(a, readers, o)
	if err != nil {
		return nil, err
	}
	return connect(ctx, skill, o)
}

func skillFiles(a *app.App, names []string, o Options) (*installedSkill, error) {
	root, err := place(a, o)
	if err != nil {
		return nil, err
	}
	s := &installedSkill{force: o.Force, typed: strings.Join(append([]string{"stig skill install"}, names...), " ")}
	if o.User {
		s.typed += " --user"
	}
	var known []string
	for _, dir := range host.SkillDirs() {
		known = append(known, dir.Reader)
		if len(names) == 0 || slices.Contains(names, dir.Reader) {
			path := filepath.Join(root, filepath.FromSlash(dir.Path), host.SkillName, "SKILL.md")
			s.files = append(s.files, app.HostFile{Path: path, Root: root})
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, app.Usage(fmt.Sprintf("must be one of %s; found %q", strings.Join(known, ", "), name), "")
		}
	}
	return s, nil
}

func (s *installedSkill) Preview() string {
	text := ""
	for _, f := range s.files {
		text += app.Shortest(f.Path) + ":\n"
	}
	return text + host.Skill()
}

func (s *installedSkill) Missing(context.Context) (list []string, err error) {
	for _, f := range s.files {
		text, err := f.Read()
		if err != nil {
			return nil, err
		}
		if string(text) != host.Skill() {
			list = append(list, app.Shortest(f.Path))
		}
	}
	return list, nil
}

func (s *installedSkill) Install(context.Context) ([]app.SetupStep, error) {
	return s.edit([]byte(host.Skill()))
}

func (s *installedSkill) Remove(context.Context) ([]app.SetupStep, error) { return s.edit(nil) }

// edit gives the files a text, or removes them for nil, all or none: those
// that say something else are somebody's.
func (s *installedSkill) edit(text []byte) (steps []app.SetupStep, err error) {
	forced := s.typed + " --force"
	if text == nil {
		forced = s.typed + " --remove --force"
	}
	for _, f := range s.files {
		present, err := f.Read()
		if err != nil {
			return nil, err
		}
		own := present == nil || string(present) == host.Skill()
		if !own && !s.force {
			return nil, app.Usage(app.Shortest(f.Path)+": holds another text than stig writes", "type "+forced+" if it may go")
		}
		steps = append(steps, f.Change(present, text, app.Shortest(f.Path))...)
	}
	return steps, nil
}
