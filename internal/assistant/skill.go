package assistant

import (
	_ "embed"
	"slices"
	"strings"
)

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

// SkillDirs lists the folders of all hosts, by the names of their readers; agents
// stands for those that share one.
func SkillDirs() (all []SkillDir) {
	for _, s := range AllSettings() {
		top, _, _ := strings.Cut(s.Skills, "/")
		dir := SkillDir{strings.TrimPrefix(top, "."), s.Skills}
		if !slices.Contains(all, dir) {
			all = append(all, dir)
		}
	}
	slices.SortFunc(all, func(a, b SkillDir) int { return strings.Compare(a.Reader, b.Reader) })
	return all
}

// Overwrites reports whether a skill teaches the convention of signals as it was before
// stig: to replace all notes of an issue with bd update --notes, which loses what others wrote.
func Overwrites(skill string) bool {
	if !strings.Contains(skill, "stigmergic") {
		return false
	}
	for line := range strings.Lines(skill) {
		if _, after, found := strings.Cut(line, "bd update"); found && strings.Contains(after, "--notes") {
			return true
		}
	}
	return false
}
