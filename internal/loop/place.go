package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// What is wrong with the place in which all loops work is no issue's fault. It is asked on an
// issue of its own, a channel, which is never work.
const (
	loopsLabel = "loops"
	loopsTitle = "Questions of worker loops"
)

// askOfPlace asks a person what is about no issue, once, and gives the answer; nil while there
// is none. Of questions with the same first line one stands at a time, and one with the same
// text is asked once.
func (l *loop) askOfPlace(ctx context.Context, q checkpoint.Question) (answer *signals.Part, err error) {
	id, said, err := l.placeQuestions()
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(said) {
		text := signals.ReadQuestion(e.Question.Text).Text
		switch {
		case visible.FirstLine(text) != visible.FirstLine(q.Text):
		case e.Answer == nil, text == strings.TrimSpace(q.Text):
			return e.Answer, nil
		}
	}
	alone, err := l.place.LockLoop("\x00asks") // no actor has such a name
	if err != nil {
		return nil, nil // another loop asks just now
	}
	defer func() { _ = alone() }()
	if id == "" {
		created, err := service.Create(ctx, l.fresh(ctx, ""), service.CreateRequest{Draft: checkpoint.Draft{
			Title: loopsTitle, Type: "task", Labels: []string{beads.ChannelLabel, loopsLabel}, Priority: 2,
			Description: "What loops ask of people that is about no issue. This is a channel: no work, and never closed by a loop.",
		}})
		if err != nil {
			return nil, err
		}
		id = created.ID
	}
	_, err = service.Escalate(ctx, l.fresh(ctx, ""), service.EscalateRequest{ID: id, Question: q})
	if fault.Is(err, fault.Conflict) { // it waits already
		err = nil
	}
	return nil, err
}

// placeQuestions finds the issue on which loops ask about their place, "" for none, and what
// was asked there.
func (l *loop) placeQuestions() (id string, said []signals.Exchange, err error) {
	file, err := l.store.Snapshot()
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, issue := range file.All() {
		if !issue.Channel || beads.IsClosed(issue.Status) {
			continue
		}
		record, err := issue.Record()
		if err != nil {
			return "", nil, err
		}
		if slices.Contains(record.Labels(), loopsLabel) {
			return issue.ID, signals.Exchanges(signals.Escalations(notes.Parse(record.Text(beads.Notes)))), nil
		}
	}
	return "", nil, nil
}

// refusedAlike asks what is to be done about work that is refused in the same words on several
// issues, and reports whether the loop is to wait for the answer: after the first pause, if
// what came then was refused so too.
func (l *loop) refusedAlike(ctx context.Context, a Alike) (waits bool, err error) {
	if a.Rounds == 0 || len(a.Runs) == 0 {
		return false, nil
	}
	last := a.Runs[len(a.Runs)-1]
	issues := map[string]bool{}
	var text strings.Builder
	fmt.Fprintf(&text, "Work is refused in the same words on several issues: `%s`\n\nWhere that passes in your checkout, the new work trees lack something: "+
		"a setup in the actor's file brings it, such as npm ci. The loops wait for an answer; any answer has them go on.\n", strings.ReplaceAll(a.Said, "`", "'"))
	for _, r := range a.Runs {
		if !issues[r.Issue] {
			fmt.Fprintf(&text, "\n- %s, run %s of %s", r.Issue, r.ID, r.Actor)
		}
		issues[r.Issue] = true
	}
	fmt.Fprintf(&text, "\n\nThe last was run %s.", last.ID)
	answer, err := l.askOfPlace(ctx, checkpoint.Question{Text: text.String()})
	return answer == nil, err
}

// firstSaid is what refused work, with the first line that it printed; "" where it printed nothing.
func firstSaid(by, output string) string {
	line := lineOf(strings.SplitSeq(output, "\n"))
	if line == "" {
		return ""
	}
	return by + ": " + line
}
