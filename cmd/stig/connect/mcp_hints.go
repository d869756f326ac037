package connect

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stig/internal/visible"
	"stig/internal/workspace"
)

// forPerson replaces a hint that names only commands without a tool.
const forPerson = "a person has to do this, in a terminal: tell them, and go on with other work"

// otherName returns the tool for a command whose tool has another name, else the name itself.
func otherName(command string) string {
	switch command {
	case "show":
		return "orient"
	case "next":
		return "claim"
	case "search":
		return "recall"
	case "vet", "lint", "cycles":
		return "check"
	}
	return command
}

// forTools rewrites a result for a client without a shell: commands to type become tool calls,
// commands without a tool are left out, and hidden characters are made visible.
func forTools(value any) any {
	switch value := value.(type) {
	case string:
		return visible.Text(value)
	case []any:
		list := make([]any, len(value))
		for i, v := range value {
			list[i] = forTools(v)
		}
		return list
	case members:
		result := members{}
		for _, m := range value {
			said, _ := m.value.(string)
			switch {
			case m.key == "argv":
				if m = (member{"call", callFor(joined(m.value))}); m.value == "" {
					continue
				}
			case m.key == "command" && value.get("why") != nil: // of an inbox item
				issue, _ := value.get("issue").(string)
				m = member{"call", itemCall(said, issue)}
			case m.key == "hint":
				if m.value = toolHint(said); m.value == forPerson && value.get("code") == json.Number(strconv.Itoa(workspace.ExitUsage)) {
					m.value = "change the arguments"
				}
			case m.key == "warnings":
				m.value = withoutCommands(m.value)
			case m.key == "message" && value.get("code") != nil: // of a refusal
				m.value = dashes().ReplaceAllString(said, "$1$2")
			}
			m.value = forTools(m.value)
			if steps, is := m.value.([]any); is && m.key == "next" {
				m.value = slices.DeleteFunc(steps, func(step any) bool { return step.(members).get("call") == nil })
			}
			result = append(result, m)
		}
		return result
	}
	return value
}

func joined(list any) string {
	var words []string
	values, _ := list.([]any)
	for _, v := range values {
		word, _ := v.(string)
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// withoutCommands removes the commands to type from warnings.
func withoutCommands(list any) any {
	values, _ := list.([]any)
	kept := []any{}
	for _, v := range values {
		said, _ := v.(string)
		if before, after, found := strings.Cut(said, "; "); found && command().MatchString(after) {
			said = before
			if hint := toolHint(after); hint != forPerson {
				said += "; " + hint
			}
		}
		kept = append(kept, said)
	}
	return kept
}

// toolHint rewrites a hint that names commands to one that names tools. It keeps the clauses
// that name a tool, and those with nothing to type.
func toolHint(hint string) string {
	if strings.Contains(hint, "stig trust") {
		return forPerson
	}
	var kept []string
	for _, clause := range clauses().Split(hint, -1) {
		clause = strings.TrimSpace(clause)
		switch {
		case strings.Contains(clause, "waive"):
			continue
		case command().MatchString(clause):
			at := command().FindStringIndex(clause)[0]
			before := strings.TrimSpace(typing().ReplaceAllString(clause[:at], ""))
			if clause = callFor(clause[at:]); clause == "" {
				continue
			}
			clause = strings.TrimSpace(before + " call " + clause)
		case shellWords().MatchString(clause), ofNoTool(clause):
			continue
		default:
			clause = dashes().ReplaceAllString(clause, "$1$2")
		}
		if clause != "" {
			kept = append(kept, clause)
		}
	}
	if hint != "" && len(kept) == 0 {
		return forPerson
	}
	return strings.Join(kept, "; ")
}

// ofNoTool reports whether a clause names a flag that no tool takes.
func ofNoTool(clause string) bool {
	return slices.ContainsFunc(flags().FindAllStringSubmatch(clause, -1), func(flag []string) bool {
		return !slices.ContainsFunc(tools(), func(t tool) bool { return t.param(flag[1]) >= 0 })
	})
}

// param returns the index of the parameter for a flag, or -1.
func (t tool) param(flag string) int {
	return slices.IndexFunc(t.params, func(p param) bool { return p.name == strings.ReplaceAll(flag, "-", "_") })
}

// callFor returns the tool call for a command, such as "checkpoint with id demo-1, learned", or
// "" if no tool takes the command's flags.
func callFor(line string) string {
	line = strings.NewReplacer("stig resolve --list", "stig orient", "stig inbox --ack ", "stig ack ").Replace(line)
	parts := command().FindStringSubmatch(line)
	if parts == nil {
		return ""
	}
	name := otherName(parts[1])
	at := slices.IndexFunc(tools(), func(t tool) bool { return t.name == name })
	if at < 0 {
		return ""
	}
	t := tools()[at]
	var with []string
	if parts[2] != "" {
		with = append(with, t.params[0].name+" "+parts[2])
	}
	for _, flag := range flags().FindAllStringSubmatch(line, -1) {
		at := t.param(flag[1])
		if at < 0 {
			return ""
		}
		if t.params[at].kind == boolean {
			flag[2] = "" // the word after it is no value
		}
		with = append(with, strings.TrimSpace(t.params[at].name+" "+flag[2]))
	}
	if len(with) > 0 {
		name += " with " + strings.Join(with, ", ")
	}
	return name + purpose().FindString(line)
}

var (
	// command matches a stig command and the issue that it names.
	command = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bstig ([a-z-]+)(?: ([A-Z]{2,}\b|[^\s"',;-][^\s"',;]*-[^\s"',;]*))?`)
	})
	// flags matches flags, each with its value if that is one word.
	flags = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--([a-z-]+)(?: ([^\s"',;…-][^\s"',;]*))?`) })
	// purpose matches what a command is for.
	purpose = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(` to (?:see|read|find|wait|answer|ask|add|close) .*$`)
	})
	// clauses matches the separators between the clauses of a hint.
	clauses = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`; |, (?:or|and|then) |\n(?:then )?`) })
	// shellWords matches what is typed into a shell, and what the tools have no name for.
	shellWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[ "])(?:-[a-z ]|--(?:file|force|help)|bd |git |set [A-Z]|type )`)
	})
	// typing matches the words that introduce a command.
	typing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\btype(?: for example)? *$`) })
	// dashes matches the dashes of a flag.
	dashes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[ (])--([a-z])`) })
)
