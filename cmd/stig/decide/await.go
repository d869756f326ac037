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

// await waits until the question, or any of the issue where it is "", is answered, and prints
// the answer; for limit at most unless that is 0.
func await(ctx context.Context, a *cli.App, id, question string, limit time.Duration) error {
	defer actors.Watching(ctx, a.Run)()
	answers, err := service.Await(ctx, a.Run, id, question, limit)
	return a.Result("await", answers, err, func() error { return printAnswers(a, answers) })
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
