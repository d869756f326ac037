package decide

import (
	"fmt"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/visible"
	"stig/orient"
)

// printResolved prints what was answered, and what is left to answer.
func printResolved(a *cli.App, r *checkpoint.Resolution, left []orient.Asked) error {
	s := a.Sheet()
	s.Line(cli.Plain, fmt.Sprintf("%s: %s by %s%s", r.ID, done(r), r.By, whichOf(r)))
	for _, c := range r.Changed {
		s.Line(cli.Plain, fmt.Sprintf("  %s: %s → %s", c.Signal, c.From, c.To))
	}
	if r.Left > 0 {
		s.Line(cli.Plain, "  still unanswered: "+visible.Counted(r.Left, "question"))
	}
	if len(left) > 0 {
		s.Put(cli.Plain, waitingLine(left)+"; next: ")
		s.Line(cli.Typed, "stig resolve "+left[0].ID)
	}
	if err := a.Show(s); err != nil {
		return err
	}
	a.WarnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}

// done returns what happened to the questions.
func done(r *checkpoint.Resolution) string {
	if r.Withdrawn {
		return "withdrawn"
	}
	return "answered"
}

// whichOf returns which questions an answer is for, "" if that is obvious.
func whichOf(r *checkpoint.Resolution) string {
	switch {
	case len(r.Hashes) > 1:
		return ", all " + visible.Counted(len(r.Hashes), "question")
	case r.Left > 0 || r.Withdrawn:
		return ", question " + r.Hashes[0]
	}
	return ""
}
