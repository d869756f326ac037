package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stig/cmd/stig/cli"
	"stig/internal/merge"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// listConflicts lists the conflicts that a merge left in the store.
func listConflicts(ctx context.Context, a *cli.App) error {
	open, err := service.Conflicts(ctx, a.Run)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON("merge", merged{Conflicts: open, Warnings: []merge.Warning{}})
	} else {
		err = a.Print(conflictsText(open))
	}
	if err == nil && len(open) > 0 {
		a.Hint(service.AnswerHint(open[0]))
		if slices.ContainsFunc(open, withoutQuestions) {
			a.Hint("git merged the store by lines; type stig setup git to merge with stig next time")
		}
		return workspace.Found()
	}
	return err
}

// withoutQuestions reports whether a conflict is of whole lines only, as git leaves it if it
// does not merge with stig.
func withoutQuestions(c merge.Conflict) bool { return len(c.Questions) == 0 }

func conflictsText(open []merge.Conflict) string {
	if len(open) == 0 {
		return "no conflicts\n"
	}
	var text strings.Builder
	for _, c := range open {
		fmt.Fprintf(&text, "%s: %s\n", conflictName(c), c.Reason)
		for _, q := range c.Questions {
			fmt.Fprintf(&text, "  %s\n    ours    %s\n    theirs  %s\n", q.Key, service.Briefly(q.Ours, 100), service.Briefly(q.Theirs, 100))
		}
	}
	fmt.Fprintf(&text, "\n%s\n", stillOpen(open))
	return text.String()
}

// conflictName returns the issue and the line of a conflict.
func conflictName(c merge.Conflict) string {
	return fmt.Sprintf("%s (line %d)", cmp.Or(c.ID, "a line that is not an issue"), c.Line)
}

// stillOpen counts the conflicts and the questions in them.
func stillOpen(open []merge.Conflict) string {
	questions := 0
	for _, c := range open {
		questions += len(c.Questions)
	}
	return visible.Counted(len(open), "conflict") + ", " + visible.Counted(questions, "question")
}

// answersOf parses KEY=SIDE arguments.
func answersOf(id string, args []string) (merge.Answers, error) {
	answers := merge.Answers{}
	for _, arg := range append([]string{id}, args...) {
		at := strings.LastIndexByte(arg, '=')
		side := merge.Side(arg[at+1:])
		switch {
		case arg == id && at < 0:
			continue
		case arg == id:
			return nil, workspace.Usage(arg+": the issue must come before the answers", "type stig merge --resolve ID "+arg)
		case at <= 0 || side != merge.Ours && side != merge.Theirs:
			return nil, workspace.Usage(fmt.Sprintf("an answer is KEY=ours or KEY=theirs; found %q", arg), "type stig merge --resolve to see the keys")
		case answers[arg[:at]] != "" && answers[arg[:at]] != side:
			return nil, workspace.Usage(arg[:at]+" is answered twice", "give one of the answers")
		}
		answers[arg[:at]] = side
	}
	if answers[merge.Whole] != "" && len(answers) > 1 {
		return nil, workspace.Usage("all takes the whole line, and excludes other keys", "leave out all, or the other keys")
	}
	return answers, nil
}

// resolveConflict resolves conflicts of one issue.
func resolveConflict(ctx context.Context, a *cli.App, id string, args []string, dryRun bool) error {
	answers, err := answersOf(id, args)
	if err != nil {
		return err
	}
	r, err := service.Resolve(ctx, a.Run, service.ResolveRequest{ID: id, Answers: answers, DryRun: dryRun})
	switch {
	case err != nil:
		return err
	case a.JSON:
		return printResolvedJSON(a, r, dryRun)
	case dryRun:
		return a.Print(cmp.Or(r.Diff, "nothing would change\n"))
	}
	return printResolved(a, r)
}

func printResolvedJSON(a *cli.App, r *service.Resolved, dryRun bool) error {
	data := merged{
		ID: r.ID, Open: append([]merge.Question{}, r.Open...), Conflicts: r.Left,
		Warnings: append([]merge.Warning{}, r.Warnings...), Written: r.Store, DryRun: dryRun,
	}
	if dryRun {
		data.Written, data.Diff = "", &r.Diff
	}
	return a.PrintJSON("merge", data)
}

func printResolved(a *cli.App, r *service.Resolved) error {
	said := "merged"
	if len(r.Open) > 0 {
		said = "still open: " + strings.Join(questionKeys(r.Open), ", ")
	}
	if err := a.Printf("%s: %s\n", r.ID, said); err != nil {
		return err
	}
	for _, w := range r.Warnings {
		a.Warn("%s: %s", w.ID, w.Message)
	}
	if len(r.Left) == 0 {
		a.Hint("type git add " + workspace.Shortest(r.Store))
		return nil
	}
	a.Note("left in the store: %s", stillOpen(r.Left))
	a.Hint(service.AnswerHint(r.Left[0]))
	return nil
}

func questionKeys(questions []merge.Question) (keys []string) {
	for _, q := range questions {
		keys = append(keys, q.Key)
	}
	return keys
}
