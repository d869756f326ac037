package decide

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/internal/service"
	"stig/internal/workspace"
	"stig/signals"
)

// askFor shows a person the questions and reads the answer. The answer applies to the questions
// as they were shown.
func askFor(ctx context.Context, a *cli.App, answering *service.Answering, answer checkpoint.Answer) (checkpoint.Answer, cli.Draft, error) {
	asked, err := answering.QuestionOf(answer)
	if err != nil {
		return answer, cli.Draft{}, err
	}
	answer.Seen = asked.Seen
	if err := showQuestion(a, asked); err != nil {
		return answer, cli.Draft{}, err
	}
	said, err := choose(ctx, a, cli.OptionsIn(asked.List))
	if err != nil {
		return answer, cli.Draft{}, err
	}
	if answer.Option = said.option; answer.Option > 0 || said.text != "" {
		answer.Text = said.text
		return answer, cli.Draft{}, nil
	}
	d, err := a.Compose(ctx, "", "Write your answer above; it is recorded as given by "+answering.By+".\n\n"+asWritten(answer.Seen))
	answer.Text = d.Text
	return answer, d, err
}

func asWritten(questions []signals.Part) string {
	var texts []string
	for _, q := range questions {
		texts = append(texts, q.Text)
	}
	return strings.Join(texts, "\n\n") + "\n"
}

// showQuestion prints the briefing, then the questions, so that they are above the prompt on a
// terminal of few lines.
func showQuestion(a *cli.App, asked *service.Question) error {
	if err := a.PrintMarkdown(strings.TrimRight(asked.Briefing.Background(), "\n") + "\n"); err != nil {
		return err
	}
	s := a.Sheet()
	s.Blank()
	s.Line(cli.Strong, "## Waiting for your answer")
	for _, q := range asked.List {
		s.Blank()
		s.Wrap(cli.Faint, "  ", "  ", cli.About(q))
		s.Question(q)
	}
	s.Blank()
	if len(asked.List) > 1 {
		s.Wrap(cli.Faint, "", "", "An answer in words answers all of them; to answer one, give its number or its hash with --question.")
	}
	return a.Show(s)
}

// said is what a person typed: the number of an option, or a text. The zero value asks for the
// editor.
type said struct {
	option int
	text   string
}

// choose prompts until the input is valid. Empty input ends the command.
func choose(ctx context.Context, a *cli.App, options int) (said, error) {
	choice := "Type the answer, or e for the editor; Enter cancels."
	if options > 0 {
		choice = fmt.Sprintf("Type a number (1 to %d), the answer, or e for the editor; Enter cancels.", options)
	}
	s := a.Sheet()
	s.Wrap(cli.Faint, "", "", choice)
	if err := a.Show(s); err != nil {
		return said{}, err
	}
	lines := bufio.NewReader(a.In)
	for {
		if err := a.Print("> "); err != nil {
			return said{}, err
		}
		line, err := readLine(ctx, lines)
		if err != nil {
			return said{}, err
		}
		number, notNumber := strconv.Atoi(line)
		switch {
		case line == "":
			return said{}, workspace.Usage("no answer, and nothing was written", "")
		case line == "e":
			return said{}, nil
		case notNumber != nil:
			return said{text: line}, nil
		case number >= 1 && number <= options:
			return said{option: number}, nil
		}
		if err := a.Printf("there is no option %d\n", number); err != nil {
			return said{}, err
		}
	}
}

// readLine reads a line and trims it; it returns "" at the end of the input. It returns when
// ctx ends, while the read itself goes on.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	read := make(chan string, 1)
	go func() {
		line, _ := in.ReadString('\n') // on an error, the line counts as empty
		read <- strings.TrimSpace(line)
	}()
	select {
	case line := <-read:
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
