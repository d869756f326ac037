package guard

import (
	"path"
	"slices"
	"strings"
)

// run goes through one command, given as its words.
func (w *analyzer) run(argv []string) {
	if len(argv) == 0 || w.spent() {
		return
	}
	program := programName(argv[0])
	if alias, ok := w.aliases[argv[0]]; ok && w.depth < maxDepth {
		w.read(alias + " " + strings.Join(argv[1:], " "))
		return
	}
	if f, ok := w.functions[argv[0]]; ok {
		w.enter(f, argv)
		return
	}
	if text, ok := w.kept(argv[0]); ok && strings.Contains(argv[0], "/") {
		w.within(argv[1:], text)
		return
	}
	switch {
	case argv[0] == unknown: // $SUDO bd close
		w.run(argv[1:])
	case slices.Contains(trackers, program):
		w.tracker(program, argv[1:])
	case w.builtin(program, argv[1:]):
	case w.starts(program, argv[1:]):
	case program == "tee":
		for _, file := range fileWords(argv[1:]) {
			w.overwrites(program, []string{file})
			w.keep(file, w.input)
		}
	default:
		w.overwrites(w.writes(program, argv[1:]))
		w.language(program, argv[1:])
	}
}

// programName is the name of a program in a word that starts it: at the end of a
// path, before the version of a package, after the flake that has it.
func programName(word string) string {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
	if _, in, ok := strings.Cut(name, "#"); ok {
		name = in
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	return name
}

// within goes through a script that is given words.
func (w *analyzer) within(words []string, script string) {
	before := w.params
	w.params = words
	w.read(script)
	w.params = before
}

// builtin goes through a command of the shell itself.
func (w *analyzer) builtin(program string, words []string) bool {
	switch program {
	case "cd", "pushd":
		if i := slices.IndexFunc(words, func(s string) bool { return !strings.HasPrefix(s, "-") }); i >= 0 {
			w.dir = w.place(words[i])
		}
	case "alias":
		for _, word := range words {
			if name, text, ok := strings.Cut(word, "="); ok {
				w.aliases[name] = text
			}
		}
	case "eval":
		w.read(strings.Join(words, " "))
	case "trap":
		if len(words) > 1 {
			w.read(words[0])
		}
	case "set":
		if _, after, ok := cutWords(words, "--"); ok {
			w.params = append([]string{}, after...)
		}
	case "source", ".":
		if len(words) > 0 {
			w.script(words)
		}
	case "mapfile", "readarray":
		if len(words) > 0 {
			for line := range strings.Lines(w.input) {
				w.set(words[len(words)-1], strings.TrimSpace(line))
			}
		}
	case "read":
		w.assignInput(fileWords(words))
	case "printf":
		if len(words) > 2 && words[0] == "-v" {
			w.set(words[1], formatted(words[2:]))
		}
	default:
		return false
	}
	return true
}

// assignInput gives variables the words of standard input, the last one the rest of
// a line.
func (w *analyzer) assignInput(names []string) {
	for line := range strings.Lines(w.input) {
		words := strings.Fields(line)
		for i, name := range names {
			switch {
			case i >= len(words):
			case i == len(names)-1:
				w.set(name, strings.Join(words[i:], " "))
			default:
				w.set(name, words[i])
			}
		}
	}
}

// script goes through a script, where the line itself holds it. Its file is the
// first of the words.
func (w *analyzer) script(words []string) {
	text, ok := w.content(words[0])
	if slices.Contains([]string{"/dev/stdin", "/dev/fd/0", "-"}, words[0]) {
		text, ok = w.input, true
	}
	if ok {
		w.within(words[1:], text)
	}
}
