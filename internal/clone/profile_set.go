package clone

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"stig/cue"
	"stig/internal/fault"
	"stig/internal/visible"
	"stig/schemas"
)

// Set returns the whole file with another value for a key of the front matter, a string or a
// []string; an empty value removes the key. Everything else is unchanged byte for byte.
//
// It returns a fault.Usage if the schema does not allow the value, or if the lines of the key
// cannot be replaced in this form of front matter.
func (p *Profile) Set(key string, value any) ([]byte, error) {
	before, err := p.values()
	if err != nil {
		return nil, err
	}
	start, end := p.linesOf(key)
	written, given := literal(value)
	wanted, line := before, ""
	delete(wanted, key)
	if given {
		line = key + ": " + written + p.commentOn(start, end) + p.newline()
		wanted[key] = plainValue(value)
	}
	text := p.text[:start] + line + p.text[end:]
	after, err := ParseProfile(p.at, text)
	if err != nil {
		return nil, err
	}
	if now, err := after.values(); err != nil || !reflect.DeepEqual(now, wanted) {
		return nil, &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("%s: %s cannot be replaced in this form of front matter", p.at, key),
			Hint: "edit the file so that each key has its own line"}
	}
	return []byte(text), nil
}

// values returns the values in the front matter.
func (p *Profile) values() (v map[string]any, err error) {
	err = cue.DecodeYAML(schemas.Actors, "#Actor", p.at, []byte(yamlOf(p.text)), &v)
	return v, err
}

// linesOf returns the lines of a top-level key in the front matter; if there is none, the empty
// span before the closing line.
func (p *Profile) linesOf(key string) (start, end int) {
	at, begun := 0, false
	for line := range strings.Lines(p.text[:p.body]) {
		first := strings.TrimRight(line, blanks) + " "
		switch {
		case begun && (strings.ContainsAny(first[:1], " \t") && first != " " || strings.HasPrefix(first, "- ")):
			end = at + len(line)
		case begun:
			return start, end
		case strings.HasPrefix(first, key+":"):
			start, end, begun = at, at+len(line), true
		}
		if !begun {
			start, end = at, at
		}
		at += len(line)
	}
	return start, end
}

// commentOn returns the comment after a one-line value; "" if there is none. It is a comment if
// removing it changes no value.
func (p *Profile) commentOn(start, end int) string {
	line := strings.TrimRight(p.text[start:end], blanks)
	at := strings.Index(line, " #")
	if at < 0 || strings.Contains(line, "\n") {
		return ""
	}
	without := *p
	without.text = p.text[:start+at] + p.newline() + p.text[end:]
	now, err := without.values()
	if was, e := p.values(); e != nil || err != nil || !reflect.DeepEqual(now, was) {
		return ""
	}
	return line[at:]
}

// literal formats a value as YAML; given is false for an empty one.
func literal(value any) (text string, given bool) {
	switch value := value.(type) {
	case []string:
		var list []string
		for _, one := range value {
			list = append(list, quoted(one))
		}
		return "[" + strings.Join(list, ", ") + "]", len(list) > 0
	case string:
		return quoted(value), value != ""
	}
	return "", false
}

// quoted formats a text as YAML, in JSON quotes unless it is a plain scalar.
func quoted(text string) string {
	plain := strings.Trim(text, " -/") == text && !slices.Contains([]string{"", "true", "false", "null"}, text)
	if plain && !strings.ContainsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && !strings.ContainsRune(" -/", r) }) {
		return text
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return strings.TrimSpace(b.String())
}

// plainValue returns a value as decoding returns it.
func plainValue(value any) any {
	list, ok := value.([]string)
	if !ok {
		return value
	}
	all := []any{}
	for _, one := range list {
		all = append(all, one)
	}
	return all
}

// mostEvolution limits the lines of Evolution; git has the earlier ones.
const mostEvolution = 100

// Evolved returns the whole file with one more line in Evolution, which keeps the last 100
// lines.
func (p *Profile) Evolved(line string) ([]byte, error) {
	lines := []string{}
	if there := p.Section(Evolution); there != "" {
		lines = strings.Split(visible.LF(there), "\n")
	}
	lines = append(lines, "- "+visible.OneLine(line))
	return p.With(Evolution, strings.Join(lines[max(0, len(lines)-mostEvolution):], "\n"))
}
