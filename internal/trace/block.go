package trace

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"stig/internal/visible"
)

// block is a fenced block in a body.
type block struct {
	info   string // of its first line
	text   string // between the fences, without the last line ending
	around string // the body without it
}

var fence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*)$") })

// firstBlock finds the first fenced block in a body. An unclosed one extends to the end of the
// text, as in Markdown.
func firstBlock(body string) (block, bool) {
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		open := fence().FindStringSubmatch(line)
		if open == nil {
			continue
		}
		end := i + 1
		for end < len(lines) && !closes(lines[end], open[1]) {
			end++
		}
		around := strings.Trim(strings.Join(lines[:i], "\n"), "\n")
		if end < len(lines) {
			around += "\n\n" + strings.Trim(strings.Join(lines[end+1:], "\n"), "\n")
		}
		return block{strings.TrimSpace(open[2]), strings.Join(lines[i+1:end], "\n"), strings.Trim(around, "\n")}, true
	}
	return block{}, false
}

func closes(line, open string) bool {
	match := fence().FindStringSubmatch(line)
	return match != nil && match[1][0] == open[0] && len(match[1]) >= len(open) && strings.TrimSpace(match[2]) == ""
}

// value returns the block as content: the JSON value for a completion.
func (b block) value(kind Kind) any {
	var value any
	if kind.Type == Completion && b.info == "json" && json.Unmarshal([]byte(b.text), &value) == nil {
		return value
	}
	return b.text
}

// blockOf formats content as a fenced block that nothing in it ends.
func blockOf(kind Kind, value any) (string, error) {
	info, text := "", ""
	if s, ok := value.(string); ok {
		text = strings.TrimRight(visible.LF(s), "\n")
	} else if kind.Type == Completion {
		data, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return "", fmt.Errorf("%s: %w", kind.Block, err)
		}
		info, text = "json", string(data)
	} else {
		return "", fmt.Errorf("%s: must be a text", kind.Block)
	}
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("%s: must not be empty", kind.Block)
	}
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + info + "\n" + text + "\n" + mark, nil
}
