package gate

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Attempt is one thing that a command line would do to issues past the gate.
type Attempt struct {
	Verb  string   // what would do it, as typed without its arguments: "bd close", "sed -i", ">"
	IDs   []string // the issues that it would close, as typed
	Open  bool     // it may close others, which only running it can tell
	Files []string // the files that it would write, any of which may be a store: see Overwrites
	Why   string   // the close reason that it gives, to all of them
}

// Closes lists what a command line would close, and the files it would write
// that may be a store.
//
// It reads the line as bash does, or else as zsh, and never fails: what stands
// before a mistake in it would run. Commands are found in every position, also
// behind programs that run others (sudo, env, xargs, find -exec, sh -c, ssh)
// and in text that the line itself feeds to a shell, or writes to a file that it
// then runs. Variables, functions and aliases that the line sets are followed, and
// so are echo, printf and cat. Of a filter whose output a shell gets it is taken
// that a close in its words is in that output. Code in other languages is searched
// for calls that start a program or open a file for writing, with texts of their
// own as arguments.
//
// What only running tells is not seen: other scripts and programs that the line
// starts, text from files and from the network, a verb in a variable of the
// environment, what git does to the file on its own, and what code in other
// languages computes. Such a close is found afterwards, by its missing verdict.
func Closes(command string) []Attempt {
	w := &watch{
		variables: map[string][]string{}, arrays: map[string][]string{},
		aliases: map[string]string{}, functions: map[string]*shellFunction{}, files: map[string]string{},
	}
	w.read(command)
	for _, name := range w.declared {
		if f := w.functions[name]; !f.called {
			w.enter(f, []string{name, unknown})
		}
	}
	if w.steps > maxSteps && trackerName().MatchString(command) {
		w.closes("a command line too long to be read", nil)
	}
	return w.found
}

// trackerName finds what may be the name of bd or br.
var trackerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:bd|br)\b`) })

// unknown stands in a text for what only running the command can tell, and
// piped before what a process substitution writes. Nobody types them.
const (
	unknown = "\ue000"
	piped   = "\ue001"
)

// elsewhere is what mktemp gives: somewhere that is no store.
const elsewhere = "/mktemp"

// add notes an attempt, joined to one with the same verb.
func (w *watch) add(a Attempt) {
	i := slices.IndexFunc(w.found, func(b Attempt) bool { return b.Verb == a.Verb && (len(a.Files) == 0) == (len(b.Files) == 0) })
	if i < 0 {
		w.found = append(w.found, a)
		return
	}
	known := &w.found[i]
	known.Open = known.Open || a.Open
	if known.Why != a.Why {
		known.Why = ""
	}
	for _, id := range a.IDs {
		if !slices.Contains(known.IDs, id) {
			known.IDs = append(known.IDs, id)
		}
	}
	for _, file := range a.Files {
		if !slices.Contains(known.Files, file) {
			known.Files = append(known.Files, file)
		}
	}
}

// closes notes that a program closes issues. Words that are no ids, because
// only running can tell what they become, leave the attempt open, and so does
// having none: bd then takes the issue that it touched last.
func (w *watch) closes(verb string, ids []string) { w.closesFor(verb, ids, "") }

func (w *watch) closesFor(verb string, ids []string, why string) {
	a := Attempt{Verb: verb, Open: len(ids) == 0, Why: why}
	for _, id := range ids {
		if id == "" || strings.ContainsAny(id, unknown+piped+"*?[{") {
			a.Open = true
			continue
		}
		a.IDs = append(a.IDs, id)
	}
	w.add(a)
}

// overwrites notes that a program writes files.
func (w *watch) overwrites(verb string, files []string) {
	a := Attempt{Verb: verb}
	for _, file := range files {
		if file = w.place(file); mayHold(file) {
			a.Files = append(a.Files, file)
		}
	}
	if len(a.Files) > 0 {
		w.add(a)
	}
}

// place names a file from where the line began.
func (w *watch) place(file string) string {
	if w.dir == "" || anchored(file) || file == "" {
		return file
	}
	return w.dir + "/" + file
}

// anchored tells whether a path does not depend on the working directory.
func anchored(file string) bool {
	return strings.HasPrefix(file, "/") || strings.HasPrefix(file, "~") || strings.HasPrefix(file, unknown) || filepath.IsAbs(file)
}

// mayHold tells whether a path may be that of a store, by its looks.
func mayHold(file string) bool {
	return strings.Contains(file, ".jsonl") || strings.Contains(file, ".beads") || strings.ContainsAny(path.Base(file), "*?[")
}

// Overwrites tells whether the attempt writes a store. dir is where the
// command runs; both are absolute. Of a path that begins with what only
// running can tell, or with a home directory, the end is compared; one that says
// nothing of a store is none.
func (a Attempt) Overwrites(dir, store string) bool {
	return slices.ContainsFunc(a.Files, func(file string) bool {
		if strings.Contains(file, unknown) && !strings.Contains(file, ".beads") && !strings.Contains(file, ".jsonl") {
			return false
		}
		if strings.HasPrefix(file, "~") || strings.HasPrefix(file, unknown) {
			return endsLike(file, store)
		}
		if !anchored(file) {
			file = dir + "/" + file
		}
		return alike(elements(file), elements(store)) || sameFile(file, store)
	})
}

// endsLike compares what follows the first element of a path with the end of
// another. A lone name is not enough.
func endsLike(file, store string) bool {
	pattern := elements(file)[1:]
	of := elements(store)
	n := len(pattern)
	return n >= 2 && n <= len(of) && alike(pattern, of[len(of)-n:])
}

func elements(file string) []string {
	return strings.Split(strings.TrimPrefix(path.Clean(filepath.ToSlash(file)), "/"), "/")
}

// alike matches a path against a pattern: "**" stands for any number of
// elements, and as in a shell a leading dot is matched by a dot alone.
func alike(pattern, of []string) bool {
	switch {
	case len(pattern) == 0:
		return len(of) == 0
	case pattern[0] == "**":
		return slices.ContainsFunc(ends(of), func(end []string) bool { return alike(pattern[1:], end) })
	case len(of) == 0:
		return false
	case pattern[0] == unknown:
		return alike(pattern[1:], of[1:])
	}
	glob := strings.ReplaceAll(pattern[0], unknown, "*")
	matched, err := path.Match(glob, of[0])
	if err != nil {
		matched = pattern[0] == of[0]
	}
	dots := strings.HasPrefix(of[0], ".") == strings.HasPrefix(glob, ".")
	return matched && dots && alike(pattern[1:], of[1:])
}

// ends lists the ends of a path, from the whole to none of it.
func ends(of []string) (list [][]string) {
	for i := range len(of) + 1 {
		list = append(list, of[i:])
	}
	return list
}

// sameFile tells whether two paths name one file, by whatever links.
func sameFile(file, store string) bool {
	if strings.ContainsAny(file, unknown+piped+"*?[\x00") {
		return false
	}
	a, err := os.Stat(file)
	if err != nil {
		return false
	}
	b, err := os.Stat(store)
	return err == nil && os.SameFile(a, b)
}
