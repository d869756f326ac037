package issue

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
)

func EditCommand(a *cli.App) *cobra.Command {
	var r app.AmendRequest
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
			r.ID = args[0]
			if err := readAmendment(a, cmd, &r); err != nil {
				return err
			}
			return amend(cmd.Context(), a, r)
		},
	}
	flags := cmd.Flags()
	flags.String("title", "", "what there is to do, in one line")
	flags.StringP("description", "d", "", "what there is to do, and why")
	flags.String("acceptance", "", "how it will be known to work, with the commands that prove it")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// readAmendment reads the texts that the command line gives; one that is empty is
// given too.
func readAmendment(a *cli.App, cmd *cobra.Command, r *app.AmendRequest) error {
	input := ""
	for _, f := range []struct {
		name string
		to   **string
	}{{"title", &r.Title}, {"description", &r.Description}, {"acceptance", &r.Acceptance}} {
		text := given(cmd, f.name)
		if text == nil {
			continue
		}
		if *text == "-" {
			if input != "" {
				return app.Usage("--"+input+" and --"+f.name+" both ask for standard input", "give one of them as text")
			}
			input = f.name
			read, err := io.ReadAll(a.In)
			if err != nil {
				return err
			}
			*text = strings.TrimRight(string(read), "\n")
		}
		*f.to = text
	}
	return nil
}

func amend(ctx context.Context, a *cli.App, r app.AmendRequest) error {
	amended, err := a.Amend(ctx, r)
	if err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.PrintEdit("edit", amended, amended.Lines, r.DryRun)
	case r.DryRun:
		return a.PrintDiff(amended.Lines)
	}
	said := "nothing changed"
	if len(amended.Changed) > 0 {
		said = "changed " + strings.Join(amended.Changed, ", ")
	}
	if err := a.Printf("%s: %s\n", amended.ID, said); err != nil {
		return err
	}
	a.WarnOfEdit(amended.ID, amended.Warnings, amended.Lines)
	return nil
}
