package host

import (
	"path"
	"slices"
	"strings"
)

// Settings is where a host reads which hooks to run, and which stig needs.
type Settings struct {
	Host Host
	Dir  string // of the file, below a project or a home
	File string // in Dir
	Then string // what a person has to do before the host runs them; may be empty

	hooks []hook
	// version, if not 0, is what the key "version" has to be.
	version int
	// flat settings name handlers below an event; others name groups of them.
	flat bool
}

// hook is an event of a host and what answers it.
type hook struct {
	event   string // as the host calls it
	matcher string // which tools; "" for all
	call    string // as stig hook calls it
	timeout int    // in the unit of the host
}

// AllSettings gives those of every host, by name. What they look like is what
// the vendors publish; see docs/assistants.md.
func AllSettings() []Settings {
	return []Settings{
		{Host: Claude, Dir: ".claude", File: "settings.json", hooks: []hook{
			{"SessionStart", "", "session-start", 10},
			{"PreToolUse", "Bash|Edit|Write|MultiEdit", "pre-tool-use", 10},
			{"Stop", "", "stop", 10},
			{"PreCompact", "", "pre-compact", 10},
		}},
		{Host: Codex, Dir: ".codex", File: "hooks.json", Then: "type /hooks in codex to approve them", hooks: []hook{
			{"SessionStart", "", "session-start", 10},
			{"PreToolUse", "Bash|apply_patch", "pre-tool-use", 10},
			{"Stop", "", "stop", 10},
			{"PreCompact", "", "pre-compact", 10},
		}},
		{Host: Cursor, Dir: ".cursor", File: "hooks.json", version: 1, flat: true, hooks: []hook{
			{"sessionStart", "", "session-start", 10},
			{"beforeShellExecution", "", "pre-tool-use", 10},
			{"preToolUse", "Write", "pre-tool-use", 10},
			{"stop", "", "stop", 10},
			{"preCompact", "", "pre-compact", 10},
		}},
		{Host: Gemini, Dir: ".gemini", File: "settings.json", hooks: []hook{
			{"SessionStart", "", "session-start", 10000},
			{"BeforeTool", "run_shell_command|write_file|replace", "pre-tool-use", 10000},
			{"AfterAgent", "", "stop", 10000},
			{"PreCompress", "", "pre-compact", 10000},
		}},
	}
}

// present asks for stig first: where it is missing a hook does nothing and ends
// with 0, and an exit code that means something to the host is always stig's.
const present = "! command -v stig >/dev/null 2>&1 || "

func (s Settings) command(h hook) string {
	return present + "stig hook " + h.call + " --host " + string(s.Host)
}

// own tells whether a command line is one that setup wrote for this host,
// perhaps with the path of stig that somebody put in.
func (s Settings) own(command string) bool {
	words := strings.Fields(strings.TrimPrefix(command, present))
	if len(words) != 5 || words[1] != "hook" || words[3] != "--host" || words[4] != string(s.Host) {
		return false
	}
	program := path.Base(strings.ReplaceAll(words[0], `\`, "/"))
	return slices.Contains([]string{"stig", "stig.exe"}, program)
}
