package traces

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/loop/actors"
	"stig/internal/process"
	"stig/internal/service/traces"
	"stig/internal/workspace"
)

// WatchCommand returns stig watch.
func WatchCommand(a *cli.App) *cobra.Command {
	var r traces.WatchRequest
	var timeout time.Duration
	var exec string
	cmd := &cobra.Command{
		Use:   "watch [ID…]",
		Short: "print events on issues as they happen",
		Long: "Print a line for each event on the given issues, or on all. Events:\n" +
			strings.Join(traces.EventNames()[:8], ", ") + ",\n" +
			strings.Join(traces.EventNames()[8:], ", ") + ".\n" +
			"More than 50 issues that another program changes at once are one event, switched.\n\n" +
			"--as remembers the position under a name: the next watch with it also prints what happened\n" +
			"in between. --until ends at the first event of a name; on a timeout before that, the exit\n" +
			"code is 6.",
		Args: cli.Takes(0, -1, "issues"),
		Example: "  stig watch --event ready --event answered\n  stig watch demo-1 --until closed --timeout 1h\n" +
			"  stig watch --role network --as netty --exec ./help.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			debug.SetGCPercent(50) // it runs for days, other commands for a moment
			r.IDs = args
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeoutCause(ctx, timeout, errWaited)
				defer cancel()
			}
			defer actors.Watching(ctx, a.Run)()
			err := traces.Watch(ctx, a.Run, r, func(e traces.Event) error { return tell(ctx, a, e, exec) })
			if errors.Is(err, errWaited) {
				return workspace.Ended{Code: workspace.ExitWaits}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&r.Events, "event", nil, "only events of this `NAME`; separate several with commas")
	flags.StringSliceVar(&r.Types, "type", nil, "only traces of this `TYPE`")
	flags.StringSliceVar(&r.Roles, "role", nil, "only traces for `ROLE`, or that need it")
	flags.StringSliceVar(&r.To, "to", nil, "only traces for `ACTOR` and for @all")
	flags.StringSliceVar(&r.Labels, "label", nil, "only issues with this `LABEL`")
	flags.StringVar(&r.Epic, "epic", "", "only the epic `ID` and the issues within it")
	flags.StringVar(&r.As, "as", "", "continue from the position remembered under `NAME`")
	flags.BoolVar(&r.Anew, "anew", false, "forget the position under that name, and begin now")
	flags.StringVar(&r.Until, "until", "", "end at the first event of this `NAME`")
	cli.SpanVar(flags, &timeout, "timeout", "end after `TIME` (default, and 0: never)")
	flags.StringVar(&exec, "exec", "", "run `CMD` in a shell for each event, with the event as JSON on standard input")
	cli.Filters(cmd, "event", "type", "role", "to", "label", "epic", "as", "until")
	return cmd
}

var errWaited = errors.New("timed out")

// tell prints an event, and passes it to the command exec unless that is "".
func tell(ctx context.Context, a *cli.App, e traces.Event, exec string) error {
	line, err := workspace.NewOutput("event", e).JSON()
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.Print(string(line) + "\n")
	} else {
		err = a.Printf("%s\n", eventLine(e))
	}
	if err != nil || exec == "" {
		return err
	}
	result, err := process.Run(ctx, process.Command{
		Argv: []string{"sh", "-c", exec}, Dir: a.Dir, Stdin: append(line, '\n'), Stdout: a.Out, Stderr: a.Err,
		Env: append(a.Environ(), "STIG_EVENT="+e.Event, "STIG_ISSUE="+e.ID),
	})
	if err == nil && result.Exit != 0 {
		a.Warn("%s ended with exit code %d on %s of %s", exec, result.Exit, e.Event, e.ID)
	}
	return err
}
