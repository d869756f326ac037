package issue

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
	"stig/signals"
)

func CheckpointCommand(a *cli.App) *cobra.Command {
	var r service.CheckpointRequest
	var text cli.Text
	cmd := &cobra.Command{
		Use:   "checkpoint ID",
		Short: "write signals and a state estimate for the next worker",
		Long: "Write signals and the state estimate of an issue, all or nothing.\n" +
			"The estimate describes the present state. --done, --learned, --remains, --downstream,\n" +
			"--hypothesis, --intervention, --feedback, --stabilised and --question each replace their\n" +
			"part; the other parts stay, with their day.\n\n" +
			"With --replace, or as one text with -m, --file, or - for standard input, the new estimate\n" +
			"replaces the old one. On a terminal, without any of these, the editor opens with the\n" +
			"present estimate. stig prints the texts that disappear. --fold prints and removes the\n" +
			"estimates of other branches that merges kept.",
		Args: cli.Takes(1, 2, "one issue, and - to read the estimate from standard input"),
		Example: "  stig checkpoint demo-1 --surprise 0.2 --progress implementing \\\n" +
			"    --done \"parser reads both forms\" --remains \"error places\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := readCheckpoint(a, cmd, args, text, &r); err != nil {
				return err
			}
			if !r.Empty() || !a.Asks() {
				return runCheckpoint(cmd.Context(), a, r)
			}
			draft, err := composeEstimate(cmd.Context(), a, &r)
			if err != nil {
				return err
			}
			return a.Keep(draft, runCheckpoint(cmd.Context(), a, r))
		},
	}
	flags := cmd.Flags()
	for _, s := range signals.All() {
		if s != signals.SchemaVersion && s != signals.Escalation {
			flags.String(flagName(s), "", usageOf(s))
		}
	}
	e := &r.Estimate
	flags.StringVar(&e.Done, "done", "", "what was done")
	flags.StringVar(&e.Learned, "learned", "", "what was learned")
	flags.StringVar(&e.Remains, "remains", "", "what remains")
	flags.StringVar(&e.Downstream, "downstream", "", "what issues that depend on this one should know")
	flags.StringVar(&e.Hypothesis, "hypothesis", "", "of a probe: the supposed cause")
	flags.StringVar(&e.Intervention, "intervention", "", "of a probe: the smallest step that tests it")
	flags.StringVar(&e.Feedback, "feedback", "", "of a probe: what shows whether it worked")
	flags.StringVar(&e.Stabilised, "stabilised", "", "of a probe: when the situation is stable")
	flags.StringVar(&e.Questions, "question", "", "what is uncertain, for whoever comes next; --escalate asks a person")
	flags.BoolVar(&r.Replace, "replace", false, "replace the whole estimate with the parts given")
	cli.TakesText(cmd, &text, "the whole state estimate")
	flags.String("escalate", "", "also ask a person `QUESTION`: escalation becomes pending")
	flags.String("evidence", "", "what was `RUN` to show that it works, and its output: evidence-freshness becomes today")
	flags.BoolVar(&r.Fold, "fold", false, "print and remove what branches also learned")
	flags.BoolVar(&r.NoContext, "no-context", false, "allow implementing or blocked without a state estimate")
	flags.BoolVar(&r.Reaffirm, "reaffirm", false, "update the date of the given signals even if the value stays")
	flags.BoolVar(&r.Commit, "commit", false, "commit only the store, as chore(beads): checkpoint ID")
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// readCheckpoint fills the request from flags and texts.
func readCheckpoint(a *cli.App, cmd *cobra.Command, args []string, text cli.Text, r *service.CheckpointRequest) error {
	r.Signals = map[signals.Signal]string{}
	for _, s := range signals.All() {
		if value := given(cmd, flagName(s)); value != nil {
			r.Signals[s] = *value
		}
	}
	rest := text.Dash(args)
	if len(rest) != 1 {
		return workspace.Usage(fmt.Sprintf("%s: takes one issue; found %q after it", cli.Called(cmd), rest[len(rest)-1]), "quote the text, and give it with -m, or with a flag such as --done")
	}
	whole, err := a.Read(text)
	if err != nil {
		return err
	}
	if text.Given() || cmd.Flags().Changed("message") {
		r.Text = &whole
	}
	r.ID, r.Question, r.Evidence = rest[0], given(cmd, "escalate"), given(cmd, "evidence")
	return nil
}

// composeEstimate opens the editor with the current estimate.
func composeEstimate(ctx context.Context, a *cli.App, r *service.CheckpointRequest) (cli.Draft, error) {
	form, seen, err := service.EstimateForm(a.Run, r.ID)
	if err != nil {
		return cli.Draft{}, err
	}
	draft, err := a.Compose(ctx, form,
		"The state of "+r.ID+" as it is now, for whoever comes next. This text replaces the current estimate.\n"+
			"A day in parentheses says when a part was written: remove it if you change the part.\n")
	r.Text, r.Seen = &draft.Text, &seen
	return draft, err
}

func runCheckpoint(ctx context.Context, a *cli.App, r service.CheckpointRequest) error {
	report, err := service.Checkpoint(ctx, a.Run, r)
	if err != nil {
		return err
	}
	return a.EditResult("checkpoint", report, report.Lines, r.DryRun, func() error { return printCheckpoint(a, report) })
}
