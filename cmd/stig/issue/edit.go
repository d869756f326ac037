package issue

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
)

func EditCommand(a *cli.App) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:        "edit ID",
		SuggestFor: []string{"amend", "update"},
		Short:      "change title, description or acceptance criteria",
		Long: "Change what an issue asks for. A text that is - is read from standard input. Criteria\n" +
			"that differ from those that are committed are told of when the issue closes.",
		GroupID: "store",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig edit demo-1 --acceptance '`go test ./...` passes'\n  stig edit demo-1 --description - <why.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			given, err := amendment(a, cmd)
			if err != nil {
				return err
			}
			if given.IsEmpty() {
				return app.Usage("nothing to change", "give --title, --description or --acceptance; notes are changed by stig checkpoint "+args[0])
			}
			return amend(cmd.Context(), a, args[0], given, dryRun)
		},
	}
	flags := cmd.Flags()
	flags.String("title", "", "what there is to do, in one line")
	flags.StringP("description", "d", "", "what there is to do, and why")
	flags.String("acceptance", "", "how it will be known to work, with the commands that prove it")
	a.Writes(cmd, &dryRun)
	return cmd
}

// amendment reads the texts that the command line gives; one that is empty is
// given too.
func amendment(a *cli.App, cmd *cobra.Command) (m checkpoint.Amendment, err error) {
	input := ""
	for _, f := range []struct {
		name string
		to   **string
	}{{"title", &m.Title}, {"description", &m.Description}, {"acceptance", &m.Acceptance}} {
		if !cmd.Flags().Changed(f.name) {
			continue
		}
		text, err := cmd.Flags().GetString(f.name)
		if err != nil {
			return m, err
		}
		if text == "-" {
			if input != "" {
				return m, app.Usage("--"+input+" and --"+f.name+" both ask for standard input", "give one of them as text")
			}
			input = f.name
			read, err := io.ReadAll(a.In)
			if err != nil {
				return m, err
			}
			text = strings.TrimRight(string(read), "\n")
		}
		*f.to = &text
	}
	return m, nil
}

func amend(ctx context.Context, a *cli.App, id string, given checkpoint.Amendment, dryRun bool) error {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	actor, err := a.ActorName(ctx)
	if err != nil {
		return err
	}
	list, lines, err := checkpoint.Amend(ctx, store, options, []string{id}, actor, func(int) checkpoint.Amendment { return given })
	if err != nil {
		return err
	}
	amended := list[0]
	if given.Acceptance != nil {
		amended.Warnings = append(amended.Warnings, a.Unprovable(ctx, store, *given.Acceptance)...)
	}
	switch {
	case a.JSON:
		return a.PrintEdit("edit", amended, lines, dryRun)
	case dryRun:
		return a.PrintDiff(lines)
	}
	said := "nothing changed"
	if len(amended.Changed) > 0 {
		said = "changed " + strings.Join(amended.Changed, ", ")
	}
	if err := a.Printf("%s: %s\n", amended.ID, said); err != nil {
		return err
	}
	a.WarnOfEdit(amended.ID, amended.Warnings, lines)
	return nil
}
