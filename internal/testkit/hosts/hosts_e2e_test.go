//go:build e2e && linux

package hosts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is an assistant's host: how it is configured and started, and the names of its tools.
type program struct {
	name      string // in stig setup, and in node_modules/.bin
	configure func(t *testing.T, s *session)
	command   func(s *session, prompt string) []string // arguments after the name
	variables func(s *session) []string
	call      func(step) call
	trust     func(t *testing.T, s *session) // approves hooks as a person does; nil if that is not needed
	ends      bool                           // ends with the turn, so the model does not read the reminder
	agents    bool                           // reports the start of subagents
	off       []obstacle
}

var programs = []program{
	{
		name: "claude", configure: configureClaude, command: claudeCommand, variables: claudeVariables, call: claudeCall, agents: true,
		off: []obstacle{{func(t *testing.T, s *session) {
			s.write(t, filepath.Join(s.home, ".claude", "settings.json"), `{"disableAllHooks": true}`)
		}, "disableAllHooks: claude runs no hooks"}},
	},
	{
		name: "codex", configure: configureCodex, command: codexCommand, variables: codexVariables, call: codexCall, agents: true, trust: trustCodex,
		off: []obstacle{{func(*testing.T, *session) {}, "hooks are approved: codex silently skips the others"}},
	},
	{
		name: "copilot", configure: configureCopilot, command: copilotCommand, variables: copilotVariables, call: copilotCall, trust: trustCopilot,
		off: []obstacle{
			{func(t *testing.T, s *session) {
				s.write(t, filepath.Join(s.home, ".copilot", "config.json"), `{"trustedFolders": []}`)
			}, "this folder is not trusted: copilot runs none"},
			{func(t *testing.T, s *session) {
				trustCopilot(t, s)
				s.write(t, filepath.Join(s.dir, ".github", "copilot", "settings.json"), `{"disableAllHooks": true}`)
			}, "disableAllHooks: copilot runs no hooks"},
		},
	},
	{
		name: "gemini", configure: configureGemini, command: geminiCommand, variables: geminiVariables, call: geminiCall,
		off: []obstacle{{func(t *testing.T, s *session) {
			path := filepath.Join(s.home, ".gemini", "settings.json")
			s.write(t, path, strings.Replace(s.read(path), "{", `{"hooksConfig":{"enabled":false},`, 1))
		}, "hooksConfig.enabled is false: gemini runs no hooks"}},
	},
	{name: "opencode", configure: configureOpencode, command: opencodeCommand, variables: opencodeVariables, call: opencodeCall, agents: true, ends: true},
}

func configureClaude(t *testing.T, s *session) {
	s.write(t, filepath.Join(s.dir, ".mcp.json"), compact(object{"mcpServers": s.servers()}))
}

func claudeVariables(s *session) []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + s.url, "ANTHROPIC_API_KEY=invented", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false",
	}
}

func claudeCommand(_ *session, prompt string) []string {
	return []string{"-p", prompt, "--allowedTools", "Bash,Write,Edit,Agent,mcp__stig", "--output-format", "stream-json", "--verbose"}
}

func claudeCall(s step) call {
	switch s.tool {
	case "shell":
		return call{name: "Bash", args: object{"command": s.text, "description": "Run it"}}
	case "write":
		return call{name: "Write", args: s.args}
	case "agent":
		return call{name: "Agent", args: object{"description": "Help", "prompt": prompt(s.text), "subagent_type": "general-purpose", "run_in_background": false}}
	}
	return call{name: "mcp__stig__" + s.text, args: s.args}
}

func configureCodex(t *testing.T, s *session) {
	s.write(t, filepath.Join(s.home, ".codex", "config.toml"), `model = "stand-in"
model_provider = "stub"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
[model_providers.stub]
name = "stub"
base_url = "`+s.url+`/v1"
wire_api = "responses"
env_key = "STUB_KEY"
requires_openai_auth = false
request_max_retries = 0
stream_max_retries = 0
[projects."`+s.dir+`"]
trust_level = "trusted"
[mcp_servers.stig]
command = "`+s.stig+`"
args = ["mcp"]
`)
	// bash -lc takes PATH from here
	s.write(t, filepath.Join(s.home, ".profile"), "PATH='"+s.path+"'\n")
}

func codexVariables(*session) []string { return []string{"STUB_KEY=invented"} }

func codexCommand(_ *session, prompt string) []string {
	return []string{"exec", "--json", "--dangerously-bypass-approvals-and-sandbox",
		"--disable", "plugins", "--disable", "apps", "--disable", "remote_plugin", prompt}
}

func codexCall(s step) call {
	switch s.tool {
	case "shell":
		return call{name: "exec_command", args: object{"cmd": s.text}}
	case "agent":
		return call{name: "spawn_agent", namespace: "multi_agent_v1", args: object{"message": prompt(s.text)}}
	}
	return call{name: s.text, namespace: "mcp__stig", args: s.args}
}

func configureCopilot(*testing.T, *session) {}

// trustCopilot trusts the folder, as copilot asks a person to do.
func trustCopilot(t *testing.T, s *session) {
	s.write(t, filepath.Join(s.home, ".copilot", "config.json"), compact(object{"trustedFolders": []any{s.dir}}))
}

func copilotVariables(s *session) []string {
	return []string{"COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL=" + s.url + "/v1", "COPILOT_PROVIDER_API_KEY=invented", "COPILOT_MODEL=stand-in"}
}

func copilotCommand(_ *session, prompt string) []string {
	return []string{"-p", prompt, "--allow-all", "--no-color", "--no-auto-update", "--stream", "on"}
}

func copilotCall(s step) call {
	switch s.tool {
	case "shell":
		return call{name: "bash", args: object{"command": s.text, "description": "Run it"}}
	case "write":
		return call{name: "create", args: object{"path": s.args["file_path"], "file_text": s.args["content"]}}
	case "agent":
		return call{name: "task", args: object{"description": "Help", "name": "help", "prompt": prompt(s.text), "agent_type": "general-purpose", "mode": "sync"}}
	}
	return call{name: "stig-" + s.text, args: s.args}
}

func configureGemini(t *testing.T, s *session) {
	s.write(t, filepath.Join(s.home, ".gemini", "settings.json"), compact(object{
		"security":  object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
		"model":     object{"name": "gemini-2.5-flash"},
		"general":   object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":   object{"usageStatisticsEnabled": false},
		"telemetry": object{"enabled": false},
	}))
	s.write(t, filepath.Join(s.dir, ".gemini", "settings.json"), compact(object{"mcpServers": s.servers()}))
}

func geminiVariables(s *session) []string {
	return []string{"GEMINI_API_KEY=invented", "GOOGLE_GEMINI_BASE_URL=" + s.url}
}

func geminiCommand(_ *session, prompt string) []string {
	return []string{"--yolo", "-m", "gemini-2.5-flash", "-o", "stream-json", "-p", prompt}
}

func geminiCall(s step) call {
	switch s.tool {
	case "shell":
		return call{name: "run_shell_command", args: object{"command": s.text, "description": "Run it"}}
	case "write":
		return call{name: "write_file", args: s.args}
	case "agent":
		return call{name: "invoke_agent", args: object{"agent_name": "generalist", "prompt": prompt(s.text)}}
	}
	return call{name: "mcp_stig_" + s.text, args: s.args}
}

func configureOpencode(t *testing.T, s *session) {
	s.write(t, filepath.Join(s.home, ".npmrc"), "fetch-retries=0\nregistry=http://127.0.0.1:9/\n")
	s.write(t, filepath.Join(s.dir, "opencode.json"), compact(object{
		"$schema": "https://opencode.ai/config.json",
		"model":   "stub/stand-in", "small_model": "stub/stand-in",
		"enabled_providers": []any{"stub"},
		"provider": object{"stub": object{
			"npm": "@ai-sdk/openai-compatible", "name": "stub",
			"options": object{"baseURL": s.url + "/v1", "apiKey": "invented"},
			"models":  object{"stand-in": object{"name": "stand-in", "tool_call": true, "limit": object{"context": 100000, "output": 10000}}},
		}},
		"permission": object{"*": "allow"},
		"mcp":        object{"stig": object{"type": "local", "command": []any{s.stig, "mcp"}, "enabled": true}},
	}))
}

func opencodeVariables(*session) []string {
	return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1"}
}

func opencodeCommand(_ *session, prompt string) []string {
	return []string{"run", "--format", "json", prompt}
}

func opencodeCall(s step) call {
	switch s.tool {
	case "shell":
		return call{name: "bash", args: object{"command": s.text, "description": "Run it"}}
	case "write":
		return call{name: "write", args: object{"filePath": s.args["file_path"], "content": s.args["content"]}}
	case "agent":
		return call{name: "task", args: object{"description": "Help", "prompt": prompt(s.text), "subagent_type": "general"}}
	}
	return call{name: "stig_" + s.text, args: s.args}
}

// session is a scratch home and project in which one program runs.
type session struct {
	program program
	home    string
	dir     string // the project
	bin     string // contains stig and a bd that records its calls
	stig    string
	path    string // PATH
	url     string // of the model
	model   *model
}

// newSession creates a project with a store, in an empty home, and the model.
func newSession(t *testing.T, p program, answers scripts) *session {
	t.Helper()
	root := t.TempDir()
	s := &session{program: p, home: filepath.Join(root, "home"), dir: filepath.Join(root, "project"), bin: filepath.Join(root, "bin")}
	s.stig = filepath.Join(s.bin, "stig")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the programs need node: ", err)
	}
	s.path = strings.Join([]string{s.bin, filepath.Dir(node), "/usr/local/bin", "/usr/bin", "/bin"}, ":")
	s.model = &model{scripts: answers, translate: p.call}
	s.url = s.model.start(t)
	s.write(t, filepath.Join(s.home, ".keep"), "")
	s.write(t, filepath.Join(s.dir, ".beads", "issues.jsonl"), store)
	s.write(t, filepath.Join(s.bin, "bd"), "#!/bin/sh\necho \"$@\" >>"+filepath.Join(s.bin, "bd.log")+"\n")
	if err := os.Chmod(filepath.Join(s.bin, "bd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(built(t), s.stig); err != nil {
		t.Fatal(err)
	}
	s.must(t, "git", "init", "-q")
	s.must(t, "git", "config", "user.name", "ann")
	s.must(t, "git", "config", "user.email", "ann@example.org")
	s.must(t, "git", "add", ".")
	s.must(t, "git", "commit", "-qm", "a store")
	p.configure(t, s)
	return s
}

const store = `{"id":"demo-1","title":"Open the gate","status":"open","priority":1,"issue_type":"task","acceptance_criteria":"` + "```verify\\ntest -f gate.txt\\n```" + `"}
{"id":"demo-2","title":"Paint the gate","status":"open","priority":2,"issue_type":"task","notes":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| schema-version | 1 | 2026-11-18 |\n| progress | implementing | 2026-11-18 |\n<!-- /stigmergic-signals -->\n\n## State Estimate (2026-11-18)\n\n**Done:** the primer is on.\n"}
`

// servers returns MCP servers in the format of most hosts.
func (s *session) servers() object {
	return object{"stig": object{"command": s.stig, "args": []any{"mcp"}}}
}

func (s *session) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// read returns a file's text; "" if it does not exist.
func (s *session) read(path string) string {
	text, _ := os.ReadFile(path)
	return string(text)
}

// environ returns the environment of a program; it inherits nothing from the tests.
func (s *session) environ() []string {
	return append([]string{"HOME=" + s.home, "PATH=" + s.path, "LANG=C.UTF-8", "TERM=dumb"}, s.program.variables(s)...)
}

// output runs a program in the project and returns what it printed.
func (s *session) output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	if found, err := exec.LookPath(filepath.Join(s.bin, name)); err == nil {
		cmd.Path, cmd.Err = found, nil
	}
	cmd.Dir, cmd.Env = s.dir, s.environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *session) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := s.output(name, args...)
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// executable returns the path where npm installed the program.
func (s *session) executable() string {
	return filepath.Join(os.Getenv(hostsVariable), "node_modules", ".bin", s.program.name)
}
