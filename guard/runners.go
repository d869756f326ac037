package guard

import (
	"slices"
	"strings"

	"stig/shell"
)

// launchers run a command that stands among their words, behind options, names
// of containers and the like; most only with one of these verbs. Programs that run
// the words behind their options (sudo, env, timeout, npx) stand in package shell.
var launchers = map[string]string{
	"docker": "exec run", "podman": "exec run",
	"npm": "exec x", "pnpm": "exec dlx bd br", "yarn": "exec dlx bd br", "bun": "x run", "bundle": "exec",
	"uv": "run", "pipx": "run", "poetry": "run", "pipenv": "run", "go": "run tool", "cargo": "run",
	"nix": "run shell develop", "mise": "exec x", "asdf": "exec", "direnv": "exec", "devbox": "run",
	"op": "run", "doppler": "run", "dotenv": "", "wsl": "", "systemd-run": "", "taskset": "", "gc": "bd",
	"pwsh": "-c -Command -command", "powershell": "-c -Command -command", "cmd": "/c /C",
}

// textOnlyPrograms take their words for texts or for names of files.
var textOnlyPrograms = []string{"echo", "printf", "grep", "rg", "ag", "cat", "ls", "man", "which", "git", "test", "find", "sed", "awk", "jq"}

// launches judges what a launcher runs, and reports whether the program is one that
// runs something here.
func (w *analyzer) launches(program string, words []string, input func() string) bool {
	verbs, ok := launchers[program]
	if of := strings.Fields(verbs); ok && len(of) > 0 {
		at := slices.IndexFunc(words, func(word string) bool { return slices.Contains(of, word) })
		if at < 0 {
			return false
		}
		if words = words[at:]; !slices.Contains(trackers, words[0]) {
			words = words[1:]
		}
	}
	for i, word := range words {
		name := programName(word)
		_, isRunner := shell.RunnerOf(name)
		switch {
		case !ok || slices.Contains(textOnlyPrograms, name):
			return ok
		case len(words) == 1 && strings.Contains(word, " "):
			w.read(word)
		case slices.Contains(trackers, name): // or the package that has it
			w.run(words[i:], input)
		case isRunner, name == "xargs", shell.IsShell(name):
			w.run(words[i:], input)
			return true
		}
	}
	return ok
}

// start judges what a runner runs.
func (w *analyzer) start(r shell.Runner, words []string, input func() string) {
	for i, word := range words {
		text := ""
		if strings.HasPrefix(word, "--") {
			word, text, _ = strings.Cut(word, "=")
		}
		if slices.Contains(r.Scripts, word) {
			w.read(text + " " + strings.Join(words[i+1:], " "))
		}
	}
	words = skipOptions(words, r.Valued)
	for range min(r.Operands, len(words)) {
		words = skipOptions(words[1:], r.Valued)
	}
	if r.Text && len(words) == 1 {
		w.read(words[0])
		return
	}
	w.run(words, input)
}

// shell judges what a shell is given to run: the text of -c, or standard input.
func (w *analyzer) shell(words []string, input func() string) {
	l := takeApart(words, "o O rcfile init-file")
	switch {
	case l.has("c") && len(l.operands) > 0:
		w.read(l.operands[0])
	case len(l.operands) == 0 || l.has("s"):
		w.read(input())
	}
}
