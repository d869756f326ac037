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

// FoundOrder is an order of a file of instructions or settings.
type FoundOrder struct {
	File string
	assistant.Order
}

// instructionFiles are those of a project that assistants read, besides the settings of hosts
// and what these read first.
var instructionFiles = []string{
	"AGENTS.override.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md", ".claude/settings.local.json",
	".cursorrules", ".cursor/rules/*", ".github/copilot-instructions.md", ".github/instructions/*.md", ".gemini/GEMINI.md", ".windsurfrules",
}

// Orders finds what instructions, settings and skills of the project, and of the home of each
// host, have an assistant type that stig does otherwise.
func Orders(a *workspace.Run) (found []FoundOrder) {
	read := map[string]bool{}
	look := func(pattern string) {
		paths, _ := filepath.Glob(pattern) // a pattern that a directory's name breaks finds nothing
		for _, path := range paths {
			text, err := file.Read(path)
			if err != nil || read[path] {
				continue // no assistant reads it either
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
				continue // without a home there are none of the home
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

// quoteColumns is how much of a line is quoted.
const quoteColumns = 60

// Quote is the line with its place.
func (o FoundOrder) Quote() string {
	var lines []string
	for _, n := range o.Lines {
		lines = append(lines, fmt.Sprint(n))
	}
	text := visible.ClippedColumns(visible.Text(o.Text), quoteColumns)
	return o.File + ":" + strings.Join(lines, ",") + ": \"" + text + "\""
}

// orders says which lines of instructions contradict stig.
func (e *examination) orders() {
	for _, o := range Orders(e.app) {
		e.todo("assistants", o.Quote()+": "+o.Instead, "change the line, unless bd is to do it")
	}
}
