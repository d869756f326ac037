package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/orient"
)

// Questions prints questions on the sheet, grouped by issue, each issue with the commands that
// answer.
func (s *sheet) Questions(list []orient.Asked) {
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].IsBeside(list[i]) && (list[end].Answer == nil) == (list[i].Answer == nil) {
			end++
		}
		s.Blank()
		name := list[i].ID
		if list[i].Project != "" {
			name = list[i].Project + "  " + name
		}
		s.Put(Strong, name)
		title := visible.OneLine(list[i].Title)
		if list[i].Status == beads.StatusClosed {
			title += " (closed)"
		}
		s.text.WriteString("  ")
		s.Line(Plain, visible.ClippedColumns(title, pageWidth-2-visible.Columns(name)))
		s.issue(list[i:end])
		i = end
	}
}

// issue prints the questions of one issue.
func (s *sheet) issue(list []orient.Asked) {
	for k, q := range list {
		if k > 0 {
			s.Blank()
		}
		s.Wrap(Faint, "  ", "  ", About(q))
		s.Question(q)
		if k+1 < len(list) && q.Answer != nil && *q.Answer == *list[k+1].Answer {
			continue // an answer to several questions is shown once
		}
		if q.Answer != nil {
			s.Blank()
			s.Wrap(Strong, "  ", "  ", answered(q.Answer))
			s.Wrap(Plain, "  ", "  ", q.Answer.Text)
		}
	}
	if list[0].Answer != nil {
		return
	}
	s.Blank()
	stig := "  " + cmp.Or(list[0].Stig, "stig ")
	if list[len(list)-1].Question == "" {
		s.Line(Typed, stig+"vet "+list[0].ID)
		return
	}
	resolve := stig + "resolve " + list[0].ID
	if options := OptionsIn(list); options > 0 {
		s.Line(Typed, resolve+" --option N")
	}
	if len(list) > 1 {
		s.Line(Typed, resolve+" --question "+list[0].Hash+" -m \"…\"")
	}
	s.Line(Typed, resolve+" -m \"…\"")
}

// answered returns when and by whom a question was answered, and whether the answer was to
// several.
func answered(answer *orient.Answer) string {
	said := "answered "
	if answer.Withdrawn {
		said = "withdrawn "
	}
	said = strings.TrimSuffix(said+answer.Date+" by "+answer.By, " by ")
	if strings.HasPrefix(answer.To, "all ") {
		said += ", to " + answer.To
	}
	return said
}

// Question prints the question with its options.
func (s *sheet) Question(q orient.Asked) {
	s.Blank()
	if q.Question == "" {
		s.Wrap(Plain, "  ", "  ", "The signal is pending, but no question is recorded.")
		return
	}
	s.Wrap(Plain, "  ", "  ", q.Question)
	if len(q.Options) > 0 {
		s.Blank()
	}
	for i, option := range q.Options {
		number := strconv.Itoa(i + 1)
		lead := "  " + strings.Repeat(" ", max(0, 2-len(number))) + number + "  "
		s.Wrap(Plain, lead, strings.Repeat(" ", len(lead)), option)
	}
	if d := q.Default; d != nil && q.Answer == nil {
		st := Faint
		if d.Overdue {
			st = Urgent
		}
		s.Blank()
		s.Wrap(st, "  ", "  ", d.Words())
	}
}

// About returns the question's number, age, author, and waiting issues.
func About(q orient.Asked) string {
	said := howOld(q)
	switch {
	case q.Number > 0:
		said = fmt.Sprintf("question %d, %s: %s", q.Number, q.Hash, said)
	case q.Hash != "":
		said = fmt.Sprintf("question %s: %s", q.Hash, said)
	}
	if q.By != "" {
		said += " by " + q.By
	}
	if q.Kind == orient.KindProcess {
		said += ", about the process"
	}
	return said + whoWaits(q.Waits)
}

func howOld(q orient.Asked) string {
	said := "asked on an unknown date"
	if q.AgeDays != nil {
		switch days := *q.AgeDays; {
		case days <= 0:
			said = "asked today"
		case days == 1:
			said = "asked yesterday"
		default:
			said = "asked " + visible.Counted(days, "day") + " ago"
		}
	}
	return said
}

// namedWaiting is how many waiting issues are named.
const namedWaiting = 5

func whoWaits(waits []beads.Ref) string {
	var ids []string
	for _, w := range waits[:min(len(waits), namedWaiting)] {
		ids = append(ids, w.ID)
	}
	switch more := len(waits) - len(ids); {
	case len(waits) == 0:
		return ""
	case len(waits) == 1:
		return "; " + ids[0] + " waits"
	case more > 0:
		return fmt.Sprintf("; %d issues wait: %s and %d more", len(waits), strings.Join(ids, ", "), more)
	}
	return fmt.Sprintf("; %d issues wait: %s", len(waits), strings.Join(ids, ", "))
}

// OptionsIn returns the number of options of the only question that has any; 0 if several have,
// because an option number would be ambiguous.
func OptionsIn(list []orient.Asked) int {
	options := 0
	for _, q := range list {
		if options > 0 && len(q.Options) > 0 {
			return 0
		}
		options += len(q.Options)
	}
	return options
}
