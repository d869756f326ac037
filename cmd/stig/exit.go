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
	"stig/recovery"
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

func (foundError) Error() string { return "problems found" }

// endedError is foundError of a command whose findings have exit codes of
// their own: the worst.
type endedError struct{ code int }

func (*endedError) Error() string { return "some issues failed" }

// failure is an error as it is shown: what happened, what to type, the exit code.
type failure struct {
	code          int
	message, hint string
}

// ending says how a command ends with an error of one type, if it is one.
type ending func(error) (failure, bool)

// with is the ending with errors of type E.
func with[E error](code int, hint func(E) string) ending {
	return func(err error) (failure, bool) {
		e, ok := errors.AsType[E](err)
		if !ok {
			return failure{}, false
		}
		return failure{code: code, message: err.Error(), hint: hint(e)}, true
	}
}

// endings are those of the errors that packages promise. Of the types that an
// error wraps the first listed counts.
func endings() []ending {
	return []ending{
		with(exitFound, func(foundError) string { return "" }),
		with(exitFound, func(e *checkpoint.CloseError) string { return e.Hint }),
		with(exitFound, func(e *refusalError) string { return e.hint }),
		with(exitUsage, func(e *checkpoint.ReasonError) string { return e.Hint }),
		with(exitNotMerged, func(*mergeError) string { return "" }),
		with(exitUsage, func(e *usageError) string { return e.hint }),
		with(exitNoIssue, func(e *beads.NotFoundError) string { return nearHint(e.Near) }),
		with(exitConflict, func(e *beads.ConflictError) string { return e.Hint }),
		with(exitConflict, func(e *recovery.UndoError) string { return e.Hint }),
		with(exitConflict, func(e *checkpoint.ClaimError) string { return e.Hint }),
		with(exitWaits, func(*waitsError) string { return "the question stands; type stig escalations to see it" }),
		with(exitConflict, func(e *checkpoint.EscalationError) string { return e.Hint }),
		with(exitUsage, func(e *checkpoint.QuestionError) string { return e.Hint }),
		with(exitUsage, func(e *signals.PartError) string { return e.Hint }),
		with(exitUsage, func(e *signals.LabelError) string { return e.Hint() }),
		with(exitUsage, func(e *checkpoint.StaleEstimateError) string {
			return fmt.Sprintf("type stig checkpoint %s again", e.ID)
		}),
		with(exitUsage, func(e *checkpoint.LinkError) string { return e.Hint }),
		with(exitUsage, func(e *checkpoint.DraftError) string { return e.Hint }),
		with(exitUsage, func(e *checkpoint.PropagateError) string { return e.Hint }),
		with(exitStore, func(e *host.SettingsError) string { return e.Hint }),
		with(exitStore, func(*host.BlockError) string { return "take out what is too much by hand" }),
		with(exitStore, func(e *beads.RefusedError) string { return e.Hint }),
		with(exitStore, func(e *beads.StoreError) string { return e.Hint }),
		with(exitStore, func(e *unprintedError) string { return "do not create it again; type stig show " + e.id }),
		with(exitUsage, func(e *notes.BodyError) string { return e.Hint }),
		with(exitStore, func(*notes.Error) string { return "fix the delimiters in the notes by hand, then try again" }),
		with(exitUsage, func(e *checkpoint.MissingEstimateError) string {
			return fmt.Sprintf("type stig checkpoint %s --done … --learned … --remains … --downstream …, or --no-context", e.ID)
		}),
	}
}

// classify maps an error to what is shown of it. One that nobody promised is
// taken for a store that cannot be used.
func classify(err error) failure {
	if e, ok := errors.AsType[*endedError](err); ok {
		return failure{code: e.code, message: err.Error()}
	}
	for _, ending := range endings() {
		if f, ok := ending(err); ok {
			return f
		}
	}
	if e, ok := errors.AsType[*signals.InvalidError](err); ok {
		f := failure{code: exitUsage, message: err.Error(), hint: hintFor(err, e)}
		if e.InNotes() {
			f.code = exitStore
		}
		return f
	}
	return failure{code: exitStore, message: err.Error()}
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
// A command line that has no hint of its own is referred to the help.
func (a *app) report(err error, cmd *cobra.Command, args []string) int {
	if err == nil {
		return exitDone
	}
	f := classify(err)
	if f.code == exitUsage && f.hint == "" {
		f.hint = "type " + cmd.CommandPath() + " --help"
	}
	if saidAll(err) {
		return f.code
	}
	if a.json || wantsJSON(args) {
		if a.printJSON("error", map[string]any{"code": f.code, "message": f.message, "hint": f.hint}) == nil {
			return f.code
		}
	}
	a.complain(f.message, f.hint)
	return f.code
}

// saidAll reports whether the output of a command says already what went wrong.
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
	hint := "type " + cmd.CommandPath() + " --help to see what there is"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return usage(fmt.Sprintf("unknown command %q", args[0]), hint)
}

// unknownFlag refuses a flag that is not there, or the word before it that is no
// command: its flags cannot be known.
func (a *app) unknownFlag(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if unknown := a.unknownCommand(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	return usage(err.Error(), "")
}

// called is a command as messages place it: without the name of the program, which
// they all begin with.
func called(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "stig ") }

// takes checks how many arguments a command got.
func takes(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usage(fmt.Sprintf("%s: takes %s; found %s", called(cmd), what, counted(len(args), "argument")), "")
	}
}

// exclude refuses a flag together with any of the others, in our words and with
// our exit code, which a group of the library has neither of.
func exclude(cmd *cobra.Command, one string, others ...string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, other := range others {
			if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
				return usage(fmt.Sprintf("--%s and --%s exclude each other", one, other), "leave one of them out")
			}
		}
		return nil
	}
}
