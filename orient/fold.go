package orient

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stig/internal/visible"
)

// robots lists comment authors that are programs.
var robots = []string{"github-actions", "dependabot", "renovate", "codecov", "coderabbitai", "coderabbit", "sonarcloud", "sonarqubecloud", "netlify", "vercel", "stale", "mergify", "greptile", "linear"}

// isRobot reports whether the author of a comment is an automated program.
func isRobot(author string) bool {
	name := strings.ToLower(strings.TrimSpace(author))
	return strings.HasSuffix(name, "[bot]") || strings.HasSuffix(name, "-bot") || slices.Contains(robots, name)
}

// foldRobots omits the comments of robots.
func (b *Briefing) foldRobots() {
	var authors []string
	all := len(b.Comments)
	b.Comments = slices.DeleteFunc(b.Comments, func(c Comment) bool {
		if name := visible.OneLine(c.Author); isRobot(c.Author) && !slices.Contains(authors, name) {
			authors = append(authors, name)
		}
		return isRobot(c.Author)
	})
	if n := all - len(b.Comments); n > 0 {
		b.omit(visible.Counted(n, "comment")+" by "+visible.Some(authors, 3), "--full")
	}
}

// emptyAnswers lists template texts that mean nothing was written.
var emptyAnswers = []string{"", "_no response_", "no response", "-", "*", "- [ ]", "...", "…"}

// withoutTemplate returns a text without headings that have no content, and the number of
// dropped headings.
func withoutTemplate(text string) (kept string, dropped int) {
	lines := strings.Split(text, "\n")
	var out []string
	fence := false
	for i := 0; i < len(lines); i++ {
		if fenceMark(lines[i]) != "" {
			fence = !fence
		}
		level, _ := headingAt(lines, i)
		if fence || level == 0 || !strings.HasPrefix(strings.TrimSpace(lines[i]), "#") {
			out = append(out, lines[i])
			continue
		}
		end := i + 1
		for end < len(lines) && emptyAnswer(lines[end]) {
			end++
		}
		next := 0
		if end < len(lines) {
			next, _ = headingAt(lines, end)
		}
		if end < len(lines) && (next == 0 || next > level) {
			out = append(out, lines[i])
			continue
		}
		dropped++
		i = end - 1
	}
	if dropped == 0 {
		return text, 0
	}
	return strings.TrimSpace(strings.Join(out, "\n")), dropped
}

func emptyAnswer(line string) bool {
	line = strings.ToLower(strings.TrimSpace(line))
	return slices.Contains(emptyAnswers, line) || strings.HasPrefix(line, "<!--") && strings.HasSuffix(line, "-->")
}

// foldTemplates removes the empty headings of templates from description and design.
func (b *Briefing) foldTemplates() {
	for _, in := range []struct {
		name string
		text *string
	}{{"description", &b.Description}, {"design", &b.Design}} {
		kept, dropped := withoutTemplate(*in.text)
		if dropped > 0 && kept != "" {
			*in.text = kept
			b.omit(visible.Counted(dropped, "empty heading")+" of the "+in.name, "--full")
		}
	}
}

// pointers lists the URLs and file paths in a text.
func pointers(text string) (list []string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]{}<>\"'`,;|*", r) }) {
		word = strings.TrimRight(word, ".:!?_")
		if !strings.Contains(word, "/") || utf8.RuneCountInString(word) > widestRef || !utf8.ValidString(word) {
			continue
		}
		if strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://") || isPath(withoutLine(word)) {
			list = append(list, withoutLine(word))
		}
	}
	return list
}

// withoutLine takes the number of a line off a path.
func withoutLine(word string) string {
	path, _, _ := strings.Cut(word, "#L")
	for range 2 {
		if at := strings.LastIndexByte(path, ':'); at > 0 && strings.Trim(path[at+1:], "0123456789-") == "" {
			path = path[:at]
		}
	}
	return path
}

// isPath reports whether a word is the relative path of a file: it has a directory, which
// is no host, and an extension.
func isPath(word string) bool {
	first, _, ok := strings.Cut(word, "/")
	at := strings.LastIndexByte(word, '.')
	if !ok || first == "" || strings.Contains(strings.TrimLeft(first, "."), ".") || at < strings.LastIndexByte(word, '/')+2 || len(word)-at < 2 || len(word)-at > 6 {
		return false
	}
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@", r) {
			return false
		}
	}
	return strings.IndexFunc(word[at:], unicode.IsLetter) > 0 && !strings.Contains(word, "..") && !strings.HasPrefix(word, "~")
}
