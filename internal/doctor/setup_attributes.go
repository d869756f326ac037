package doctor

import (
	"path"
	"strings"
)

// attributePattern returns the pattern that matches exactly this path.
func attributePattern(path string) string {
	if !strings.Contains(path, "/") {
		path = "/" + path // otherwise it matches every file of that name
	}
	if !strings.ContainsAny(path, " \t\"\\") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// addLine adds a line to source with the line ending of the file. The result ends in a newline
// if source did, or if source is nil, which means that the file does not exist.
func addLine(source []byte, line string) []byte {
	text, eol := string(source), "\n"
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		eol = "\r\n"
	}
	switch {
	case source == nil || strings.HasSuffix(text, "\n"):
		text += line + eol
	case text == "":
		text = line
	default:
		text += eol + line
	}
	return []byte(text)
}

// removeLine undoes addLine.
func removeLine(source []byte, line string) []byte {
	text := string(source)
	for _, eol := range []string{"\r\n", "\n"} {
		if rest, ok := strings.CutSuffix(text, eol+line); ok {
			return []byte(rest)
		}
	}
	kept := []byte{}
	for whole := range strings.Lines(text) {
		if strings.TrimRight(whole, "\r\n") != line {
			kept = append(kept, whole...)
		}
	}
	switch {
	case len(kept) == len(text):
		return source
	case len(kept) == 0 && text != line:
		return nil
	}
	return kept
}

// setsMerge reports whether lines of attributes set how to merge a path. It compares only the
// last elements of patterns.
func setsMerge(text, store string) bool {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if matched, err := path.Match(path.Base(fields[0]), path.Base(store)); err != nil || !matched {
			continue
		}
		for _, field := range fields[1:] {
			name, _, _ := strings.Cut(strings.TrimLeft(field, "-!"), "=")
			if name == "merge" || name == "binary" {
				return true
			}
		}
	}
	return false
}
