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

// Attempt is one thing that a command line would do past the gate: close issues, or
// write files.
type Attempt struct {
	Verb  string   // what would do it, as typed without its arguments: "bd close", "sed -i", ">"
	IDs   []string // the issues that it would close, as typed
	Open  bool     // it may close others, which only running it can tell
	Files []string // the files that it would write, any of which may be a store: see Overwrites
	Why   string   // the close reason that it gives to all of them
	Dir   string   // where it runs, from where the line began; "" there, or where only running tells
}

// Attempts lists what a command line would close and which files it would write.
func Attempts(command string) (found []Attempt) {
	for _, c := range gate.Commands(command) {
		list := []Attempt{{Verb: ">", Files: c.Writes}, {}}
		if len(c.Words) > 0 {
			list[1] = attempt(c.Words)
		}
		for _, a := range list {
			if len(a.Files)+len(a.IDs) == 0 && !a.Open {
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

// attempt reads a simple command; it is zero where that neither closes nor writes.
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

// valued are the options of bd and br that are followed by their value, for all verbs.
// A value may begin with a hyphen, as a list in notes does: it is no option.
const valued = " actor db dolt-auto-commit lock-timeout directory C format rig " +
	"r reason m message resolution comment reason-file session " +
	"status s notes append-notes title description d body design acceptance acceptance-criteria a assignee " +
	"p priority t type e estimate parent external-ref spec-id add-label remove-label set-labels labels due defer " +
	"body-file design-file metadata set-metadata unset-metadata await-id owner "

func takesValue(option string) bool { return strings.Contains(valued, " "+option+" ") }

// closing reads the words behind bd or br. Without a word that is an id, bd closes the
// issue that it touched last.
func closing(program string, words []string) (a Attempt) {
	operands, given := takeApart(words)
	if len(operands) == 0 || given["help"] != nil || given["h"] != nil {
		return Attempt{}
	}
	a = Attempt{Verb: program + " " + operands[0], Dir: strings.Join(append(given["C"], given["directory"]...), "/")}
	var reasons []string
	switch operands[0] {
	case "close", "done":
		for _, name := range []string{"reason", "r", "message", "m", "resolution", "comment"} {
			reasons = append(reasons, given[name]...)
		}
	case "update":
		a.Verb += " --status closed"
		if !slices.ContainsFunc(append(given["status"], given["s"]...), func(s string) bool { return beads.IsClosed(strings.ToLower(s)) }) {
			return Attempt{}
		}
	default:
		return Attempt{}
	}
	for _, id := range operands[1:] {
		switch {
		case strings.ContainsAny(id, "$*?[{"):
			a.Open = true
		case strings.Contains(id, " "): // bd done ID "why"
			reasons = append(reasons, id)
		default:
			a.IDs = append(a.IDs, id)
		}
	}
	a.Open = a.Open || len(a.IDs) == 0
	if len(reasons) == 1 { // of several each is for one issue
		a.Why = reasons[0]
	}
	return a
}

// takeApart takes words apart: --name value, --name=value, -n value, -nvalue. given has
// the values by option, without hyphens; "" for an option without one.
func takeApart(words []string) (operands []string, given map[string][]string) {
	given = map[string][]string{}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			return append(operands, words[i+1:]...), given
		}
		if len(word) < 2 || word[0] != '-' {
			operands = append(operands, word)
			continue
		}
		name, value, attached := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if word[1] != '-' { // letters, of which the first with a value takes what follows it
			letters := word[1:]
			at := strings.IndexFunc(letters, func(r rune) bool { return takesValue(string(r)) })
			if name = letters[max(at, 0):]; at >= 0 {
				name, value = letters[at:at+1], strings.TrimPrefix(letters[at+1:], "=")
			}
			attached = value != ""
		}
		if !attached && takesValue(name) && i+1 < len(words) {
			i++
			value = words[i]
		}
		given[name] = append(given[name], value)
	}
	return operands, given
}

// writing reads the words behind tee, sed, cp or mv; no files where they write none.
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
	case "cp", "mv": // the last is the file, or the directory that gets the others
		if last := len(operands) - 1; last > 0 {
			a.Files = operands[last:]
			for _, source := range operands[:last] {
				a.Files = append(a.Files, operands[last]+"/"+path.Base(source))
			}
		}
	}
	return a
}

// isInPlace reports whether an option of sed has it write its files: --in-place, -i.bak, -ni.
func isInPlace(option string) bool {
	if long, ok := strings.CutPrefix(option, "--"); ok {
		return strings.HasPrefix(long, "in-place")
	}
	at := strings.IndexAny(option, "iefl") // the others take what follows them for their value
	return at > 0 && option[at] == 'i'
}

// Overwrites reports whether the attempt writes a store. dir is where the line began;
// both are absolute. A path with a variable in it is taken as it stands.
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
		return err == nil && err2 == nil && os.SameFile(written, kept) // by whatever links
	})
}
