package issue

import (
	"strings"

	"github.com/spf13/cobra"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
)

func EditCommand(a *cli.App) *cobra.Command {
	var r service.AmendRequest
	var f editFlags
	cmd := &cobra.Command{
		Use:     "edit ID…",
		Aliases: []string{"update"},
		Short:   "change fields of issues",
		Long: "Change fields of one or more issues, of all of them or none. The text - is read from standard\n" +
			"input. An empty value removes a field. Without a flag, on a terminal, the fields of one issue\n" +
			"open in $EDITOR. With --from, each line of a file is a JSON object: the id, and the fields to\n" +
			"change, with their keys in the store; also parent, add_labels and remove_labels. Of a closed\n" +
			"issue, only labels, external reference and estimate can be changed. Criteria that differ from\n" +
			"the committed ones are named when the issue closes. --append-notes appends to the notes;\n" +
			"change the signal table and the sections of the notes with stig checkpoint.",
		Args: cli.Takes(0, -1, "the issues to edit"),
		Example: "  stig edit demo-1 --acceptance '`go test ./...` passes'\n" +
			"  stig edit demo-1 demo-2 -p 1 --add-label tide --defer 3d\n" +
			"  echo '{\"id\":\"demo-1\",\"priority\":0}' | stig edit --from -",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.IDs = args
			draft, err := f.read(cmd.Context(), a, cmd, &r)
			if err != nil {
				return a.Keep(draft, err)
			}
			result, err := service.Amend(cmd.Context(), a.Run, r)
			if err = a.Keep(draft, err); err != nil {
				return err
			}
			return printAmended(a, result, r.DryRun)
		},
	}
	f.bind(cmd)
	cli.SingleLine(cmd, "set-labels", "add-label", "remove-label")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// editFlags are the flags of edit that are bound to variables.
type editFlags struct {
	from             string
	fromProse        bool
	set, add, remove []string
	claim            bool
}

func (f *editFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.String("title", "", "what to do, in one line")
	flags.StringP("description", "d", "", "what to do, and why")
	flags.String("design", "", "how to do it")
	flags.String("acceptance", "", "how to tell that it works, with the commands that prove it")
	flags.BoolVar(&f.fromProse, "acceptance-from-prose", false, "derive a block of commands from the prose of the criteria, show it, and add it to them")
	flags.StringP("type", "t", "", strings.Join(checkpoint.Types(), ", ")+", or another type of the project")
	flags.StringP("priority", "p", "", "0 (most urgent) to 4, or P0 to P4")
	flags.StringP("assignee", "a", "", "`NAME` of the assignee; @me is you, none is nobody")
	flags.String("parent", "", "`ID` of the epic it belongs to")
	flags.String("defer", "", "not ready until `WHEN`: a day, a time, a span such as 3d, or none")
	flags.String("due", "", "due `WHEN`: a day, a time, a span such as 3d, or none")
	flags.StringP("status", "s", "", "open, blocked, deferred, pinned, hooked; in_progress claims the issue")
	flags.BoolVar(&f.claim, "claim", false, "claim the issue first: in progress, assigned to you")
	flags.String("append-notes", "", "append a text to the notes")
	flags.String("notes", "", "set the text of the notes if they have none")
	flags.String("estimate", "", "how long it takes: minutes, a span such as 1h30m, or none")
	flags.String("external-ref", "", "id in another tracker, such as gh-9")
	flags.StringSliceVar(&f.set, "set-labels", nil, "replace all labels with these")
	flags.StringSliceVar(&f.add, "add-label", nil, "add the `LABEL`")
	flags.StringSliceVar(&f.remove, "remove-label", nil, "remove the `LABEL`")
	flags.StringVar(&f.from, "from", "", "read edits from `FILE`, one JSON object a line (- for standard input)")
}

func printAmended(a *cli.App, result *service.Amended, dryRun bool) error {
	return a.EditResult("edit", amendedOutput(result), result.Changes, dryRun, func() error {
		for _, e := range result.Edited {
			said := "nothing changed"
			if len(e.Changed) > 0 {
				said = "changed " + strings.Join(e.Changed, ", ")
			}
			if err := a.Printf("%s: %s\n", e.ID, said); err != nil {
				return err
			}
			a.WarnOfEdit(e.ID, e.Warnings, nil)
		}
		a.WarnOfLines(result.Changes)
		return nil
	})
}

// amended is the result of an edit as JSON.
type amended struct {
	Changed  *[]string             `json:"changed,omitempty"`
	Edited   []*checkpoint.Amended `json:"edited"`
	ID       string                `json:"id,omitempty"`
	Warnings []string              `json:"warnings"`
}

// amendedOutput returns the result of an edit as JSON. A single issue has its keys at the top
// level, too.
func amendedOutput(result *service.Amended) amended {
	warnings := []string{}
	for _, e := range result.Edited {
		for _, w := range e.Warnings {
			warnings = append(warnings, e.ID+": "+w)
		}
	}
	if len(result.Edited) == 1 {
		one := result.Edited[0]
		return amended{ID: one.ID, Changed: &one.Changed, Warnings: one.Warnings, Edited: result.Edited}
	}
	return amended{Edited: result.Edited, Warnings: warnings}
}
