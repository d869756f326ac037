package host

import _ "embed"

// SkillName is the name of the skill and of the folder that holds it.
const SkillName = "stig"

//go:embed SKILL.md
var skill string

// Skill is the text of SKILL.md: what an assistant needs to know to go from
// nothing to a closed issue with stig. It has at most 2,500 bytes, because all
// of it may be read at every start.
func Skill() string { return skill }

// SkillDir is a folder that holds skills.
type SkillDir struct {
	Reader string // who looks there
	Path   string // below a project or a home, with slashes
}

// SkillDirs gives them by the names of their readers.
func SkillDirs() []SkillDir {
	return []SkillDir{{"agents", ".agents/skills"}, {"claude", ".claude/skills"}, {"cursor", ".cursor/skills"}}
}
