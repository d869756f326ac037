package assistant

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestObstacles checks each file that keeps a host from running stig's hooks or its server, and
// a similar one that does not.
func TestObstacles(t *testing.T) {
	const (
		user      = "/home/ann/.claude/settings.json"
		project   = "/srv/gate/.claude/settings.json"
		local     = "/srv/gate/.claude/settings.local.json"
		managed   = "/etc/claude-code/managed-settings.json"
		state     = "/home/ann/.claude.json"
		mcp       = "/srv/gate/.mcp.json"
		server    = `{"mcpServers":{"stig":{"command":"/opt/stig","args":["mcp"]},"other":{"command":"x"}}}`
		trusted   = `{"projects":{"/srv/gate":{"hasTrustDialogAccepted":true}}}`
		config    = "/home/ann/.codex/config.toml"
		trust     = "[projects.\"/srv/gate\"]\ntrust_level = \"trusted\"\n"
		geminiOwn = "/home/ann/.gemini/settings.json"
		folders   = "/home/ann/.gemini/trustedFolders.json"
	)
	codex := AllSettings()[slices.Index(Hosts(), Codex)]
	keys := codex.keys([]byte(codex.Whole()))
	if len(keys) != len(codex.hooks) || !slices.Contains(keys, "pre_tool_use:0:0") {
		t.Fatalf("keys of Codex: %q", keys)
	}
	approved := trust
	for _, key := range keys {
		approved += "[hooks.state.\"/srv/gate/.codex/hooks.json:" + key + "\"]\ntrusted_hash = \"sha256:1\"\n"
	}
	none, one := fmt.Sprintf("0 of %d hooks are approved", len(keys)), fmt.Sprintf("1 of %d hooks are ", len(keys))
	for name, test := range map[string]struct {
		host  Host
		home  bool // hooks in the home
		files map[string]string
		want  []string // file and the beginning of the message
	}{
		"copilot":                    {host: Copilot},
		"copilot, not trusted":       {Copilot, false, map[string]string{"/home/ann/.copilot/config.json": `{"trustedFolders":["/srv/gat"]}`}, []string{"/home/ann/.copilot/config.json: this folder is not trusted"}},
		"copilot, trusted above":     {Copilot, false, map[string]string{"/home/ann/.copilot/config.json": `{"trustedFolders":["/srv"]}`}, nil},
		"copilot, off":               {Copilot, false, map[string]string{"/srv/gate/.github/copilot/settings.json": `{"disableAllHooks":true}`}, []string{"/srv/gate/.github/copilot/settings.json: disableAllHooks"}},
		"copilot, off in its file":   {Copilot, false, map[string]string{"/srv/gate/.github/hooks/stig.json": `"disableAllHooks":true,`}, []string{"/srv/gate/.github/hooks/stig.json: disableAllHooks"}},
		"claude":                     {host: Claude},
		"claude, off":                {Claude, false, map[string]string{user: `{"disableAllHooks": true}`}, []string{user + ": disableAllHooks"}},
		"claude, off in a comment":   {Claude, false, map[string]string{user: `{"disableAllHooks": true} // for now`}, nil},
		"claude, comments":           {Claude, false, map[string]string{project: `/* ours */`}, []string{project + ": comments or trailing commas"}},
		"codex, comments":            {Codex, false, map[string]string{"/srv/gate/.codex/hooks.json": `/* ours */`}, []string{"/srv/gate/.codex/hooks.json: comments or trailing commas"}},
		"gemini, comments":           {Gemini, false, map[string]string{"/srv/gate/.gemini/settings.json": `/* ours */ "hooksConfig": {"enabled": false},`}, []string{"/srv/gate/.gemini/settings.json: hooksConfig.enabled"}},
		"claude, off in the project": {Claude, false, map[string]string{project: `"disableAllHooks": true, `}, []string{project + ": disableAllHooks"}},
		"claude, on again":           {Claude, false, map[string]string{user: `{"disableAllHooks":true}`, local: `{"disableAllHooks":false}`}, nil},
		"claude, off elsewhere":      {Claude, true, map[string]string{project: `{"disableAllHooks":true}`}, nil},
		"claude, managed":            {Claude, false, map[string]string{managed: `{"allowManagedHooksOnly":true}`}, []string{managed + ": allowManagedHooksOnly"}},
		"claude, managed in parts":   {Claude, true, map[string]string{"/etc/claude-code/managed-settings.d/a.json": `{"allowManagedHooksOnly":true}`}, []string{"/etc/claude-code/managed-settings.d/a.json: allowManagedHooksOnly"}},
		"claude, managed off":        {Claude, false, map[string]string{managed: `{"disableAllHooks":true}`, local: `{"disableAllHooks":false}`}, []string{managed + ": disableAllHooks"}},
		"claude, others manage":      {Claude, false, map[string]string{user: `{"allowManagedHooksOnly":true}`}, nil},
		"claude, broken settings":    {Claude, false, map[string]string{user: `{"disableAllHooks":`}, nil},
		"claude, not trusted":        {Claude, false, map[string]string{state: `{"projects":{"/srv/other":{"hasTrustDialogAccepted":true}}}`}, []string{state + ": this folder is not trusted"}},
		"claude, refused":            {Claude, false, map[string]string{state: `{"projects":{"/srv/gate":{"hasTrustDialogAccepted":false}}}`}, []string{state + ": this folder is not trusted"}},
		"claude, trusted":            {Claude, false, map[string]string{state: `{"projects":{"/srv/gate":{"hasTrustDialogAccepted":true}}}`}, nil},
		"claude, trusted above":      {Claude, false, map[string]string{state: `{"projects":{"/srv":{"hasTrustDialogAccepted":true}}}`}, nil},
		"claude, trusted home":       {Claude, true, map[string]string{state: `{"projects":{}}`}, nil},
		"claude, server pending":     {Claude, false, map[string]string{mcp: server}, []string{mcp + ": the server stig is not approved"}},
		"claude, server approved":    {Claude, false, map[string]string{mcp: server, local: `{"enabledMcpjsonServers":["stig"]}`, state: trusted}, nil},
		"claude, approved untrusted": {Claude, false, map[string]string{mcp: server, local: `{"enabledMcpjsonServers":["stig"]}`}, []string{mcp + ": the server stig is not approved"}},
		"claude, another approved":   {Claude, false, map[string]string{mcp: server, local: `{"enabledMcpjsonServers":["other"]}`, state: trusted}, []string{mcp + ": the server stig is not approved"}},
		"claude, all approved":       {Claude, false, map[string]string{mcp: server, user: `{"enableAllProjectMcpServers":true}`}, nil},
		"claude, approved once":      {Claude, false, map[string]string{mcp: server, state: `{"projects":{"/srv/gate":{"hasTrustDialogAccepted":true,"enabledMcpjsonServers":["stig"]}}}`}, nil},
		"claude, server refused":     {Claude, false, map[string]string{mcp: server, user: `{"enableAllProjectMcpServers":true,"disabledMcpjsonServers":["stig"]}`}, []string{mcp + ": the server stig was rejected"}},
		"claude, other servers":      {Claude, false, map[string]string{mcp: `{"mcpServers":{"other":{"command":"x"}}}`}, nil},

		"codex, new":           {Codex, false, nil, []string{config + ": this project is not trusted", config + ": " + none}},
		"codex, trusted":       {Codex, false, map[string]string{config: trust}, []string{config + ": " + none}},
		"codex, approved":      {Codex, false, map[string]string{config: approved}, nil},
		"codex, one approved":  {Codex, false, map[string]string{config: strings.Join(strings.SplitAfter(approved, "\n")[:4], "")}, []string{config + ": " + one + "approved"}},
		"codex, one off":       {Codex, false, map[string]string{config: approved + "enabled = false\n"}, []string{config + ": " + one + "disabled"}},
		"codex, others'":       {Codex, false, map[string]string{config: strings.ReplaceAll(approved, "/srv/gate/.codex", "/srv/other/.codex")}, []string{config + ": " + none}},
		"codex, moved":         {Codex, false, map[string]string{config: strings.ReplaceAll(approved, ":0:0", ":1:0")}, []string{config + ": " + none}},
		"codex, off":           {Codex, false, map[string]string{config: approved + "[features]\nhooks = false\n"}, []string{config + ": features.hooks is false"}},
		"codex, managed":       {Codex, false, map[string]string{config: approved, codexRequirements: "allow_managed_hooks_only = true\n"}, []string{codexRequirements + ": allow_managed_hooks_only"}},
		"codex, home":          {Codex, true, map[string]string{config: approved}, []string{config + ": " + none}},
		"codex, home approved": {Codex, true, map[string]string{config: strings.ReplaceAll(approved, "/srv/gate/.codex", "/home/ann/.codex")}, nil},

		"gemini":               {host: Gemini},
		"gemini, off":          {Gemini, false, map[string]string{geminiOwn: `{"hooksConfig":{"enabled":false}}`}, []string{geminiOwn + ": hooksConfig.enabled is false"}},
		"gemini, not trusted":  {Gemini, false, map[string]string{folders: `{"/srv/other":"TRUST_FOLDER"}`}, []string{folders + ": this folder is not trusted"}},
		"gemini, refused":      {Gemini, false, map[string]string{folders: `{"/srv/gate":"DO_NOT_TRUST"}`}, []string{folders + ": this folder is not trusted"}},
		"gemini, trusted":      {Gemini, false, map[string]string{folders: `{"/srv/gate":"TRUST_FOLDER"}`}, nil},
		"gemini, parent":       {Gemini, false, map[string]string{folders: `{"/srv/other":"TRUST_PARENT"}`}, nil},
		"gemini, asks nothing": {Gemini, false, map[string]string{folders: `{}`, geminiOwn: `{"security":{"folderTrust":{"enabled":false}}}`}, nil},
		"gemini, home":         {Gemini, true, map[string]string{folders: `{}`}, nil},
		"cursor":               {host: Cursor},
	} {
		s := AllSettings()[slices.Index(Hosts(), test.host)]
		around := Surroundings{User: "/home/ann/" + cmp.Or(s.Home, s.Dir), Hooks: "/home/ann/" + cmp.Or(s.Home, s.Dir) + "/" + s.File, Same: func(a, b string) bool { return a == b }}
		if !test.home {
			around.Hooks, around.Roots = "/srv/gate/"+s.Dir+"/"+s.File, []string{"/srv/gate"}
		}
		files := map[string]string{}
		maps.Copy(files, test.files)
		files[around.Hooks] = "{" + test.files[around.Hooks] + strings.TrimPrefix(s.Whole(), "{") // next to the hooks
		around.Read = func(path string) []byte {
			if text, ok := files[path]; ok {
				return []byte(text)
			}
			return nil
		}
		around.Glob = func(pattern string) (found []string) {
			for path := range files {
				if ok, err := filepath.Match(pattern, path); ok && err == nil {
					found = append(found, path)
				}
			}
			return found
		}
		var got []string
		for _, obstacle := range s.Obstacles(around) {
			got = append(got, obstacle.File+": "+obstacle.Found)
			if obstacle.Do == "" {
				t.Errorf("%s: %s: says not what to do", name, obstacle.Found)
			}
		}
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
		files[around.Hooks] = "{}"
		for _, obstacle := range s.Obstacles(around) {
			if !strings.Contains(obstacle.Found, "server") {
				t.Errorf("%s: without hooks of stig: %s", name, obstacle.Found)
			}
		}
	}
}
