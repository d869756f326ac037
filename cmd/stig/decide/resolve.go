package decide

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
	"stig/dag"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// resolveOptions are the flags of one answer.
type resolveOptions struct {
	answer checkpoint.Answer
	text   app.Text
	dryRun bool
}

func ResolveCommand(a *cli.App) *cobra.Command {
	var o resolveOptions
	cmd := &cobra.Command{
		Use:   "resolve ID",
		Short: "answer the questions that wait on an issue",
		Long: "Answer the questions that stand on an issue, all of them or the one that --question\n" +
			"names; when none is left escalation becomes resolved, and the next briefing shows the\n" +
			"answer. On a terminal the briefing and the questions are shown first, and the options\n" +
			"can be chosen by number. Who answers is on record. Whoever asked may not answer, unless\n" +
			"--self is given: the point of asking is that somebody else decides.",
		GroupID: "decide",
		Args:    cli.Takes(1, 2, "one issue, and - to read the answer from standard input"),
		Example: "  stig resolve demo-1\n  stig resolve demo-1 --option 2 -m \"until spring\"\n  stig resolve demo-1 --question 2 -m \"the old one\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			args = o.text.Dash(args)
			if len(args) != 1 {
				return app.Usage(fmt.Sprintf("%s: takes one issue; found %d arguments", cli.Called(cmd), len(args)), "quote the answer, and give it with -m")
			}
			if cmd.Flags().Changed("option") && o.answer.Option < 1 {
				return app.Usage(fmt.Sprintf("--option: must be at least 1; found %d", o.answer.Option), "")
			}
			if cmd.Flags().Changed("question") && o.answer.Question == "" {
				return app.Usage("--question: must be the number or the hash of a question; found nothing", "type stig escalations to see them")
			}
			return resolve(a, cmd, args[0], o)
		},
	}
	cli.TakesText(cmd, &o.text, "the answer")
	flags := cmd.Flags()
	flags.IntVar(&o.answer.Option, "option", 0, "take option `N` of the question that offers options; a text is added to it")
	flags.StringVar(&o.answer.Question, "question", "", "answer this `QUESTION` alone: its number, or its hash")
	flags.BoolVar(&o.answer.Self, "self", false, "answer a question of one's own")
	a.Writes(cmd, &o.dryRun)
	return cmd
}

func resolve(a *cli.App, cmd *cobra.Command, id string, o resolveOptions) error {
	store, options, err := a.ToWrite(cmd.Context(), o.dryRun)
	if err != nil {
		return err
	}
	answer := o.answer
	if answer.By, err = a.MustActor(cmd.Context()); err != nil {
		return err
	}
	if answer.Text, err = a.Read(o.text); err != nil {
		return err
	}
	var d cli.Draft
	if answer.Option == 0 && !answer.Withdraw && !o.text.Given() && a.Asks() {
		if answer, d, err = askFor(cmd.Context(), a, store, id, answer); err != nil {
			return err
		}
	}
	r, err := checkpoint.Resolve(cmd.Context(), store, options, id, answer, checkpoint.Rules{Schema: a.Schema, Now: options.Now})
	if err = a.Keep(d, err); err != nil {
		return err
	}
	switch {
	case a.JSON:
		return a.PrintEdit("resolve", r, r.Lines, o.dryRun)
	case o.dryRun:
		return a.PrintDiff(r.Lines)
	}
	left, err := a.Pending(store, options.Now)
	if err != nil {
		return err
	}
	return printResolved(a, r, left)
}

// printResolved says what was answered, and what is left to answer.
func printResolved(a *cli.App, r *checkpoint.Resolution, left []orient.Asked) error {
	s := a.Sheet()
	s.Line(cli.Plain, fmt.Sprintf("%s: %s by %s%s", r.ID, done(r), r.By, whichOf(r)))
	for _, c := range r.Changed {
		s.Line(cli.Plain, fmt.Sprintf("  %s: %s → %s", c.Signal, c.From, c.To))
	}
	left = slices.DeleteFunc(left, func(q orient.Asked) bool { return q.Question == "" })
	if r.Left > 0 {
		s.Line(cli.Plain, "  still waiting on it: "+app.Counted(r.Left, "question"))
	}
	if len(left) > 0 {
		s.Put(cli.Plain, waitingLine(left)+"; next: ")
		s.Line(cli.Typed, "stig resolve "+left[0].ID)
	}
	if err := a.Show(s); err != nil {
		return err
	}
	a.WarnOfEdit(r.ID, r.Warnings, r.Lines)
	return nil
}

// done says what became of the questions.
func done(r *checkpoint.Resolution) string {
	if r.Withdrawn {
		return "withdrawn"
	}
	return "answered"
}

// whichOf says to which questions an answer was given, where it is not plain.
func whichOf(r *checkpoint.Resolution) string {
	switch {
	case len(r.Hashes) > 1:
		return ", all " + app.Counted(len(r.Hashes), "question")
	case r.Left > 0 || r.Withdrawn:
		return ", question " + r.Hashes[0]
	}
	return ""
}

// askFor shows a person what is asked, and takes the answer. What was shown is
// what the answer answers.
func askFor(ctx context.Context, a *cli.App, store beads.Store, id string, answer checkpoint.Answer) (checkpoint.Answer, cli.Draft, error) {
	file, err := store.Snapshot()
	if err != nil {
		return answer, cli.Draft{}, err
	}
	defer file.Close()
	issue, err := file.Find(id)
	if err != nil {
		return answer, cli.Draft{}, err
	}
	record, err := issue.Record()
	if err != nil {
		return answer, cli.Draft{}, err
	}
	if answer.Seen, err = answer.Answers(issue.ID, notes.Parse(record.Text(beads.Notes))); err != nil {
		return answer, cli.Draft{}, err
	}
	list, err := showQuestion(a, file, issue.ID, answer.Seen)
	if err != nil {
		return answer, cli.Draft{}, err
	}
	said, err := choose(ctx, a, cli.OptionsIn(list))
	if err != nil {
		return answer, cli.Draft{}, err
	}
	if answer.Option = said.option; answer.Option > 0 || said.text != "" {
		answer.Text = said.text
		return answer, cli.Draft{}, nil
	}
	d, err := a.Compose(ctx, "", "Your answer stands above; it is recorded as by "+answer.By+".\n\n"+asWritten(answer.Seen))
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

// showQuestion prints the briefing as orient does, within the same limit, and what is asked last: on a
// terminal of few lines it still stands above the prompt.
func showQuestion(a *cli.App, file *beads.Snapshot, id string, seen []signals.Part) ([]orient.Asked, error) {
	rules, err := a.Reading(file, signals.ThresholdStaleDays)
	if err != nil {
		return nil, err
	}
	graph := dag.New(file)
	at, _ := file.Index(id)
	briefing, err := orient.Brief(file, graph, at, orient.Request{Budget: orient.BriefingBudget}, rules)
	if err != nil {
		return nil, err
	}
	all, err := orient.Escalations(file, graph, rules)
	if err != nil {
		return nil, err
	}
	if err := a.PrintMarkdown(strings.TrimRight(briefing.Background(), "\n") + "\n"); err != nil {
		return nil, err
	}
	s := a.Sheet()
	s.Blank()
	s.Line(cli.Strong, "## Waiting for your answer")
	var list []orient.Asked
	for _, q := range all {
		if q.ID == id && slices.ContainsFunc(seen, func(p signals.Part) bool { return p.Hash() == q.Hash }) {
			list = append(list, q)
			s.Blank()
			s.Wrap(cli.Faint, "  ", "  ", cli.About(q))
			s.Question(q)
		}
	}
	s.Blank()
	if len(list) > 1 {
		s.Wrap(cli.Faint, "", "", "An answer in words is for all of them; to answer one, give its number or its hash with --question.")
	}
	return list, a.Show(s)
}

// said is what a person typed: the number of an option, or a text; neither
// asks for the editor.
type said struct {
	option int
	text   string
}

// choose asks until the answer is one. Nothing typed ends the command.
func choose(ctx context.Context, a *cli.App, options int) (said, error) {
	choice := "The answer in words, or e for the editor; enter leaves it."
	if options > 0 {
		choice = fmt.Sprintf("A number (1 to %d), the answer in words, or e for the editor; enter leaves it.", options)
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
			return said{}, app.Usage("no answer, and nothing was written", "")
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

// readLine reads a line, trimmed; "" at the end of the input. It does not
// outlast ctx, though the read itself does.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	read := make(chan string, 1)
	go func() {
		line, _ := in.ReadString('\n') // what could not be read counts as not typed
		read <- strings.TrimSpace(line)
	}()
	select {
	case line := <-read:
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
