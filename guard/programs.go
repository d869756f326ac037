package guard

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"stig/shell"
)

// Programs that run others are of three kinds: a runner (package shell) runs the
// words behind its options, a launcher what stands somewhere among its words, and
// to a shell some of its words, or its standard input, are text to read.

// launchers run a command that stands among their words, behind options, names
// of containers and the like; some only with one of these verbs.
var launchers = map[string]string{
	// Containers.
	"docker": "exec run", "podman": "exec run", "nerdctl": "exec run", "kubectl": "exec run debug",
	// What packages and environments hold.
	"nix": "run shell develop", "nix-shell": "", "npm": "exec x", "bun": "x run", "cargo": "run", "go": "run tool",
	"pnpm": "exec dlx bd br", "yarn": "exec dlx bd br", "bundle": "exec", "uv": "run tool", "pipx": "run", "poetry": "run",
	"pdm": "run", "pipenv": "run", "mise": "exec x", "asdf": "exec", "direnv": "exec", "devbox": "run", "gc": "bd",
	"op": "run", "doppler": "run", "dotenv": "", "dotenvx": "run", "aws-vault": "exec",
	// Bounds on processes, and eyes on them.
	"systemd-run": "", "systemd-inhibit": "", "dbus-run-session": "", "xvfb-run": "", "unshare": "", "nsenter": "",
	"bwrap": "", "firejail": "", "proot": "", "fakeroot": "", "taskset": "", "chrt": "", "prlimit": "", "numactl": "",
	"perf": "stat record trace", "ltrace": "", "valgrind": "", "gdb": "",
	"rlwrap": "", "entr": "", "reflex": "", "watchexec": "", "wsl": "",
}

// textOnlyPrograms are programs that take their words for texts or for names of files.
var textOnlyPrograms = []string{"echo", "printf", "grep", "rg", "ag", "cat", "ls", "man", "which", "git", "test", "find", "sed", "awk", "jq"}

// starts goes through a command that another program starts. It reports whether
// the program is one that does.
func (w *analyzer) starts(program string, words []string) bool {
	if r, ok := shell.RunnerOf(program); ok {
		w.start(r, words)
		return true
	}
	if shell.IsShell(program) {
		w.shell(words)
		return true
	}
	switch program {
	case "pwsh", "powershell", "cmd":
		w.otherShell(words)
	case "su", "script", "runuser":
		w.login(program, words)
	case "ssh":
		w.ssh(words)
	case "at", "batch":
		w.read(w.input)
	case "git":
		w.git(words)
	case "xargs", "parallel":
		w.xargs(program, words)
	case "find", "fd":
		w.find(words)
	case "tmux", "screen", "hyperfine":
		for _, text := range words {
			w.read(text)
		}
		w.launch(words)
	default:
		return w.launches(program, words)
	}
	return true
}

// start goes through what a runner runs.
func (w *analyzer) start(r shell.Runner, words []string) {
	for i, word := range words {
		text := ""
		if strings.HasPrefix(word, "--") {
			word, text, _ = strings.Cut(word, "=")
		}
		if slices.Contains(r.Scripts, word) {
			w.read(text + " " + strings.Join(words[i+1:], " "))
		}
	}
	words = skipOptions(words, valued(r.Valued))
	for range min(r.Operands, len(words)) {
		words = skipOptions(words[1:], valued(r.Valued))
	}
	if r.Text && len(words) == 1 {
		w.read(words[0])
		return
	}
	w.run(words)
}

// launches goes through what a launcher runs, and reports whether it is one.
func (w *analyzer) launches(program string, words []string) bool {
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
// runner, a shell or a language, and at each that names a tracker, unless one
// before it only talks about it.
func (w *analyzer) launch(words []string) {
	for i, word := range words {
		name := programName(word)
		_, isRunner := shell.RunnerOf(name)
		switch {
		case slices.Contains(textOnlyPrograms, name):
			return
		case slices.Contains(trackers, name): // or the package that has it
			w.run(words[i:])
		case isRunner, name == "xargs", shell.IsShell(name), shell.IsInterpreter(name):
			w.run(words[i:])
			return
		case (word == "--run" || word == "--command") && i+1 < len(words) && strings.Contains(words[i+1], " "):
			w.read(words[i+1])
		}
	}
}

// shell goes through what a shell is given to run.
func (w *analyzer) shell(words []string) {
	l := takeApart(words, valued("o O rcfile init-file"))
	switch {
	case l.has("c") && len(l.operands) > 0:
		w.within(l.operands[min(2, len(l.operands)):], l.operands[0])
	case l.has("rcfile", "init-file"):
		w.script(l.values("rcfile", "init-file"))
	case len(l.operands) == 0 || l.has("s"):
		w.read(w.input)
	default:
		w.script(l.operands)
	}
}

// otherShell goes through what a shell with a language of its own is given: for
// one command that is much the same.
func (w *analyzer) otherShell(words []string) {
	isCommand := func(word string) bool {
		return slices.Contains([]string{"-c", "-command", "/c", "/k"}, strings.ToLower(word))
	}
	if i := slices.IndexFunc(words, isCommand); i >= 0 {
		w.read(strings.Join(words[i+1:], " "))
	}
}

// login goes through what a shell for somebody else is given, or one that is
// written down, and where.
func (w *analyzer) login(program string, words []string) {
	l := takeApart(words, valued("c command s shell g G u"))
	texts := l.values("c", "command")
	if texts == nil {
		texts = []string{w.input}
	}
	for _, text := range texts {
		w.read(text)
	}
	w.overwrites(program, l.operands)
}

// ssh goes through what is run on a host: its words, or else standard input.
func (w *analyzer) ssh(words []string) {
	words = skipOptions(words, valued("b c D E e F I i J L l m O o p Q R S W w"))
	if len(words) < 2 {
		w.read(w.input)
		return
	}
	w.read(strings.Join(skipOptions(words[1:], valued("")), " "))
}

// git goes through the commands that git runs, and the files that a patch which
// the line itself holds writes.
func (w *analyzer) git(words []string) {
	before := ""
	for i, word := range words {
		rest := words[i+1:]
		script, attached := strings.CutPrefix(word, "--exec=")
		_, alias, isAlias := strings.Cut(word, "!")
		switch {
		case isAlias && (strings.HasPrefix(word, "alias.") || strings.HasPrefix(before, "alias.")):
			w.read(alias)
		case (word == "-x" || word == "--exec") && slices.Contains(words[:i], "rebase") && len(rest) > 0:
			w.read(rest[0])
		case attached:
			w.read(script)
		case word == "run" && before == "bisect":
			w.run(rest)
		case word == "foreach" && slices.Contains(words[:i], "submodule"):
			w.read(strings.Join(skipOptions(rest, valued("")), " "))
		}
		before = word
	}
	if verb := skipOptions(words, valued("C c git-dir work-tree")); len(verb) > 0 && (verb[0] == "apply" || verb[0] == "am") {
		w.overwrites("git "+verb[0], patched(w.input))
	}
}

// xargs goes through a command that gets words from standard input, or after
// ":::" (parallel, whose command is a text for a shell).
func (w *analyzer) xargs(program string, words []string) {
	takes := valued("I J L n P s a d E R S max-args max-procs delimiter arg-file j jobs")
	argv, more, _ := cutWords(skipOptions(words, takes), ":::")
	run := w.run
	if program == "parallel" {
		run = func(argv []string) { w.read(strings.Join(argv, " ")) }
	}
	placeholder, lines := replaced(words)
	if len(more) == 0 {
		more = strings.FieldsFunc(w.input, func(r rune) bool { return r == 0 || r == '\n' || unicode.IsSpace(r) && !lines })
	}
	if len(more) == 0 || len(more) > maxVariants {
		more = []string{unknown}
	}
	if !slices.ContainsFunc(argv, func(word string) bool { return strings.Contains(word, placeholder) }) {
		run(append(argv[:len(argv):len(argv)], more...))
		return
	}
	for _, text := range more {
		run(replaceIn(argv, placeholder, text))
	}
}

// replaceIn gives words with a text in the place of another.
func replaceIn(words []string, placeholder, text string) []string {
	words = slices.Clone(words)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], placeholder, text)
	}
	return words
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
func (w *analyzer) find(words []string) {
	found := whatFound(words)
	for i, word := range words {
		switch word {
		case "-delete":
			w.overwrites("find -delete", []string{found})
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X":
			argv, _, _ := cutWords(words[i+1:], ";")
			argv, _, _ = cutWords(argv, "+")
			w.run(replaceIn(argv, "{}", found))
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
