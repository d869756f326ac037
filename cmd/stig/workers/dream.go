package workers

import (
	"cmp"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/visible"
)

// DreamCommand returns stig dream.
func DreamCommand(a *cli.App) *cobra.Command {
	var r actors.DreamRequest
	cmd := &cobra.Command{
		Use:   "dream NAME [-- CMD ARG…]",
		Short: "let an actor write down what it learned",
		Long: "Gather what an actor did since its last dream: its runs and how they ended, surprise,\n" +
			"repeated errors, feedback, answers, and the findings of stig retro. A command, by default\n" +
			"that of the actor's file, reads this on standard input and prints what the actor learned:\n" +
			"Markdown of at most 4,000 characters, which replaces the section Learned of its file, and a\n" +
			"last line \"Reason: …\", which is kept in Evolution. A section Proposal is only shown. stig\n" +
			"refuses an answer that is empty or too long, changes the headings of the file, or shortens\n" +
			"Values. Without a command, and with --print, stig prints the input for the command.",
		Args:    cli.TakesCommand("one actor", &r.Command),
		Example: "  stig dream tide --print\n  stig dream tide\n  stig dream tide -- ./summarise.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			d, err := actors.Dream(cmd.Context(), a.Run, r)
			return a.Result("dream", d, err, func() error { return printDream(a, r, d) })
		},
	}
	cmd.Flags().BoolVar(&r.Print, "print", false, "print what the command would read; run nothing")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func printDream(a *cli.App, r actors.DreamRequest, d *actors.Dreamed) error {
	switch {
	case d.Prompt != "":
		return a.Print(d.Prompt)
	case d.Held != "":
		return a.Printf("%s: does not dream while it is %s\n", d.Name, d.Held)
	case d.Nothing && d.Reason == "":
		return a.Printf("%s: nothing happened since the last dream\n", d.Name)
	case r.DryRun:
		if err := a.Print(cmp.Or(d.Diff, "nothing would change\n")); err != nil {
			return err
		}
	case d.Written:
		if err := a.Printf("%s: learned, %s\n", d.Name, visible.OneLine(d.Reason)); err != nil {
			return err
		}
	default:
		if err := a.Printf("%s: nothing new was learned\n", d.Name); err != nil {
			return err
		}
	}
	if d.Proposal == "" {
		return nil
	}
	return a.PrintMarkdown("## Proposed, for a person to decide\n\n" + d.Proposal + "\n")
}
