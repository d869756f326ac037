package workers

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/assistant"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/loop"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// WorkCommand returns stig work.
func WorkCommand(a *cli.App) *cobra.Command {
	w := work{Request: loop.Request{Onto: git.WorkBranch, Attempts: 2, Version: cli.Version}, unknown: "ask", counts: map[assistant.Host]*string{}}
	r := &w.Request
	r.Bounds.Runs, r.Bounds.Time, r.Cap = 20, 8*time.Hour, clone.LoopCap
	cmd := &cobra.Command{
		Use:   "work [FILTER…] [-- CMD ARG…]",
		Short: "run an agent for one ready issue after another",
		Long: "Run CMD, an assistant's program or a script, for one issue after another. It reads the\n" +
			"briefing on standard input and works in a work tree of its own, on branch stig/ID. If it\n" +
			"ends with exit code 0, stig merges its work with the target branch, runs the acceptance\n" +
			"criteria on the merged tree, advances the branch and closes the issue. A failure becomes a\n" +
			"trace on the issue, and the issue is tried again. stig pushes nothing and touches no branch\n" +
			"that is checked out. CMD may print its cost: stig: cost=0.42 USD.\n\n" +
			"--claude N, --codex N, --gemini N and --opencode N run that program in N loops. --plan shows\n" +
			"what would run. FILTER is an issue, or label=NAME, type=NAME, priority=N, parent=ID. Without\n" +
			"CMD, the command of the actor's file runs. If nothing is ready, the loop waits. Limits count\n" +
			"the runs of 24 hours, also over restarts; 0 is no limit. Exit codes: 0 a limit, or nothing\n" +
			"left; 6 only questions left, or the worker is paused; 1 two runs in a row left nothing.\n\n" +
			"With --all, one loop serves this repository and those that projects names in the configuration.\n" +
			"It takes the best ready issue of all of them; each run uses the clone, the configuration and\n" +
			"the trust of its project. The limits are shared.\n\n" +
			"With --best-of N, N workers run on one issue in parallel, on branches stig/ID-NAME-1 and so\n" +
			"on. The first work that passes lands, and the other runs are stopped. If none passes, a\n" +
			"person is asked one question with all diffs.",
		Example: "  stig work --claude 3 --until-empty\n  stig work --plan --codex\n  stig work label=docs --once -- ./agent.sh\n  stig work --dry-run -- ./agent.sh\n  stig work demo-1 --best-of 3 -- ./agent.sh",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := aboveZero(cmd, "best-of", "jobs"); err != nil {
				return err
			}
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				r.Filter, r.Command = args[:at], args[at:]
			} else {
				r.Filter = args
			}
			if r.RunTimeout == 0 && cmd.Flags().Changed("run-timeout") {
				r.RunTimeout = math.MaxInt64 // no limit
			}
			return w.run(cmd.Context(), a)
		},
	}
	flags := cmd.Flags()
	for _, host := range assistant.Hosts() {
		if len(host.Unattended("")) > 0 {
			w.counts[host] = flags.String(string(host), "", "run "+string(host)+" in `N` parallel loops (1 without a number)")
			flags.Lookup(string(host)).NoOptDefVal = oneLoop
		}
	}
	flags.StringArrayVar(&r.Roles, "role", nil, "only issues with one of these `LABEL`s (default the actor's roles)")
	flags.StringVar(&r.Epic, "epic", "", "only issues within the epic `ID`")
	flags.BoolVar(&r.Once, "once", false, "end after one run")
	flags.BoolVar(&w.all, "all", false, "work in all projects of the configuration, one run at a time")
	flags.BoolVar(&r.UntilEmpty, "until-empty", false, "end when nothing is left to do")
	flags.IntVar(&r.BestOf, "best-of", 0, "run `N` workers on one issue in parallel; land the first that passes")
	flags.BoolVar(&r.Smallest, "smallest", false, "with --best-of, wait for all and land the work with the fewest changed lines")
	flags.IntVar(&r.Jobs, "jobs", 0, "with --best-of, run at most `N` workers at once (default all)")
	flags.StringVar(&r.Onto, "onto", r.Onto, "merge results into `BRANCH`, created from HEAD if missing")
	flags.BoolVar(&r.NoClose, "no-close", false, "neither merge nor close: work stays on stig/ID")
	flags.BoolVar(&r.Commit, "commit", false, "commit the store after each close, and nothing else")
	flags.IntVar(&r.Bounds.Runs, "max-runs", r.Bounds.Runs, "end after `N` runs within 24 hours")
	cli.SpanVar(flags, &r.Bounds.Time, "max-time", "end after `TIME` of runs within 24 hours (default 8h)")
	flags.Float64Var(&r.Bounds.Cost, "max-cost", 0, "end when the runs of all loops cost `N` within 24 hours")
	flags.Int64Var(&r.Bounds.Tokens, "max-tokens", 0, "end when the runs of all loops used `N` tokens within 24 hours")
	flags.StringVar(&w.unknown, "cost-unknown", w.unknown, "with --max-cost, what to do after a run without a known cost, as `WORD`: ask a person, or ok to go on")
	cli.SpanVar(flags, &r.RunTimeout, "run-timeout", "end a run after `TIME` (default that of the actor's file, or 1h)")
	flags.IntVar(&r.Attempts, "attempts", r.Attempts, "ask a person after `N` failed runs for an issue")
	cli.SpanVar(flags, &r.Cap, "cap", "maximum lifetime of a claim, however often it is renewed (default 4h)")
	flags.BoolVar(&r.DryRun, "dry-run", false, "print what would be taken and run; write nothing")
	flags.BoolVar(&r.Plan, "plan", false, "print the criteria of all issues that can be taken, the command, limits and trust; write nothing")
	cli.Filters(cmd, "role", "epic")
	a.Acts(cmd)
	for _, one := range []string{"epic", "best-of", "plan"} {
		cli.Exclude(cmd, "all", one)
	}
	return cmd
}

// oneLoop is the value of an assistant's flag without a number.
const oneLoop = "1"

// mostLoops is the maximum number of loops of one stig work.
const mostLoops = 32

// work is the flags of stig work.
type work struct {
	loop.Request
	counts  map[assistant.Host]*string // how many loops of each assistant to run; "" for none
	all     bool
	unknown string // what to do after a run without a known cost
}

// run runs the loops and prints their events as they happen. As JSON, each event is an object
// on a line, and the summary is the last.
func (w *work) run(ctx context.Context, a *cli.App) error {
	r := &w.Request
	if r.Bounds.Runs < 0 || r.Bounds.Time < 0 || !(r.Bounds.Cost >= 0 && r.Bounds.Cost <= math.MaxFloat64) || r.Bounds.Tokens < 0 || r.Attempts < 1 || r.Cap <= 0 {
		return workspace.Usage("limits must not be negative, and --attempts and --cap must be above 0", "leave them out for the defaults")
	}
	if r.Bounds.CostUnknown = w.unknown == "ok"; !r.Bounds.CostUnknown && w.unknown != "ask" {
		return workspace.Usage(fmt.Sprintf("--cost-unknown: must be ask or ok; found %q", w.unknown), "")
	}
	r.DryRun = r.DryRun || r.Plan
	apps, requests, err := w.loops(a)
	if err != nil {
		return err
	}
	var unread []workspace.Unread
	if w.all {
		if apps, requests, unread, err = w.inProjects(ctx, a, apps, requests); err != nil {
			return err
		}
	}
	if !r.DryRun && a.Asks() {
		if err := askTrust(ctx, a, apps[0], requests[0]); err != nil {
			return err
		}
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // otherwise closing a pager ends the loop in the middle of a run
	var printing sync.Mutex
	for i := range requests {
		requests[i].Tell = func(e loop.Event) {
			printing.Lock()
			defer printing.Unlock()
			switch { // closed output does not end a night's work
			case a.JSON:
				_ = a.PrintJSON("work-event", eventJSON(e))
			case e.Run != nil || !a.Quiet:
				_ = a.Print(eventLine(e))
			}
		}
	}
	for _, u := range unread {
		requests[0].Tell(loop.Event{At: a.Now(), Project: u.Project, Event: loop.EventSaid, Text: "not served: " + u.Why})
	}
	done, err := loop.WorkAll(ctx, apps, requests)
	if done == nil || len(done.Runs) == 0 && err != nil {
		return err
	}
	if a.JSON {
		err = errors.Join(err, a.PrintJSON("work", done))
	} else {
		err = errors.Join(err, a.Print(endText(done)))
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

// askTrust shows a person at a terminal what would run in a repository that is not trusted, and
// asks. Without a yes, the loop itself reports what it lacks.
func askTrust(ctx context.Context, a *cli.App, app *workspace.Run, r loop.Request) error {
	r.DryRun, r.Plan = true, true
	planned, err := loop.Work(ctx, app, r)
	if err != nil || planned.Plan == nil || planned.Plan.Trusted || r.NoClose {
		return err
	}
	if err := a.Print(planText(planned.Plan) + "\nRun these commands, and those of later criteria, on this machine? [y/N] "); err != nil {
		return err
	}
	line, _ := bufio.NewReader(a.In).ReadString('\n') // an error counts as no
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return nil
	}
	_, err = a.Trust(ctx, workspace.TrustRequest{})
	return err
}

// loops returns a run and a request for each loop. There is one loop, or as many as the
// assistant flags ask for, each with its own actor.
func (w *work) loops(a *cli.App) (apps []*workspace.Run, requests []loop.Request, err error) {
	var given []assistant.Host
	for _, host := range assistant.Hosts() {
		if n := w.counts[host]; n != nil && *n != "" {
			given = append(given, host)
		}
	}
	if len(given) == 0 {
		return []*workspace.Run{a.Run}, []loop.Request{w.Request}, nil
	}
	if len(w.Command) > 0 {
		return nil, nil, workspace.Usage(fmt.Sprintf("--%s runs a command of its own; found %q after --", given[0], w.Command[0]), "omit one of them")
	}
	if at := slices.IndexFunc(w.Filter, isNumber); at >= 0 && len(given) == 1 && *w.counts[given[0]] == oneLoop { // --claude 3 is two words
		*w.counts[given[0]] = w.Filter[at]
		w.Filter = slices.Delete(slices.Clone(w.Filter), at, at+1)
	}
	for _, host := range given {
		n, err := strconv.Atoi(*w.counts[host])
		if err != nil || n < 1 || len(requests)+n > mostLoops {
			return nil, nil, workspace.Usage(fmt.Sprintf("--%s: must be a number of loops from 1 to %d; found %q", host, mostLoops, *w.counts[host]), "")
		}
		for i := range n {
			one := a.Run.Fresh(a.Ctx, a.Running)
			one.Actor = cmp.Or(a.Actor, string(host))
			if w.BestOf == 0 { // otherwise its workers have the numbers
				one.Actor += fmt.Sprintf("-%d", i+1)
			}
			if a.Actor != "" && len(given) > 1 {
				one.Actor = fmt.Sprintf("%s-%s-%d", a.Actor, host, i+1)
			}
			request := w.Request
			request.Host = host
			apps, requests = append(apps, one), append(requests, request)
		}
	}
	if w.BestOf > 0 && len(requests) > 1 {
		return nil, nil, workspace.Usage(fmt.Sprintf("--best-of: takes one loop; found %d", len(requests)), "omit the number after --"+string(given[0]))
	}
	var crew []string
	for _, one := range apps {
		crew = append(crew, one.Actor)
	}
	for i := range requests {
		requests[i].Crew = crew
	}
	return apps, requests, nil
}

// inProjects returns a run and a request for each loop in each project, and the projects that are
// not here. The loops of one actor take turns.
func (w *work) inProjects(ctx context.Context, a *cli.App, apps []*workspace.Run, requests []loop.Request) (in []*workspace.Run, all []loop.Request, unread []workspace.Unread, err error) {
	if at := slices.IndexFunc(w.Filter, func(word string) bool { return !strings.Contains(word, "=") || strings.HasPrefix(word, "parent=") }); at >= 0 {
		return nil, nil, nil, workspace.Usage(fmt.Sprintf("--all: takes filters such as label=docs; found %q, which is in one project", w.Filter[at]), "type stig -C DIRECTORY work "+visible.Quoted(w.Filter[at]))
	}
	if len(w.Command) > 0 { // a relative path starts here
		if w.Command, _, err = a.Program(w.Command); err != nil {
			return nil, nil, nil, err
		}
	}
	for i, app := range apps {
		var runs []*workspace.Run
		if runs, unread, err = app.Projects(ctx); err != nil {
			return nil, nil, nil, err
		}
		for k, run := range runs {
			request := requests[i]
			request.Command, request.Project, request.TakesTurns = w.Command, run.Project, k > 0
			in, all = append(in, run), append(all, request)
		}
	}
	return in, all, unread, nil
}

func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}
