package gate

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shapes are the forms of words that tell a command from a sentence, or from
// a line of another language, that begins with the name of a program.
type shapes struct {
	plain   *regexp.Regexp // a word as sentences have them: no evidence of a command
	version *regexp.Regexp // what follows the name of a program in "node 20"
	usage   *regexp.Regexp // an optional argument as manuals write it
	upper   *regexp.Regexp // NAME, v1.X.0 and the like, as manuals write an argument
}

var forms = sync.OnceValue(func() shapes {
	return shapes{
		plain:   regexp.MustCompile(`^\w[\w'-]*[,;:.?!]?$`),
		version: regexp.MustCompile(`^[v^~]?\d+(?:\.\d+)*(?:\.x)?\+?$`),
		usage:   regexp.MustCompile(`^\[[A-Za-z-][^\[\]]*\](?:\.\.\.)?$|^\[--?[a-z][\w-]*$`),
		upper: regexp.MustCompile(`^(?:--?[a-z][\w-]*=)?(?:ID|IDS|ISSUE|ISSUE[-_]ID|NAME|FILE|FILENAME|FILES|DIR|PATH|URL|HOST|PORT|USER|` +
			`X|Y|N|ARGS|OPTIONS|COMMAND|REV|BRANCH|REPO|PKG|PACKAGE|TITLE|VALUE|KEY|v?X\.Y(?:\.Z)?|` +
			`v?\d+\.X(?:\.\w)?|[a-z]+-[Xx]{2,}|[Xx]{3,}|your-[\w-]+|[a-z]+(?:[-_][a-z]+)*[-_]name|path/to/\S*|/path/to/\S*)$`),
	}
})

// operators are what stands behind the first word in lines of other languages.
var operators = []string{"=", "==", "===", "!=", ":=", "+=", "->", "=>", ":", "::", "?", "AND", "OR", "NOT", "LIKE", "IN", "IS"}

// functionWords go on with a sentence, and are no argument of any program.
const functionWords = " sure it to the a an of and or by in on is are was be as from with that this for if not into at its " +
	"should must will can has have does "

// patterns are the programs whose arguments are patterns, in which nothing is
// a placeholder, and which exit with 1 when they find nothing.
var patterns = []string{"grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ugrep"}

// counts are the programs whose argument may be a bare number.
var counts = []string{"sleep", "seq", "exit", "return", "kill", "wait", "ulimit", "umask", "factor"}

// doubt says why a script may be something else than a command, although every
// first word in it is one; "" when there is no doubt. asked tells that the text
// asks for it in so many words, so that an ordinary word is taken for a program.
func (s *script) doubt(asked func() bool) string {
	if s.idle() && !(s.speaks() && asked()) {
		return "checks nothing by itself"
	}
	for _, words := range s.commands {
		if len(words) < 2 {
			continue
		}
		program, next := words[0], words[1]
		switch {
		case incomplete(words):
			return citing(strings.Join(words, " ")) + " lacks what it is to work on"
		case slices.Contains(operators, next) && program != "expr":
			return citing(program+" "+next) + " is of another language"
		case len(words) == 2 && forms().version.MatchString(next) && !slices.Contains(counts, program):
			return citing(program+" "+next) + " names a version"
		case listed(functionWords, next):
			return citing(program+" "+next) + " may be English"
		}
	}
	if word, vague := s.vague(); vague && !asked() {
		return citing(word) + " with plain words only may be English"
	}
	return ""
}

// operands are programs that do nothing without an argument that is no option.
var operands = []string{
	"ssh", "scp", "rsync", "curl", "wget", "cp", "mv", "ln", "rm", "mkdir", "touch", "chmod", "chown", "kill", "sed", "awk", "diff", "cmp",
	"grep", "egrep", "fgrep", "rg", "git check-ignore", "git clone", "git commit", "git checkout", "git switch", "git grep", "git cat-file", "git mv",
	"docker run", "docker exec", "docker pull", "docker push", "docker tag", "podman run", "podman exec", "podman pull",
	"kubectl exec", "kubectl logs", "kubectl apply", "kubectl describe", "gh api", "gh workflow run", "gh run watch", "cargo install",
	"uv add", "uv tool install", "uv pip install", "pip install", "pipx install", "pipx run", "brew install", "brew tap", "go install",
}

// incomplete reports whether a command is named with options alone, as in "tested
// with `ssh -v`".
func incomplete(words []string) bool {
	name, rest := words[0], words[1:]
	for !slices.Contains(operands, name) {
		if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
			return false
		}
		name, rest = name+" "+rest[0], rest[1:]
	}
	return !slices.ContainsFunc(rest, func(w string) bool {
		return !strings.HasPrefix(w, "-") || w == "--files" || w == "--stdin" || slices.Contains(ending, w)
	})
}

// speaks reports whether a script that checks nothing is a command all the same:
// what it prints may be wanted.
func (s *script) speaks() bool {
	return !slices.ContainsFunc(s.commands, func(words []string) bool {
		return !slices.Contains([]string{"echo", "printf", "type", "hash", "pwd", "cd", "true", "false", ":"}, words[0])
	})
}

// vague reports whether every command is an ordinary word, or a program that is
// not well known, with nothing but plain words after it: such as "sort by
// date", which is English.
func (s *script) vague() (string, bool) {
	for _, words := range s.commands {
		ordinary, known := programs()[words[0]]
		if _, builtin := builtins[words[0]]; builtin {
			known, ordinary = true, words[0] == "test"
		}
		if known && !ordinary || strings.Contains(words[0], "/") || len(words) < 2 || words[0] != "test" && listed(subcommands, words[1]) {
			return "", false
		}
		for _, word := range words[1:] {
			if !forms().plain.MatchString(word) {
				return "", false
			}
		}
	}
	if len(s.commands) == 0 || s.checks {
		return "", false
	}
	return s.commands[0][0], true
}

// usage finds an argument that stands for another, as manuals write it, or for
// several, as in "config get/set".
func (s *script) usage() string {
	for _, words := range s.commands {
		if slices.Contains(patterns, words[0]) || words[0] == "[" || words[0] == "test" || words[0] == "git" && slices.Contains(words, "grep") {
			continue
		}
		for _, word := range words[1:] {
			if forms().usage.MatchString(word) || forms().upper.MatchString(word) || alternatives(word) {
				return word
			}
		}
	}
	return ""
}

// alternatives reports whether a word is a choice of subcommands.
func alternatives(word string) bool {
	choices := strings.Split(word, "/")
	return len(choices) > 1 && !slices.ContainsFunc(choices, func(w string) bool { return !listed(subcommands, w) })
}

// searches reports whether the exit code of a script is that of a search, which
// is 1 when there is nothing to find.
func (s *script) searches() bool {
	if len(s.commands) == 0 || s.file.Stmts[len(s.file.Stmts)-1].Negated {
		return false
	}
	last := s.commands[len(s.commands)-1]
	return slices.Contains(patterns, last[0]) || last[0] == "git" && len(last) > 1 && last[1] == "grep"
}
