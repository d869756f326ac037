package doctor

import "strings"

// attributePattern is the pattern of exactly this path.
func attributePattern(path string) string {
	if !strings.Contains(path, "/") {
		path = "/" + path // else it stands for every file of that name
	}
	if !strings.ContainsAny(path, " \t\"\\") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

// addLine adds a line to a text, with its line ends, and with a newline at the
// very end if there was one, or if there was no file, which nil stands for.
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

// swapDriver exchanges the merge driver in the line that has it for exactly
// this path.
func swapDriver(text, path, from, to string) (string, bool) {
	pattern := strings.TrimPrefix(attributePattern(path), "/")
	var b strings.Builder
	found := false
	for whole := range strings.Lines(text) {
		first, rest, ok := strings.Cut(whole, " ")
		if ok && strings.TrimPrefix(first, "/") == pattern {
			fields := strings.SplitAfter(rest, " ")
			for i, f := range fields {
				word := strings.TrimRight(f, " \r\n")
				if word == "merge="+from {
					fields[i] = "merge=" + to + f[len(word):]
					found = true
				}
			}
			whole = first + " " + strings.Join(fields, "")
		}
		b.WriteString(whole)
	}
	return b.String(), found
}
