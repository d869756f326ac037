package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/host"
)

func (a *app) skillCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "what an assistant needs to know to work with stig",
		Long: "skill prints the SKILL.md that teaches an assistant to work with stig. skill install\n" +
			"puts it where assistants look for skills.",
		GroupID: "connect",
		Args:    a.unknownCommand,
		Example: "  stig skill\n  stig skill install",
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON("skill", map[string]any{"name": host.SkillName, "text": host.Skill(), "bytes": len(host.Skill())})
			}
			return a.data(host.Skill())
		},
	}
	cmd.AddCommand(a.skillInstallCommand())
	return cmd
}

func (a *app) skillInstallCommand() *cobra.Command {
	var o setupOptions
	var names []string
	for _, dir := range host.SkillDirs() {
		names = append(names, dir.Reader)
	}
	cmd := &cobra.Command{
		Use:   "install [" + strings.Join(names, "|") + "]…",
		Short: "put the skill where assistants look for skills",
		Long: "install puts the skill into .agents/skills, .claude/skills and .cursor/skills of the\n" +
			"project, or with --user of the home; into those that are named when some are. A\n" +
			"SKILL.md of that name with another text is kept unless --force is given.",
		Args:      takes(0, len(names), "at most "+strings.Join(names, ", ")),
		ValidArgs: names,
		Example:   "  stig skill install\n  stig skill install claude --user\n  stig skill install --remove",
		RunE: func(cmd *cobra.Command, args []string) error {
			skill, err := a.skillFiles(args, o)
			if err != nil {
				return err
			}
			return a.setup(cmd.Context(), "skill", skill, o)
		},
	}
	a.setupFlags(cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, "also replace or remove a SKILL.md with another text")
	return cmd
}

// installedSkill is the skill in the folders of some hosts.
type installedSkill struct {
	files []hostFile
	force bool
}

func (a *core) skillFiles(names []string, o setupOptions) (*installedSkill, error) {
	root, err := a.place(o)
	if err != nil {
		return nil, err
	}
	s := &installedSkill{force: o.force}
	var known []string
	for _, dir := range host.SkillDirs() {
		known = append(known, dir.Reader)
		if len(names) == 0 || slices.Contains(names, dir.Reader) {
			path := filepath.Join(root, filepath.FromSlash(dir.Path), host.SkillName, "SKILL.md")
			s.files = append(s.files, hostFile{path, root})
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, usage(fmt.Sprintf("must be one of %s; found %q", strings.Join(known, ", "), name), "")
		}
	}
	return s, nil
}

func (s *installedSkill) preview() string {
	text := ""
	for _, f := range s.files {
		text += shortest(f.path) + ":\n"
	}
	return text + host.Skill()
}

func (s *installedSkill) missing(context.Context) (list []string, err error) {
	for _, f := range s.files {
		text, err := f.read()
		if err != nil {
			return nil, err
		}
		if string(text) != host.Skill() {
			list = append(list, shortest(f.path))
		}
	}
	return list, nil
}

func (s *installedSkill) install(context.Context) ([]setupStep, error) {
	return s.edit([]byte(host.Skill()))
}

func (s *installedSkill) remove(context.Context) ([]setupStep, error) { return s.edit(nil) }

// edit gives the files a text, or removes them for nil, all or none: those
// that say something else are somebody's.
func (s *installedSkill) edit(text []byte) (steps []setupStep, err error) {
	for _, f := range s.files {
		present, err := f.read()
		if err != nil {
			return nil, err
		}
		own := present == nil || string(present) == host.Skill()
		if !own && !s.force {
			return nil, usage(shortest(f.path)+": holds another text than stig writes", "type stig skill install --force if it may go")
		}
		steps = append(steps, f.change(present, text, shortest(f.path))...)
	}
	return steps, nil
}
