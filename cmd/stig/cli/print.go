package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"stig/internal/service"
	"stig/internal/workspace"
)

// complaint prints a message on the error stream.
func (a *App) complaint(l workspace.Level, text string) {
	switch {
	case l == workspace.Warning:
		fmt.Fprintf(a.Err, "warning: %s\n", workspace.Visible(text))
	case a.Quiet:
	case l == workspace.Advice:
		fmt.Fprintf(a.Err, "hint: %s\n", workspace.Visible(text))
	default:
		fmt.Fprintln(a.Err, workspace.Visible(text))
	}
}

// Complain prints an error and its hint.
func (a *App) Complain(message, hint string) {
	fmt.Fprintf(a.Err, "stig: %s\n", workspace.Visible(message))
	a.Hint(hint)
}

// Print writes text for people. It escapes control characters in text from users, which could
// act on a terminal.
func (a *App) Print(text string) error {
	_, err := io.WriteString(a.Out, workspace.Visible(text))
	return err
}

// Data writes output for other programs, byte for byte.
func (a *App) Data(text string) error {
	if a.ToTerminal() {
		return a.Print(text)
	}
	_, err := io.WriteString(a.Out, text)
	return err
}

// ToTerminal reports whether the output goes to a terminal.
func (a *App) ToTerminal() bool { return IsTerminal(a.Out) }

func (a *App) Printf(format string, args ...any) error { return a.Print(fmt.Sprintf(format, args...)) }

// PrintJSON writes one object: schema_version and kind, then the keys of each body.
func (a *App) PrintJSON(kind string, bodies ...any) error {
	return workspace.WriteJSON(a.Out, kind, bodies...)
}

// Result ends a command that reads. It returns err if that is not nil; otherwise with --json it
// prints body as an object of this kind, else it calls show.
func (a *App) Result(kind string, body any, err error, show func() error) error {
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(kind, body)
	}
	return show()
}

// PrintBD writes issues as an array in the format of bd.
func (a *App) PrintBD(list []service.BDObject) error {
	return workspace.WriteArray(a.Out, list)
}

// BDFormat binds --format for a command whose result bd has too: text, json (same as --json),
// or bd, which sets bd.
func (a *App) BDFormat(cmd *cobra.Command, bd *bool) {
	cmd.Flags().Var(format{a, bd}, "format", "text, json, or bd: an array of issues as bd prints them with --json")
	cmd.Flags().Lookup("format").DefValue = ""
}

type format struct {
	app *App
	bd  *bool
}

func (f format) String() string { return "" }
func (f format) Type() string   { return "FORMAT" }

func (f format) Set(text string) error {
	switch text {
	case "text", "json", "bd":
		f.app.JSON, *f.bd = text == "json", text == "bd"
		return nil
	}
	return errors.New("must be one of text, json, bd")
}

// PrintOutput writes a result as JSON, or returns err.
func (a *App) PrintOutput(o workspace.Output, err error) error {
	if err != nil {
		return err
	}
	return a.PrintJSON(o.Kind, o.Bodies...)
}
