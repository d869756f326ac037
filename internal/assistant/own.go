package assistant

import (
	"slices"
	"strings"
)

// ownFolders are those in which assistants' programs keep settings and sessions of their own.
var ownFolders = []string{
	".agent", ".agents", ".aider.tags.cache.v4", ".amp", ".augment", ".claude", ".cline", ".codex", ".continue", ".copilot", ".crush",
	".cursor", ".gemini", ".goose", ".kilocode", ".kiro", ".opencode", ".qwen", ".roo", ".specstory", ".trae", ".windsurf",
}

// IsOwnFile reports whether a path from the top of a repository, with slashes, is one where an
// assistant's program keeps what is its own: no work on an issue, unless git tracks it.
func IsOwnFile(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return slices.Contains(ownFolders, first) || strings.HasPrefix(first, ".aider.") || strings.HasPrefix(first, ".claude.")
}
