package issue

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
)

func EditCommand(a *cli.App) *cobra.Command {
	var r app.AmendRequest
	var f editFlags
	cmd := &cobra.Command{
		Use:        "edit ID…",
		SuggestFor: []string{"amend", "update", "label", "defer", "undefer", "rename"},
		Short:      "change fields of issues",
		Long: "Change fields of one or more issues: of all of them, or of none. A text that is - is read\n" +
			"from standard input. A field that is set to nothing is removed. Without a flag, on a\n" +
			"terminal, the fields of one issue open in $EDITOR. With --from, each line of a file is a\n" +
			"JSON object: the id, and the fields to change, with the keys that they have in the store;\n" +
			"also parent, add_labels and remove_labels. Of a closed issue only labels, external\n" +
			"reference and estimate can be changed. Criteria that differ from those that are\n" +
			"committed are named when the issue closes. Notes are changed by stig checkpoint.",
		GroupID: "store",
		Args:    cli.Takes(0, -1, "the issues to edit"),
		Example: "  stig edit demo-1 --acceptance '`go test ./...` passes'\n" +
			"  stig edit demo-1 demo-2 -p 1 --add-label tide --defer 3d\n" +
			"  echo '{\"id\":\"demo-1\",\"priority\":0}' | stig edit --from -",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.IDs = args
			draft, err := f.read(cmd.Context(), a, cmd, &r)
			if err != nil {
				return a.Keep(draft, err)
			}
			result, err := a.Amend(cmd.Context(), r)
			if err = a.Keep(draft, err); err != nil {
				return err
			}
			return printAmended(a, result, r.DryRun)
		},
	}
	f.bind(cmd)
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// editFlags are the flags of edit that are not read as they stand.
type editFlags struct {
	from             string
	set, add, remove []string
}

func (f *editFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.String("title", "", "what there is to do, in one line")
	flags.StringP("description", "d", "", "what there is to do, and why")
	flags.String("design", "", "how it is to be done")
	flags.String("acceptance", "", "how it will be known to work, with the commands that prove it")
	flags.StringP("type", "t", "", "bug, feature, task, epic, chore, or another one that the project uses")
	flags.StringP("priority", "p", "", "0 (most urgent) to 4, or P0 to P4")
	flags.StringP("assignee", "a", "", "`NAME` of who is to do it")
	flags.String("parent", "", "`ID` of the epic that it belongs to")
	flags.String("defer", "", "not ready until `WHEN`: a day, a time, a span such as 3d, or none")
	flags.String("estimate", "", "how long it takes: minutes, a span such as 1h30m, or none")
	flags.String("external-ref", "", "where else it is tracked, such as gh-9")
	flags.StringSliceVar(&f.set, "set-labels", nil, "these labels, and no others")
	flags.StringSliceVar(&f.add, "add-label", nil, "add the `LABEL`")
	flags.StringSliceVar(&f.remove, "remove-label", nil, "remove the `LABEL`")
	flags.StringVar(&f.from, "from", "", "read edits from `FILE`, a JSON object a line (- for standard input)")
}

// read makes the request of the command line, of a file, or of the editor, whose
// draft is to be kept until it is written.
func (f *editFlags) read(ctx context.Context, a *cli.App, cmd *cobra.Command, r *app.AmendRequest) (cli.Draft, error) {
	now, err := a.Clock()
	if err != nil {
		return cli.Draft{}, err
	}
	m, err := f.amendment(a, cmd, now)
	if err != nil {
		return cli.Draft{}, err
	}
	if f.from != "" {
		if !m.IsEmpty() || len(r.IDs) > 0 {
			return cli.Draft{}, app.Usage("--from: names the issues and the fields itself; more were given", "leave them out")
		}
		text, err := lines(a, f.from)
		if err == nil {
			r.IDs, r.Each, err = checkpoint.ParseAmendments(text, now)
		}
		return cli.Draft{}, err
	}
	if m.IsEmpty() && len(r.IDs) == 1 && a.Asks() {
		draft, m, err := compose(ctx, a, r.IDs[0], now)
		r.Each = []checkpoint.Amendment{m}
		return draft, err
	}
	r.Each = []checkpoint.Amendment{m}
	return cli.Draft{}, nil
}

// lines reads a batch.
func lines(a *cli.App, from string) ([]byte, error) {
	if from == "-" {
		return io.ReadAll(a.In)
	}
	text, err := os.ReadFile(filepath.Join(a.Dir, from))
	if err != nil {
		return nil, app.Usage("--from: "+app.Placed(err).Error(), "")
	}
	return text, nil
}

// amendment reads the fields that the command line gives; one that is empty is
// given too.
func (f *editFlags) amendment(a *cli.App, cmd *cobra.Command, now time.Time) (m checkpoint.Amendment, err error) {
	input := ""
	for _, field := range []struct {
		name string
		to   **string
	}{
		{"title", &m.Title}, {"description", &m.Description}, {"design", &m.Design}, {"acceptance", &m.Acceptance},
		{"type", &m.Type}, {"assignee", &m.Assignee}, {"parent", &m.Parent}, {"external-ref", &m.ExternalRef},
	} {
		text := given(cmd, field.name)
		if text == nil {
			continue
		}
		if *text == "-" {
			if input != "" {
				return m, app.Usage("--"+input+" and --"+field.name+" both ask for standard input", "give one of them as text")
			}
			input = field.name
			read, err := io.ReadAll(a.In)
			if err != nil {
				return m, err
			}
			*text = strings.TrimRight(string(read), "\n")
		}
		*field.to = text
	}
	m.AddLabels, m.RemoveLabels = f.add, f.remove
	if cmd.Flags().Changed("set-labels") {
		m.Labels = &f.set
	}
	return m, parsed(cmd, now, &m)
}

// parsed reads the fields that are more than a text.
func parsed(cmd *cobra.Command, now time.Time, m *checkpoint.Amendment) error {
	if text := given(cmd, "priority"); text != nil {
		n, err := checkpoint.ParsePriority(*text)
		if err != nil {
			return err
		}
		m.Priority = &n
	}
	if text := given(cmd, "estimate"); text != nil {
		n, err := checkpoint.ParseEstimate(*text)
		if err != nil {
			return err
		}
		m.Estimate = &n
	}
	if text := given(cmd, "defer"); text != nil {
		t, err := checkpoint.ParseDefer(*text, now)
		if err != nil {
			return err
		}
		m.Defer = &t
	}
	return nil
}

// compose opens the fields of an issue in the editor.
func compose(ctx context.Context, a *cli.App, id string, now time.Time) (cli.Draft, checkpoint.Amendment, error) {
	record, err := recordOf(a, id)
	if err != nil {
		return cli.Draft{}, checkpoint.Amendment{}, err
	}
	form, ok := checkpoint.Form(record)
	if !ok {
		return cli.Draft{}, checkpoint.Amendment{}, app.Usage(record.Text(beads.ID)+": a text of it holds a line that separates texts here", "change fields with flags, such as --title")
	}
	draft, err := a.Compose(ctx, form, "The fields of "+record.Text(beads.ID)+". One that is left empty is removed.\n")
	if err != nil {
		return draft, checkpoint.Amendment{}, err
	}
	m, err := checkpoint.ParseForm(draft.Text, record, now)
	return draft, m, err
}

func recordOf(a *cli.App, id string) (*beads.Record, error) {
	file, at, err := a.OpenIssue(id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.At(at).Record()
}

func printAmended(a *cli.App, result *app.Amended, dryRun bool) error {
	switch {
	case a.JSON:
		return a.PrintEdit("edit", amendedOutput(result), result.Changes, dryRun)
	case dryRun:
		return a.PrintDiff(result.Changes)
	}
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
}

// amendedOutput has the keys of the one issue too where there is but one.
func amendedOutput(result *app.Amended) map[string]any {
	warnings := []string{}
	for _, e := range result.Edited {
		for _, w := range e.Warnings {
			warnings = append(warnings, e.ID+": "+w)
		}
	}
	o := map[string]any{"edited": result.Edited, "warnings": warnings}
	if len(result.Edited) == 1 {
		o["id"], o["changed"], o["warnings"] = result.Edited[0].ID, result.Edited[0].Changed, result.Edited[0].Warnings
	}
	return o
}
