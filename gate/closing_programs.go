package gate

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// starter is a program that runs the command given to it, after its valueOptions
// and so many operands of its own.
type starter struct {
	valued   string
	operands int
}

var starters = map[string]starter{
	"sudo":       {"u g h p C r t T U D R user group prompt chdir host role type other-user chroot", 0},
	"doas":       {"u C", 0},
	"env":        {"u C unset chdir", 0},
	"nohup":      {},
	"time":       {"f o format output", 0},
	"nice":       {"n adjustment", 0},
	"ionice":     {"c n class classdata", 0},
	"timeout":    {"k s kill-after signal", 1},
	"gtimeout":   {"k s kill-after signal", 1},
	"stdbuf":     {"i o e input output error", 0},
	"setsid":     {},
	"chronic":    {},
	"command":    {},
	"builtin":    {},
	"exec":       {"a", 0},
	"noglob":     {},
	"nocorrect":  {},
	"watch":      {"n interval", 0},
	"caffeinate": {"t w", 0},
	"unbuffer":   {},
	"strace":     {"e o p s E", 0},
	"chroot":     {"userspec groups", 1},
	"flock":      {"w E timeout conflict-exit-code c command", 1},
	"busybox":    {},
	"coproc":     {},
	"npx":        {"p package", 0},
	"bunx":       {},
	"uvx":        {"p from with", 0},
}

// shellPrograms run a script: that of -c, of a file, or of standard input.
var shellPrograms = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash", "nu"}

// starts goes through a command that another program starts. It tells whether
// the program is of that kind.
func (w *watch) starts(program string, words []string) bool {
	if s, ok := starters[program]; ok {
		w.started(program, s, words)
		return true
	}
	switch {
	case slices.Contains(shellPrograms, program):
		w.shell(words)
	case program == "pwsh" || program == "powershell" || program == "cmd":
		w.otherShell(words)
	case program == "at" || program == "batch":
		w.read(w.input)
	case program == "git":
		w.git(words)
	case program == "xargs" || program == "parallel":
		w.xargs(program, words)
	case program == "find" || program == "fd":
		w.find(words)
	case program == "ssh":
		if l := skipOptions(words, valued("b c D E e F I i J L l m O o p Q R S W w")); len(l) > 1 {
			w.read(strings.Join(skipOptions(l[1:], valued("")), " "))
		} else {
			w.read(w.input)
		}
	case program == "su", program == "script", program == "runuser":
		l := takeApart(words, valued("c command s shell g G u"))
		for _, text := range append(l.given["c"], l.given["command"]...) {
			w.read(text)
		}
		if !l.has("c", "command") {
			w.read(w.input)
		}
		w.overwrites(program, l.operands) // of script, where it writes what it saw
	case program == "tmux" || program == "screen" || program == "hyperfine":
		for _, text := range words {
			w.read(text)
		}
		w.launch(words)
	default:
		return w.launches(program, words)
	}
	return true
}

// otherShell goes through what a shell with a language of its own is given: for
// one command that is much the same.
func (w *watch) otherShell(words []string) {
	isCommand := func(word string) bool {
		return slices.Contains([]string{"-c", "-command", "/c", "/k"}, strings.ToLower(word))
	}
	if i := slices.IndexFunc(words, isCommand); i >= 0 {
		w.read(strings.Join(words[i+1:], " "))
	}
}

// launchers run a command that stands among their words, behind options, names
// of containers and the like; some only with one of these verbs.
var launchers = map[string]string{
	"docker": "exec run", "podman": "exec run", "nerdctl": "exec run", "kubectl": "exec run debug",
	"nix": "run shell develop", "npm": "exec x", "bun": "x run", "cargo": "run", "go": "run tool", "uv": "run tool",
	"pnpm": "exec dlx bd br", "yarn": "exec dlx bd br", "pipx": "run", "poetry": "run", "pdm": "run", "pipenv": "run", "bundle": "exec",
	"mise": "exec x", "asdf": "exec", "direnv": "exec", "devbox": "run", "op": "run", "doppler": "run", "dotenv": "", "dotenvx": "run",
	"aws-vault": "exec", "gc": "bd", "nix-shell": "",
	"systemd-run": "", "systemd-inhibit": "", "dbus-run-session": "", "xvfb-run": "", "unshare": "", "nsenter": "", "bwrap": "", "firejail": "", "proot": "",
	"fakeroot": "", "taskset": "", "chrt": "", "prlimit": "", "numactl": "", "perf": "stat record trace", "ltrace": "", "valgrind": "", "gdb": "",
	"rlwrap": "", "entr": "", "reflex": "", "watchexec": "", "wsl": "",
}

// launches goes through what a launcher runs, and tells whether it is one.
func (w *watch) launches(program string, words []string) bool {
	verbs, ok := launchers[program]
	if of := strings.Fields(verbs); len(of) > 0 {
		i := slices.IndexFunc(words, func(word string) bool { return slices.Contains(of, word) })
		if i < 0 {
			return false
		}
		if words = words[i:]; !slices.Contains(trackers, words[0]) {
			words = words[1:]
		}
	}
	if ok {
		w.launch(words)
	}
	return ok
}

// launch goes through the command that begins at the first word which names a
// shell, a language or a program that runs others, and at each that names a tracker, unless
// one before it only talks about it.
func (w *watch) launch(words []string) {
	for i, word := range words {
		name := programName(word)
		_, starts := starters[name]
		switch {
		case slices.Contains(talkers, name):
			return
		case slices.Contains(trackers, name): // or the package that has it
			w.run(words[i:])
		case slices.Contains(shellPrograms, name) || starts || name == "xargs" || slices.Contains(languages, languageName(name)):
			w.run(words[i:])
			return
		case (word == "--run" || word == "--command") && i+1 < len(words) && strings.Contains(words[i+1], " "):
			w.read(words[i+1])
		}
	}
}

// talkers are programs that take their words for texts or for names of files.
var talkers = []string{"echo", "printf", "grep", "rg", "ag", "cat", "ls", "man", "which", "git", "test", "find", "sed", "awk", "jq"}

// git goes through the commands that git runs, and the files that a patch which
// the line itself holds writes.
func (w *watch) git(words []string) {
	for i, word := range words {
		_, alias, isAlias := strings.Cut(word, "!")
		rest := words[i+1:]
		switch {
		case isAlias && (strings.HasPrefix(word, "alias.") || i > 0 && strings.HasPrefix(words[i-1], "alias.")):
			w.read(alias)
		case (word == "-x" || word == "--exec") && slices.Contains(words[:i], "rebase") && len(rest) > 0:
			w.read(rest[0])
		case strings.HasPrefix(word, "--exec="):
			w.read(strings.TrimPrefix(word, "--exec="))
		case word == "run" && i > 0 && words[i-1] == "bisect":
			w.run(rest)
		case word == "foreach" && slices.Contains(words[:i], "submodule"):
			w.read(strings.Join(skipOptions(rest, valued("")), " "))
		}
	}
	if l := skipOptions(words, valued("C c git-dir work-tree")); len(l) > 0 && (l[0] == "apply" || l[0] == "am") {
		w.overwrites("git "+l[0], patched(w.input))
	}
}

func (w *watch) started(program string, s starter, words []string) {
	for i, word := range words {
		text, attached := strings.CutPrefix(word, "--split-string=")
		switch {
		case program == "env" && attached:
			w.read(text + " " + strings.Join(words[i+1:], " "))
		case (program == "env" && (word == "-S" || word == "--split-string") || program == "flock" && (word == "-c" || word == "--command")) && i+1 < len(words):
			w.read(strings.Join(words[i+1:], " "))
		}
	}
	words = skipOptions(words, valued(s.valued))
	for range s.operands {
		if len(words) > 0 {
			words = skipOptions(words[1:], valued(s.valued))
		}
	}
	if program == "watch" && len(words) == 1 {
		w.read(words[0])
		return
	}
	w.run(words)
}

// shell goes through what a shell is given to run.
func (w *watch) shell(words []string) {
	l := takeApart(words, valued("o O rcfile init-file"))
	switch {
	case l.has("c") && len(l.operands) > 0:
		w.within(l.operands[min(2, len(l.operands)):], l.operands[0])
	case l.has("rcfile", "init-file"):
		w.script(append(l.given["rcfile"], l.given["init-file"]...))
	case len(l.operands) == 0 || l.has("s"):
		w.read(w.input)
	default:
		w.script(l.operands)
	}
}

// xargs goes through a command that gets words from standard input, or after
// ":::" (parallel, whose command is a text for a shell).
func (w *watch) xargs(program string, words []string) {
	takes := valued("I J L n P s a d E R S max-args max-procs delimiter arg-file j jobs")
	argv, more, _ := cutWords(skipOptions(words, takes), ":::")
	run := w.run
	if program == "parallel" {
		run = func(argv []string) { w.read(strings.Join(argv, " ")) }
	}
	placeholder, lines := replaced(words)
	if len(more) == 0 && lines {
		more = strings.FieldsFunc(w.input, func(r rune) bool { return r == '\n' || r == 0 })
	} else if len(more) == 0 {
		more = strings.FieldsFunc(w.input, func(r rune) bool { return unicode.IsSpace(r) || r == 0 })
	}
	if len(more) == 0 || len(more) > maxVariants {
		more = []string{unknown}
	}
	if !slices.ContainsFunc(argv, func(word string) bool { return strings.Contains(word, placeholder) }) {
		run(append(argv[:len(argv):len(argv)], more...))
		return
	}
	for _, text := range more {
		with := slices.Clone(argv)
		for i := range with {
			with[i] = strings.ReplaceAll(with[i], placeholder, text)
		}
		run(with)
	}
}

// replaced is what xargs puts its words in the place of, and whether it takes them
// by lines for that.
func replaced(words []string) (placeholder string, lines bool) {
	for i, word := range words {
		name, attached, _ := strings.Cut(word, "=")
		switch {
		case (word == "-I" || word == "-J") && i+1 < len(words):
			return words[i+1], true
		case strings.HasPrefix(word, "-I"):
			return word[2:], true
		case word == "-i" || name == "--replace":
			return cmp.Or(attached, "{}"), true
		}
	}
	return "{}", false
}

// find goes through what find runs for the files that it finds.
func (w *watch) find(words []string) {
	found := whatFound(words)
	for i, word := range words {
		switch word {
		case "-delete":
			w.overwrites("find -delete", []string{found})
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X":
			argv := slices.Clone(words[i+1:])
			if end := slices.IndexFunc(argv, func(s string) bool { return s == ";" || s == "+" }); end >= 0 {
				argv = argv[:end]
			}
			for j := range argv {
				argv[j] = strings.ReplaceAll(argv[j], "{}", found)
			}
			w.run(argv)
		}
	}
}

// whatFound is a pattern of the files that find finds: elsewhere, where it is
// told to keep out of directories such as that of a store.
func whatFound(words []string) string {
	root, name := ".", "*"
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		root = words[0]
	}
	for i := 1; i+1 < len(words); i++ {
		not := words[i-1] == "!" || words[i-1] == "-not"
		switch pattern := words[i+1]; {
		case words[i] == "-name" && !not:
			name = pattern
		case words[i] == "-path" && not && (strings.Contains(pattern, ".beads") || strings.Contains(pattern, "/.*")):
			return elsewhere
		}
	}
	return root + "/**/" + name
}
