package assistant

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// What is put into a file is taken out again to the byte. Nothing outside the
// file remembers what was there, so the places where that would be in doubt are
// told apart by a blank: what is put into a container that was there and empty
// follows its bracket after one blank, which neither a container that was made
// for it nor a program that writes JSON does.
const intoEmpty = " "

const blanks = " \t\r\n"

// items are the elements of an array or the members of an object.
type items interface {
	len() int
	before(i int) *hujson.Extra // what stands before the i-th
	after(i int) *hujson.Extra  // not nil for the last: a comma follows it
	end() *hujson.Extra         // what stands before the closing bracket
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

// last is the index of the last member of a name, which is the one that
// counts; -1 for none.
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

// style is how a file is laid out.
type style struct {
	eol, unit string // unit: what one more level is indented by
	colon     string // what stands between a colon and a value
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

// indentOf is what stands before something in its line, if it begins one.
func indentOf(before hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 {
		return "", false
	}
	line := string(before[i+1:])
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))], true
}

// lineIndent is what the line of an offset is indented by.
func lineIndent(text string, offset int) string {
	line := text[strings.LastIndexByte(text[:offset], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// put adds an item at the end, laid out as its siblings are, after comments
// that stand there. Parent is what the line of the container is indented by,
// and value compact JSON.
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

// layOut gives JSON the indentation and the line ends of the file. It is a
// literal to hujson, which writes these as they are.
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

// cut undoes put for the i-th item. It reports whether the container, if it is
// empty now, was there before.
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

// passComma gives the item before the last the comma of the last, or none.
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

// joined is a without the blanks at its end, and b; with them if a comment
// that goes to the end of its line would swallow b.
func joined(a, b hujson.Extra) hujson.Extra {
	text := append(bytes.Clone(bytes.TrimRight(a, blanks)), b...)
	if hujson.Extra(text).IsValid() {
		return text
	}
	return append(bytes.Clone(a), b...)
}
