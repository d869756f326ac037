package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// Obstacle is something that keeps a host from running the hooks in its settings or from
// starting a server.
type Obstacle struct {
	File  string // the file that says so, or that has to be changed
	Found string
	Do    string // what a person must do
}

// Surroundings is what, besides the settings, decides whether a host runs hooks.
type Surroundings struct {
	Hooks string   // the settings file with the hooks
	Roots []string // the project, then the main checkout of a worktree; nil for hooks in the home
	User  string   // the host's directory in the user's home
	// Read returns the text of a file, nil if it does not exist. Glob returns the files that
	// match a pattern, sorted by name. Same reports whether two paths name the same file.
	Read func(path string) []byte
	Glob func(pattern string) []string
	Same func(a, b string) bool
}

// Obstacles returns what keeps the host from running stig's hooks in a file, if the file has
// them, and from starting stig's server in a project. The result includes what the host itself
// asks a person at its next start. Unreadable files are ignored.
func (s Settings) Obstacles(around Surroundings) (list []Obstacle) {
	text := around.Read(around.Hooks)
	keys := s.keys(text)
	if s.strict && len(keys) > 0 && !json.Valid(bytes.TrimPrefix(text, []byte(byteOrderMark))) {
		list = append(list, Obstacle{around.Hooks, "comments or trailing commas: " + string(s.Host) + " cannot read the file", "remove them from the file"})
		return list
	}
	if len(keys) > 0 && s.hooksObstacles != nil {
		list = s.hooksObstacles(around, keys)
	}
	if len(around.Roots) > 0 && s.serverObstacles != nil {
		list = append(list, s.serverObstacles(around)...)
	}
	return list
}

// keys returns the names by which Codex identifies stig's hooks in a file: event, index of the
// group, index in the group.
func (s Settings) keys(source []byte) (keys []string) {
	d, err := s.read(source)
	if err != nil || d.hooks == nil {
		return nil
	}
	for _, event := range d.hooks.Members {
		array, ok := event.Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		name := strings.ToLower(wordStart().ReplaceAllString(event.Name.Value.(hujson.Literal).String(), "${1}_$2"))
		for i, entry := range array.Elements {
			handlers := []hujson.Value{entry}
			if group, ok := groupOf(entry); ok {
				handlers = group.Elements
			}
			for j, handler := range handlers {
				if s.ownHandler(handler) {
					keys = append(keys, fmt.Sprintf("%s:%d:%d", name, i, j))
				}
			}
		}
	}
	return keys
}

// wordStart matches the start of a word within a name.
var wordStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z])([A-Z])`) })

// claudeManaged returns an administrator's settings files of Claude Code.
func claudeManaged(around Surroundings) (files []string) {
	for _, dir := range []string{"/etc/claude-code", "/Library/Application Support/ClaudeCode", `C:\Program Files\ClaudeCode`} {
		files = append(files, around.Glob(filepath.Join(dir, "managed-settings.json"))...)
		files = append(files, around.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))...)
	}
	return files
}

// claudeOwn returns the settings files of a project, the one with the highest precedence first;
// that one is not shared.
func claudeOwn(around Surroundings) (files []string) {
	for _, root := range around.Roots[:min(1, len(around.Roots))] {
		files = append(files, filepath.Join(root, ".claude", "settings.local.json"), filepath.Join(root, ".claude", "settings.json"))
	}
	return files
}

func claudeHooks(around Surroundings, _ []string) (list []Obstacle) {
	user := filepath.Join(around.User, "settings.json")
	for _, file := range append(slices.Concat(claudeManaged(around), claudeOwn(around)), user) { // highest precedence first
		if off, set := around.json(file)["disableAllHooks"].(bool); set {
			if off {
				list = append(list, Obstacle{file, "disableAllHooks: claude runs no hooks", "remove disableAllHooks from the file"})
			}
			break
		}
	}
	for _, file := range claudeManaged(around) {
		if around.json(file)["allowManagedHooksOnly"] == true {
			list = append(list, Obstacle{file, "allowManagedHooksOnly: claude runs only the administrator's hooks",
				"ask the administrator to add the hooks that stig setup claude --print shows"})
		}
	}
	if state, _, trusted := around.claudeProject(); state != "" && !trusted {
		list = append(list, Obstacle{state, "this folder is not trusted: claude runs its hooks only with -p", "start claude here and trust the folder"})
	}
	return list
}

// claudeProject returns what Claude Code has recorded about a project, the file with the
// record, and whether the project is trusted. Before its first start the file does not exist.
// Trusting a directory trusts the projects below it.
func (around Surroundings) claudeProject() (file string, project map[string]any, trusted bool) {
	file = filepath.Join(around.User, ".claude.json")
	if around.Read(file) == nil {
		file = filepath.Join(filepath.Dir(around.User), ".claude.json")
	}
	state := around.json(file)
	if state == nil || len(around.Roots) == 0 {
		return "", nil, false
	}
	projects := table(state["projects"])
	for _, root := range around.Roots {
		for dir, last := root, ""; dir != last && !trusted; dir, last = filepath.Dir(dir), dir {
			trusted = table(projects[dir])["hasTrustDialogAccepted"] == true
		}
	}
	return file, table(projects[around.Roots[0]]), trusted
}

// claudeServer checks the servers that a project names. The project's own settings cannot
// approve servers before the folder is trusted.
func claudeServer(around Surroundings) (list []Obstacle) {
	file := filepath.Join(around.Roots[0], ".mcp.json")
	servers := table(around.json(file)["mcpServers"])
	_, project, trusted := around.claudeProject()
	sources := []map[string]any{project}
	files := append(claudeManaged(around), filepath.Join(around.User, "settings.json"))
	if trusted {
		files = append(files, claudeOwn(around)...)
	}
	for _, settings := range files {
		sources = append(sources, around.json(settings))
	}
	for name, server := range servers {
		program, _ := table(server)["command"].(string)
		if filepath.Base(program) != "stig" {
			continue
		}
		has := func(key string) bool {
			return slices.ContainsFunc(sources, func(s map[string]any) bool { return lists(s[key], name) })
		}
		all := slices.ContainsFunc(sources, func(s map[string]any) bool { return s["enableAllProjectMcpServers"] == true })
		switch {
		case has("disabledMcpjsonServers"):
			list = append(list, Obstacle{file, "the server " + name + " was rejected: claude does not start it", "start claude here and enable it with /mcp"})
		case !all && !has("enabledMcpjsonServers"):
			list = append(list, Obstacle{file, "the server " + name + " is not approved: claude starts it only with -p", "start claude here and approve it"})
		}
	}
	slices.SortFunc(list, func(a, b Obstacle) int { return strings.Compare(a.Found, b.Found) })
	return list
}

// codexRequirements is the path of an administrator's settings of Codex.
const codexRequirements = "/etc/codex/requirements.toml"

func codexHooks(around Surroundings, keys []string) (list []Obstacle) {
	file := filepath.Join(around.User, "config.toml")
	config := around.toml(file)
	if features := table(config["features"]); features["hooks"] == false || features["codex_hooks"] == false {
		list = append(list, Obstacle{file, "features.hooks is false: codex runs no hooks", "remove it from the file"})
	}
	if around.toml(codexRequirements)["allow_managed_hooks_only"] == true {
		list = append(list, Obstacle{codexRequirements, "allow_managed_hooks_only: codex runs only the administrator's hooks",
			"ask the administrator to add the hooks that stig setup codex --print shows"})
	}
	if len(around.Roots) > 0 && !around.codexTrusts(table(config["projects"])) {
		list = append(list, Obstacle{file, "this project is not trusted: codex reads neither its hooks nor its servers", "start codex here and trust it"})
	}
	approved, off := 0, 0
	for key, state := range table(table(config["hooks"])["state"]) {
		at := slices.IndexFunc(keys, func(own string) bool { return strings.HasSuffix(key, ":"+own) })
		if at < 0 || !around.Same(strings.TrimSuffix(key, ":"+keys[at]), around.Hooks) {
			continue
		}
		if table(state)["enabled"] == false {
			off++
		}
		if hash, _ := table(state)["trusted_hash"].(string); hash != "" {
			approved++
		}
	}
	if approved < len(keys) {
		list = append(list, Obstacle{file, fmt.Sprintf("%d of %d hooks are approved: codex silently skips the others", approved, len(keys)), "type /hooks in codex to approve them"})
	}
	if off > 0 {
		list = append(list, Obstacle{file, fmt.Sprintf("%d of %d hooks are disabled", off, len(keys)), "type /hooks in codex to enable them"})
	}
	return list
}

func (around Surroundings) codexTrusts(projects map[string]any) bool {
	for path, project := range projects {
		known := slices.ContainsFunc(around.Roots, func(root string) bool { return around.Same(path, root) })
		if known && table(project)["trust_level"] == "trusted" {
			return true
		}
	}
	return false
}

// copilotHooks checks the settings of Copilot CLI and the folders that it trusts; VS Code
// records trusted folders elsewhere.
func copilotHooks(around Surroundings, _ []string) (list []Obstacle) {
	if len(around.Roots) == 0 {
		return nil
	}
	root := around.Roots[0]
	for _, name := range []string{"settings.local.json", "settings.json"} {
		file := filepath.Join(root, ".github", "copilot", name)
		if around.json(file)["disableAllHooks"] == true {
			list = append(list, Obstacle{file, "disableAllHooks: copilot runs no hooks", "remove disableAllHooks from the file"})
		}
	}
	if around.json(around.Hooks)["disableAllHooks"] == true {
		list = append(list, Obstacle{around.Hooks, "disableAllHooks: copilot runs none of these hooks", "remove disableAllHooks from the file"})
	}
	file := filepath.Join(around.User, "config.json")
	folders, _ := around.json(file)["trustedFolders"].([]any)
	trusted := func(folder any) bool {
		path, _ := folder.(string)
		below, err := filepath.Rel(path, root)
		return err == nil && filepath.IsLocal(below)
	}
	if around.Read(file) != nil && !slices.ContainsFunc(folders, trusted) { // otherwise it asks at its first start
		list = append(list, Obstacle{file, "this folder is not trusted: copilot runs none of its hooks and servers", "start copilot here and trust the folder"})
	}
	return list
}

func geminiHooks(around Surroundings, _ []string) (list []Obstacle) {
	files := []string{"/etc/gemini-cli/settings.json"}
	for _, root := range around.Roots[:min(1, len(around.Roots))] {
		files = append(files, filepath.Join(root, ".gemini", "settings.json"))
	}
	files = append(files, filepath.Join(around.User, "settings.json"))
	asks := true
	for _, file := range slices.Backward(files) { // lowest precedence first: the last value counts
		settings := around.jsonc(file)
		if table(settings["hooksConfig"])["enabled"] == false {
			list = append(list, Obstacle{file, "hooksConfig.enabled is false: gemini runs no hooks", "remove it from the file"})
		}
		if trust, set := table(table(settings["security"])["folderTrust"])["enabled"].(bool); set {
			asks = trust
		}
	}
	file := filepath.Join(around.User, "trustedFolders.json")
	folders := around.json(file)
	if asks && folders != nil && len(around.Roots) > 0 && !geminiTrusts(folders, around.Roots[0]) {
		list = append(list, Obstacle{file, "this folder is not trusted: gemini reads none of its settings", "start gemini here and trust the folder"})
	}
	return list
}

func geminiTrusts(folders map[string]any, root string) bool {
	for path, trust := range folders {
		if trust == "TRUST_PARENT" {
			path = filepath.Dir(path)
		} else if trust != "TRUST_FOLDER" {
			continue
		}
		if below, err := filepath.Rel(path, root); err == nil && filepath.IsLocal(below) {
			return true
		}
	}
	return false
}

// json parses a file that contains a JSON object; nil if it is missing or invalid.
func (around Surroundings) json(file string) (keys map[string]any) {
	if json.Unmarshal(bytes.TrimPrefix(around.Read(file), []byte(byteOrderMark)), &keys) != nil {
		return nil
	}
	return keys
}

// jsonc is like json but allows comments.
func (around Surroundings) jsonc(file string) (keys map[string]any) {
	value, err := parse(bytes.TrimPrefix(around.Read(file), []byte(byteOrderMark)))
	if err != nil {
		return nil
	}
	value.Standardize()
	if json.Unmarshal(value.Pack(), &keys) != nil {
		return nil
	}
	return keys
}

func (around Surroundings) toml(file string) (keys map[string]any) {
	if toml.Unmarshal(around.Read(file), &keys) != nil {
		return nil
	}
	return keys
}

func table(value any) map[string]any {
	keys, _ := value.(map[string]any)
	return keys
}

// lists reports whether value is a list that contains text.
func lists(value any, text string) bool {
	list, _ := value.([]any)
	return slices.Contains(list, any(text))
}
