package host

import (
	"bytes"
	"fmt"
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
	matcher string // which tools, or what else an event is told apart by; "" for all
	call    string // as stig hook calls it
	timeout int    // in the unit of the host
}

// beadsTools are the tools by which a server for bd closes issues, whatever name
// with beads in it somebody gave the server. Gemini joins the parts with one _.
const beadsTools = "mcp_.*beads.*_(close|update)"

// AllSettings gives those of every host, by name. What they look like, and
// which of it was seen, docs/assistants.md tells. Gemini tells of PreCompress
// before each request to the model, as of an automatic one, whether or not it is
// going to compress; of a manual one it tells when there is one.
func AllSettings() []Settings {
	return []Settings{
		{Host: Claude, Dir: ".claude", File: "settings.json", hooks: []hook{
			{"SessionStart", "", "session-start", 10},
			{"PreToolUse", "^(Bash|Edit|Write|MultiEdit|" + beadsTools + ")$", "pre-tool-use", 10},
			{"Stop", "", "stop", 10},
			{"PreCompact", "", "pre-compact", 10},
		}},
		{Host: Codex, Dir: ".codex", File: "hooks.json", Then: "type /hooks in codex to approve them", hooks: []hook{
			{"SessionStart", "", "session-start", 10},
			{"PreToolUse", "^(Bash|apply_patch|" + beadsTools + ")$", "pre-tool-use", 10},
			{"Stop", "", "stop", 10},
			{"PreCompact", "", "pre-compact", 10},
		}},
		{Host: Cursor, Dir: ".cursor", File: "hooks.json", version: 1, flat: true, hooks: []hook{
			{"sessionStart", "", "session-start", 10},
			{"beforeShellExecution", "", "pre-tool-use", 10},
			{"preToolUse", "^(Write|Delete|MCP:close|MCP:update)$", "pre-tool-use", 10},
			{"stop", "", "stop", 10},
			{"preCompact", "", "pre-compact", 10},
		}},
		{Host: Gemini, Dir: ".gemini", File: "settings.json", hooks: []hook{
			{"SessionStart", "", "session-start", 10000},
			{"BeforeTool", "^(run_shell_command|write_file|replace|" + beadsTools + ")$", "pre-tool-use", 10000},
			{"AfterAgent", "", "stop", 10000},
			{"PreCompress", "manual", "pre-compact", 10000},
		}},
	}
}

// present asks for stig first: where it is missing a hook does nothing and ends
// with 0, and an exit code that means something to the host is always stig's.
// presentOr says there what stig would in its silence.
const (
	present   = "! command -v stig >/dev/null 2>&1 || "
	presentOr = "! command -v stig >/dev/null 2>&1 && echo '%s' || "
)

func (s Settings) command(h hook) string {
	return s.present() + "stig hook " + h.call + " --host " + string(s.Host)
}

func (s Settings) present() string {
	silence := s.Host.Silence()
	if len(silence) == 0 {
		return present
	}
	return fmt.Sprintf(presentOr, bytes.TrimSpace(silence))
}

// own reports whether a command line is one that setup wrote for this host,
// perhaps with the path of stig that somebody put in.
func (s Settings) own(command string) bool {
	words := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(command, s.present()), present))
	if len(words) != 5 || words[1] != "hook" || words[3] != "--host" || words[4] != string(s.Host) {
		return false
	}
	program := path.Base(strings.ReplaceAll(words[0], `\`, "/"))
	return slices.Contains([]string{"stig", "stig.exe"}, program)
}
