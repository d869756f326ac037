// Package guard foresees what a command line would do to issues past the checks
// that close them: which it would close, whose notes it would replace, and which
// files it would write.
//
// Closes reads what people and assistants plainly type, for hooks that an
// assistant's program calls before it runs a command. It walks the parsed line once,
// with two tables: programs that run others, and programs that write files. It runs
// nothing and never fails.
//
// The package does not know which issues there are, where the store is, or whether
// a close is allowed: Attempt.Overwrites compares with a store that it is given.
//
//	for _, attempt := range guard.Closes("cd /srv && bd close demo-1") {
//		fmt.Println(attempt.Verb, attempt.IDs, attempt.Dir) // bd close [demo-1] /srv
//	}
package guard

import (
	"reflect"
	"slices"
	"strings"
)

// Attempt is one thing that a command line would do to issues past the gate.
type Attempt struct {
	Verb  string   // what would do it, as typed without its arguments: "bd close", "sed -i", ">"
	IDs   []string // the issues that it would close, as typed
	Open  bool     // it may close others, which only running it can tell
	Notes bool     // it replaces the notes of these issues, and closes none
	Files []string // the files that it would write, any of which may be a store: see Overwrites
	Why   string   // the close reason that it gives to all of them
	Dir   string   // where it runs, from where the line began; "" there, or where only running tells
}

// Closes lists what a command line would close, whose notes it would replace, and
// the files it would write that may be a store.
//
// It reads the line as bash does, or else as zsh; what stands before a mistake counts.
// Commands are found in every position, behind programs that run others (sudo, env,
// xargs, timeout, docker exec), in the text of sh -c and eval, and in what the line
// itself pipes into a shell. What ssh runs belongs to another machine and is not read.
//
// Values of variables, text in other encodings, code in other languages, and scripts in
// files are not read. What such a command does to the store is found by comparing the
// store after it ran.
func Closes(command string) []Attempt {
	w := &analyzer{}
	w.read(command)
	if w.steps > maxSteps && trackerName().MatchString(command) {
		w.closes("a command line too long to be read", nil, "")
	}
	return w.found
}

// add notes an attempt once.
func (w *analyzer) add(a Attempt) {
	same := func(b Attempt) bool { return reflect.DeepEqual(a, b) }
	if len(w.found) < maxAttempts && !slices.ContainsFunc(w.found, same) {
		w.found = append(w.found, a)
	}
}

// closes notes that a program closes issues, with the reason for all of them. A
// word that only running turns into ids leaves the attempt open, and so does having
// none: bd then takes the issue that it touched last.
func (w *analyzer) closes(verb string, ids []string, why string) {
	w.add(w.about(Attempt{Verb: verb, Why: why}, ids))
}

// about gives an attempt the issues that it is about, and where it runs.
func (w *analyzer) about(a Attempt, ids []string) Attempt {
	if !strings.Contains(w.dir, "$") {
		a.Dir = w.dir
	}
	a.Open = len(ids) == 0
	for _, id := range ids {
		if id == "" || strings.ContainsAny(id, "$*?[{%") {
			a.Open = true
			continue
		}
		a.IDs = append(a.IDs, id)
	}
	return a
}

// overwrites notes that a program writes files.
func (w *analyzer) overwrites(verb string, files ...string) {
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
