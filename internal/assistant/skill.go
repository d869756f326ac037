package assistant

import (
	_ "embed"
	"slices"
	"strings"
)

// SkillName is the name of the skill and of the folder that holds it; ConventionName is the
// other one, by which people of the stigmergic convention call it.
const (
	SkillName      = "stig"
	ConventionName = "stigmergic-convention"
)

//go:embed SKILL.md
var skill string

// Skill is the text of SKILL.md: what an assistant needs to know to go from nothing to a
// closed issue with stig. It has at most 4,000 bytes.
func Skill() string { return skill }

// SkillFile is a SKILL.md, in the folder of its name.
type SkillFile struct {
	Name  string
	Force bool // take the place of another text
}

// SkillFiles are the skill under its names.
func SkillFiles(force bool) []SkillFile {
	return []SkillFile{{SkillName, force}, {ConventionName, force}}
}

// Whole is the text. Under the second name the description is short: assistants read the
// descriptions of all skills at every start.
func (f SkillFile) Whole() string {
	if f.Name == SkillName {
		return skill
	}
	_, body, _ := strings.Cut(skill, "\n---\n")
	return "---\nname: " + f.Name + "\ndescription: The skill " + SkillName + " under its other name, for /" + f.Name + ".\n---\n" + body
}

// Use says what the file is for.
func (f SkillFile) Use() string {
	if f.Name == SkillName {
		return "the skill: how to work with stig"
	}
	return "the same skill, as /" + f.Name
}

// Missing says what Install would not leave as it is, and what keeps it from writing.
func (f SkillFile) Missing(source []byte) ([]string, error) {
	switch {
	case source == nil:
		return []string{f.Use()}, nil
	case string(source) != f.Whole():
		return []string{"another text than this stig writes; --force replaces it"}, nil
	}
	return nil, nil
}

// Install gives the text. Another one is somebody's and is kept.
func (f SkillFile) Install(source []byte) (text []byte, added []string, err error) {
	if source != nil && !f.Force {
		return source, nil, nil
	}
	return []byte(f.Whole()), []string{f.Use()}, nil
}

// Remove gives nil for stig's own text.
func (f SkillFile) Remove(source []byte) (text []byte, removed []string, err error) {
	if string(source) != f.Whole() && !f.Force {
		return source, nil, nil
	}
	return nil, []string{f.Use()}, nil
}

// SkillDir is a folder that holds skills.
type SkillDir struct {
	Reader string // who looks there
	Path   string // below a project or a home, with slashes
	Host   Host   // one that looks there
}

// SkillDirs lists the folders of all hosts, by the names of their readers; agents
// stands for those that share one.
func SkillDirs() (all []SkillDir) {
	for _, s := range AllSettings() {
		top, _, _ := strings.Cut(s.Skills, "/")
		if !slices.ContainsFunc(all, func(d SkillDir) bool { return d.Path == s.Skills }) {
			all = append(all, SkillDir{strings.TrimPrefix(top, "."), s.Skills, s.Host})
		}
	}
	slices.SortFunc(all, func(a, b SkillDir) int { return strings.Compare(a.Reader, b.Reader) })
	return all
}
