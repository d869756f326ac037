package decide

import (
	"fmt"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/orient"
)

func printEscalations(a *cli.App, list *service.Escalations) error {
	s := a.Sheet()
	s.Line(cli.Strong, waitingLine(list.Pending))
	s.Unread(list.Unreadable)
	s.Questions(list.Pending)
	if len(list.Answered) > 0 {
		s.Blank()
		s.Line(cli.Strong, visible.Counted(len(list.Answered), "question")+" answered")
		s.Questions(list.Answered)
	}
	return a.Show(s)
}

// printFresh prints the questions that are new since the last call.
func printFresh(a *cli.App, fresh []orient.Asked, first bool) error {
	if a.JSON {
		return a.PrintJSON("escalations", struct {
			Pending []orient.Asked `json:"pending"`
		}{fresh})
	}
	s := a.Sheet()
	if first {
		s.Line(cli.Strong, waitingLine(fresh))
	}
	s.Questions(fresh)
	if first {
		a.Note("watching; press Ctrl-C to stop")
	}
	return a.Show(s)
}

// waitingLine returns how many questions wait, and how old the oldest is.
func waitingLine(pending []orient.Asked) string {
	line := "no question waits for a person"
	switch len(pending) {
	case 0:
		return line
	case 1:
		line = "1 question waits for a person"
	default:
		line = fmt.Sprintf("%d questions wait for a person", len(pending))
	}
	oldest := 0
	for _, q := range pending {
		if q.AgeDays != nil {
			oldest = max(oldest, *q.AgeDays)
		}
	}
	if oldest > 0 && len(pending) > 1 {
		line += ", the oldest for " + visible.Counted(oldest, "day")
	}
	return line
}
