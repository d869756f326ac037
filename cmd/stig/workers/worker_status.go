package workers

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/clone"
	"stig/internal/loop/actors"
	"stig/internal/visible"
	"stig/signals"
)

func statusCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "status NAME",
		Short: "show the state of a worker and what it runs",
		Long: "Show the state of a worker as in stig actor list, whether its loop runs, what it has in hand,\n" +
			"which units start it, and when it dreamt last.",
		Args: cli.Takes(1, 1, "one worker"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := actors.Status(cmd.Context(), a.Run, args[0])
			return a.Result("worker", w, err, func() error { return printWorker(a, w) })
		},
	}
}

func printWorker(a *cli.App, w *actors.Worker) error {
	s := a.Sheet()
	state := w.Shown
	if w.State == clone.State(w.Shown) {
		state = w.Words() // with who set it, until when and why
	}
	s.Line(cli.Strong, w.Name+"  "+state)
	line := func(what, text string) {
		if text != "" {
			s.Line(cli.Plain, cli.CutLine("  "+what+": "+visible.OneLine(text), cli.ListWidth))
		}
	}
	running := "not running"
	if w.Running {
		running = "running, process " + strconv.Itoa(w.Process)
	}
	line("loop", running)
	if w.Probation {
		line("probation", "it failed three issues in a row that others closed, and takes no new ones while others run")
	}
	line("issue", strings.TrimSpace(w.Issue+" "+w.Run))
	line("command", w.Command)
	if w.Command != "" && !w.Trusted {
		line("trust", "nobody approved what its file runs")
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
		a.Hint("read " + w.File + ", then type stig trust, or stig worker resume " + w.Name + " if the repository is trusted")
	}
	return nil
}
