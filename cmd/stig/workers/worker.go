package workers

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/app/actors"
	"stig/cmd/stig/cli"
	"stig/signals"
)

// WorkerCommand is stig worker.
func WorkerCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "add, start, pause and end workers",
		Long: "A worker is an actor whose loop runs a command for one issue after another: see stig\n" +
			"work. Its file in .stig/actors says who it is and which command that is. What a file\n" +
			"runs that came with a repository is run once a person agreed to it: with stig trust, or\n" +
			"with stig worker resume where it changed since.",
		GroupID: "workers",
		Args:    a.UnknownCommand,
		RunE:    a.HelpAlone,
	}
	cmd.AddCommand(addCommand(a), installCommand(a), statusCommand(a),
		lifeCommand(a, "pause", "have a worker take no work for now", "Have a worker take no work until stig worker resume, or for a time. What it runs at the\nmoment goes on to its end.", actors.Pause),
		lifeCommand(a, "resume", "have a worker take work again", "Have a worker take work again, whatever it was told before. A person says so, and agrees\nby that to what its file runs as it is now.", actors.Resume),
		lifeCommand(a, "drain", "have a worker end what it has in hand and take no more", "Have a worker end what it has in hand, take no more, and end.", actors.Drain),
		lifeCommand(a, "kill", "end a worker and what it runs", "Mark a worker as dead, so that it does not start again, and end its loop and what that\nruns. stig worker resume lets it start again.", actors.Kill),
		lifeCommand(a, "rm", "forget a worker", "Forget what this clone knows of a worker: its state and its dreams, not what it wrote.\nWith --file its file is removed too. While its loop runs it is refused.", actors.Remove))
	return cmd
}

// lifeCommand is a command that changes the life of one worker.
func lifeCommand(a *cli.App, verb, short, long string, change func(context.Context, *app.App, actors.WorkerRequest) (*actors.Worker, error)) *cobra.Command {
	var r actors.WorkerRequest
	cmd := &cobra.Command{
		Use:   verb + " NAME",
		Short: short,
		Long:  long,
		Args:  cli.Takes(1, 1, "one worker"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			w, err := change(cmd.Context(), a.App, r)
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("worker", w)
			case r.DryRun && verb == "rm":
				return a.Print(w.Diff + w.Name + ": would be forgotten\n")
			case verb == "rm":
				return a.Printf("%s: forgotten\n", w.Name)
			case r.DryRun:
				return a.Printf("%s: would be %s\n", w.Name, w.Words())
			}
			return a.Printf("%s: %s\n", w.Name, w.Words())
		},
	}
	flags := cmd.Flags()
	switch verb {
	case "rm":
		flags.BoolVar(&r.File, "file", false, "remove its file too")
	case "pause":
		cli.SpanVar(flags, &r.For, "for", "go on after `TIME` (never unless told)")
		fallthrough
	default:
		flags.StringVar(&r.Why, "why", "", "say `WHY`, for whoever looks")
	}
	a.Writes(cmd, &r.DryRun)
	return cmd
}

func statusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status NAME",
		Short: "show how a worker is and what it runs",
		Long:  "Show how a worker was told to be, whether its loop runs, what it has in hand, which units\nstart it, and when it dreamt last.",
		Args:  cli.Takes(1, 1, "one worker"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := actors.Status(cmd.Context(), a.App, args[0])
			switch {
			case err != nil:
				return err
			case a.JSON:
				return a.PrintJSON("worker", w)
			}
			return printWorker(a, w)
		},
	}
}

func printWorker(a *cli.App, w *actors.Worker) error {
	s := a.Sheet()
	s.Line(cli.Strong, w.Name+"  "+w.Words())
	line := func(what, text string) {
		if text != "" {
			s.Line(cli.Plain, cli.CutLine("  "+what+": "+app.Folded(text), cli.ListWidth))
		}
	}
	running := "not running"
	if w.Running {
		running = "running, process " + strconv.Itoa(w.Process)
	}
	line("loop", running)
	line("issue", strings.TrimSpace(w.Issue+" "+w.Run))
	line("command", w.Command)
	if w.Command != "" && !w.Trusted {
		line("trust", "nobody agreed to what its file runs")
	}
	line("file", w.File)
	for _, path := range w.Units {
		s.Line(cli.Plain, "  unit: "+path)
	}
	if !w.Dreamt.IsZero() {
		line("dreamt", signals.Day(w.Dreamt)+": "+w.Said)
	}
	if err := a.Show(s); err != nil {
		return err
	}
	if w.Command != "" && !w.Trusted {
		a.Hint("read " + w.File + ", then type stig trust, or stig worker resume " + w.Name + " where the repository is trusted")
	}
	return nil
}
