package issue

import (
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func CommentCommand(a *cli.App) *cobra.Command {
	var r service.CommentRequest
	var text cli.Text
	var words []string // the issue, then the comment if it follows
	cmd := &cobra.Command{
		Use:   "comment ID [TEXT]",
		Short: "add a comment to an issue",
		Long: "Add a comment to an issue, closed ones too, with its author and time. Comments are separate\n" +
			"from the notes, which keep signals and the state estimate: see stig checkpoint.",
		Args: func(cmd *cobra.Command, args []string) error {
			words = text.Dash(args)
			if len(words) > 2 {
				return workspace.Usage(fmt.Sprintf("%s: takes one issue and the comment; found %d arguments", cli.Called(cmd), len(args)), "type stig comment ID TEXT, with the comment in quotes")
			}
			return cli.Takes(1, 2, "one issue and the comment")(cmd, words)
		},
		Example: "  stig comment demo-1 'the gauge was replaced on Monday'\n  git log -1 --format=%b | stig comment demo-1 -",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if r.ID = words[0]; len(words) == 2 {
				if text.Given() {
					return workspace.Usage(fmt.Sprintf("the comment is given twice; found %q after the issue", words[1]), "omit one of them")
				}
				text.Message = words[1]
			}
			var draft cli.Draft
			if r.Text, draft, err = a.TextOrDraft(cmd.Context(), text, "The comment on "+r.ID+".\n"); err != nil {
				return err
			}
			commented, err := service.Comment(cmd.Context(), a.Run, r)
			if err = a.Keep(draft, err); err != nil {
				return err
			}
			return a.EditResult("comment", commented, commented.Lines, r.DryRun, func() error {
				if len(commented.Lines) == 0 {
					return a.Printf("%s: has this comment already, nothing changed\n", commented.ID)
				}
				a.WarnOfLines(commented.Lines)
				return a.Printf("%s: commented by %s (%s)\n", commented.ID, commented.Author, visible.Counted(commented.Comments, "comment"))
			})
		},
	}
	cli.TakesText(cmd, &text, "the comment")
	a.Writes(cmd, &r.DryRun)
	return cmd
}
