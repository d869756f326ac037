package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/assistant"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// execution is a command to run for a loop's run or a swarm's agent.
type execution struct {
	app    *workspace.Run
	store  string // directory of the store
	now    func() time.Time
	place  clone.Place
	run    *clone.Run
	argv   []string
	prompt string // standard input of the command
	grace  time.Duration
}

// start runs the command until it ends or ctx does, and records how it ended, except the time.
// variables are additional NAME=VALUE for environ. If the command does not start, only the
// record's log is set.
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
	forget := x.app.NoteRun(*r)
	defer func() { forget() }()
	ended, err := process.Supervise(ctx, process.Supervised{
		Command: process.Command{Argv: x.argv, Dir: r.Worktree, Env: environ(x.app, x.store, r, files.Briefing, variables...), Stdin: []byte(x.prompt), Stdout: meter},
		Log:     r.Log, Grace: x.grace,
		Started: func(id process.ID) {
			r.Program, r.Step = id, stepStarted
			forget = x.app.NoteRun(*r)
			_ = x.place.RecordRun(*r, x.now()) // on error, a later loop finds the process by its mark
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

// spent records what a run used: the cost it reported to stig; otherwise the cost that the
// programs it ran reported; otherwise their tokens at the configured prices. tail is the end of
// the output; if it is an event, its text counts.
func spent(a *workspace.Run, r *clone.Run, meter *assistant.Meter, tail string) {
	u := meter.Usage()
	if u.Last != "" && strings.HasSuffix(strings.TrimSpace(tail), "}") { // otherwise it printed something after that
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

// spentUntilKilled is spent for a run whose loop was killed while its program ran. It reads the
// log, which has the output up to then.
func spentUntilKilled(a *workspace.Run, r *clone.Run) {
	if r.Step != stepStarted || r.Log == "" {
		return
	}
	log, err := os.Open(r.Log)
	if err != nil {
		return // the cost stays unknown
	}
	defer log.Close()
	meter := assistant.NewMeter()
	if _, err := io.Copy(meter, log); err == nil {
		spent(a, r, meter, "")
	}
}

// endKilled ends a run whose process was killed: it ends its program and its record.
func endKilled(a *workspace.Run, p clone.Place, r clone.Run, grace time.Duration, now time.Time, why string) error {
	a.EndProgram(r, grace)
	spentUntilKilled(a, &r)
	if r.Ended.IsZero() {
		r.Ended = now
	}
	r.Outcome, r.Why = string(clone.OutcomeStopped), why
	return p.RecordRun(r, now)
}

// programOf returns argv with a program that is found from any directory. If there is none, the
// error is fault.Usage with the given hint.
func programOf(a *workspace.Run, argv []string, hint string) ([]string, error) {
	found, ok, err := a.Program(argv)
	if err == nil && !ok {
		err = workspace.Usage(fmt.Sprintf("%s: no such program, or not executable", named(argv[0])), hint)
	}
	return found, err
}

// named returns a program for messages, quoted if it has invisible characters or is blank.
func named(program string) string {
	if shown := workspace.Visible(program); shown == program && strings.TrimSpace(program) != "" {
		return program
	}
	return strconv.Quote(program)
}

// trustedFor returns an error (fault.Found) if the code is not trusted; what is the
// consequence.
func trustedFor(ctx context.Context, a *workspace.Run, code *workspace.Code, issue, what, hint string) error {
	ok, err := a.Trusted(ctx, code)
	if err != nil || ok {
		return err
	}
	return &fault.Error{Code: fault.Found, ID: issue, Reason: "this repository is not trusted here, so " + what, Hint: "read the acceptance criteria, then type stig trust" + hint}
}

// environ returns the environment for the command of a run, or for a setup, which has no
// briefing yet. store is the directory of the store.
func environ(a *workspace.Run, store string, r *clone.Run, briefing string, more ...string) []string {
	if r.Branch != "" { // its work tree leaves the store out
		more = append(more, git.SparseSettings(a.Environ()))
	}
	return a.EnvironFor(append([]string{"STIG_ISSUE=" + r.Issue, "STIG_ACTOR=" + r.Actor, "STIG_ATTEMPT=" + fmt.Sprint(r.Attempt), "STIG_RUN=" + r.ID,
		"STIG_BRIEFING=" + briefing, "BEADS_DIR=" + store}, more...)...)
}

// promptOf returns the standard input of the command: who it is, the briefing, and how the run
// ends. What the actor learned is at the end of the briefing.
func (l *loop) promptOf(ctx context.Context, r *Run) (string, error) {
	var text strings.Builder
	if body := l.profile.Opening(); body != "" {
		text.WriteString(body + "\n\n")
	}
	text.WriteString(l.terms(r) + l.waitingFor())
	switch r.Task {
	case taskInbox:
		return text.String(), nil
	case taskHeartbeat:
		fmt.Fprintf(&text, "\n## Heartbeat\n\n%s\n", l.profile.Section(clone.Heartbeat))
		return text.String(), nil
	}
	o, err := service.Orient(ctx, l.fresh(ctx, ""), service.OrientRequest{ID: r.Issue, Loop: true})
	if err != nil {
		return "", err
	}
	text.WriteString("\n" + o.Markdown())
	return text.String(), nil
}

// terms returns the rules of the run, in terms that every assistant knows.
func (l *loop) terms(r *Run) string {
	var text strings.Builder
	fmt.Fprintf(&text, "## This run\n\nYou are %s, started by stig work for run %s", l.name, r.ID)
	if r.Issue != "" {
		fmt.Fprintf(&text, ", attempt %d at %s", r.Attempt, r.Issue)
	}
	text.WriteString(".\n\n")
	switch {
	case r.Issue == "":
		under := map[string]string{taskHeartbeat: "Heartbeat", taskInbox: "Waiting for you"}[r.Task]
		text.WriteString("- No issue is claimed: leave traces, for example with stig trace add.\n")
		if l.trees != nil {
			text.WriteString("- The current directory is a work tree that is removed afterwards: no file is kept.\n")
		}
		text.WriteString("- Do what is listed under " + under + ", then end.\n")
		return text.String()
	case l.trees == nil:
		text.WriteString("- Work in the current directory.\n")
	default:
		text.WriteString("- The current directory is a work tree of your own, on branch " + r.Branch + ". Work only there.\n" +
			"- Commit your work there. stig commits what you leave uncommitted when you end.\n")
	}
	if r.Holder != "" {
		text.WriteString("- Others do this issue at the same time, each on a branch of their own. One solution lands.\n")
	}
	end := "When you end with exit code 0"
	if l.assistant() != "" {
		end = "When you end"
	}
	if l.NoClose {
		text.WriteString("- Do not close the issue: somebody reviews your work first.\n")
	} else {
		text.WriteString("- Do not close the issue. " + end + ", stig merges your work, runs the\n  acceptance criteria on the result, and closes the issue if they pass.\n")
	}
	for _, line := range r.found {
		text.WriteString("- " + line + "\n")
	}
	if r.lack != "" {
		text.WriteString("- Note: " + r.lack + ".\n")
	}
	fmt.Fprintf(&text, "- Before you end, say what you did: stig checkpoint %s --done … --learned … --remains ….\n", r.Issue)
	fmt.Fprintf(&text, "- Does a person have to decide? Type stig escalate %s -m QUESTION, then end.\n", r.Issue)
	if l.assistant() == "" { // an assistant's model does not choose the exit code of its program
		text.WriteString("- If you cannot work now, for example because of a rate limit, end with exit code 75.\n")
	}
	return text.String()
}

// assistant returns the host whose program the command starts; "" for any other program, such
// as a script.
func (l *loop) assistant() assistant.Host {
	words := l.Command
	if l.ofFile { // a shell command line
		words = strings.Fields(l.profile.Command)
	}
	if len(words) > 0 {
		if name := assistant.Host(filepath.Base(words[0])); slices.Contains(assistant.Hosts(), name) {
			return name
		}
	}
	return l.Host
}
