package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/gate"
)

// acceptance reports acceptance criteria that nothing can check, and what in them would keep
// the issue from closing. It runs nothing. The criteria of an epic need no commands: its
// children prove it.
func acceptance(s *subject) {
	if s.over() || s.issue.Ephemeral || s.issue.Template || s.issue.Channel {
		return
	}
	found := gate.Of(s.record)
	if len(found) == 0 {
		s.noCriteria()
		return
	}
	plan := found.Plan()
	sound := true
	for _, check := range plan {
		switch {
		case check.Broken:
			sound = false
			s.add(RuleUnparsed, 0, 0, check.Place()+": "+check.Reason,
				"fix the block, or give it the info string text if it should not run")
		case check.CannotFail != "":
			s.add(RuleCannotFail, 0, 0, check.Place()+": "+check.CannotFail,
				"use a command that fails until the work is done")
		}
	}
	if sound && s.issue.Type != "epic" {
		s.nothingToRun(plan)
	}
}

// work lists the types of issues that bd lint requires criteria of; an issue without a type is
// a task.
var work = []string{"", "task", "bug", "feature", "story", "epic"}

// noCriteria reports work without criteria, and any issue with neither criteria nor
// description.
func (s *subject) noCriteria() {
	described := s.says(beads.Description) || s.says(beads.Design)
	switch {
	case s.issue.IsPinned() || described && !slices.Contains(work, strings.ToLower(s.issue.Type)):
	case described:
		s.add(RuleNoCriteria, 0, 0, "no acceptance criteria", "type stig edit ID --acceptance … with the command that shows it")
	default:
		s.add(RuleNoCriteria, 0, 0, "neither a description nor acceptance criteria", "type stig edit ID --description … --acceptance …")
	}
}

// says reports whether a text contains more than blanks.
func (s *subject) says(k beads.Key) bool {
	raw := s.record.Raw(k)
	if bytes.ContainsFunc(raw, func(c rune) bool { return !strings.ContainsRune("\" \\nrt", c) }) {
		return len(raw) > 0 && raw[0] == '"' // more than blanks and their escapes
	}
	return strings.TrimSpace(s.record.Text(k)) != ""
}

// nothingToRun reports criteria without a command, and shows the block to write.
func (s *subject) nothingToRun(plan []gate.Check) {
	commands := []string{"COMMAND"}
	message := "no acceptance criterion can be run"
	for _, check := range plan {
		switch {
		case check.Class == gate.Runnable:
			return
		case check.Class == gate.Refused:
			message = "the acceptance criteria destroy or publish something"
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
	s.add(RuleCriteria, 0, 0, message, "put the commands that check them into a block:\n```verify\n"+strings.Join(commands, "\n")+"\n```")
}
