package assistant

import (
	"slices"
	"strings"
)

// ownFolders lists the folders in which assistants' programs keep their own settings and
// sessions.
var ownFolders = []string{
	".agent", ".agents", ".aider.tags.cache.v4", ".amp", ".augment", ".claude", ".cline", ".codex", ".continue", ".copilot", ".crush",
	".cursor", ".gemini", ".goose", ".kilocode", ".kiro", ".opencode", ".qwen", ".roo", ".specstory", ".trae", ".windsurf",
}

// IsOwnFile reports whether a path, relative to the root of a repository and with slashes,
// belongs to an assistant's program. Such a file is not work on an issue, unless git tracks it.
func IsOwnFile(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains(ownFolders, first) || strings.HasPrefix(first, ".aider.") || strings.HasPrefix(first, ".claude.")
}
