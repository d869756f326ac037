// Package doctor connects a clone to git and to coding assistants, and examines a workspace:
// the store, the programs around it, git, the configuration, and what stig is connected to.
// SetupGit, SetupHost, SetupInstructions and SetupSkill write settings of other programs, and
// remove exactly what they wrote. Examine changes nothing. What it cannot determine it reports
// as broken, and goes on.
//
// The package does not know the formats of assistants' files (see package assistant), and
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

// State is the severity of a symptom.
type State string

const (
	OK     State = "ok"
	Todo   State = "todo"   // works without it, better with it
	Broken State = "broken" // something does not work
)

// Symptom is the result of examining one thing.
type Symptom struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what to type, or what to fix
}

// Report is the result of an examination.
type Report struct {
	Symptoms []Symptom     `json:"checks"`
	Counts   map[State]int `json:"counts"` // contains every state
	Next     string        `json:"next"`   // what to do first
}

// Examine examines the workspace of a run. Discard the report if the context ends first.
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

// next returns what to do first: about what is broken, then about what is missing; stig orient
// if there is nothing.
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
	ctx      context.Context           // of this one examination
	have     func(program string) bool // reports whether a program is on PATH
	store    beads.Place
	git      git.Client // in the repository of the store
	path     string     // of the store, as git names it
	top      string     // root of the work tree; "" outside of one
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

// failed reports an error with the hint of its type.
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
