package actors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/workspace"
)

// Run is one run of a worker's command, as printed.
type Run struct {
	ID       string     `json:"id"`
	Actor    string     `json:"actor"`
	Task     string     `json:"task"`
	Issue    string     `json:"issue"` // "" for none
	Attempt  int        `json:"attempt"`
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended"`   // null while it runs, and if its loop was killed
	Running  bool       `json:"running"` // its loop or program is running
	Exit     int        `json:"exit"`
	Outcome  string     `json:"outcome"` // "" while it runs
	Why      string     `json:"why"`
	Bytes    int64      `json:"bytes"` // of output
	Cost     float64    `json:"cost"`
	Currency string     `json:"currency"`
	Log      string     `json:"log"` // path of the output
	Branch   string     `json:"branch"`
	Commit   string     `json:"commit"`

	Priced      string   `json:"priced"`    // source of the cost: said, listed, partly; "" if unknown
	Price       string   `json:"price"`     // cost and tokens, formatted; "" while it runs
	TokensIn    int64    `json:"tokens_in"` // including cached ones; 0 if the program does not say
	TokensOut   int64    `json:"tokens_out"`
	UnreadPrice string   `json:"unread_price"` // invalid price that it printed
	Asked       bool     `json:"asked"`        // a person was asked at its end
	LeftOut     []string `json:"left_out"`     // files left out of its commit, each as "PATH (WHY)"

	spent clone.Spent

	Shared   []git.SharedChange `json:"shared"`   // changes outside its work tree while it ran
	Overlaps []string           `json:"overlaps"` // runs at the same time; only with Shared
}

// Spent returns the cost of the run, for adding it to that of others.
func (r Run) Spent() clone.Spent { return r.spent }

// RunOf converts a run record.
func RunOf(r clone.Run) Run {
	one := Run{
		ID: r.ID, Actor: r.Actor, Task: r.Task, Issue: r.Issue, Attempt: r.Attempt, Started: r.Started, Exit: r.Exit, Outcome: r.Outcome, Why: r.Why,
		Bytes: r.Bytes, Cost: r.Cost, Currency: r.Currency, Log: r.Log, Branch: r.Branch, Commit: r.Commit,
		Priced: string(r.Price), TokensIn: r.TokensIn, TokensOut: r.TokensOut, UnreadPrice: r.UnreadPrice, Asked: r.Asked,
		Shared: append([]git.SharedChange{}, r.Shared...), Overlaps: append([]string{}, r.Overlaps...),
	}
	if r.Price == clone.PriceUnknown && r.Cost > 0 {
		one.Priced = string(clone.PriceSaid) // record of an older version
	}
	one.spent.Add(r)
	one.Price = one.spent.String()
	one.LeftOut = append([]string{}, r.LeftOut...)
	if !r.Ended.IsZero() {
		one.Ended = &r.Ended
	} else {
		one.Running = r.IsRunning()
	}
	return one
}

// isThere reports whether a process is known to run.
func isThere(id process.ID) bool {
	running, _ := process.Running(id)
	return running
}

// RunsRequest selects the runs of one actor, or of all, since a time; default: a week ago.
type RunsRequest struct {
	Name, Since string
	All         bool // of all actors; Name is ignored
}

// Runs returns the selected runs, oldest first.
func Runs(a *workspace.Run, r RunsRequest) ([]Run, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	since := now.Add(-recent)
	if r.Since != "" {
		if since, err = workspace.TimeOf(r.Since, now); err != nil {
			return nil, err
		}
	}
	all, err := runsSince(a, since, func(name string) bool { return r.All || name == r.Name })
	list := []Run{}
	for _, one := range all {
		list = append(list, RunOf(one))
	}
	return list, err
}

// runsSince returns the runs of the selected actors, and those for their claims. It warns about
// unreadable lines.
func runsSince(a *workspace.Run, since time.Time, of func(name string) bool) ([]clone.Run, error) {
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	all, damaged, err := place.Runs(since)
	for _, where := range damaged {
		a.Warn("%s: has an unreadable line", where)
	}
	return slices.DeleteFunc(all, func(r clone.Run) bool { return !of(r.Actor) && (r.Holder == "" || !of(r.Holder)) }), err
}

// LogRequest selects the output of an actor's run: the last one, unless Run is set. With Follow
// it is read until the run ends.
type LogRequest struct {
	Name, Run string
	Follow    bool
}

// Log writes the output of a run to w. If there is no run or no log, the error is fault.Usage.
func Log(ctx context.Context, a *workspace.Run, r LogRequest, w io.Writer) (Run, error) {
	run, err := theRun(a, r, time.Time{})
	if err != nil {
		return Run{}, err
	}
	if run.Log == "" {
		return Run{}, &fault.Error{Code: fault.Usage, Reason: run.ID + ": has no log", Hint: "type stig actor runs " + r.Name}
	}
	f := &growing{path: run.Log}
	defer f.close()
	for {
		over := !r.Follow || !RunOf(run).Running // checked before reading, so the last output is not missed
		switch err := f.copyTo(w); {
		case over && errors.Is(err, fs.ErrNotExist):
			return Run{}, &fault.Error{Code: fault.Usage, Reason: run.Log + ": the log is gone", Hint: "type stig actor runs " + r.Name}
		case err != nil && !errors.Is(err, fs.ErrNotExist): // otherwise the program has not started yet
			return Run{}, workspace.Placed(err)
		case over:
			return RunOf(run), nil
		}
		if err := pause(ctx, followEvery); err != nil {
			return RunOf(run), err
		}
		if run, err = theRun(a, LogRequest{Name: r.Name, Run: run.ID}, run.Started); err != nil {
			return Run{}, err
		}
	}
}

// growing is an append-only file that may not exist yet.
type growing struct {
	path string
	file *os.File
}

// copyTo copies what was appended since the last call.
func (g *growing) copyTo(w io.Writer) (err error) {
	if g.file == nil {
		if g.file, err = os.Open(g.path); err != nil {
			g.file = nil
			return err
		}
	}
	_, err = io.Copy(w, g.file)
	return err
}

func (g *growing) close() {
	if g.file != nil {
		_ = g.file.Close() // opened read-only
	}
}

// followEvery is the interval between reads of a followed log.
const followEvery = 250 * time.Millisecond

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// theRun returns the selected run among those since a time.
func theRun(a *workspace.Run, r LogRequest, since time.Time) (clone.Run, error) {
	all, err := runsSince(a, since, func(name string) bool { return name == r.Name })
	if err != nil {
		return clone.Run{}, err
	}
	for _, run := range slices.Backward(all) {
		if r.Run == "" || run.ID == r.Run {
			return run, nil
		}
	}
	if len(all) == 0 {
		return clone.Run{}, &fault.Error{Code: fault.Usage, Reason: r.Name + ": has no runs in this clone", Hint: "type stig actor list --all"}
	}
	return clone.Run{}, &fault.Error{Code: fault.Usage, Reason: fmt.Sprintf("%s: no such run of %s", r.Run, r.Name), Hint: "type stig actor runs " + r.Name}
}
