// Package doctor connects a clone to git and to coding assistants, and examines a
// workspace: the store, the programs around it, git, the configuration, and what stig is
// connected to. SetupGit, SetupHost, SetupInstructions and SetupSkill write settings of
// other programs, and take out again exactly what they wrote. Examine changes nothing; what
// cannot be found out is reported as broken, and the examination goes on.
//
// The package does not know the formats of assistants' files (package assistant), and
// prints nothing.
//
//	report := doctor.Examine(ctx, a)
package doctor

import (
	"context"
	"fmt"

	"stig/internal/beads"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/workspace"
)

// State says how bad a symptom is.
type State string

const (
	OK     State = "ok"
	Todo   State = "todo"   // it works without, and better with
	Broken State = "broken" // something does not work
)

// Symptom is one thing that was examined.
type Symptom struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what to type, or what to fix
}

// Report is what an examination found.
type Report struct {
	Symptoms []Symptom     `json:"checks"`
	Counts   map[State]int `json:"counts"` // every state is in it
	Next     string        `json:"next"`   // what to do first
}

// Examine examines the workspace of a run. If the context ends first, the report is
// useless.
func Examine(ctx context.Context, a *workspace.Run) *Report {
	e := &examination{app: a, ctx: ctx, have: process.Finder("", a.Getenv)}
	e.run()
	return e.report()
}

func (e *examination) report() *Report {
	r := &Report{Symptoms: e.symptoms, Counts: map[State]int{OK: 0, Todo: 0, Broken: 0}, Next: next(e.symptoms)}
	for _, s := range e.symptoms {
		r.Counts[s.State]++
	}
	return r
}

// next is what to do first: what is broken, then what is missing.
func next(symptoms []Symptom) string {
	for _, state := range []State{Broken, Todo} {
		for _, s := range symptoms {
			if s.State == state && s.Do != "" {
				return s.Do
			}
		}
	}
	return "stig orient"
}

// examination collects symptoms.
type examination struct {
	app      *workspace.Run
	ctx      context.Context           // of the one examination that this is
	have     func(program string) bool // on PATH
	store    beads.Place
	git      git.Client // beside the store
	path     string     // of the store, as git knows it
	top      string     // root of the work tree, "" outside of one
	symptoms []Symptom
}

func (e *examination) ok(name, format string, args ...any) {
	e.symptoms = append(e.symptoms, Symptom{Name: name, State: OK, Found: fmt.Sprintf(format, args...)})
}

func (e *examination) todo(name, found, do string) {
	e.symptoms = append(e.symptoms, Symptom{name, Todo, found, do})
}

func (e *examination) broken(name, found, do string) {
	e.symptoms = append(e.symptoms, Symptom{name, Broken, found, do})
}

// failed reports an error, with the hint that its type has.
func (e *examination) failed(name string, err error) {
	f := workspace.Classify(err)
	e.broken(name, f.Message, f.Hint)
}

func (e *examination) run() {
	e.environment()
	e.actor()
	if !e.findStore() {
		return
	}
	e.trackers()
	e.files()
	if e.repository() {
		e.unfinished()
		e.mergeDriver()
		e.lockFiles()
		e.gitHooks()
		e.branches()
		e.workTrees()
	}
	e.workers()
	e.configuration()
	e.trust()
	e.notifications()
	e.assistants()
	e.pipelines()
}
