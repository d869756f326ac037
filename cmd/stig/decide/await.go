package decide

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func AwaitCommand(a *cli.App) *cobra.Command {
	var limit time.Duration
	var question string
	cmd := &cobra.Command{
		Use:   "await ID",
		Short: "wait until a person has answered, and print the answer",
		Long: "Wait until the question that stands on an issue is answered, and print the answer;\n" +
			"at once where it is answered already. When the time is up before that the exit code\n" +
			"is 6. Waiting costs nothing: the operating system tells of changes of the store.",
		GroupID: "decide",
		Args:    cli.Takes(1, 1, "one issue"),
		Example: "  stig await demo-1 --timeout 10m && stig orient demo-1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return workspace.Usage(fmt.Sprintf("--timeout: must not be negative; found %s", limit), "")
			}
			defer actors.Watching(cmd.Context(), a.Run)()
			answers, err := service.Await(cmd.Context(), a.Run, args[0], question, limit)
			return a.Result("await", answers, err, func() error { return printAnswers(a, answers) })
		},
	}
	cmd.Flags().StringVar(&question, "question", "", "wait for the answer to this `QUESTION`: its number, or its hash")
	cli.SpanVar(cmd.Flags(), &limit, "timeout", "how long to wait at most, such as 90s or 10m (default, and 0: until it is answered)")
	return cmd
}

// printAnswers prints the answers alone, so that a script can take them; who
// gave them goes beside.
func printAnswers(a *cli.App, r *service.Answered) error {
	var texts []string
	for _, answer := range r.Answers {
		what := "answered"
		if answer.Withdrawn {
			what = "withdrawn"
		}
		a.Note("%s: %s%s%s%s", r.ID, what, on(answer.Date), by(answer.By), of(answer.Questions))
		texts = append(texts, answer.Text)
	}
	if r.Left > 0 {
		a.Note("%s: still waiting on it: %s", r.ID, visible.Counted(r.Left, "question"))
	}
	return a.Print(strings.Join(texts, "\n\n") + "\n")
}

// of names the questions of an answer.
func of(hashes []string) string {
	switch len(hashes) {
	case 0:
		return ""
	case 1:
		return ", question " + hashes[0]
	}
	return ", questions " + strings.Join(hashes, " ")
}

func on(date string) string {
	if date == "" {
		return ""
	}
	return " on " + date
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return " by " + name
}
