package assistant

import (
	"bytes"
	"strings"
	"testing"

	"stig/internal/fault"
)

// serverFiles returns all files in which setup registers stig's server.
func serverFiles() (all []ServerFile) {
	for _, s := range AllSettings() {
		all = append(append(all, s.Servers...), s.HomeServers...)
	}
	return all
}

// TestServersKept: registering the server changes nothing else in the file, and removing it
// restores the file byte for byte.
func TestServersKept(t *testing.T) {
	installed := 0
	for _, f := range serverFiles() {
		for _, text := range append(messy, "{\""+f.key+"\": {}}", "{\n\t\""+f.key+"\": {\n\t\t\"other\": {\"command\": \"x\"}, // ours\n\t}\n}\n", "{\""+f.key+"\":{\"stig\":{\"command\":\"mine\"}}}") {
			source := []byte(text)
			with, added, err := f.Install(source)
			if err != nil {
				if !fault.Is(err, fault.Store) {
					t.Errorf("%s %q: %v", f.Path, text, err)
				}
				continue
			}
			back, _, err := f.Remove(with)
			if err != nil || !bytes.Equal(back, source) {
				t.Errorf("%s %q became\n%s\nand then %q: %v", f.Path, text, with, back, err)
			}
			if missing, err := f.Missing(with); err != nil || len(missing) > 0 {
				t.Errorf("%s %q: missing after install: %v %v", f.Path, text, missing, err)
			}
			was, is := plain(t, source), plain(t, with)
			for key := range was {
				if _, ok := is[key]; !ok {
					t.Errorf("%s %q: no %s in\n%s", f.Path, text, key, with)
				}
			}
			installed += len(added)
		}
		made, _, err := f.Install(nil)
		if gone, _, err2 := f.Remove(made); err != nil || err2 != nil || gone != nil || string(made) != f.Whole() {
			t.Errorf("%s: made %s, then %q: %v %v", f.Path, made, gone, err, err2)
		}
	}
	if installed < 100 {
		t.Errorf("installed into %d files only", installed)
	}
}

// TestServerOfSomebody: a server named stig that starts another program is kept; one with a
// path to stig or with options is removed.
func TestServerOfSomebody(t *testing.T) {
	f := rowOf(Copilot).Servers[0]
	for entry, own := range map[string]bool{
		`{"command":"/opt/stig","args":["-C","deep","mcp"]}`: true,
		`{"command":["C:\\stig.exe","mcp"]}`:                 true,
		`{"command":"docker","args":["run","stig","mcp"]}`:   false,
		`{"url":"https://example.org/stig"}`:                 false,
		`7`:                                                  false,
	} {
		text, removed, err := f.Remove([]byte(`{"servers":{"stig":` + entry + `}}`))
		if err != nil || (len(removed) > 0) != own || strings.Contains(string(text), "stig") == own {
			t.Errorf("%s: removed %v, left %s: %v", entry, removed, text, err)
		}
	}
}

// TestPlugin: a plugin of an older stig is replaced and removed; a file of somebody else is
// neither.
func TestPlugin(t *testing.T) {
	s := rowOf(OpenCode)
	mark, _, _ := strings.Cut(s.plugin, "\n")
	older := []byte(mark + "\r\nexport const Stig = 1\n")
	if text, events, err := s.Install(older); err != nil || string(text) != s.Whole() || len(events) != len(s.hooks) {
		t.Errorf("older: %v %v", events, err)
	}
	if text, events, err := s.Remove(older); err != nil || text != nil || len(events) != len(s.hooks) {
		t.Errorf("older, removed: %q %v %v", text, events, err)
	}
	theirs := []byte("export const Mine = 1\n")
	if _, _, err := s.Install(theirs); !fault.Is(err, fault.Store) {
		t.Errorf("somebody's: %v", err)
	}
	if text, events, err := s.Remove(theirs); err != nil || string(text) != string(theirs) || len(events) > 0 {
		t.Errorf("somebody's, removed: %q %v %v", text, events, err)
	}
	for _, h := range s.hooks {
		if !strings.Contains(s.plugin, `"`+h.event+`"`) || !strings.Contains(s.plugin, `"`+h.call+`"`) {
			t.Errorf("the plugin does not answer %s with %s", h.event, h.call)
		}
	}
}
