package doctor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"stig/internal/assistant"
	"stig/internal/file"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// FoundOrder is an order in an instruction or settings file.
type FoundOrder struct {
	File string
	assistant.Order
}

// instructionFiles lists the files of a project that assistants read, besides the settings of
// hosts and what hosts read first.
var instructionFiles = []string{
	"AGENTS.override.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md", ".claude/settings.local.json",
	".cursorrules", ".cursor/rules/*", ".github/copilot-instructions.md", ".github/instructions/*.md", ".gemini/GEMINI.md", ".windsurfrules",
}

// Orders returns the commands in instructions, settings and skills, of the project and of the
// home of each host, for which stig has another way.
func Orders(a *workspace.Run) (found []FoundOrder) {
	read := map[string]bool{}
	look := func(pattern string) {
		paths, _ := filepath.Glob(pattern) // an error means a pattern broken by a directory's name, which matches nothing
		for _, path := range paths {
			text, err := file.Read(path)
			if err != nil || read[path] {
				continue // no assistant can read it either
			}
			read[path] = true
			for _, order := range assistant.Orders(visible.LF(string(text))) {
				order.Text = visible.HideSecrets(order.Text)
				found = append(found, FoundOrder{workspace.Shortest(path), order})
			}
		}
	}
	for _, user := range []bool{false, true} {
		for _, settings := range assistant.AllSettings() {
			dir, root, err := hostDir(a, settings, SetupOptions{User: user})
			if err != nil {
				continue // without a home it has no files
			}
			first := root
			if user {
				first = dir
			}
			look(filepath.Join(first, cmp.Or(settings.Instructions, "AGENTS.md")))
			look(filepath.Join(dir, filepath.FromSlash(settings.File)))
			look(filepath.Join(root, filepath.FromSlash(settings.Skills), "*", "SKILL.md"))
		}
	}
	if root, err := place(a, SetupOptions{}); err == nil {
		for _, name := range instructionFiles {
			look(filepath.Join(root, filepath.FromSlash(name)))
		}
	}
	return found
}

// quoteColumns is the maximum width of a quoted line.
const quoteColumns = 60

// Quote returns the line with its place.
func (o FoundOrder) Quote() string {
	var lines []string
	for _, n := range o.Lines {
		lines = append(lines, fmt.Sprint(n))
	}
	text := visible.ClippedColumns(visible.Text(o.Text), quoteColumns)
	return o.File + ":" + strings.Join(lines, ",") + ": \"" + text + "\""
}

// orders reports the lines of instructions that contradict stig.
func (e *examination) orders() {
	for _, o := range Orders(e.app) {
		e.todo("assistants", o.Quote()+": "+o.Instead, "change the line, unless you want bd to do it")
	}
}
