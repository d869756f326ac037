package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stig/internal/assistant"
	"stig/signals"
)

// TestSkillCommands runs every command of the skill and of the instructions block, in order, as
// an assistant would: in a repository with the example store, for an issue whose criteria can
// be met.
func TestSkillCommands(t *testing.T) {
	program := program(t)
	for name, text := range map[string]string{"skill": assistant.Skill(), "block": assistant.Block()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "harbor"))); err != nil {
				t.Fatal(err)
			}
			run := func(command string) string {
				printed, err := shell(dir, program, command, "STIG_ACTOR=ann", "STIG_TRUST=1")
				if err != nil {
					t.Errorf("%s: %v\n%s", command, err, printed)
				}
				return strings.TrimSpace(string(printed))
			}
			run("git init -q && git add . && git -c user.name=ann -c user.email=a@b commit -qm harbor")
			id := run("stig create -q 'Say hello' --acceptance '```verify\ntest -f README.md\n```'")
			commands := commandsIn(text)
			if len(commands) < 5 {
				t.Fatalf("commands found: %q", commands)
			}
			for _, command := range commands {
				words := strings.NewReplacer("--surprise …", "--surprise 0.1", "…", "text",
					" ID", " "+id, ":ID", ":"+id, " OTHER", " harbor-t3c")
				run(words.Replace(command))
				if strings.HasPrefix(command, "stig escalate") {
					run("stig resolve " + id + " -m yes --actor ines") // a question blocks the issue
				}
			}
			if shown := run("stig show " + id); !strings.Contains(shown, "\nclosed ·") {
				t.Errorf("%s is not closed:\n%s", id, shown)
			}
		})
	}
}

// commandsIn returns the stig commands in code spans and blocks. In a block a command continues
// while its lines end in \ or a quote is open.
func commandsIn(markdown string) (commands []string) {
	command := regexp.MustCompile("(?m)^ {3,4}(stig (?:'[^']*'|\\\\\n|[^'\n])*)$|`(stig [^`]*)`")
	for _, found := range command.FindAllStringSubmatch(markdown, -1) {
		commands = append(commands, found[1]+found[2])
	}
	return commands
}

// TestCommandsIn counts in a second way, so that no command is missed.
func TestCommandsIn(t *testing.T) {
	for _, text := range []string{assistant.Skill(), assistant.Block()} {
		want := strings.Count(text, "`stig ") + strings.Count(text, "\n   stig ") + strings.Count(text, "\n    stig ")
		if all := commandsIn(text); len(all) != want {
			t.Errorf("%d commands, want %d: %q", len(all), want, all)
		}
	}
}

// TestSkillSignals: the skill names each signal with the values that the schema allows.
func TestSkillSignals(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(assistant.Skill()) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			rows[strings.TrimSpace(cells[1])] = cells[2]
		}
	}
	for _, s := range signals.All() {
		text, there := rows[s.String()]
		if !there {
			t.Errorf("no row for %s", s)
		}
		if s == signals.SchemaVersion || s.Domain() == nil {
			continue
		}
		text = regexp.MustCompile(`\([^)]*\)|:.*| `).ReplaceAllString(text, "") // what they mean
		if values := strings.Split(text, ","); !slices.Equal(values, s.Domain()) {
			t.Errorf("%s: %q, the schema has %q", s, values, s.Domain())
		}
	}
}
