package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/assistant"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// execution is a command that is to run for a run, that of a loop or of an agent of a swarm.
type execution struct {
	app    *workspace.Run
	store  string // the directory of the store
	now    func() time.Time
	place  clone.Place
	run    *clone.Run
	argv   []string
	prompt string // what the command gets on its standard input
	grace  time.Duration
}

// start runs the command until it ends or ctx does, and has the record say how it ended,
// but for the time. variables are NAME=VALUE besides those of environ. Where it did not start, the record is as it was but for its log.
func (x execution) start(ctx context.Context, variables ...string) (process.Ended, error) {
	r := x.run
	files, err := x.place.RunFiles(r.ID)
	if err != nil {
		return process.Ended{}, err
	}
	if err := os.WriteFile(files.Briefing, []byte(x.prompt), 0o600); err != nil {
		return process.Ended{}, err
	}
	r.Log = files.Log
	meter := assistant.NewMeter()
	ended, err := process.Supervise(ctx, process.Supervised{
		Command: process.Command{Argv: x.argv, Dir: r.Worktree, Env: environ(x.app, x.store, r, files.Briefing, variables...), Stdin: []byte(x.prompt), Stdout: meter},
		Log:     r.Log, Grace: x.grace,
		Started: func(id process.ID) {
			r.Program, r.Step = id, stepStarted
			_ = x.place.RecordRun(*r, x.now()) // without it a killed loop ends what has its mark
		},
	})
	if errors.Is(err, process.ErrNotStarted) {
		return ended, err
	}
	r.Step, r.Exit, r.Bytes, r.TimedOut = stepEnded, ended.Exit, ended.Bytes, ended.TimedOut
	r.Said = lastLine(ended.Tail)
	spent(x.app, r, meter, ended.Tail)
	return ended, err
}

// spent has the record of a run say what it used: what it said to stig counts, else what the
// programs that it ran say, else their tokens at the prices of the configuration. tail is the
// end of the output: of an event the words count.
func spent(a *workspace.Run, r *clone.Run, meter *assistant.Meter, tail string) {
	u := meter.Usage()
	if u.Last != "" && strings.HasSuffix(strings.TrimSpace(tail), "}") { // else it went on to say something else
		r.Said = lastLine(u.Last)
	}
	r.TokensIn, r.TokensOut = u.Tokens.In, u.Tokens.Out
	r.UnreadPrice = visible.HideSecrets(visible.OneLine(workspace.Visible(strings.ToValidUTF8(u.Unread, "?"))))
	if u.IsSaid {
		r.Cost, r.Currency, r.Price = u.Said, workspace.Visible(strings.ToValidUTF8(u.Currency, "?")), clone.PriceSaid
		if u.Unread != "" {
			r.Price = clone.PricePartly
		}
		return
	}
	cost, known := u.Cost, u.IsPriced
	if !known && len(u.Unpriced) > 0 {
		known = true
		for _, model := range slices.Sorted(maps.Keys(u.Unpriced)) {
			price, ok := a.Config.PriceOf(model, string(u.Program))
			known = known && ok
			t := u.Unpriced[model]
			cost += (price.In*float64(t.In) + price.Out*float64(t.Out)) / 1e6
		}
	}
	switch {
	case known:
		r.Price = clone.PriceListed
	case cost > 0:
		r.Price = clone.PricePartly
	}
	if cost > 0 {
		r.Cost, r.Currency = cost, "USD"
	}
}

// spentUntilKilled is spent for a run whose loop was killed while its program ran: the log holds
// what that printed until then.
func spentUntilKilled(a *workspace.Run, r *clone.Run) {
	if r.Step != stepStarted || r.Log == "" {
		return
	}
	log, err := os.Open(r.Log)
	if err != nil {
		return // its cost is unknown
	}
	defer log.Close()
	meter := assistant.NewMeter()
	if _, err := io.Copy(meter, log); err == nil {
		spent(a, r, meter, "")
	}
}

// endKilled ends what is left of a run whose process was killed: its program, and its record.
func endKilled(a *workspace.Run, p clone.Place, r clone.Run, grace time.Duration, now time.Time, why string) error {
	a.EndProgram(r, grace)
	spentUntilKilled(a, &r)
	if r.Ended.IsZero() {
		r.Ended = now
	}
	r.Outcome, r.Why = string(clone.OutcomeStopped), why
	return p.RecordRun(r, now)
}

// programOf is a command whose program is found from any directory; fault.Usage, with a
// hint, where there is none.
func programOf(a *workspace.Run, argv []string, hint string) ([]string, error) {
	found, ok, err := a.Program(argv)
	if err == nil && !ok {
		err = workspace.Usage(fmt.Sprintf("%s: no such program; it must be there, and executable", named(argv[0])), hint)
	}
	return found, err
}

// named is a program as messages have it: in quotes where it would not be seen.
func named(program string) string {
	if shown := workspace.Visible(program); shown == program && strings.TrimSpace(program) != "" {
		return program
	}
	return strconv.Quote(program)
}

// trustedFor refuses code that is not trusted (fault.Found); what would not be done then.
func trustedFor(ctx context.Context, a *workspace.Run, code *workspace.Code, issue, what, hint string) error {
	ok, err := a.Trusted(ctx, code)
	if err != nil || ok {
		return err
	}
	return &fault.Error{Code: fault.Found, ID: issue, Reason: "this repository is not trusted here, so that " + what, Hint: "read the acceptance criteria, then type stig trust" + hint}
}

// environ is the environment of the command of a run, and of a setup, which has no briefing
// yet. store is the directory of the store.
func environ(a *workspace.Run, store string, r *clone.Run, briefing string, more ...string) []string {
	return a.EnvironFor(append([]string{"STIG_ISSUE=" + r.Issue, "STIG_ACTOR=" + r.Actor, "STIG_ATTEMPT=" + fmt.Sprint(r.Attempt), "STIG_RUN=" + r.ID,
		"STIG_BRIEFING=" + briefing, "BEADS_DIR=" + store}, more...)...)
}
