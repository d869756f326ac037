// Package guard says what a command line would do to issues past the checks
// that close them: which it would close, and which files it would write.
//
// Closes reads the line as a shell would, for hooks that an assistant's program
// calls before it runs a command. It runs nothing, and never fails: of what only
// running tells it says so (Attempt.Open).
//
// The package does not know which issues there are, where the store is, or whether
// a close is allowed: Attempt.Overwrites compares with a store that it is given.
//
//	for _, attempt := range guard.Closes("cd /srv && bd close demo-1") {
//		fmt.Println(attempt.Verb, attempt.IDs)
//	}
package guard

import (
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
// so is what echo, printf, cat and filters of lines print. Of another filter whose
// output a shell gets it is taken that a close in its words is in that output.
// Code in other languages is searched
// for calls that start a program or open a file for writing, with texts of their
// own as arguments.
//
// What only running tells is not seen: other scripts and programs that the line
// starts, text from files and from the network, a verb in a variable of the
// environment, what git does to the file on its own, and what code in other
// languages computes. Such a close is found afterwards, by its missing verdict.
func Closes(command string) []Attempt {
	w := &analyzer{
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

// add notes an attempt, joined to one with the same verb.
func (w *analyzer) add(a Attempt) {
	same := func(b Attempt) bool { return b.Verb == a.Verb && (len(b.Files) > 0) == (len(a.Files) > 0) }
	i := slices.IndexFunc(w.found, same)
	if i < 0 {
		w.found = append(w.found, a)
		return
	}
	known := &w.found[i]
	known.Open = known.Open || a.Open
	if known.Why != a.Why {
		known.Why = ""
	}
	known.IDs = union(known.IDs, a.IDs)
	known.Files = union(known.Files, a.Files)
}

// union adds to a list what it has not.
func union(list, more []string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// closes notes that a program closes issues. Words that are no ids, because
// only running can tell what they become, leave the attempt open, and so does
// having none: bd then takes the issue that it touched last.
func (w *analyzer) closes(verb string, ids []string) { w.closesFor(verb, ids, "") }

// closesFor is closes with the reason that is given for all of them.
func (w *analyzer) closesFor(verb string, ids []string, why string) {
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
func (w *analyzer) overwrites(verb string, files []string) {
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
