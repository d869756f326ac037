package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// RememberAnswer records that the latest edit of a run is a person's answer, which they may
// undo with UndoAnswer. Loops leave the issue alone for clone.Reconsider.
func RememberAnswer(a *workspace.Run, one clone.FreshAnswer) error {
	place, err := a.LivePlace()
	if err != nil {
		return err
	}
	if one.At, err = a.Clock(); err != nil {
		return err
	}
	if one.Edit = a.Journal.Last(); one.Edit == "" {
		return nil // without a journal there is no undo
	}
	return place.KeepAnswer(one)
}

// FreshAnswers returns the answers that were given within clone.Reconsider.
func FreshAnswers(a *workspace.Run) ([]clone.FreshAnswer, error) {
	place, err := a.LivePlace()
	if err != nil {
		return nil, err
	}
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	list, err := place.FreshAnswers()
	return slices.DeleteFunc(list, func(one clone.FreshAnswer) bool { return now.Sub(one.At) >= clone.Reconsider }), err
}

// UndoAnswer undoes the actor's answer to a question of an issue, given by its hash. It refuses
// (fault.Conflict) once a run or a claim of the issue began, or the answer was changed.
func UndoAnswer(ctx context.Context, a *workspace.Run, id, question string) (*Undone, error) {
	edit := ""
	done, err := undo(ctx, a, false, func(store beads.Store, past clone.Journal, place clone.Place, actor string) ([]clone.Record, error) {
		answers, err := place.FreshAnswers()
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(answers, func(one clone.FreshAnswer) bool {
			return one.Issue == id && one.Question == question && one.By == actor
		})
		if at < 0 {
			return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: "has no answer of " + actor + " that can be undone here", Hint: "leave a comment, or ask again: stig escalate " + id}
		}
		if err := refuseBegun(past, place, answers[at]); err != nil {
			return nil, err
		}
		records, err := undoable(store, past, place, actor, len(past.Records))
		records = slices.DeleteFunc(records, func(r clone.Record) bool { return r.Seq != answers[at].Edit })
		if err == nil && len(records) == 0 {
			err = &fault.Error{Code: fault.Conflict, ID: id, Reason: "the answer was changed since", Hint: "see stig log " + id}
		}
		edit = answers[at].Edit
		return records, err
	})
	if err != nil {
		return nil, err
	}
	place, err := a.LivePlace()
	if err == nil {
		err = place.ForgetAnswer(edit)
	}
	return done, err
}

// refuseBegun returns an error if somebody began to work with an answer.
func refuseBegun(past clone.Journal, place clone.Place, answer clone.FreshAnswer) error {
	runs, _, err := place.Runs(answer.At)
	if err != nil {
		return err
	}
	who, began := "", time.Time{}
	for _, r := range runs {
		if r.Issue == answer.Issue && !r.Started.Before(answer.At) {
			who, began = r.Actor, r.Started
			break
		}
	}
	for _, r := range past.Records {
		claims := slices.ContainsFunc(r.Changes, func(c clone.Change) bool {
			return c.Issue == answer.Issue && c.Kind == "key" && c.Name == string(beads.Status) && c.Now == `"`+beads.StatusInProgress+`"`
		})
		if claims && r.Result == clone.Written && !r.At.Before(answer.At) && (began.IsZero() || r.At.Before(began)) {
			who, began = r.Actor, r.At
		}
	}
	if began.IsZero() {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, ID: answer.Issue, Reason: "too late: " + cmp.Or(who, "somebody") + " began " + began.UTC().Format("15:04 UTC"),
		Hint: "leave a comment, or stop the run and ask again: stig escalate " + answer.Issue}
}
