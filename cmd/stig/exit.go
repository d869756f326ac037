package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/checkpoint"
	"stig/host"
	"stig/notes"
	"stig/signals"
)

// Exit codes.
const (
	exitDone        = 0
	exitFound       = 1 // a check found something, or the gate said no
	exitUsage       = 2
	exitStore       = 3 // the store cannot be read or must not be written
	exitNoIssue     = 4
	exitConflict    = 5   // changed meanwhile, or held by another
	exitWaits       = 6   // waits on a person
	exitNotMerged   = 129 // stig merge wrote nothing; git takes less than 129 for conflicts
	exitInterrupted = 130
)

// usageError is a command line that cannot be carried out as it stands.
type usageError struct{ message, hint string }

func (e *usageError) Error() string { return e.message }

func usage(message, hint string) error { return &usageError{message: message, hint: hint} }

// foundError ends a command whose output already says what was found.
type foundError struct{}

func (foundError) Error() string { return "something was found" }

// endedError is foundError of a command whose findings have exit codes of
// their own: the worst.
type endedError struct{ code int }

func (*endedError) Error() string { return "not all that was asked for was done" }

// failure is an error as it is shown: what happened, what to type, the exit code.
type failure struct {
	code          int
	message, hint string
}

// classify maps the errors that packages promise to exit codes.
func classify(err error) failure {
	var (
		bad       *usageError
		found     foundError
		ended     *endedError
		missing   *beads.NotFoundError
		conflict  *beads.ConflictError
		refused   *beads.RefusedError
		store     *beads.StoreError
		invalid   *signals.InvalidError
		malformed *notes.Error
		estimate  *checkpoint.MissingEstimateError
		link      *checkpoint.LinkError
		draft     *checkpoint.DraftError
		untold    *checkpoint.PropagateError
		claim     *checkpoint.ClaimError
		settings  *host.SettingsError
		block     *host.BlockError
		waits     *waitsError
		standing  *checkpoint.EscalationError
		question  *checkpoint.QuestionError
		part      *signals.PartError
		unmerged  *mergeError
		unclosed  *checkpoint.CloseError
		silent    *checkpoint.ReasonError
		refusal   *refusalError
	)
	f := failure{code: exitStore, message: err.Error()}
	switch {
	case errors.As(err, &found):
		f.code = exitFound
	case errors.As(err, &ended):
		f.code = ended.code
	case errors.As(err, &unclosed):
		f.code, f.hint = exitFound, unclosed.Hint
	case errors.As(err, &refusal):
		f.code, f.hint = exitFound, refusal.hint
	case errors.As(err, &silent):
		f.code, f.hint = exitUsage, silent.Hint
	case errors.As(err, &unmerged):
		f.code = exitNotMerged
	case errors.As(err, &bad):
		f.code, f.hint = exitUsage, bad.hint
	case errors.As(err, &missing):
		f.code, f.hint = exitNoIssue, nearHint(missing.Near)
	case errors.As(err, &conflict):
		f.code, f.hint = exitConflict, conflict.Hint
	case errors.As(err, &claim):
		f.code, f.hint = exitConflict, claim.Hint
	case errors.As(err, &waits):
		f.code, f.hint = exitWaits, "the question stands; type stig escalations to see it"
	case errors.As(err, &standing):
		f.code, f.hint = exitConflict, standing.Hint
	case errors.As(err, &question):
		f.code, f.hint = exitUsage, question.Hint
	case errors.As(err, &part):
		f.code, f.hint = exitUsage, part.Hint
	case errors.As(err, &link):
		f.code, f.hint = exitUsage, link.Hint
	case errors.As(err, &draft):
		f.code, f.hint = exitUsage, draft.Hint
	case errors.As(err, &untold):
		f.code, f.hint = exitUsage, untold.Hint
	case errors.As(err, &settings):
		f.hint = settings.Hint
	case errors.As(err, &block):
		f.hint = "take out what is too much by hand"
	case errors.As(err, &refused):
		f.hint = refused.Hint
	case errors.As(err, &store):
		f.hint = store.Hint
	case errors.As(err, &malformed):
		f.hint = "mend the delimiters in the notes by hand, then try again"
	case errors.As(err, &invalid):
		f.code, f.hint = exitUsage, hintFor(err, invalid)
	case errors.As(err, &estimate):
		f.code = exitUsage
		f.hint = fmt.Sprintf("type stig checkpoint %s --done … --learned … --remains … --downstream …, or --no-context", estimate.ID)
	}
	return f
}

// hintFor names the issue in the hint of a table that does not know whose it is.
func hintFor(err error, invalid *signals.InvalidError) string {
	var of *checkpoint.IssueError
	if !errors.As(err, &of) {
		return invalid.Hint()
	}
	return strings.ReplaceAll(invalid.Hint(), " ID", " "+of.ID)
}

func nearHint(near []string) string {
	if len(near) == 0 {
		return "type stig orient to see what is there"
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}

// report prints an error the way the command line asked for, and gives its code.
func (a *app) report(err error, args []string) int {
	if err == nil {
		return exitDone
	}
	f := classify(err)
	if saidAll(err) {
		return f.code
	}
	if a.json || wantsJSON(args) {
		a.printJSON("error", map[string]any{"code": f.code, "message": f.message, "hint": f.hint})
		return f.code
	}
	a.complain(f.message, f.hint)
	return f.code
}

// saidAll tells whether the output of a command says already what went wrong.
func saidAll(err error) bool {
	var found foundError
	var ended *endedError
	return errors.As(err, &found) || errors.As(err, &ended)
}

// wantsJSON looks for --json in a command line that could not be parsed.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// unknownCommand refuses words that are no command, with the nearest that are.
func (a *app) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "type stig --help to see what there is"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return usage(fmt.Sprintf("unknown command %q", args[0]), hint)
}

// takes checks how many arguments a command got.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usage(fmt.Sprintf("%s: takes %s; found %d arguments", cmd.CommandPath(), what, len(args)), "type "+cmd.CommandPath()+" --help")
	}
}
