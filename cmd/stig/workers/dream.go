package workers

import (
	"cmp"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/visible"
)

// DreamCommand is stig dream.
func DreamCommand(a *cli.App) *cobra.Command {
	var r actors.DreamRequest
	cmd := &cobra.Command{
		Use:   "dream NAME [-- CMD ARG…]",
		Short: "have an actor write down what it learned",
		Long: "Gather what an actor did since it dreamt last: its runs and how they ended, surprise,\n" +
			"errors that repeat, feedback, answers, and what stig retro finds. A command, that of the\n" +
			"actor's file unless another is given, gets this on its standard input and prints what\n" +
			"the actor learned: Markdown of at most 4,000 characters, which takes the place of the\n" +
			"section Learned in its file, and a last line \"Reason: …\", which is kept in Evolution. A\n" +
			"section Proposal of the answer is shown, and changes nothing. An answer that says nothing,\n" +
			"is too long, adds or drops headings of the file, or shortens Values is refused.\n" +
			"Without a command, and with --print, what would be given to it is printed.",
		Args:    cli.TakesCommand("one actor", &r.Command),
		Example: "  stig dream tide --print\n  stig dream tide\n  stig dream tide -- ./summarise.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			d, err := actors.Dream(cmd.Context(), a.Run, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("dream", d)
			}
			return printDream(a, r, d)
		},
	}
	cmd.Flags().BoolVar(&r.Print, "print", false, "print what the command would be given, and run nothing")
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
	return a.PrintMarkdown("## Proposed, and for a person to decide\n\n" + d.Proposal + "\n")
}
