package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stig/beads"
	"stig/lint"
	"stig/merge"
)

// listConflicts lists what a merge left open in the store.
func (a *app) listConflicts() error {
	store, err := a.discover()
	if err != nil {
		return err
	}
	text, err := readText(store.Path)
	if err != nil {
		return placed(err)
	}
	open := merge.Open(text)
	if a.json {
		err = a.printJSON("merge", map[string]any{"conflicts": open, "warnings": []string{}, "written": "", "dry_run": false})
	} else {
		err = a.print(conflictsText(open))
	}
	if err == nil && len(open) > 0 {
		a.hint(answerHint(open[0]))
		return foundError{}
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
			fmt.Fprintf(&text, "  %s\n    ours    %s\n    theirs  %s\n", q.Key, briefly(q.Ours, 100), briefly(q.Theirs, 100))
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
	return counted(len(open), "conflict") + ", " + counted(questions, "question")
}

// briefly is a value in one line.
func briefly(text string, most int) string {
	if text == "" {
		return "(none)"
	}
	return clipped(folded(text), most)
}

// answerHint says what to type about a conflict.
func answerHint(c merge.Conflict) string {
	switch {
	case c.ID == "":
		return "make one line of those between the markers by hand"
	case len(c.Questions) == 0:
		return "type stig merge --resolve " + c.ID
	}
	var answers []string
	for _, q := range c.Questions {
		answer := q.Key + "=" + string(merge.Ours)
		if strings.ContainsAny(answer, " \t*?'\"$&;|<>(){}[]!#~`\\") {
			answer = "'" + strings.ReplaceAll(answer, "'", `'\''`) + "'"
		}
		answers = append(answers, answer)
	}
	return "type stig merge --resolve " + c.ID + " " + strings.Join(answers, " ") + ", or theirs in place of ours"
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
			return nil, usage(arg+": an answer, where the issue comes first", "type stig merge --resolve ID "+arg)
		case at <= 0 || side != merge.Ours && side != merge.Theirs:
			return nil, usage(fmt.Sprintf("an answer is KEY=ours or KEY=theirs; found %q", arg), "type stig merge --resolve to see the keys")
		case answers[arg[:at]] != "" && answers[arg[:at]] != side:
			return nil, usage(arg[:at]+" is answered twice", "give one of the answers")
		}
		answers[arg[:at]] = side
	}
	if answers[merge.Whole] != "" && len(answers) > 1 {
		return nil, usage("all takes the whole line: it goes with no other key", "leave out all, or the others")
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
func (a *app) resolveConflict(ctx context.Context, id string, args []string, dryRun bool) error {
	answers, err := answersOf(id, args)
	if err != nil {
		return err
	}
	options, err := a.options(dryRun)
	if err != nil {
		return err
	}
	store, err := a.discover() // a store that git has not merged to its end is what this is for
	if err != nil {
		return err
	}
	id, unknown := fullID(store, id)
	r := resolved{id: id, store: store, dryRun: dryRun}
	err = beads.Rewrite(ctx, store, options, func(text string) ([]beads.Splice, error) {
		done, err := merge.Resolve(text, id, answers)
		if err != nil {
			return nil, err
		}
		r.Resolution, r.before, r.after = done, text, text[:done.Start]+done.Text+text[done.End:]
		return []beads.Splice{{Start: done.Start, End: done.End, Text: done.Text}}, nil
	})
	wrong, isKey := errors.AsType[*merge.KeyError](err)
	switch {
	case errors.Is(err, merge.ErrNoConflict) && unknown != nil:
		return unknown
	case errors.Is(err, merge.ErrNoConflict):
		return usage(id+": not in conflict", "type stig merge --resolve to see what is")
	case isKey:
		return usage(err.Error(), "in question: "+strings.Join(wrong.Asked, ", "))
	case err != nil:
		return err
	}
	return a.printAnswered(r)
}

// fullID is the id of the issue that was meant, and as it was given, with an
// error, where the store knows none.
func fullID(store beads.Store, id string) (string, error) {
	file, err := beads.Read(store)
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

func (a *app) printAnswered(r resolved) error {
	open := merge.Open(r.after)
	diff := ""
	if r.dryRun {
		diff = hostFile{path: r.store.Path}.diff([]byte(r.before), []byte(r.after))
	}
	switch {
	case a.json:
		data := map[string]any{
			"id": r.id, "open": append([]merge.Question{}, r.Open...), "conflicts": open,
			"warnings": append([]merge.Warning{}, r.Warnings...), "written": r.store.Path, "dry_run": r.dryRun,
		}
		if r.dryRun {
			data["written"], data["diff"] = "", diff
		}
		return a.printJSON("merge", data)
	case r.dryRun && r.before == r.after:
		return a.print("nothing would change\n")
	case r.dryRun:
		return a.print(diff)
	}
	said := "merged"
	if len(r.Open) > 0 {
		said = "still open: " + strings.Join(questionKeys(r.Open), ", ")
	}
	if err := a.printf("%s: %s\n", r.id, said); err != nil {
		return err
	}
	for _, w := range r.Warnings {
		a.warn("%s: %s", w.ID, w.Message)
	}
	if len(open) == 0 {
		a.hint("type git add " + shortest(r.store.Path))
		return nil
	}
	a.note("left in the store: %s", stillOpen(open))
	a.hint(answerHint(open[0]))
	return nil
}

func questionKeys(questions []merge.Question) (keys []string) {
	for _, q := range questions {
		keys = append(keys, q.Key)
	}
	return keys
}

// openQuestions puts, in place of what was found about conflict markers, a
// diagnostic of each issue between them with what is to be decided.
func (a *core) openQuestions(found []lint.Diagnostic, store beads.Store) ([]lint.Diagnostic, error) {
	marker := func(d lint.Diagnostic) bool { return d.Rule == beads.ConflictMarker }
	if !slices.ContainsFunc(found, marker) {
		return found, nil
	}
	text, err := readText(store.Path)
	if err != nil {
		return nil, placed(err)
	}
	open := merge.Open(text)
	var all []lint.Diagnostic
	for _, d := range found {
		of := []merge.Conflict{}
		if marker(d) {
			of = slices.DeleteFunc(slices.Clone(open), func(c merge.Conflict) bool { return c.Line != d.Line })
			d.Hint = "take the marker out by hand: it belongs to no conflict that is whole"
		}
		if len(of) == 0 {
			all = append(all, d)
		}
		for _, c := range of {
			d.ID, d.Message, d.Hint = c.ID, "in conflict: "+c.Reason+valuesText(c.Questions), answerHint(c)
			all = append(all, d)
		}
	}
	return all, nil
}

// valuesText names the keys in question with both values.
func valuesText(questions []merge.Question) string {
	var text strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&text, "; %s: ours %s, theirs %s", q.Key, briefly(q.Ours, 30), briefly(q.Theirs, 30))
	}
	return text.String()
}
