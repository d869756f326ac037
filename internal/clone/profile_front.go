package clone

import (
	"errors"
	"fmt"
	"strings"

	"stig/internal/visible"
)

const (
	mark = "---"
	bom  = "\ufeff"
)

// frontEnd returns the end of the front matter, after its closing line.
func frontEnd(path, text string) (int, error) {
	end, first := len(text)-len(strings.TrimPrefix(text, bom)), true
	for line := range strings.Lines(text[end:]) {
		end += len(line)
		switch isMark := strings.TrimRight(line, blanks) == mark; {
		case first && !isMark:
			return 0, fmt.Errorf("%s:1:1: must start with front matter, YAML between two lines of ---; found %q", path, visible.Clipped(strings.TrimRight(line, blanks), 60))
		case isMark && !first:
			return end, nil
		}
		first = false
	}
	if first {
		return 0, errors.New(path + ":1:1: must start with front matter, YAML between two lines of ---; found nothing")
	}
	return 0, errors.New(path + ":1:1: the front matter has no closing line of ---")
}

// yamlOf returns the front matter with its opening line, so that its line numbers are those of
// the file.
func yamlOf(text string) string {
	var yaml strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, bom)) {
		if yaml.Len() > 0 && strings.TrimRight(line, blanks) == mark {
			break
		}
		yaml.WriteString(line)
	}
	return yaml.String()
}

// keyAt returns the line and column of the value of a top-level key of the front matter; those
// of the start if it is not found.
func (p *Profile) keyAt(key string) (line, column int) {
	n := 0
	for text := range strings.Lines(p.text[:p.body]) {
		n++
		if rest, ok := strings.CutPrefix(text, key+":"); ok {
			return n, 1 + len(text) - len(strings.TrimLeft(rest, " \t"))
		}
	}
	return 1, 1
}
