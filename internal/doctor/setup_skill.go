package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/assistant"
	"stig/internal/workspace"
)

// installedSkill is the skill in the folders of some hosts.
type installedSkill struct {
	files []workspace.HostFile
	force bool
	typed string // the command that installs these
}

// SetupSkill puts the skill where those readers look for skills, all of them where none
// is named.
func SetupSkill(ctx context.Context, a *workspace.Run, readers []string, o SetupOptions) (*SetupResult, error) {
	skill, err := skillFiles(a, readers, o)
	if err != nil {
		return nil, err
	}
	return connect(ctx, skill, o)
}

func skillFiles(a *workspace.Run, names []string, o SetupOptions) (*installedSkill, error) {
	root, err := place(a, o)
	if err != nil {
		return nil, err
	}
	s := &installedSkill{force: o.Force, typed: strings.Join(append([]string{"stig skill install"}, names...), " ")}
	if o.User {
		s.typed += " --user"
	}
	var known []string
	for _, dir := range assistant.SkillDirs() {
		known = append(known, dir.Reader)
		if len(names) == 0 || slices.Contains(names, dir.Reader) {
			path := filepath.Join(root, filepath.FromSlash(dir.Path), assistant.SkillName, "SKILL.md")
			s.files = append(s.files, workspace.HostFile{Path: path, Root: root})
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, workspace.Usage(fmt.Sprintf("must be one of %s; found %q", strings.Join(known, ", "), name), "")
		}
	}
	return s, nil
}

func (s *installedSkill) Preview() string {
	text := ""
	for _, f := range s.files {
		text += workspace.Shortest(f.Path) + ":\n"
	}
	return text + assistant.Skill()
}

func (s *installedSkill) Missing(context.Context) (list []string, err error) {
	for _, f := range s.files {
		text, err := f.Read()
		if err != nil {
			return nil, err
		}
		if string(text) != assistant.Skill() {
			list = append(list, workspace.Shortest(f.Path))
		}
	}
	return list, nil
}

func (s *installedSkill) Install(context.Context) ([]workspace.SetupStep, error) {
	return s.edit([]byte(assistant.Skill()))
}

func (s *installedSkill) Remove(context.Context) ([]workspace.SetupStep, error) { return s.edit(nil) }

// edit gives the files a text, or removes them for nil, all or none: those
// that say something else are somebody's.
func (s *installedSkill) edit(text []byte) (steps []workspace.SetupStep, err error) {
	forced := s.typed + " --force"
	if text == nil {
		forced = s.typed + " --remove --force"
	}
	for _, f := range s.files {
		present, err := f.Read()
		if err != nil {
			return nil, err
		}
		own := present == nil || string(present) == assistant.Skill()
		if !own && !s.force {
			return nil, workspace.Usage(workspace.Shortest(f.Path)+": holds another text than stig writes", "type "+forced+" if it may go")
		}
		steps = append(steps, f.Change(present, text, workspace.Shortest(f.Path))...)
	}
	return steps, nil
}
