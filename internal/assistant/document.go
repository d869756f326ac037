package assistant

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"stig/internal/fault"
)

// document is a parsed settings file.
type document struct {
	mark  []byte // byte order mark; the whole file if it is blank
	text  string // the text after mark
	value hujson.Value
	root  *members // nil if the file is blank
	hooks *members // nil if there are none
}

const byteOrderMark = "\ufeff"

// newDocument parses a file. A blank file has no root; any other file must contain a JSON
// object.
func newDocument(source []byte) (*document, error) {
	rest, marked := bytes.CutPrefix(source, []byte(byteOrderMark))
	d := &document{text: string(rest)}
	if marked {
		d.mark = []byte(byteOrderMark)
	}
	if strings.Trim(d.text, blanks) == "" {
		d.mark = bytes.Clone(source)
		return d, nil
	}
	var err error
	if d.value, err = parse(rest); err != nil {
		return nil, syntaxError(err)
	}
	d.root, err = d.object(&d.value, "the settings")
	return d, err
}

// leftover returns what remains of a file after removing an object that setup created: nil if
// setup created the whole file. In such a file a newline follows the object; in a file that
// existed before, none does.
func (d *document) leftover() []byte {
	around := slices.Concat(d.mark, d.value.BeforeExtra, d.value.AfterExtra)
	if string(around) == "\n" && len(d.value.AfterExtra) > 0 {
		return nil
	}
	return append([]byte{}, around...)
}

// read parses a file. It returns an error if hooks cannot be added to it.
func (s Settings) read(source []byte) (*document, error) {
	d, err := newDocument(source)
	if err != nil || d.root == nil {
		return d, err
	}
	if err := s.checkVersion(d); err != nil {
		return nil, err
	}
	hooks := d.root.find("hooks")
	if hooks == nil {
		return d, nil
	}
	if d.hooks, err = d.object(hooks, "hooks"); err != nil {
		return nil, err
	}
	for _, h := range s.hooks {
		event := d.hooks.find(h.event)
		if event == nil {
			continue
		}
		if _, ok := event.Value.(*hujson.Array); !ok {
			return nil, d.wrong(event, "hooks."+h.event, "an array")
		}
	}
	return d, nil
}

// parse parses JSON with comments. Unlike hujson, it accepts a final comment without a newline.
func parse(text []byte) (hujson.Value, error) {
	value, err := hujson.Parse(text)
	if err == nil {
		return value, nil
	}
	ended, again := hujson.Parse(append(bytes.Clone(text), '\n'))
	if again != nil {
		return value, err
	}
	ended.AfterExtra = bytes.TrimSuffix(ended.AfterExtra, []byte("\n"))
	return ended, nil
}

// checkVersion returns an error unless the settings have the known version.
func (s Settings) checkVersion(d *document) error {
	if s.version == 0 {
		return nil
	}
	known := fmt.Sprint(s.version)
	version := d.root.find("version")
	if version == nil {
		return d.at(&d.value, "version: must be "+known+"; found none", `add "version": `+known+" to it")
	}
	if literal, ok := version.Value.(hujson.Literal); !ok || string(literal) != known {
		found := hujson.Value{Value: version.Value}
		return d.at(version, fmt.Sprintf("version: must be %s; found %.40q", known, found.Pack()), "")
	}
	return nil
}

// object returns the members of v. It returns an error, with name, if v is not an object.
func (d *document) object(v *hujson.Value, name string) (*members, error) {
	if object, ok := v.Value.(*hujson.Object); ok {
		return &members{object}, nil
	}
	return nil, d.wrong(v, name, "an object")
}

func (d *document) wrong(v *hujson.Value, name, want string) error {
	kinds := map[hujson.Kind]string{'n': "null", 't': "true", 'f': "false", '"': "a text", '0': "a number", '{': "an object", '[': "an array"}
	return d.at(v, fmt.Sprintf("%s: must be %s; found %s", name, want, kinds[v.Value.Kind()]), "")
}

func (d *document) at(v *hujson.Value, message, hint string) error {
	before := d.text[:v.StartOffset]
	return notWritable(1+strings.Count(before, "\n"), v.StartOffset-strings.LastIndexByte(before, '\n'), message, hint)
}

// notWritable returns the error for a settings file that hooks cannot be added to. line and
// column are 1-based; column counts bytes.
func notWritable(line, column int, message, hint string) error {
	return &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%d:%d: %s", line, column, message), Hint: hint}
}

// syntaxError takes the position from the parser's message.
func syntaxError(err error) error {
	line, column, said := 1, 1, err.Error()
	if _, scanned := fmt.Sscanf(said, "hujson: line %d, column %d:", &line, &column); scanned == nil {
		_, said, _ = strings.Cut(said, ": ")
		_, said, _ = strings.Cut(said, ": ")
	}
	return notWritable(line, column, "not JSON: "+said, "")
}

// indent returns the indentation of the line where v begins.
func (d *document) indent(v *hujson.Value) string { return lineIndent(d.text, v.StartOffset) }

func (d *document) pack() []byte { return append(bytes.Clone(d.mark), d.value.Pack()...) }
