package assistant

import (
	_ "embed"
	"strings"
)

// opencodePlugin is the plugin that stands in for the hooks of OpenCode.
//
//go:embed plugin.js
var opencodePlugin string

// ownPlugin reports whether a text is a plugin that setup wrote, by this stig or
// another: its first line says so.
func (s Settings) ownPlugin(source []byte) bool {
	mark, _, _ := strings.Cut(s.plugin, "\n")
	first, _, _ := strings.Cut(string(source), "\n")
	return strings.TrimRight(first, "\r") == mark
}

// installPlugin gives the plugin, and the names of its events where it is not there
// or another one. It refuses a file that is not stig's.
func (s Settings) installPlugin(source []byte) (text []byte, added []string, err error) {
	switch {
	case string(source) == s.plugin:
		return source, nil, nil
	case source != nil && !s.ownPlugin(source):
		return nil, nil, notWritable(1, 1, "not a plugin that stig wrote", "")
	}
	return []byte(s.plugin), s.missingPlugin(source), nil
}

// missingPlugin gives the names of the plugin's events where a file is not the plugin.
func (s Settings) missingPlugin(source []byte) (events []string) {
	if string(source) == s.plugin {
		return nil
	}
	for _, h := range s.hooks {
		events = append(events, h.event)
	}
	return events
}

// removePlugin gives nil for a plugin of stig, and any other file as it is.
func (s Settings) removePlugin(source []byte) (text []byte, removed []string, err error) {
	if source == nil || !s.ownPlugin(source) {
		return source, nil, nil
	}
	return nil, s.missingPlugin(nil), nil
}
