package gate

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// valueOptions tells which options of a program are followed by their value, by
// their names without hyphens.
type valueOptions func(name string) bool

// valued are options of these names, separated by blanks.
func valued(names string) valueOptions {
	list := strings.Fields(names)
	return func(name string) bool { return slices.Contains(list, name) }
}

// allBut are all long options but those of these names, and the short ones of
// shorts.
func allBut(flags, shorts string) valueOptions {
	list := strings.Fields(flags)
	return func(name string) bool {
		if len(name) == 1 {
			return strings.Contains(shorts, name)
		}
		return !slices.Contains(list, name)
	}
}

// commandLine is the words after a program, taken apart.
type commandLine struct {
	operands []string
	given    map[string][]string // values by option; "" for one without
}

// has tells whether any of the options is given.
func (l commandLine) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return l.given[name] != nil })
}

// takeApart takes words apart: --name value, --name=value, -n value, -nvalue.
func takeApart(words []string, takes valueOptions) commandLine {
	l := commandLine{given: map[string][]string{}}
	give := func(name, value string) { l.given[name] = append(l.given[name], value) }
	for i := 0; i < len(words); i++ {
		word := words[i]
		next := func() (value string) {
			if i+1 < len(words) {
				i++
				value = words[i]
			}
			return value
		}
		long, isLong := strings.CutPrefix(word, "--")
		switch {
		case word == "--":
			l.operands = append(l.operands, words[i+1:]...)
			return l
		case isLong:
			name, value, attached := strings.Cut(long, "=")
			if !attached && takes(name) {
				value = next()
			}
			give(name, value)
		case len(word) > 1 && word[0] == '-':
			for j := 1; j < len(word); j++ {
				name := word[j : j+1]
				if !takes(name) {
					give(name, "")
					continue
				}
				value := strings.TrimPrefix(word[j+1:], "=")
				if value == "" {
					value = next()
				}
				give(name, value)
				break
			}
		default:
			l.operands = append(l.operands, word)
		}
	}
	return l
}

// Options of bd and br that are followed by their value.
const trackerWide = "actor db dolt-auto-commit lock-timeout directory C format "

// trackerUpdate are the options of bd update and br update that are not.
const trackerUpdate = "claim ephemeral persistent history no-history stdin allow-empty-description help json quiet verbose " +
	"readonly sandbox global profile allow-stale no-daemon no-db no-auto-flush no-auto-import ignore-schema-skew robot force no-color"

// tracker goes through a command of bd or br. The verbs are those of bd 0.49
// and 1.0 and of br.
func (w *watch) tracker(program string, words []string) {
	verb, rest := trackerVerb(words)
	if verb == "" {
		return
	}
	l := takeApart(rest, valued(trackerWide+"r reason reason-file response session of with f file m message"))
	if l.has("help", "h", "dry-run") {
		return
	}
	said := program + " " + verb
	switch verb {
	case "close", "done":
		l = takeApart(rest, valued(trackerWide+"r reason reason-file session"))
		w.closes(said, l.operands)
	case "update":
		l = takeApart(rest, allBut(trackerUpdate, "adepstC"))
		for _, status := range append(l.given["status"], l.given["s"]...) {
			if over(status) {
				w.closes(said+" --status "+shown(status), l.operands)
			}
		}
	case "todo", "epic", "human":
		if sub := strings.Join(l.operands[:min(1, len(l.operands))], ""); slices.Contains([]string{"done", "close-eligible", "respond", "dismiss"}, sub) {
			w.closes(said+" "+sub, l.operands[1:])
		}
	case "duplicate", "supersede":
		w.closes(said, l.operands)
	case "duplicates", "orphans":
		if l.has("auto-merge", "fix") {
			w.closes(said, nil)
		}
	case "batch":
		w.batch(said, l)
	case "import":
		if closedLine().MatchString(w.input) {
			w.closes(said, nil)
		}
	case "sql":
		w.sql(said, l.operands)
	}
}

// trackerVerb finds the verb behind the options that may stand before it. A
// word that only running can tell may be options too.
func trackerVerb(words []string) (verb string, rest []string) {
	takes := valued(trackerWide)
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case strings.HasPrefix(word, "-"):
			if !strings.Contains(word, "=") && takes(strings.TrimLeft(word, "-")) {
				i++
			}
		case strings.HasPrefix(word, unknown), word == "":
		default:
			return strings.ToLower(word), append(slices.Clone(words[:i]), words[i+1:]...)
		}
	}
	return "", nil
}

// over tells whether a status ends an issue, or may.
func over(status string) bool {
	status = strings.ToLower(strings.TrimSpace(status))
	return status == "closed" || status == "tombstone" || strings.Contains(status, unknown)
}

// shown is a text with an ellipsis for what only running can tell.
func shown(text string) string { return strings.ReplaceAll(text, unknown, "…") }

// batch goes through the lines that bd batch is given.
func (w *watch) batch(said string, l commandLine) {
	text := w.input
	if l.has("f", "file") {
		text = unknown
	}
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); {
		case strings.Contains(line, unknown):
			w.closes(said, nil)
		case len(words) > 1 && words[0] == "close":
			w.closes(said, words[1:2])
		case len(words) > 1 && words[0] == "update" && slices.ContainsFunc(words[2:], func(s string) bool { return strings.EqualFold(s, "status=closed") }):
			w.closes(said, words[1:2])
		}
	}
}

var closedLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"status"\s*:\s*"(?:closed|tombstone)"`)
})

var closingSQL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)\bupdate\s+\W?issues\b.*\bset\b.*\bstatus\W*=\s*\W?closed`)
})

// sql goes through statements for the database that bd keeps the issues in.
func (w *watch) sql(said string, words []string) {
	if closingSQL().MatchString(strings.Join(words, " ")) || closingSQL().MatchString(w.input) {
		w.closes(said, nil)
	}
}

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
	"npx":        {"p package", 0},
	"bunx":       {},
	"uvx":        {},
	"mise":       {"", 1},
	"direnv":     {"", 2},
	"busybox":    {},
	"coproc":     {},
}

// shellPrograms run a script: that of -c, of a file, or of standard input.
var shellPrograms = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "rbash"}

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
	case program == "xargs" || program == "parallel":
		w.xargs(words)
	case program == "find" || program == "fd":
		w.find(words)
	case program == "ssh":
		if l := skipOptions(words, valued("b c D E e F I i J L l m O o p Q R S W w")); len(l) > 1 {
			w.read(strings.Join(l[1:], " "))
		}
	case program == "su", program == "script", program == "runuser":
		for _, text := range takeApart(words, valued("c command s shell g G u")).given["c"] {
			w.read(text)
		}
	case program == "docker" || program == "podman" || program == "kubectl" || program == "nix":
		if i := slices.Index(words, "--"); i >= 0 {
			w.run(words[i+1:])
		} else if l := skipOptions(words, valued("")); len(l) > 0 && l[0] == "exec" {
			if l = skipOptions(l[1:], valued("e env u user w workdir env-file")); len(l) > 1 {
				w.run(l[1:])
			}
		}
	case program == "tmux" || program == "screen":
		for _, text := range words {
			w.read(text)
		}
	default:
		return false
	}
	return true
}

// skipOptions skips the options at the beginning of words, and assignments.
func skipOptions(words []string, takes valueOptions) []string {
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "--":
			return words[1:]
		case strings.HasPrefix(word, "-") && len(word) > 1:
			name := strings.TrimLeft(word, "-")
			words = words[1:]
			if !strings.Contains(name, "=") && takes(name) && len(words) > 0 {
				words = words[1:]
			}
		case assignment().MatchString(word):
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

var assignment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`) })

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
		before := w.params
		w.params = l.operands[min(2, len(l.operands)):]
		w.read(l.operands[0])
		w.params = before
	case len(l.operands) == 0 || l.has("s"):
		w.read(w.input)
	default:
		w.script(l.operands[0])
	}
}

// xargs goes through a command that gets words from standard input, or after
// ":::" (parallel).
func (w *watch) xargs(words []string) {
	takes := valued("I J L n P s a d E R S max-args max-procs max-lines delimiter arg-file replace j jobs")
	placeholder := "{}"
	for i, word := range words {
		if (word == "-I" || word == "-J") && i+1 < len(words) {
			placeholder = words[i+1]
		} else if strings.HasPrefix(word, "-I") && len(word) > 2 {
			placeholder = word[2:]
		}
	}
	argv, more, _ := cutWords(skipOptions(words, takes), ":::")
	if len(more) == 0 {
		more = strings.Fields(w.input)
	}
	if len(more) == 0 || len(more) > maxVariants {
		more = []string{unknown}
	}
	replaced := false
	for _, text := range more {
		with := slices.Clone(argv)
		for i := range with {
			if strings.Contains(with[i], placeholder) {
				with[i], replaced = strings.ReplaceAll(with[i], placeholder, text), true
			}
		}
		if replaced {
			w.run(with)
		}
	}
	if !replaced {
		w.run(append(argv[:len(argv):len(argv)], more...))
	}
}

func cutWords(words []string, at string) (before, after []string, found bool) {
	if i := slices.Index(words, at); i >= 0 {
		return words[:i], words[i+1:], true
	}
	return words, nil, false
}

// find goes through what find runs for the files that it finds.
func (w *watch) find(words []string) {
	root, name := ".", "*"
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		root = words[0]
	}
	if _, after, ok := cutWords(words, "-name"); ok && len(after) > 0 {
		name = after[0]
	}
	found := root + "/**/" + name
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

// writes lists the files that a command would write, and how it says so.
func (w *watch) writes(program string, words []string) (verb string, files []string) {
	switch program {
	case "sed", "gsed", "perl", "ruby", "yq", "jaq", "mlr":
		if inPlace(program, words) {
			return program + " -i", fileWords(words)
		}
	case "awk", "gawk":
		if slices.Contains(words, "inplace") {
			return program + " -i inplace", fileWords(words)
		}
	case "tee", "sponge", "truncate", "shred", "ed", "ex", "vi", "vim", "nvim", "nano", "emacs", "patch", "unlink":
		return program, fileWords(words)
	case "rm":
		return program, withBelow(fileWords(words))
	case "cp", "mv", "install", "ln", "rsync", "gcp", "gmv":
		return program, copyTargets(program, words)
	case "dd":
		for _, word := range words {
			if file, ok := strings.CutPrefix(word, "of="); ok {
				files = append(files, file)
			}
		}
		return "dd", files
	case "sort", "curl":
		l := takeApart(words, valued("o output k t S T d H X u A e b c F data header request user"))
		return program + " -o", append(l.given["o"], l.given["output"]...)
	case "wget":
		return "wget -O", takeApart(words, valued("O output-document")).given["O"]
	case "apply_patch", "applypatch":
		for line := range strings.Lines(strings.Join(words, "\n") + "\n" + w.input) {
			if _, file, ok := strings.Cut(line, " File: "); ok && strings.HasPrefix(line, "*** ") {
				files = append(files, strings.TrimSpace(file))
			}
		}
		return program, files
	}
	return "", nil
}

// inPlace tells whether an editor of streams writes the files that it reads.
func inPlace(program string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		if strings.HasPrefix(word, "--") {
			return strings.HasPrefix(word, "--in-place") || strings.HasPrefix(word, "--inplace")
		}
		if !strings.HasPrefix(word, "-") {
			return false
		}
		// Letters before the i are other options without a value; perl's -e
		// and -I, and sed's -e and -f, take the rest of the word.
		before, _, found := strings.Cut(word[1:], "i")
		return found && !strings.ContainsAny(before, "eEfIMm") || found && program != "perl" && program != "ruby" && strings.Trim(before, "Enrsuz") == ""
	})
}

// fileWords are the words that are no options.
func fileWords(words []string) (files []string) {
	for _, word := range words {
		if !strings.HasPrefix(word, "-") {
			files = append(files, word)
		}
	}
	return files
}

// withBelow adds what stands in directories of these names.
func withBelow(files []string) []string {
	for _, file := range slices.Clone(files) {
		if clean := path.Clean(file); clean != "." && clean != "/" { // nobody means these
			files = append(files, file+"/**")
		}
	}
	return files
}

// copyTargets lists what a command such as cp writes: its target, or the files in
// it that have the names of the sources; of mv the sources too.
func copyTargets(program string, words []string) []string {
	takes := "t target-directory S suffix"
	switch program {
	case "install":
		takes += " m mode o owner g group"
	case "rsync":
		takes = "e rsh f filter exclude include"
	}
	l := takeApart(words, valued(takes))
	targets := append(l.given["t"], l.given["target-directory"]...)
	sources := l.operands
	if len(targets) == 0 && len(sources) > 1 {
		targets, sources = sources[len(sources)-1:], sources[:len(sources)-1]
	}
	files := slices.Clone(targets)
	for _, target := range targets {
		for _, source := range sources {
			files = append(files, target+"/"+path.Base(source))
			if strings.HasSuffix(source, "/") || path.Base(source) == "." || path.Base(source) == ".beads" {
				files = append(files, target+"/**")
			}
		}
	}
	if program == "mv" || program == "gmv" {
		files = append(files, withBelow(slices.Clone(sources))...)
	}
	return files
}

// language goes through code in other languages: what writes a file that the
// code names plainly, and SQL that closes.
func (w *watch) language(program string, words []string) {
	switch name := strings.TrimRight(program, "0123456789."); name {
	case "sqlite", "sqlite3", "dolt", "mysql":
		w.sql(program, words)
	case "python", "pypy", "node", "nodejs", "deno", "bun", "ruby", "perl", "php":
		l := takeApart(words, valued("c e E eval p print r"))
		for _, code := range slices.Concat(l.given["c"], l.given["e"], l.given["E"], l.given["eval"], l.given["r"], []string{w.input}) {
			w.overwrites(program, codeWrites(code))
		}
	}
}

// codeWrites lists the stores that code writes, as far as its own text tells: a
// call that opens for writing, with the path itself or a variable that has it.
func codeWrites(code string) (files []string) {
	for _, found := range storeText().FindAllStringSubmatch(code, maxVariants) {
		as := regexp.QuoteMeta(found[2] + found[3] + found[2])
		if name := found[1]; name != "" {
			as = `(?:` + as + `|\b` + regexp.QuoteMeta(name) + `\b)`
		}
		writing, err := regexp.Compile(`open\(\s*` + as + `\s*,\s*(?:mode\s*=\s*)?["'][^"']*[wax+]` +
			`|` + as + `\)?\s*\.\s*(?:write_|open\(\s*["'][^"']*[wax+]|rename|replace|unlink)` +
			`|(?:[wW]rite|append|truncate|unlink|remove)\w*\(\s*` + as +
			`|(?:rename|copy|move|copyfile|replace)\w*\([^()]*,\s*` + as +
			`|open\s*\(?[^;]*,\s*["']\s*>+[^;]*` + as)
		if err == nil && writing.MatchString(code) {
			files = append(files, found[3])
		}
	}
	return files
}

// storeText is a quoted path of a store in code, and the variable that it is
// given to, if any.
var storeText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\b(\w+)\s*=\s*(?:\w+\.)?(?:Path\()?\s*)?[rbuf]?(["'\x60])([^"'\x60\n]*\.jsonl)["'\x60]`)
})
