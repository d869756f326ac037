package assistant

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Host is the name of a program of an assistant that runs hooks.
type Host string

const (
	Claude   Host = "claude"
	Codex    Host = "codex"
	Copilot  Host = "copilot"
	Cursor   Host = "cursor"
	Gemini   Host = "gemini"
	OpenCode Host = "opencode"
)

// Settings is all that stig knows of a host: where it reads which hooks to run,
// which of them stig needs, and how it reads their replies.
type Settings struct {
	Host Host
	Dir  string // of the file, below a project or a home
	Home string // takes the place of Dir below a home; "" for the same
	File string // in Dir, with slashes

	Variable     string // of the environment: names the user's Dir; may be empty
	Instructions string // what the host reads first, in its user's Dir too; may be empty
	EnvFile      string // names a file that a hook at the start of a session appends to what its commands get as environment; may be empty
	Skills       string // the folder where it looks for skills, below a project or a home, with slashes

	// RunBy are the variables that it sets for the programs that it starts, by which
	// Running knows it; a row without any names noVariable.
	RunBy []string

	// Servers and HomeServers are where setup registers stig mcp, below a project and
	// below the user's Dir; none where a program of the host registers servers itself.
	Servers, HomeServers []ServerFile

	// unattended are the program and the arguments with which it reads what to do from
	// standard input, asks nobody, and prints what it does as JSON; storeWord stands for the
	// directory of the store. None where it cannot.
	unattended []string
	namesPrice bool // what it prints then names a price

	replies replies
	hooks   []hook
	// hooksObstacles and serverObstacles find what keeps the host from running hooks,
	// and from starting the server that a project names; nil where nothing is known to.
	hooksObstacles  func(around Surroundings, keys []string) []Obstacle
	serverObstacles func(around Surroundings) []Obstacle
	// version, if not 0, is what the key "version" has to be.
	version int
	// strict is true where the host does not read settings with comments or trailing commas.
	strict bool
	// flat settings name handlers below an event; others name groups of them.
	flat bool
	// shells is true where a handler has a command for bash and one for PowerShell.
	shells bool
	// plugin, if not empty, is the whole text of File: the host has no hooks.
	plugin string
}

// storeWord stands in Settings.unattended for the directory of the store.
const storeWord = "STORE"

// noVariable stands in Settings.RunBy of a host that sets no variable.
const noVariable = "none"

// hook is an event of a host and what answers it.
type hook struct {
	event   string // as the host calls it
	matcher string // which tools, or what else an event is told apart by; "" for all
	call    string // as stig hook calls it
	timeout int    // in the unit of the host
}

// claudeWriters are the tools of Claude Code that may write the store; one that fails
// may have written it before.
const claudeWriters = "^(Bash|PowerShell|Monitor|Task|Agent|Edit|Write|MultiEdit|NotebookEdit|" + anyServer + ")$"

// AllSettings is the table of hosts, by name; every other list of hosts is made of it.
// docs/assistants.md says what their files look like, and which of it was observed. Gemini tells of PreCompress before each request to the model, as of an
// automatic one, whether or not it is going to compress; of a manual one it tells
// when there is one.
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
			// A command of Copilot CLI 1.0.102 had COPILOT_CLI=1 when internal/testkit/hosts ran it;
			// VS Code sets the other in terminals of agents (github.com/microsoft/vscode/pull/316267).
			RunBy:          []string{"COPILOT_CLI", "COPILOT_AGENT"},
			hooksObstacles: copilotHooks,
			Servers:        []ServerFile{{".vscode/mcp.json", "servers", vscodeServer}, {".github/mcp.json", "mcpServers", copilotServer}},
			HomeServers:    []ServerFile{{"mcp-config.json", "mcpServers", copilotServer}},
			hooks: []hook{ // in these letters it sends the keys of Claude Code
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

// Hosts lists the programs whose hooks stig answers, by name.
func Hosts() (all []Host) {
	for _, s := range AllSettings() {
		all = append(all, s.Host)
	}
	return all
}

// Unattended are a program and its arguments with which it works on what it reads from
// standard input, asks nobody, and prints what it does as JSON; nil for a host that cannot.
// store is a directory that it may write besides its own.
func (h Host) Unattended(store string) (argv []string) {
	for _, word := range h.Settings().unattended {
		if word == storeWord {
			word = store
		}
		argv = append(argv, word)
	}
	return argv
}

// NamesPrice reports whether a program that works unattended prints what it cost.
func (h Host) NamesPrice() bool { return h.Settings().namesPrice }

// Names lists the hosts as messages do: "claude, codex".
func Names() string {
	var names []string
	for _, h := range Hosts() {
		names = append(names, string(h))
	}
	return strings.Join(names, ", ")
}

// Instructions lists the files that hosts read first, by name.
func Instructions() (names []string) {
	for _, s := range AllSettings() {
		if s.Instructions != "" {
			names = append(names, s.Instructions)
		}
	}
	slices.Sort(names)
	return names
}

// replies are those of the first host where a name is none.
func (h Host) replies() replies { return h.Settings().replies }

// Running names the host that runs us, by the variables that it sets for the programs it
// starts; "" for none. A person at a terminal that such a program opened has none of them.
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

// EnvFile is the variable that names where a hook leaves variables for the commands of
// a session; "" where the host has none.
func (h Host) EnvFile() string { return h.Settings().EnvFile }

// Settings is the row of a host, the first where a name is none.
func (h Host) Settings() Settings {
	all := AllSettings()
	at := slices.IndexFunc(all, func(s Settings) bool { return s.Host == h })
	return all[max(at, 0)]
}

// present asks for stig first: where it is missing a hook does nothing and ends
// with 0, and an exit code that means something to the host is always stig's.
// presentOr says there what stig would in its silence.
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
