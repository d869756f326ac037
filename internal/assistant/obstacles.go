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

// Obstacle is what keeps a host from running hooks that its settings name, or from
// starting a server.
type Obstacle struct {
	File  string // that says so, or that should say otherwise
	Found string
	Do    string // what a person has to do
}

// Surroundings are what decides, beside the settings, on whether a host runs hooks.
type Surroundings struct {
	Hooks string   // the file of settings with the hooks
	Roots []string // of the project, and of the main checkout of a worktree; nil for hooks of the home
	User  string   // the user's directory of the host
	// Read gives the text of a file, nil for one that is not there. Glob lists the files of
	// a pattern, by name. Same reports whether two paths name one file.
	Read func(path string) []byte
	Glob func(pattern string) []string
	Same func(a, b string) bool
}

// Obstacles lists what keeps the host from running stig's hooks in a file, where it has
// them, and its server in a project. What the host itself asks a person at its next
// start is in it too. A file that cannot be read says nothing.
func (s Settings) Obstacles(around Surroundings) (list []Obstacle) {
	text := around.Read(around.Hooks)
	keys := s.keys(text)
	if s.strict && len(keys) > 0 && !json.Valid(bytes.TrimPrefix(text, []byte(byteOrderMark))) {
		list = append(list, Obstacle{around.Hooks, "comments or trailing commas: " + string(s.Host) + " does not read the file", "take them out of the file"})
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

// keys are the names by which Codex knows stig's hooks in a file: event, number of the
// group, number in it.
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

// wordStart finds where a word begins within a name.
var wordStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z])([A-Z])`) })

// claudeManaged lists an administrator's settings of Claude Code.
func claudeManaged(around Surroundings) (files []string) {
	for _, dir := range []string{"/etc/claude-code", "/Library/Application Support/ClaudeCode", `C:\Program Files\ClaudeCode`} {
		files = append(files, around.Glob(filepath.Join(dir, "managed-settings.json"))...)
		files = append(files, around.Glob(filepath.Join(dir, "managed-settings.d", "*.json"))...)
	}
	return files
}

// claudeOwn lists the settings of a project, the strongest first; the first is not shared.
func claudeOwn(around Surroundings) (files []string) {
	for _, root := range around.Roots[:min(1, len(around.Roots))] {
		files = append(files, filepath.Join(root, ".claude", "settings.local.json"), filepath.Join(root, ".claude", "settings.json"))
	}
	return files
}

func claudeHooks(around Surroundings, _ []string) (list []Obstacle) {
	user := filepath.Join(around.User, "settings.json")
	for _, file := range append(slices.Concat(claudeManaged(around), claudeOwn(around)), user) { // the strongest first
		if off, set := around.json(file)["disableAllHooks"].(bool); set {
			if off {
				list = append(list, Obstacle{file, "disableAllHooks: claude runs no hooks", "take disableAllHooks out of the file"})
			}
			break
		}
	}
	for _, file := range claudeManaged(around) {
		if around.json(file)["allowManagedHooksOnly"] == true {
			list = append(list, Obstacle{file, "allowManagedHooksOnly: claude runs the hooks of the administrator alone",
				"ask the administrator for the hooks that stig setup claude --print shows"})
		}
	}
	if state, _, trusted := around.claudeProject(); state != "" && !trusted {
		list = append(list, Obstacle{state, "this folder is not trusted: claude runs its hooks with -p alone", "start claude here and trust the folder"})
	}
	return list
}

// claudeProject is what Claude Code remembers of a project, and where; there is no file
// before its first start. A project is trusted with a directory above it.
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

// claudeServer looks at what a project names. Its own settings do not approve servers
// before the folder is trusted.
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
			list = append(list, Obstacle{file, "the server " + name + " was refused: claude does not start it", "start claude here and switch it on at /mcp"})
		case !all && !has("enabledMcpjsonServers"):
			list = append(list, Obstacle{file, "the server " + name + " is not approved: claude starts it with -p alone", "start claude here and approve it"})
		}
	}
	slices.SortFunc(list, func(a, b Obstacle) int { return strings.Compare(a.Found, b.Found) })
	return list
}

// codexRequirements is where an administrator's settings of Codex stand.
const codexRequirements = "/etc/codex/requirements.toml"

func codexHooks(around Surroundings, keys []string) (list []Obstacle) {
	file := filepath.Join(around.User, "config.toml")
	config := around.toml(file)
	if features := table(config["features"]); features["hooks"] == false || features["codex_hooks"] == false {
		list = append(list, Obstacle{file, "features.hooks is false: codex runs no hooks", "take it out of the file"})
	}
	if around.toml(codexRequirements)["allow_managed_hooks_only"] == true {
		list = append(list, Obstacle{codexRequirements, "allow_managed_hooks_only: codex runs the hooks of the administrator alone",
			"ask the administrator for the hooks that stig setup codex --print shows"})
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
		list = append(list, Obstacle{file, fmt.Sprintf("%d of %d hooks are approved: codex runs no other, and says nothing", approved, len(keys)), "type /hooks in codex to approve them"})
	}
	if off > 0 {
		list = append(list, Obstacle{file, fmt.Sprintf("%d of %d hooks are switched off", off, len(keys)), "type /hooks in codex to switch them on"})
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

// copilotHooks reads what Copilot CLI asks a person; VS Code trusts folders elsewhere.
func copilotHooks(around Surroundings, _ []string) (list []Obstacle) {
	if len(around.Roots) == 0 {
		return nil
	}
	root := around.Roots[0]
	for _, name := range []string{"settings.local.json", "settings.json"} {
		file := filepath.Join(root, ".github", "copilot", name)
		if around.json(file)["disableAllHooks"] == true {
			list = append(list, Obstacle{file, "disableAllHooks: copilot runs no hooks", "take disableAllHooks out of the file"})
		}
	}
	if around.json(around.Hooks)["disableAllHooks"] == true {
		list = append(list, Obstacle{around.Hooks, "disableAllHooks: copilot runs none of these hooks", "take disableAllHooks out of the file"})
	}
	file := filepath.Join(around.User, "config.json")
	folders, _ := around.json(file)["trustedFolders"].([]any)
	trusted := func(folder any) bool {
		path, _ := folder.(string)
		below, err := filepath.Rel(path, root)
		return err == nil && filepath.IsLocal(below)
	}
	if around.Read(file) != nil && !slices.ContainsFunc(folders, trusted) { // else it asks at its first start
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
	for _, file := range slices.Backward(files) { // the strongest last
		settings := around.jsonc(file)
		if table(settings["hooksConfig"])["enabled"] == false {
			list = append(list, Obstacle{file, "hooksConfig.enabled is false: gemini runs no hooks", "take it out of the file"})
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

// json reads an object; nil where there is none, or one that JSON does not allow.
func (around Surroundings) json(file string) (keys map[string]any) {
	if json.Unmarshal(bytes.TrimPrefix(around.Read(file), []byte(byteOrderMark)), &keys) != nil {
		return nil
	}
	return keys
}

// jsonc is json with comments.
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

// lists reports whether a value is a list with this text.
func lists(value any, text string) bool {
	list, _ := value.([]any)
	return slices.Contains(list, any(text))
}
