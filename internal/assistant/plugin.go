package assistant

import (
	_ "embed"
	"strings"
)

// opencodePlugin is the plugin that OpenCode uses instead of hooks.
//
//go:embed plugin.js
var opencodePlugin string

// ownPlugin reports whether source is a plugin that setup of this or another stig wrote; its
// first line says so.
func (s Settings) ownPlugin(source []byte) bool {
	mark, _, _ := strings.Cut(s.plugin, "\n")
	first, _, _ := strings.Cut(string(source), "\n")
	return strings.TrimRight(first, "\r") == mark
}

// installPlugin returns the plugin, and the names of its events unless source is already the
// plugin. It refuses a file that is not stig's.
func (s Settings) installPlugin(source []byte) (text []byte, added []string, err error) {
	switch {
	case string(source) == s.plugin:
		return source, nil, nil
	case source != nil && !s.ownPlugin(source):
		return nil, nil, notWritable(1, 1, "not a plugin that stig wrote", "")
	}
	return []byte(s.plugin), s.missingPlugin(source), nil
}

// missingPlugin returns the names of the plugin's events if source is not the plugin.
func (s Settings) missingPlugin(source []byte) (events []string) {
	if string(source) == s.plugin {
		return nil
	}
	for _, h := range s.hooks {
		events = append(events, h.event)
	}
	return events
}

// removePlugin returns nil for a plugin of stig, and any other file unchanged.
func (s Settings) removePlugin(source []byte) (text []byte, removed []string, err error) {
	if source == nil || !s.ownPlugin(source) {
		return source, nil, nil
	}
	return nil, s.missingPlugin(nil), nil
}
