package cli

import (
	"regexp"
	"slices"
	"strings"

	"stig/internal/assistant"
	"stig/internal/workspace"
	"stig/schemas"
)

// topic is a help page that belongs to no command.
type topic struct {
	name, about string
	put         func(*sheet)
}

func topics() []topic {
	return []topic{
		{"exit-codes", "what the exit codes mean", putExitCodes},
		{"environment", "environment variables that stig reads and sets", putVariables},
		{"configuration", "the keys of .stig.cue", putConfiguration},
		{"convention", "signals, depths and sections in an issue's notes", putConvention},
	}
}

// Topics returns the names of the help topics, each with its summary.
func Topics() (names []string) {
	for _, t := range topics() {
		names = append(names, t.name+"\t"+t.about)
	}
	return names
}

// Topic prints the topic with that name; ok is false if there is none.
func (a *App) Topic(name string) (ok bool, err error) {
	at := slices.IndexFunc(topics(), func(t topic) bool { return t.name == strings.ToLower(name) })
	if at < 0 {
		return false, nil
	}
	s := a.Sheet()
	topics()[at].put(s)
	return true, a.Show(s)
}

func putExitCodes(s *sheet) {
	for _, row := range workspace.ExitCodes {
		s.Wrap(Plain, padded(row[0], 10), padded("", 10), row[1])
	}
	s.Blank()
	s.Line(Plain, "stig work has its own codes: stig help work.")
}

// Variables are the environment variables that stig reads or sets, with their meaning.
var Variables = [][2]string{
	{"STIG_ACTOR", "your name as actor; BD_ACTOR is the fallback. stig sets it for programs a loop starts"},
	{"STIG_NOW", "the current time for stig, as in 2026-11-20T09:00:00Z"},
	{"STIG_TRUST", "1: run the acceptance commands in any repository"},
	{"STIG_DB_USER", "the user name for a server, if the URL has none"},
	{"STIG_DB_PASSWORD", "the password for a server; prefer the credentials file"},
	{"BEADS_DIR", "the directory of the store; stig sets it for programs a loop starts"},
	{"NO_COLOR", "print without colour"},
	{"CLICOLOR_FORCE", "print with colour even if the output is no terminal; NO_COLOR overrides it"},
	{"VISUAL", "the editor to open; then EDITOR, then vi"},
	{"XDG_CONFIG_HOME", "the configuration directory (default ~/.config)"},
	{"XDG_STATE_HOME", "the state directory (default ~/.local/state)"},
	{"STIG_ISSUE", "set for what stig runs: the issue"},
	{"STIG_BRIEFING", "set for programs a loop starts: the file with the briefing"},
	{"STIG_RUN", "set for programs a loop starts: the name of the run"},
	{"STIG_ATTEMPT", "set for programs a loop starts: the number of attempts at the issue"},
	{"STIG_ROUND", "set for an explorer of a swarm: the round"},
	{"STIG_EVENT", "set for the notify command: the event"},
	{"STIG_VERIFYING", "set for a check: the issues being verified; prevents recursion"},
	{"STIG_COMMITTING", "set for git hooks while stig commits; prevents a deadlock"},
	{"STIG_SUPERVISED", "set for programs a loop starts: marks the processes to end with it"},
	{"STIG_ENV_FILE", "set by the OpenCode plugin: a file that names the session"},
}

func putVariables(s *sheet) {
	for _, v := range Variables {
		s.Wrap(Plain, padded(v[0], 18), padded("", 18), v[1])
	}
}

func putConfiguration(s *sheet) {
	s.Wrap(Plain, "", "", ".stig.cue beside .beads contains the settings of a project, stig/config.cue in your configuration directory those of all your projects. Flags and environment variables override both.")
	s.Blank()
	for _, k := range configurationKeys(schemas.Config) {
		s.Wrap(Plain, padded(k[0], 24), padded("", 24), k[1])
	}
	s.Blank()
	s.Line(Plain, "The schema: stig schema config.")
}

// configurationKeys returns the keys of #Config in a schema's source text, each with the first
// clause of its comment. NAME.* stands for the keys below NAME that have no comment.
func configurationKeys(schema string) (keys [][2]string) {
	_, schema, _ = strings.Cut(schema, "\n#Config: {\n")
	schema, _, _ = strings.Cut(schema, "\n}\n")
	field, end := regexp.MustCompile(`^(\t{1,2})([a-z_]+)\??: +(.*)$`), regexp.MustCompile(`[.:;] `)
	comment, parent := "", ""
	for line := range strings.SplitSeq(schema, "\n") {
		if said, is := strings.CutPrefix(strings.TrimSpace(line), "// "); is {
			comment += said + " "
			continue
		}
		found := field.FindStringSubmatch(line)
		if found == nil {
			comment = ""
			continue
		}
		name := found[2]
		if len(found[1]) == 1 {
			parent = name
		} else {
			name = parent + "." + name
		}
		if strings.HasPrefix(found[3], "{") {
			name += ".*"
		}
		if about := end.Split(comment, 2)[0]; about != "" {
			keys = append(keys, [2]string{name, about})
		}
		comment = ""
	}
	return keys
}

// putConvention prints the skill, which is the convention in short.
func putConvention(s *sheet) {
	_, text, _ := strings.Cut(strings.TrimPrefix(assistant.Skill(), "---\n"), "\n---\n")
	s.markdown(strings.TrimLeft(text, "\n"))
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-len(text)))
}
