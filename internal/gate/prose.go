package gate

import (
	"strings"
	"unicode"
)

// namesProgram reports whether a text contains a word that begins a command in prose. Most
// texts then need no further parsing.
func namesProgram(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || r == '`' || r == '<' || r == '>' }) {
		if ordinary, known := programs()[opened(word)]; known && !ordinary {
			return true
		}
	}
	return false
}

// opened is a word without the marks before it.
func opened(word string) string { return strings.TrimLeft(word, `"'(*_`) }

// proseCommands finds what in a line of prose reads like commands: a program of the table,
// followed by a subcommand, an option or a path, up to a word that goes on with the sentence.
// What is found parses as shell.
func proseCommands(line string) (found []string) {
	fields := strings.Fields(line)
	for i := 0; i+1 < len(fields); i++ {
		ordinary, known := programs()[opened(fields[i])]
		next, _ := bare(fields[i+1])
		if !known || ordinary || !argument(next) && !listed("subcommands", next) {
			continue
		}
		command := []string{opened(fields[i])}
		quotes := ""
		for i++; i < len(fields); i++ {
			plain, ends := bare(fields[i])
			if quotes == "" && listed("sentence", strings.ToLower(plain)) {
				break
			}
			if quotes += strings.Join(strings.FieldsFunc(fields[i], func(r rune) bool { return r != '"' && r != '\'' }), ""); len(quotes)%2 == 0 {
				quotes = ""
			}
			if quotes != "" || strings.ContainsAny(plain, `"'`) {
				plain, ends = fields[i], quotes == "" && ends && strings.ContainsAny(fields[i][len(fields[i])-1:], ",;:.")
				plain = strings.TrimRight(plain, ",;:")
			}
			if plain != "" {
				command = append(command, plain)
			}
			if ends {
				break
			}
		}
		text := strings.Join(command, " ")
		if s, err := parse(text); err == nil && s.placeholder() == "" {
			found = append(found, text)
		}
	}
	return found
}

// FromProse is the text of criteria with a fence behind it, marked verify, of the commands
// that its prose reads like and that are not run yet; the fence is "" where there is none.
func (c Criteria) FromProse() (text, fence string) {
	plan := c.Plan()
	seen := map[string]bool{}
	for _, check := range plan {
		seen[check.Text] = seen[check.Text] || check.Asked()
	}
	var commands []string
	for _, check := range plan {
		if check.Origin == Prose && check.Instead != "" && !seen[check.Text] {
			seen[check.Text] = true
			commands = append(commands, check.Instead)
		}
	}
	if text = c.Text(); len(commands) == 0 {
		return text, ""
	}
	fence = "```verify\n" + strings.Join(commands, "\n") + "\n```\n"
	return strings.TrimRight(text, "\n") + "\n\n" + fence, fence
}

// bare is a word without the punctuation of the sentence, and whether that
// ends a command. The dots of ./... belong to the word.
func bare(word string) (string, bool) {
	trimmed := strings.TrimRight(word, `,;:!?)*`)
	if !strings.HasSuffix(trimmed, "/...") && trimmed != "." {
		trimmed = strings.TrimRight(trimmed, ".")
	}
	return trimmed, trimmed != word
}
