package gate

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// wordLists are lists of words and phrases; the file explains each.
//
//go:embed words.txt
var wordLists string

// wordTable maps each list to its words. Phrases contain blanks.
var wordTable = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	name := ""
	for line := range strings.Lines(wordLists) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if list, begins := strings.CutSuffix(word, ":"); begins {
				name = list
				all[name] = map[string]bool{}
				continue
			}
			all[name][strings.ReplaceAll(word, "_", " ")] = true
		}
	}
	return all
})

// listed reports whether a word is in a list.
func listed(list, word string) bool { return wordTable()[list][word] }

// programList is the table of developers' programs, one per line, sorted bytewise. Those whose
// name is also an ordinary word, such as "find", have " ?" after it: such a word begins a
// command only if what follows looks like one, or the text claims something.
//
//go:embed programs.txt
var programList string

// programs maps each program of the table to whether its name is also an ordinary word.
var programs = sync.OnceValue(func() map[string]bool {
	known := make(map[string]bool, strings.Count(programList, "\n"))
	for line := range strings.Lines(programList) {
		name, ordinary := strings.CutSuffix(strings.TrimSpace(line), " ?")
		known[name] = ordinary
	}
	return known
})

// builtins are bash's own commands. The value reports whether one alone can be a check: most
// only prepare what follows, and words such as return, let or export begin lines of many other
// languages.
var builtins = map[string]bool{
	".": false, ":": false, "[": true, "alias": false, "bg": false, "bind": false, "break": false,
	"builtin": false, "caller": false, "cd": false, "command": true, "compgen": false, "complete": false,
	"compopt": false, "continue": false, "declare": false, "dirs": false, "disown": false, "echo": false,
	"enable": false, "eval": true, "exec": true, "exit": false, "export": false, "false": false, "fc": false,
	"fg": false, "getopts": false, "hash": false, "help": false, "history": false, "jobs": false,
	"kill": false, "let": false, "local": false, "logout": false, "mapfile": false, "popd": false,
	"printf": false, "pushd": false, "pwd": false, "read": false, "readarray": false, "readonly": false,
	"return": false, "set": false, "shift": false, "shopt": false, "source": false, "suspend": false,
	"test": true, "times": false, "trap": false, "true": false, "type": false, "typeset": false,
	"ulimit": false, "umask": false, "unalias": false, "unset": false, "wait": false,
}

// IsRunner reports whether a program runs the command after its options. The name has no
// directory.
func IsRunner(program string) bool { return slices.Contains(runners, program) }

var runners = []string{
	"sudo", "doas", "env", "nohup", "time", "nice", "ionice", "timeout", "gtimeout", "stdbuf",
	"setsid", "chronic", "command", "builtin", "exec", "noglob", "nocorrect", "watch",
	"caffeinate", "unbuffer", "strace", "chroot", "flock", "busybox", "coproc", "npx", "pnpx",
	"bunx", "uvx",
}
