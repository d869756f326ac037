package assistant

import (
	_ "embed"
	"slices"
	"strings"
)

// SkillName is the name of the skill and of its folder. ConventionName is its second name, for
// people who know the stigmergic convention.
const (
	SkillName      = "stig"
	ConventionName = "stigmergic-convention"
)

//go:embed SKILL.md
var skill string

// Skill returns the text of SKILL.md: what an assistant needs to know to get from nothing to a
// closed issue with stig. It has at most 4,000 bytes.
func Skill() string { return skill }

// SkillFile is a SKILL.md in a folder named Name.
type SkillFile struct {
	Name  string
	Force bool // replace another text
}

// SkillFiles returns the skill under each of its names.
func SkillFiles(force bool) []SkillFile {
	return []SkillFile{{SkillName, force}, {ConventionName, force}}
}

// Whole returns the text of the file. Under the second name the description is short:
// assistants read the descriptions of all skills at every start.
func (f SkillFile) Whole() string {
	if f.Name == SkillName {
		return skill
	}
	_, body, _ := strings.Cut(skill, "\n---\n")
	return "---\nname: " + f.Name + "\ndescription: The skill " + SkillName + " under its other name, for /" + f.Name + ".\n---\n" + body
}

// Use returns what the file is for.
func (f SkillFile) Use() string {
	if f.Name == SkillName {
		return "the skill: how to work with stig"
	}
	return "the same skill, as /" + f.Name
}

// Missing returns what is missing: the file, or this stig's text in it.
func (f SkillFile) Missing(source []byte) ([]string, error) {
	switch {
	case source == nil:
		return []string{f.Use()}, nil
	case string(source) != f.Whole():
		return []string{"differs from the text of this stig; --force replaces it"}, nil
	}
	return nil, nil
}

// Install returns the text to write. It keeps another text unless Force is set.
func (f SkillFile) Install(source []byte) (text []byte, added []string, err error) {
	if source != nil && !f.Force {
		return source, nil, nil
	}
	return []byte(f.Whole()), []string{f.Use()}, nil
}

// Remove returns nil for stig's own text, or for any text if Force is set.
func (f SkillFile) Remove(source []byte) (text []byte, removed []string, err error) {
	if string(source) != f.Whole() && !f.Force {
		return source, nil, nil
	}
	return nil, []string{f.Use()}, nil
}

// SkillDir is a folder that contains skills.
type SkillDir struct {
	Reader string // who looks there, or agents for several hosts
	Path   string // below a project or a home, with slashes
	Host   Host   // a host that looks there
}

// SkillDirs returns the folders of all hosts, sorted by reader; agents stands for the hosts
// that share a folder.
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
