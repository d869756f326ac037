package assistant

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Host is the name of an assistant's program that runs hooks.
type Host string

const (
	Claude   Host = "claude"
	Codex    Host = "codex"
	Copilot  Host = "copilot"
	Cursor   Host = "cursor"
	Gemini   Host = "gemini"
	OpenCode Host = "opencode"
)

// Settings is everything stig knows about a host: where the host reads which hooks to run,
// which hooks stig needs, and how the host reads their replies.
type Settings struct {
	Host Host
	Dir  string // directory of the file, below a project or a home
	Home string // replaces Dir below a home; "" for the same
	File string // path of the file in Dir, with slashes

	Variable     string // environment variable that names the user's Dir; may be empty
	Instructions string // file that the host reads first, also in the user's Dir; may be empty
	EnvFile      string // variable that names a file; what a hook writes there at the start of a session is added to the environment of its commands; may be empty
	Skills       string // folder in which the host looks for skills, below a project or a home, with slashes

	// RunBy lists the variables that the host sets for the programs it starts; Running detects
	// the host by them. The row of a host that sets none contains noVariable.
	RunBy []string

	// Servers and HomeServers are where setup registers stig mcp, below a project and below the
	// user's Dir; empty if a command of the host registers servers.
	Servers, HomeServers []ServerFile

	// unattended is the command line that reads the task from standard input, asks nobody, and
	// prints what it does as JSON; storeWord stands for the directory of the store. Empty if
	// the host has no such command.
	unattended []string
	namesPrice bool // that output contains a price

	replies replies
	hooks   []hook
	// hooksObstacles and serverObstacles return what keeps the host from running hooks, and
	// from starting the server that a project names; nil if nothing is known to.
	hooksObstacles  func(around Surroundings, keys []string) []Obstacle
	serverObstacles func(around Surroundings) []Obstacle
	// version, if not 0, is the required value of the key "version".
	version int
	// strict is true if the host cannot read settings with comments or trailing commas.
	strict bool
	// flat settings list handlers below an event; others list groups of handlers.
	flat bool
	// shells is true if a handler has one command for bash and one for PowerShell.
	shells bool
	// plugin, if not empty, is the whole text of File: the host runs a plugin instead of hooks.
	plugin string
}

// storeWord stands for the directory of the store in Settings.unattended.
const storeWord = "STORE"

// noVariable is the only entry of Settings.RunBy for a host that sets no variable.
const noVariable = "none"

// hook is an event of a host and the stig hook that answers it.
type hook struct {
	event   string // the event in the host's terms
	matcher string // the tools, or another property that selects events; "" for all
	call    string // the event in stig hook's terms
	timeout int    // in the host's unit
}

// claudeWriters matches the tools of Claude Code that may write the store. A tool that fails
// may have written it before it failed.
const claudeWriters = "^(Bash|PowerShell|Monitor|Task|Agent|Edit|Write|MultiEdit|NotebookEdit|" + anyServer + ")$"

// AllSettings returns the table of hosts, sorted by name; every other list of hosts is derived
// from it. docs/assistants.md describes their files and says which of it was observed. Gemini
// sends an automatic PreCompress before each request to the model, whether or not it will
// compress; it sends a manual one only if it does.
func AllSettings() []Settings {
	return []Settings{
		{
			unattended: []string{"claude", "-p", "--permission-mode", "acceptEdits", "--allowedTools", "Bash,Write,Edit", "--output-format", "stream-json", "--verbose"}, namesPrice: true,
			Host: Claude, Dir: ".claude", File: "settings.json", Variable: "CLAUDE_CONFIG_DIR", EnvFile: "CLAUDE_ENV_FILE",
			Instructions: "CLAUDE.md", Skills: ".claude/skills", replies: claudeReplies(),
			RunBy:  []string{"CLAUDECODE"},
			strict: true, hooksObstacles: claudeHooks, serverObstacles: claudeServer,
			hooks: []hook{
				{"SessionStart", "", "session-start", 10},
				{"PreToolUse", "^(Bash|Monitor|PowerShell|Edit|Write|MultiEdit|NotebookEdit|" + anyServer + ")$", "pre-tool-use", 10},
				{"PostToolUse", claudeWriters, "post-tool-use", 10},
				{"PostToolUseFailure", claudeWriters, "post-tool-use", 10},
				{"Stop", "", "stop", 10},
				{"PreCompact", "", "pre-compact", 10},
				{"SubagentStart", "", "subagent-start", 10},
				{"SessionEnd", "", "session-end", 10},
			},
		},
		{
			unattended: []string{"codex", "exec", "--json", "--sandbox", "workspace-write", "--add-dir", storeWord, "-"},
			Host:       Codex, Dir: ".codex", File: "hooks.json", Variable: "CODEX_HOME",
			Instructions: "AGENTS.md", Skills: ".agents/skills", replies: codexReplies(),
			RunBy:  []string{"CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"},
			strict: true, hooksObstacles: codexHooks,
			hooks: []hook{
				{"SessionStart", "", "session-start", 10},
				{"PreToolUse", "^(Bash|apply_patch|" + anyServer + ")$", "pre-tool-use", 10},
				{"PostToolUse", "^(Bash|apply_patch|" + anyServer + ")$", "post-tool-use", 10},
				{"Stop", "", "stop", 10},
				{"PreCompact", "", "pre-compact", 10},
				{"SubagentStart", "", "subagent-start", 10},
				{"SessionEnd", "", "session-end", 3},
			},
		},
		{
			Host: Copilot, Dir: ".github", Home: ".copilot", File: "hooks/stig.json", Variable: "COPILOT_HOME", version: 1, flat: true, shells: true,
			Skills: ".agents/skills", replies: copilotReplies(),
			// Copilot CLI 1.0.102 set COPILOT_CLI=1 for a command when internal/testkit/hosts
			// ran it; VS Code sets the other one in agents' terminals
			// (github.com/microsoft/vscode/pull/316267).
			RunBy:          []string{"COPILOT_CLI", "COPILOT_AGENT"},
			hooksObstacles: copilotHooks,
			Servers:        []ServerFile{{".vscode/mcp.json", "servers", vscodeServer}, {".github/mcp.json", "mcpServers", copilotServer}},
			HomeServers:    []ServerFile{{"mcp-config.json", "mcpServers", copilotServer}},
			hooks: []hook{ // with this capitalization the host sends the keys of Claude Code
				{"SessionStart", "", "session-start", 10},
				{"PreToolUse", "^(Bash|Edit|Write|runInTerminal|" + anyServer + "|.*-.*)$", "pre-tool-use", 10},
				{"PostToolUse", "", "post-tool-use", 10},
				{"Stop", "", "stop", 10},
				{"PreCompact", "", "pre-compact", 10},
				{"SessionEnd", "", "session-end", 10},
			},
		},
		{
			Host: Cursor, Dir: ".cursor", File: "hooks.json", version: 1, flat: true,
			Skills: ".cursor/skills", replies: cursorReplies(),
			RunBy: []string{"CURSOR_AGENT"},
			hooks: []hook{
				{"sessionStart", "", "session-start", 10},
				{"beforeShellExecution", "", "pre-tool-use", 10},
				{"preToolUse", "^(Write|Delete|MCP:.*)$", "pre-tool-use", 10},
				{"postToolUse", "^(Shell|Write|Delete|MCP:.*)$", "post-tool-use", 10},
				{"stop", "", "stop", 10},
				{"preCompact", "", "pre-compact", 10},
			},
		},
		{
			unattended: []string{"gemini", "--approval-mode", "yolo", "--skip-trust", "--output-format", "stream-json"},
			Host:       Gemini, Dir: ".gemini", File: "settings.json",
			Instructions: "GEMINI.md", Skills: ".agents/skills", replies: geminiReplies(),
			RunBy:          []string{"GEMINI_CLI"},
			hooksObstacles: geminiHooks,
			hooks: []hook{
				{"SessionStart", "", "session-start", 10000},
				{"BeforeTool", "^(run_shell_command|write_file|replace|" + anyServer + ")$", "pre-tool-use", 10000},
				{"AfterTool", "^(run_shell_command|write_file|replace|" + anyServer + ")$", "post-tool-use", 10000},
				{"AfterAgent", "", "stop", 10000},
				{"PreCompress", "manual", "pre-compact", 10000},
				{"SessionEnd", "", "session-end", 10000},
			},
		},
		{
			unattended: []string{"opencode", "run", "--auto", "--format", "json"}, namesPrice: true,
			Host: OpenCode, Dir: ".opencode", Home: ".config/opencode", File: "plugin/stig.js", plugin: opencodePlugin, EnvFile: "STIG_ENV_FILE",
			Skills: ".agents/skills", replies: claudeReplies(),
			RunBy:       []string{"OPENCODE"},
			Servers:     []ServerFile{{"opencode.json", "mcp", opencodeServer}},
			HomeServers: []ServerFile{{"opencode.json", "mcp", opencodeServer}},
			hooks: []hook{
				{"experimental.chat.system.transform", "", "session-start", 10},
				{"tool.execute.before", "", "pre-tool-use", 10},
				{"tool.execute.after", "", "post-tool-use", 10},
				{"session.idle", "", "stop", 10},
				{"experimental.session.compacting", "", "pre-compact", 10},
				{"session.created", "", "subagent-start", 10},
				{"session.deleted", "", "session-end", 10},
			},
		},
	}
}

// Hosts returns the programs whose hooks stig answers, sorted by name.
func Hosts() (all []Host) {
	for _, s := range AllSettings() {
		all = append(all, s.Host)
	}
	return all
}

// Unattended returns the command line with which a host reads a task from standard input, asks
// nobody, and prints what it does as JSON; nil if the host cannot. store is a directory that
// the program may write besides its own.
func (h Host) Unattended(store string) (argv []string) {
	for _, word := range h.Settings().unattended {
		if word == storeWord {
			word = store
		}
		argv = append(argv, word)
	}
	return argv
}

// NamesPrice reports whether a program that works unattended prints its cost.
func (h Host) NamesPrice() bool { return h.Settings().namesPrice }

// Names returns the names of the hosts for messages: "claude, codex".
func Names() string {
	var names []string
	for _, h := range Hosts() {
		names = append(names, string(h))
	}
	return strings.Join(names, ", ")
}

// Instructions returns the names of the files that hosts read first, sorted.
func Instructions() (names []string) {
	for _, s := range AllSettings() {
		if s.Instructions != "" {
			names = append(names, s.Instructions)
		}
	}
	slices.Sort(names)
	return names
}

// replies returns the replies of a host, or those of the first host if h is unknown.
func (h Host) replies() replies { return h.Settings().replies }

// Running returns the name of the host that runs this process, detected by the variables that
// hosts set for the programs they start; "" for none. None of them is set for a person at a
// terminal that such a program opened.
func Running(getenv func(string) string) string {
	for _, s := range AllSettings() {
		for _, variable := range s.RunBy {
			if variable != noVariable && getenv(variable) != "" {
				return string(s.Host)
			}
		}
	}
	return ""
}

// EnvFile returns the name of the variable that names the file where a hook leaves variables
// for the commands of a session; "" if the host has none.
func (h Host) EnvFile() string { return h.Settings().EnvFile }

// Settings returns the row of a host, or the first row if h is unknown.
func (h Host) Settings() Settings {
	all := AllSettings()
	at := slices.IndexFunc(all, func(s Settings) bool { return s.Host == h })
	return all[max(at, 0)]
}

// present checks first whether stig is installed. If it is not, a hook does nothing and exits
// with 0, so any exit code that means something to the host comes from stig. presentOr then
// prints what a silent stig would.
const (
	present   = "! command -v stig >/dev/null 2>&1 || "
	presentOr = "! command -v stig >/dev/null 2>&1 && echo '%s' || "
)

func (s Settings) command(h hook) string { return s.present() + s.call(h) }

func (s Settings) call(h hook) string {
	return "stig hook " + h.call + " --host " + string(s.Host)
}

func (s Settings) present() string {
	if len(s.replies.silence) == 0 {
		return present
	}
	return fmt.Sprintf(presentOr, bytes.TrimSpace(s.replies.silence))
}

// own reports whether setup wrote a command line for this host, perhaps with a path to stig
// that somebody added.
func (s Settings) own(command string) bool {
	words := strings.Fields(strings.TrimPrefix(strings.TrimPrefix(command, s.present()), present))
	if len(words) != 5 || words[1] != "hook" || words[3] != "--host" || words[4] != string(s.Host) {
		return false
	}
	program := path.Base(strings.ReplaceAll(words[0], `\`, "/"))
	return slices.Contains([]string{"stig", "stig.exe"}, program)
}
