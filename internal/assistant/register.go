package assistant

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// ServerFile is a file where a host reads which servers of the Model Context Protocol to start.
type ServerFile struct {
	Path  string // with slashes
	key   string // key of the object with one member for each server
	entry string // stig's member, as JSON
}

// serverName is the name under which stig's server is registered.
const serverName = "stig"

// Entries for stig's server in the files of these hosts.
const (
	copilotServer  = `{"type":"local","command":"stig","args":["mcp"],"tools":["*"]}`
	opencodeServer = `{"type":"local","command":["stig","mcp"],"enabled":true}`
	vscodeServer   = `{"type":"stdio","command":"stig","args":["mcp"]}`
)

// Install registers stig mcp in source; a nil source means that the file does not exist. All
// other bytes are kept, and an existing server named stig is left as it is. added lists the
// keys that were added. Remove restores source byte for byte.
//
// Errors: fault.Store if source is not JSON, with or without comments, or has another value
// where servers belong.
func (f ServerFile) Install(source []byte) (text []byte, added []string, err error) {
	d, servers, err := f.read(source)
	if err != nil {
		return nil, nil, err
	}
	if servers != nil && servers.find(serverName) != nil {
		return source, nil, nil
	}
	text = f.put(d, servers, source)
	back, _, err := f.Remove(text)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Equal(back, source) || (back == nil) != (source == nil) {
		return nil, nil, errOneWay
	}
	return text, []string{f.key + "." + serverName}, nil
}

// Use returns what the server is for.
func (f ServerFile) Use() string { return "MCP server: stig's commands as tools" }

// Missing returns the keys that Install would add. Errors: those of Install.
func (f ServerFile) Missing(source []byte) ([]string, error) {
	_, added, err := f.Install(source)
	return added, err
}

// Remove removes what Install added. A server named stig that starts another program is kept.
// text is nil if Install created the whole file; removed lists the keys that were removed.
// Errors: those of Install.
func (f ServerFile) Remove(source []byte) (text []byte, removed []string, err error) {
	d, servers, err := f.read(source)
	if err != nil {
		return nil, nil, err
	}
	if servers == nil || !startsStig(servers.find(serverName)) {
		return source, nil, nil
	}
	removed = []string{f.key + "." + serverName}
	if cut(servers, servers.last(serverName)) || cut(d.root, d.root.last(f.key)) {
		return d.pack(), removed, nil
	}
	return d.leftover(), removed, nil
}

// read parses the file and returns the object of servers; nil if there is none.
func (f ServerFile) read(source []byte) (*document, *members, error) {
	d, err := newDocument(source)
	if err != nil || d.root == nil {
		return d, nil, err
	}
	value := d.root.find(f.key)
	if value == nil {
		return d, nil, nil
	}
	servers, err := d.object(value, f.key)
	return d, servers, err
}

func (f ServerFile) put(d *document, servers *members, source []byte) []byte {
	own := []byte(f.entry)
	if servers != nil {
		styleOf(d.text, d.root.Object).put(*servers, d.indent(d.root.find(f.key)), serverName, own)
		return d.pack()
	}
	object := slices.Concat([]byte(`{"`+serverName+`":`), own, []byte("}"))
	if d.root != nil {
		styleOf(d.text, d.root.Object).put(*d.root, d.indent(&d.value), f.key, object)
		return d.pack()
	}
	whole := slices.Concat([]byte(`{"`+f.key+`":`), object, []byte("}"))
	text := slices.Concat(d.mark, style{eol: "\n", unit: "  "}.layOut(whole, "", false))
	if source == nil {
		text = append(text, '\n')
	}
	return text
}

// Whole returns the text of a file with stig's server and nothing else.
func (f ServerFile) Whole() string { return string(f.put(&document{}, nil, nil)) }

// startsStig reports whether an entry starts stig mcp, perhaps with a path to stig or options
// that somebody added.
func startsStig(entry *hujson.Value) bool {
	if entry == nil {
		return false
	}
	standard, err := hujson.Standardize(bytes.TrimSpace(entry.Pack()))
	if err != nil {
		return false
	}
	said := object(standard)
	words := append(words(said["command"]), words(said["args"])...)
	if program := word(said["command"]); program != "" {
		words = append([]string{program}, words...)
	}
	if len(words) == 0 || words[len(words)-1] != "mcp" {
		return false
	}
	program := path.Base(strings.ReplaceAll(words[0], `\`, "/"))
	return program == "stig" || program == "stig.exe"
}
