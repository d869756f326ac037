package workers

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/loop"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// WorkCommand is stig work.
func WorkCommand(a *cli.App) *cobra.Command {
	r := loop.Request{Onto: git.WorkBranch, Attempts: 2, Version: cli.Version}
	r.Bounds.Runs, r.Bounds.Time, r.Cap = 20, 8*time.Hour, clone.LoopCap
	cmd := &cobra.Command{
		Use:   "work [FILTER…] [-- CMD ARG…]",
		Short: "run a command for one issue after another",
		Long: "Run CMD for one issue after another: an assistant's program or a script. It gets the briefing\n" +
			"on its standard input and works in a work tree of its own, on branch stig/ID. When it ends\n" +
			"with exit code 0, stig merges its work with the branch that results go to, runs the\n" +
			"acceptance criteria on the merged tree, moves that branch there and closes the issue. What\n" +
			"fails comes back as a trace on the issue, and is tried again. stig pushes nothing and\n" +
			"touches no branch that is checked out.\n\n" +
			"Where nothing is ready it waits, and starts nothing. Runs are counted over 24 hours, so that\n" +
			"a restart gives none anew; 0 is no bound. It ends with 0 at a bound or when nothing is left,\n" +
			"6 where only questions remain, 1 after two runs in a row that left nothing.\n\n" +
			"FILTER is an issue, or label=NAME, type=NAME, priority=N, parent=ID. Without CMD, that of the\n" +
			"actor's file runs. CMD finds STIG_ISSUE, STIG_ACTOR, STIG_ATTEMPT, STIG_RUN and STIG_BRIEFING,\n" +
			"a file, in its environment; it may print a line such as stig: cost=0.42 USD.",
		GroupID: "workers",
		Example: "  stig work --until-empty -- claude -p --dangerously-skip-permissions\n  stig work label=docs --once -- ./agent.sh\n  stig work --dry-run -- codex exec -",
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				r.Filter, r.Command = args[:at], args[at:]
			} else {
				r.Filter = args
			}
			if r.RunTimeout == 0 && cmd.Flags().Changed("run-timeout") {
				r.RunTimeout = math.MaxInt64 // no bound
			}
			return runWork(cmd.Context(), a, r)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&r.Roles, "role", nil, "issues with this `LABEL`; several: with one of them (default the actor's roles)")
	flags.StringVar(&r.Epic, "epic", "", "issues within `ID` alone")
	flags.BoolVar(&r.Once, "once", false, "end after one run")
	flags.BoolVar(&r.UntilEmpty, "until-empty", false, "end when nothing is left to do")
	flags.StringVar(&r.Onto, "onto", r.Onto, "the `BRANCH` that results go to, made from HEAD where it is missing")
	flags.BoolVar(&r.NoClose, "no-close", false, "neither merge nor close: work stays on stig/ID")
	flags.BoolVar(&r.Commit, "commit", false, "commit the store after each close, and nothing else")
	flags.IntVar(&r.Bounds.Runs, "max-runs", r.Bounds.Runs, "end after `N` runs within 24 hours")
	cli.SpanVar(flags, &r.Bounds.Time, "max-time", "end when runs took this `TIME` within 24 hours (default 8h)")
	flags.Float64Var(&r.Bounds.Cost, "max-cost", 0, "end when runs cost `N` within 24 hours, as CMD says")
	cli.SpanVar(flags, &r.RunTimeout, "run-timeout", "end a run after `TIME` (default that of the actor's file, or 1h)")
	flags.IntVar(&r.Attempts, "attempts", r.Attempts, "ask a person after `N` failed runs for an issue")
	cli.SpanVar(flags, &r.Cap, "cap", "how long a claim lives at most, however often it is renewed (default 4h)")
	flags.BoolVar(&r.DryRun, "dry-run", false, "print what would be taken and run, write nothing")
	cli.Filters(cmd, "role", "epic")
	a.Acts(cmd)
	return cmd
}

// runWork runs the loop and prints what happens as it does; as JSON, all of it at the end.
func runWork(ctx context.Context, a *cli.App, r loop.Request) error {
	if r.Bounds.Runs < 0 || r.Bounds.Time < 0 || !(r.Bounds.Cost >= 0 && r.Bounds.Cost <= math.MaxFloat64) || r.Attempts < 1 || r.Cap <= 0 {
		return workspace.Usage("bounds must be numbers that are not negative, and --attempts and --cap must be above 0", "leave them out for the defaults")
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // else a pager that is left ends the loop in the middle of a run
	r.Tell = func(e loop.Event) {
		if a.JSON || e.Run == nil && a.Quiet {
			return
		}
		_ = a.Print(eventLine(e)) // a closed output does not end a night's work
	}
	done, err := loop.Work(ctx, a.Run, r)
	if err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON("work", done)
	} else {
		err = a.Print(endText(done) + toLand(ctx, a, r.Onto))
	}
	switch {
	case err != nil:
		return err
	case done.Silent:
		return workspace.Ended{Code: workspace.ExitFound}
	case done.Waiting && !done.DryRun:
		return workspace.Ended{Code: workspace.ExitWaits}
	}
	return nil
}

func eventLine(e loop.Event) string {
	text := workspace.Visible(e.Text)
	if e.Issue != "" {
		text = visible.OneLine(e.Issue) + ": " + text
	}
	if r := e.Run; r != nil && r.Cost > 0 {
		text += fmt.Sprintf(" (%.2f %s)", r.Cost, workspace.Visible(r.Currency))
	}
	return text + "\n"
}

// toLand says at the end of the loop what is to land; "" for nothing.
func toLand(ctx context.Context, a *cli.App, onto string) string {
	store, err := a.Discover()
	if err != nil {
		return ""
	}
	found, command := service.LandHint(context.WithoutCancel(ctx), a.Run, store.Place(), onto)
	if found == "" {
		return ""
	}
	return found + ": " + command + "\n"
}

// endText says why the loop ended, or what a dry run found.
func endText(d *loop.Done) string {
	w := d.Would
	if w == nil {
		return d.Reason + "\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "would take %s: %s (%s)\n", visible.OneLine(w.Issue), workspace.Visible(visible.OneLine(w.Title)), w.Why)
	fmt.Fprintf(&text, "would run %s\n", workspace.Visible(strings.Join(quoted(w.Command), " ")))
	fmt.Fprintf(&text, "  in %s", workspace.Shortest(w.Worktree))
	if w.Branch != "" {
		fmt.Fprintf(&text, ", on %s, for %s", w.Branch, w.Onto)
	}
	return text.String() + "\n"
}

// quoted are words as they would be typed.
func quoted(words []string) (list []string) {
	for _, word := range words {
		list = append(list, visible.Quoted(word))
	}
	return list
}
