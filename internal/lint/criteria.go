package lint

import (
	"fmt"
	"strings"

	"stig/internal/gate"
)

// acceptance finds acceptance criteria that nothing can check, and what in them
// would keep the issue from closing. Nothing is run. Those of an epic need no
// commands: its children are what shows them.
func acceptance(s *subject) {
	if s.over() || s.issue.Ephemeral || s.issue.Template || s.issue.Channel {
		return
	}
	found := gate.Of(s.record)
	if len(found) == 0 {
		return
	}
	plan := found.Plan(s.rules.Look)
	sound := true
	for _, check := range plan {
		switch {
		case check.Broken:
			sound = false
			s.add(RuleUnparsed, 0, 0, check.Place()+": "+check.Reason,
				"correct the block, or give it the info string text if it is not to be run")
		case check.Class == gate.MissingProgram:
			s.add(RuleProgram, 0, 0, check.Place()+": "+check.Reason,
				"install it where the issue is to close: there its absence is a failed check")
		case check.CannotFail != "":
			s.add(RuleCannotFail, 0, 0, check.Place()+": "+check.CannotFail,
				"name a command that fails while the work is not done")
		}
	}
	if sound && s.issue.Type != "epic" {
		s.nothingToRun(plan)
	}
}

// nothingToRun finds criteria without a command, and shows the block to write.
func (s *subject) nothingToRun(plan []gate.Check) {
	commands := []string{"COMMAND"}
	message := "no acceptance criterion can be run"
	for _, check := range plan {
		switch {
		case check.Class == gate.Runnable || check.Class == gate.MissingProgram:
			return
		case check.Class == gate.Destructive:
			message = "what the acceptance criteria run destroys or publishes"
		case check.Instead == "":
		case commands[0] != "COMMAND":
			commands = append(commands, check.Instead)
		default:
			why := "is judged by its output"
			if check.Origin == gate.Prose {
				why = "is prose"
			}
			message += fmt.Sprintf(": %q %s", check.Text, why)
			commands = []string{check.Instead}
		}
	}
	s.add(RuleCriteria, 0, 0, message, "put what shows them into a block:\n```verify\n"+strings.Join(commands, "\n")+"\n```")
}
