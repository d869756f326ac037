package workers

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
)

// life is a command that changes the state of a worker.
type life struct {
	verb, short, long string
	change            actors.Change
	all               actors.Change // with --all; nil if the command does not have it
}

func lifeCommands() []life {
	return []life{
		{"pause", "pause a worker: it takes no work for now", "Pause a worker until stig worker resume, or for a time. It takes no work meanwhile. The\nrun in progress goes on to its end.", actors.Pause, actors.Pause},
		{"resume", "resume a worker: it takes work again", "Let a worker take work again, whatever state was set before. Only a person may, and by that\napproves what its file runs now. --all resumes the workers that a person paused.", actors.Resume, actors.ResumePaused},
		{"drain", "let a worker finish what it has in hand and take no more", "Let a worker finish what it has in hand, take no more, and end.", actors.Drain, actors.Drain},
		{"kill", "end a worker and what it runs", "Mark a worker as dead, so that it does not start again, and end its loop and what the loop\nruns. stig worker resume lets it start again.", actors.Kill, actors.Kill},
		{"rm", "forget a worker", "Forget what this clone knows of a worker: its state and its dreams, not what it wrote.\n--file also removes its file. rm is refused while its loop runs.", actors.Remove, nil},
	}
}

func (l life) command(a *cli.App) *cobra.Command {
	var r actors.WorkerRequest
	all := false
	cmd := &cobra.Command{
		Use:   l.verb + " NAME",
		Short: l.short,
		Long:  l.long,
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return cli.Takes(0, 0, "no name with --all")(cmd, args)
			}
			return cli.Takes(1, 1, "one worker")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := aboveZero(cmd, "for"); err != nil {
				return err
			}
			if all {
				list, err := actors.ChangeAll(cmd.Context(), a.Run, r, l.all)
				return errors.Join(l.printAll(a, list, r.DryRun, err), err)
			}
			r.Name = args[0]
			w, err := l.change(cmd.Context(), a.Run, r)
			return a.Result("worker", w, err, func() error { return a.Print(l.line(w, r.DryRun)) })
		},
	}
	flags := cmd.Flags()
	if l.all != nil {
		cmd.Use = l.verb + " NAME | --all"
		flags.BoolVar(&all, "all", false, "all workers of this clone")
		flags.StringVar(&r.Why, "why", "", "the reason `WHY`")
	} else {
		flags.BoolVar(&r.File, "file", false, "also remove its file")
	}
	if l.verb == "pause" {
		cli.SpanVar(flags, &r.For, "for", "resume after `TIME` (default never)")
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

// line returns what became of a worker.
func (l life) line(w *actors.Worker, dryRun bool) string {
	switch {
	case l.verb == "rm" && dryRun:
		return w.Diff + w.Name + ": would be forgotten\n"
	case l.verb == "rm":
		return w.Name + ": forgotten\n"
	case dryRun:
		return w.Name + ": would be " + w.Words() + "\n"
	}
	return w.Name + ": " + w.Words() + "\n"
}

func (l life) printAll(a *cli.App, list []*actors.Worker, dryRun bool, failed error) error {
	if a.JSON {
		if failed != nil {
			return nil // the error is the JSON object
		}
		return a.PrintJSON("workers", struct {
			Workers []*actors.Worker `json:"workers"`
		}{append([]*actors.Worker{}, list...)})
	}
	var text strings.Builder
	for _, w := range list {
		text.WriteString(l.line(w, dryRun))
	}
	if len(list) == 0 && failed == nil {
		text.WriteString("no worker is known here\n")
	}
	return a.Print(text.String())
}
