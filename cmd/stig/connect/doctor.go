package connect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/criteria"
	"stig/git"
	"stig/process"
)

func DoctorCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "what stig finds here, what works, and what to do next",
		Long: "doctor looks at the store, the programs around it, git, the configuration, and what\n" +
			"stig is connected to. It leaves nothing behind. The exit code is 1 when something is broken;\n" +
			"what is only missing is listed as something to do.",
		GroupID: "connect",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig doctor\n  stig doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := doctor{app: a.App, ctx: cmd.Context(), have: process.Finder("", a.Getenv)}
			d.examine()
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if err := printSymptoms(a, d.symptoms); err != nil {
				return err
			}
			if countStates(d.symptoms)[stateBroken] > 0 {
				return app.FoundError{}
			}
			return nil
		},
	}
}

// States of a symptom.
const (
	stateOK     = "ok"
	stateTodo   = "todo"   // it works without, and better with
	stateBroken = "broken" // something does not work
)

// symptom is one thing that was looked at.
type symptom struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // what to type, or what to fix
}

// doctor collects symptoms. It never stops at one: what cannot be found out is
// a symptom too.
type doctor struct {
	app      *app.App
	ctx      context.Context // of the one command that this is
	have     criteria.Lookup // programs on PATH
	store    beads.Place
	git      git.Client // beside the store
	path     string     // of the store, as git knows it
	top      string     // root of the work tree, "" outside of one
	symptoms []symptom
}

func (d *doctor) ok(name, format string, args ...any) {
	d.symptoms = append(d.symptoms, symptom{Name: name, State: stateOK, Found: fmt.Sprintf(format, args...)})
}

func (d *doctor) todo(name, found, do string) {
	d.symptoms = append(d.symptoms, symptom{name, stateTodo, found, do})
}

func (d *doctor) broken(name, found, do string) {
	d.symptoms = append(d.symptoms, symptom{name, stateBroken, found, do})
}

// failed reports an error, with the hint that its type has.
func (d *doctor) failed(name string, err error) {
	f := app.Classify(err)
	d.broken(name, f.Message, f.Hint)
}

func (d *doctor) examine() {
	d.environment()
	d.actor()
	if !d.findStore() {
		return
	}
	d.trackers()
	d.files()
	if d.repository() {
		d.unfinished()
		d.mergeDriver()
		d.lockFiles()
		d.gitHooks()
	}
	d.configuration()
	d.trust()
	d.notifications()
	d.assistants()
	d.pipelines()
}

// countStates says how many symptoms are in each state.
func countStates(symptoms []symptom) map[string]int {
	n := map[string]int{stateOK: 0, stateTodo: 0, stateBroken: 0}
	for _, s := range symptoms {
		n[s.State]++
	}
	return n
}

// nextOf is what to do first: what is broken, then what is missing.
func nextOf(symptoms []symptom) string {
	for _, state := range []string{stateBroken, stateTodo} {
		for _, s := range symptoms {
			if s.State == state && s.Do != "" {
				return s.Do
			}
		}
	}
	return "stig orient"
}

func printSymptoms(a *cli.App, symptoms []symptom) error {
	n := countStates(symptoms)
	if a.JSON {
		return a.PrintJSON("doctor", map[string]any{"checks": symptoms, "next": nextOf(symptoms), "counts": n})
	}
	var text strings.Builder
	for _, s := range symptoms {
		fmt.Fprintf(&text, "%-6s  %-11s  %s\n", s.State, s.Name, below(s.Found))
		if s.Do != "" {
			fmt.Fprintf(&text, "%21s→ %s\n", "", s.Do)
		}
	}
	fmt.Fprintf(&text, "\n%d ok, %d to do, %d broken\nnext: %s\n", n[stateOK], n[stateTodo], n[stateBroken], nextOf(symptoms))
	return a.Print(text.String())
}

// below breaks a text into lines of a page of 80 columns, each below the first.
func below(text string) string {
	const margin = 21
	return strings.Join(cli.Wrapped(text, 79-margin), "\n"+strings.Repeat(" ", margin))
}
