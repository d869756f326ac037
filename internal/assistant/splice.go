package assistant

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// Whatever is put into a file can be taken out again byte for byte, although nothing outside
// the file records what was there. One case would be ambiguous: an item in a container that was
// there and empty. Such an item follows the bracket after one blank, which is written neither
// into a container that was created for the item nor by a program that writes JSON.
const intoEmpty = " "

const blanks = " \t\r\n"

// items are the elements of an array or the members of an object.
type items interface {
	len() int
	before(i int) *hujson.Extra // what precedes the i-th item
	after(i int) *hujson.Extra  // what follows the i-th item; not nil for the last if it has a comma
	end() *hujson.Extra         // what precedes the closing bracket
	add(item hujson.ObjectMember)
	drop(i int)
}

type elements struct{ *hujson.Array }

func (e elements) len() int                     { return len(e.Elements) }
func (e elements) before(i int) *hujson.Extra   { return &e.Elements[i].BeforeExtra }
func (e elements) after(i int) *hujson.Extra    { return &e.Elements[i].AfterExtra }
func (e elements) end() *hujson.Extra           { return &e.AfterExtra }
func (e elements) add(item hujson.ObjectMember) { e.Elements = append(e.Elements, item.Value) }
func (e elements) drop(i int)                   { e.Elements = append(e.Elements[:i], e.Elements[i+1:]...) }

type members struct{ *hujson.Object }

func (m members) len() int                     { return len(m.Members) }
func (m members) before(i int) *hujson.Extra   { return &m.Members[i].Name.BeforeExtra }
func (m members) after(i int) *hujson.Extra    { return &m.Members[i].Value.AfterExtra }
func (m members) end() *hujson.Extra           { return &m.AfterExtra }
func (m members) add(item hujson.ObjectMember) { m.Members = append(m.Members, item) }
func (m members) drop(i int)                   { m.Members = append(m.Members[:i], m.Members[i+1:]...) }

// last returns the index of the last member with a name, which is the one that counts; -1 if
// there is none.
func (m members) last(name string) int {
	for i := len(m.Members) - 1; i >= 0; i-- {
		if m.Members[i].Name.Value.(hujson.Literal).String() == name {
			return i
		}
	}
	return -1
}

func (m members) find(name string) *hujson.Value {
	if i := m.last(name); i >= 0 {
		return &m.Members[i].Value
	}
	return nil
}

// style is the layout of a file.
type style struct {
	eol, unit string // unit: indentation of one level
	colon     string // what separates a colon from its value
	oneLine   bool
}

func styleOf(text string, root *hujson.Object) style {
	s := style{eol: "\n", unit: "  ", colon: " "}
	line, rest, _ := strings.Cut(text, "\n")
	if strings.HasSuffix(line, "\r") {
		s.eol = "\r\n"
	}
	if strings.Trim(rest, blanks) == "" && len(root.Members) > 0 {
		s.oneLine = true
		if !strings.Contains(text, ": ") {
			s.colon = ""
		}
	}
	if len(root.Members) > 0 {
		if unit, ok := indentOf(root.Members[0].Name.BeforeExtra); ok && unit != "" {
			s.unit = unit
		}
	}
	return s
}

// indentOf returns the indentation of what follows before; false if that does not begin a line.
func indentOf(before hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 {
		return "", false
	}
	line := string(before[i+1:])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))], true
}

// lineIndent returns the indentation of the line at an offset.
func lineIndent(text string, offset int) string {
	line := text[strings.LastIndexByte(text[:offset], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// put adds an item at the end, laid out like its siblings, after any comments there. parent is
// the indentation of the line of the container, and value is compact JSON.
func (s style) put(c items, parent, name string, value []byte) {
	n := c.len()
	indent, gap, inline := parent+s.unit, intoEmpty, s.oneLine
	var comments []byte
	comma := false
	if n > 0 {
		if own, begins := indentOf(*c.before(n - 1)); begins {
			indent = own
		} else {
			inline = true
		}
		comments = bytes.TrimRight(*c.end(), blanks)
		*c.end() = (*c.end())[len(comments):]
		comma = *c.after(n - 1) != nil
		gap = s.eol + indent
		if inline && len(comments) == 0 {
			gap = s.colon
		}
	}
	item := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}}
	item.Value.Value = s.layOut(value, indent, inline)
	if _, object := c.(members); object {
		item.Value.BeforeExtra = hujson.Extra(s.colon)
	}
	c.add(item)
	*c.before(n) = append(bytes.Clone(comments), gap...)
	if comma {
		*c.after(n) = hujson.Extra{}
	}
}

// layOut lays out JSON with the indentation and line endings of the file. The result is a
// literal, which hujson writes unchanged.
func (s style) layOut(value []byte, indent string, inline bool) hujson.Literal {
	if inline {
		return value
	}
	var text bytes.Buffer
	if err := json.Indent(&text, value, indent, s.unit); err != nil {
		return value
	}
	return bytes.ReplaceAll(text.Bytes(), []byte("\n"), []byte(s.eol))
}

// cut undoes put for the i-th item. It reports whether the container is not empty, or existed
// before put.
func cut(c items, i int) (wasThere bool) {
	before, after := *c.before(i), *c.after(i)
	last := i == c.len()-1
	switch {
	case !last:
		*c.before(i + 1) = joined(before, append(bytes.Clone(bytes.TrimRight(after, blanks)), *c.before(i + 1)...))
	default:
		*c.end() = joined(before, append(bytes.Clone(bytes.TrimRight(after, blanks)), *c.end()...))
	}
	if last && i > 0 {
		passComma(c, i)
	}
	c.drop(i)
	return c.len() > 0 || string(before) == intoEmpty || len(bytes.Trim(*c.end(), blanks)) > 0
}

// passComma gives the item before the last one the trailing comma of the last, or none if the
// last has none.
func passComma(c items, last int) {
	previous := c.after(last - 1)
	switch comma := *c.after(last) != nil; {
	case comma && *previous == nil:
		*previous = hujson.Extra{}
	case !comma && *previous != nil:
		*c.end() = append(bytes.Clone(*previous), *c.end()...)
		*previous = nil
	}
}

// joined returns a without trailing blanks, followed by b. It keeps the blanks if a line
// comment at the end of a would swallow b.
func joined(a, b hujson.Extra) hujson.Extra {
	text := append(bytes.Clone(bytes.TrimRight(a, blanks)), b...)
	if hujson.Extra(text).IsValid() {
		return text
	}
	return append(bytes.Clone(a), b...)
}
