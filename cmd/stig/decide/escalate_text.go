package decide

import (
	"fmt"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/signals"
)

func printEscalated(a *cli.App, r *checkpoint.Report, ready []service.ReadyRow) error {
	s := a.Sheet()
	s.Line(cli.Plain, r.ID+": asked, question "+r.Asked+"; a person has to answer")
	for _, c := range r.Changed {
		s.Line(cli.Plain, fmt.Sprintf("  %s: %s → %s", c.Signal, c.From, c.To))
	}
	for _, name := range r.Sections {
		if name != signals.Section {
			s.Line(cli.Plain, "  "+name+": written")
		}
	}
	for _, d := range r.Dependents {
		s.Line(cli.Plain, "waiting for it: "+d.ID+" "+visible.OneLine(d.Title))
	}
	if err := a.Show(s); err != nil {
		return err
	}
	if !a.Quiet {
		if err := printMoveOn(a, r.ID, ready); err != nil {
			return err
		}
	}
	a.WarnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}

// printMoveOn prints what to do while the question waits.
func printMoveOn(a *cli.App, id string, ready []service.ReadyRow) error {
	s := a.Sheet()
	s.Blank()
	s.Wrap(cli.Plain, "", "", "Move on: do not decide this yourself. Work on what does not depend on the answer, or on another issue.")
	for _, row := range ready {
		s.Put(cli.Typed, "  stig claim "+row.ID)
		s.Line(cli.Plain, "  "+visible.OneLine(row.Title))
	}
	if len(ready) == 0 {
		s.Line(cli.Plain, "Nothing else is ready.")
	}
	s.Put(cli.Plain, "To wait for the answer: ")
	s.Line(cli.Typed, "stig escalate --wait "+id)
	return a.Show(s)
}
