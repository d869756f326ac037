package decide

import (
	"context"
	"strings"
	"time"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/internal/visible"
)

// await waits for the answer to the question, or to any question on the issue if question is
// "", and prints it. It waits at most limit; 0 means no limit.
func await(ctx context.Context, a *cli.App, id, question string, limit time.Duration) error {
	defer actors.Watching(ctx, a.Run)()
	answers, err := service.Await(ctx, a.Run, id, question, limit)
	return a.Result("await", answers, err, func() error { return printAnswers(a, answers) })
}

// printAnswers prints only the answers to standard output, for scripts. Who gave them goes to
// standard error.
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
		a.Note("%s: still unanswered: %s", r.ID, visible.Counted(r.Left, "question"))
	}
	return a.Print(strings.Join(texts, "\n\n") + "\n")
}

// of returns the hashes of the questions that an answer is for, as part of a message.
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
