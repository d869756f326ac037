package assistant

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/gate"
)

// Attempt is one action of a command line that bypasses the gate: closing issues or writing
// files.
type Attempt struct {
	Verb  string   // the command without its arguments: "bd close", "sed -i", ">"
	Words []string // arguments of a close: ids, options, a reason; nil for writes
	Files []string // files that it would write, any of which may be the store: see Overwrites
	Dir   string   // where it runs, relative to where the line starts; "" for there, or if unknown before it runs
}

// Attempts returns what a command line would close and which files it would write, as far as
// the line can be parsed. What runs through another program or a variable is found only after
// it ran.
func Attempts(command string) (found []Attempt) {
	for _, c := range gate.Commands(command) {
		list := []Attempt{{Verb: ">", Files: c.Writes}, {}}
		if len(c.Words) > 0 {
			list[1] = attempt(c.Words)
		}
		for _, a := range list {
			if a.Verb == "" || a.Words == nil && len(a.Files) == 0 {
				continue
			}
			for i, file := range a.Files {
				a.Files[i] = c.Place(file)
			}
			a.Dir = c.Place(a.Dir)
			found = append(found, a)
		}
	}
	return found
}

// attempt classifies a simple command; it returns the zero Attempt if the command neither
// closes nor writes.
func attempt(words []string) Attempt {
	program, words := strings.TrimSuffix(path.Base(words[0]), ".exe"), words[1:]
	switch program {
	case "bd", "br":
		return closing(program, words)
	case "tee", "sed", "cp", "mv":
		return writing(program, words)
	}
	return Attempt{}
}

// ofProgram lists the options of bd and br that precede the verb and take a value.
var ofProgram = []string{"--actor", "--db", "--directory", "-C", "--dolt-auto-commit", "--lock-timeout", "--format"}

// closing parses the arguments of bd or br.
func closing(program string, words []string) Attempt {
	verb, words, dir := afterOptions(words)
	a := Attempt{Verb: program + " " + verb, Words: words, Dir: dir}
	switch {
	case slices.Contains(words, "--help") || slices.Contains(words, "-h"):
		return Attempt{}
	case verb == "close" || verb == "done":
		return a
	case verb == "update" && setsStatus(words, closedStatus):
		a.Verb += " --status closed"
		return a
	}
	return Attempt{}
}

// afterOptions skips the options before the verb of bd or br. It returns the verb, its
// arguments, and the directory that the options name; verb is "" if there is none or help is
// requested.
func afterOptions(words []string) (verb string, rest []string, dir string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		option, value, attached := strings.Cut(words[0], "=")
		words = words[1:]
		if !attached && slices.Contains(ofProgram, option) && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		if option == "-C" || option == "--directory" {
			dir = path.Join(dir, value)
		}
		if option == "--help" || option == "-h" {
			return "", nil, ""
		}
	}
	if len(words) == 0 {
		return "", nil, ""
	}
	return words[0], words[1:], dir
}

func closedStatus(status string) bool { return beads.IsClosed(strings.ToLower(status)) }

// setsStatus reports whether words set a status that satisfies such: --status closed,
// --status=closed, -s closed, -sclosed.
func setsStatus(words []string, such func(status string) bool) bool {
	for i, word := range words {
		value, given := strings.CutPrefix(word, "--status")
		if !given && !strings.HasPrefix(word, "--") {
			value, given = strings.CutPrefix(word, "-s")
		}
		if value = strings.TrimPrefix(value, "="); given && value == "" && i+1 < len(words) {
			value = words[i+1]
		}
		if given && such(strings.Trim(value, `"'`)) {
			return true
		}
	}
	return false
}

// writing parses the arguments of tee, sed, cp or mv; Files is empty if they write none.
func writing(program string, words []string) Attempt {
	var options, operands []string
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			options = append(options, word)
		} else {
			operands = append(operands, word)
		}
	}
	a := Attempt{Verb: program, Files: operands}
	switch program {
	case "sed":
		a.Verb += " -i"
		if !slices.ContainsFunc(options, isInPlace) {
			a.Files = nil
		}
	case "cp", "mv": // the last operand is the file, or the directory that receives the others
		if last := len(operands) - 1; last > 0 {
			a.Files = operands[last:]
			for _, source := range operands[:last] {
				a.Files = append(a.Files, operands[last]+"/"+path.Base(source))
			}
		}
	}
	return a
}

// isInPlace reports whether an option makes sed edit its files in place: --in-place, -i.bak,
// -ni.
func isInPlace(option string) bool {
	if long, ok := strings.CutPrefix(option, "--"); ok {
		return strings.HasPrefix(long, "in-place")
	}
	at := strings.IndexAny(option, "iefl") // -e, -f and -l take what follows as their value
	return at > 0 && option[at] == 'i'
}

// Overwrites reports whether the attempt writes the store. dir is the directory where the line
// starts; dir and store are absolute. Variables in paths are not expanded.
func (a Attempt) Overwrites(dir, store string) bool {
	kept, err := os.Stat(store)
	return slices.ContainsFunc(a.Files, func(file string) bool {
		if file = filepath.Clean(file); !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		matched, _ := filepath.Match(filepath.Base(file), filepath.Base(store))
		if matched && filepath.Dir(file) == filepath.Dir(store) {
			return true
		}
		written, err2 := os.Stat(file)
		return err == nil && err2 == nil && os.SameFile(written, kept) // also through links
	})
}
