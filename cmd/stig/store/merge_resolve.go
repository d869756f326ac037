package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/jsonl"
	"stig/merge"
)

// listConflicts lists what a merge left open in the store.
func listConflicts(a *cli.App) error {
	store, err := a.Discover()
	if err != nil {
		return err
	}
	text, err := app.ReadText(store.Place().Path)
	if err != nil {
		return app.Placed(err)
	}
	open := merge.Open(text)
	if a.JSON {
		err = a.PrintJSON("merge", map[string]any{"conflicts": open, "warnings": []string{}, "written": "", "dry_run": false})
	} else {
		err = a.Print(conflictsText(open))
	}
	if err == nil && len(open) > 0 {
		a.Hint(app.AnswerHint(open[0]))
		return app.FoundError{}
	}
	return err
}

func conflictsText(open []merge.Conflict) string {
	if len(open) == 0 {
		return "nothing is in conflict\n"
	}
	var text strings.Builder
	for _, c := range open {
		fmt.Fprintf(&text, "%s (line %d): %s\n", conflictName(c), c.Line, c.Reason)
		for _, q := range c.Questions {
			fmt.Fprintf(&text, "  %s\n    ours    %s\n    theirs  %s\n", q.Key, app.Briefly(q.Ours, 100), app.Briefly(q.Theirs, 100))
		}
	}
	fmt.Fprintf(&text, "\n%s\n", stillOpen(open))
	return text.String()
}

func conflictName(c merge.Conflict) string {
	if c.ID == "" {
		return "a line that is no issue"
	}
	return c.ID
}

// stillOpen counts what is to be decided.
func stillOpen(open []merge.Conflict) string {
	questions := 0
	for _, c := range open {
		questions += len(c.Questions)
	}
	return app.Counted(len(open), "conflict") + ", " + app.Counted(questions, "question")
}

// answersOf reads KEY=SIDE words.
func answersOf(id string, args []string) (merge.Answers, error) {
	answers := merge.Answers{}
	for _, arg := range append([]string{id}, args...) {
		at := strings.LastIndexByte(arg, '=')
		side := merge.Side(arg[at+1:])
		switch {
		case arg == id && at < 0:
			continue
		case arg == id:
			return nil, app.Usage(arg+": an answer, where the issue comes first", "type stig merge --resolve ID "+arg)
		case at <= 0 || side != merge.Ours && side != merge.Theirs:
			return nil, app.Usage(fmt.Sprintf("an answer is KEY=ours or KEY=theirs; found %q", arg), "type stig merge --resolve to see the keys")
		case answers[arg[:at]] != "" && answers[arg[:at]] != side:
			return nil, app.Usage(arg[:at]+" is answered twice", "give one of the answers")
		}
		answers[arg[:at]] = side
	}
	if answers[merge.Whole] != "" && len(answers) > 1 {
		return nil, app.Usage("all takes the whole line: it goes with no other key", "leave out all, or the others")
	}
	return answers, nil
}

// resolved is what answers did to the store.
type resolved struct {
	merge.Resolution
	id            string
	store         beads.Store
	before, after string // the text of the store
	dryRun        bool
}

// resolveConflict answers questions about one issue.
func resolveConflict(ctx context.Context, a *cli.App, id string, args []string, dryRun bool) error {
	answers, err := answersOf(id, args)
	if err != nil {
		return err
	}
	options, err := a.Options(dryRun)
	if err != nil {
		return err
	}
	store, err := a.Discover() // a store that git has not merged to its end is what this is for
	if err != nil {
		return err
	}
	id, unknown := fullID(store, id)
	r := resolved{id: id, store: store, dryRun: dryRun}
	err = a.Rewrite(ctx, store.Place(), options, func(text string) ([]jsonl.Splice, error) {
		done, err := merge.Resolve(text, id, answers)
		if err != nil {
			return nil, err
		}
		r.Resolution, r.before, r.after = done, text, text[:done.Start]+done.Text+text[done.End:]
		return []jsonl.Splice{{Start: done.Start, End: done.End, Text: done.Text}}, nil
	})
	wrong, isKey := errors.AsType[*merge.KeyError](err)
	switch {
	case errors.Is(err, merge.ErrNoConflict) && unknown != nil:
		return unknown
	case errors.Is(err, merge.ErrNoConflict):
		return app.Usage(id+": not in conflict", "type stig merge --resolve to see what is")
	case isKey:
		return app.Usage(err.Error(), "in question: "+strings.Join(wrong.Asked, ", "))
	case err != nil:
		return err
	}
	return printAnswered(a, r)
}

// fullID is the id of the issue that was meant, and as it was given, with an
// error, where the store knows none.
func fullID(store beads.Store, id string) (string, error) {
	file, err := store.Snapshot()
	if err != nil {
		return id, err
	}
	defer file.Close()
	issue, err := file.Find(id)
	if err != nil {
		return id, err
	}
	return issue.ID, nil
}

func printAnswered(a *cli.App, r resolved) error {
	open := merge.Open(r.after)
	diff := ""
	if r.dryRun {
		diff = app.HostFile{Path: r.store.Place().Path}.Diff([]byte(r.before), []byte(r.after))
	}
	switch {
	case a.JSON:
		data := map[string]any{
			"id": r.id, "open": append([]merge.Question{}, r.Open...), "conflicts": open,
			"warnings": append([]merge.Warning{}, r.Warnings...), "written": r.store.Place().Path, "dry_run": r.dryRun,
		}
		if r.dryRun {
			data["written"], data["diff"] = "", diff
		}
		return a.PrintJSON("merge", data)
	case r.dryRun && r.before == r.after:
		return a.Print("nothing would change\n")
	case r.dryRun:
		return a.Print(diff)
	}
	said := "merged"
	if len(r.Open) > 0 {
		said = "still open: " + strings.Join(questionKeys(r.Open), ", ")
	}
	if err := a.Printf("%s: %s\n", r.id, said); err != nil {
		return err
	}
	for _, w := range r.Warnings {
		a.Warn("%s: %s", w.ID, w.Message)
	}
	if len(open) == 0 {
		a.Hint("type git add " + app.Shortest(r.store.Place().Path))
		return nil
	}
	a.Note("left in the store: %s", stillOpen(open))
	a.Hint(app.AnswerHint(open[0]))
	return nil
}

func questionKeys(questions []merge.Question) (keys []string) {
	for _, q := range questions {
		keys = append(keys, q.Key)
	}
	return keys
}
