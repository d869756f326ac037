package gate

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// serves names a command of the script that does not end by itself; "" where there
// is none. What runs in the background or with a time limit ends with the script.
func (s *script) serves() (found string) {
	syntax.Walk(s.file, func(node syntax.Node) bool {
		if statement, ok := node.(*syntax.Stmt); ok && statement.Background {
			return false
		}
		if call, ok := node.(*syntax.CallExpr); ok && found == "" {
			words := ShellWords(call.Args)
			detached := slices.Contains(words, "-d") || slices.Contains(words, "--detach")
			if serves(words) && !(detached && !slices.Equal(words, s.last())) {
				found = strings.Join(words, " ")
			}
		}
		return found == ""
	})
	return found
}

// serves reports whether a simple command serves or watches until it is stopped. Containers
// that it leaves running behind it do so too.
func serves(words []string) bool {
	for len(words) > 1 && listed("handing", words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || slices.ContainsFunc(words, func(w string) bool { return listed("ending", w) }) {
		return false
	}
	program, rest := words[0], words[1:]
	if listed("composers", program) {
		return slices.Contains(words, "up") || strings.HasSuffix(program, "compose") && slices.Contains(words, "run")
	}
	for n, word := range rest[:min(3, len(rest))] {
		kind, what, isTask := strings.Cut(word, ":")
		if listed("servers", program+" "+word) || n == 0 && listed("serving", word) ||
			listed("runners", program) && (listed("serving", word) || isTask && (listed("serving", kind) && !listed("subtasks", what) || listed("serving", what))) {
			return true
		}
	}
	return listed("servers", program) || slices.Contains(rest, "--watch") || program == "kubectl" && slices.Contains(rest, "-w") || rest[len(rest)-1] == "serve"
}
