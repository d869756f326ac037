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

// SkillDirs gives the folders that hold skills, below a project or a home, by
// the name of who reads them.
func SkillDirs() [][2]string {
	return [][2]string{{"agents", ".agents/skills"}, {"claude", ".claude/skills"}, {"cursor", ".cursor/skills"}}
}
