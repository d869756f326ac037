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

// Run is one start of a worker's command, as it is printed.
type Run struct {
	ID       string     `json:"id"`
	Actor    string     `json:"actor"`
	Task     string     `json:"task"`
	Issue    string     `json:"issue"` // "" where it is about none
	Attempt  int        `json:"attempt"`
	Started  time.Time  `json:"started"`
	Ended    *time.Time `json:"ended"`   // null while it runs, and where its loop was killed
	Running  bool       `json:"running"` // the loop or the program is there
	Exit     int        `json:"exit"`
	Outcome  string     `json:"outcome"` // "" while it runs
	Why      string     `json:"why"`
	Bytes    int64      `json:"bytes"` // of output
	Cost     float64    `json:"cost"`
	Currency string     `json:"currency"`
	Log      string     `json:"log"` // path of the output
	Branch   string     `json:"branch"`
	Commit   string     `json:"commit"`

	Priced      string   `json:"priced"`       // how the cost is known: said, listed, partly; "" for not at all
	Price       string   `json:"price"`        // the cost and the tokens as people read them; "" while it runs
	TokensIn    int64    `json:"tokens_in"`    // with those from a cache; 0 where the program does not say
	TokensOut   int64    `json:"tokens_out"`   //
	UnreadPrice string   `json:"unread_price"` // what it printed as a price, and is none
	Asked       bool     `json:"asked"`        // its loop asked a person at its end
	LeftOut     []string `json:"left_out"`     // of its commit, each as "PATH (WHY)"

	spent clone.Spent

	Shared   []git.SharedChange `json:"shared"`   // what changed outside of its work tree while it ran
	Overlaps []string           `json:"overlaps"` // runs that ran then too; of one with Shared
}

// Spent is what the run cost, to be joined with that of others.
func (r Run) Spent() clone.Spent { return r.spent }

// RunOf is a run record as data.
func RunOf(r clone.Run) Run {
	one := Run{
		ID: r.ID, Actor: r.Actor, Task: r.Task, Issue: r.Issue, Attempt: r.Attempt, Started: r.Started, Exit: r.Exit, Outcome: r.Outcome, Why: r.Why,
		Bytes: r.Bytes, Cost: r.Cost, Currency: r.Currency, Log: r.Log, Branch: r.Branch, Commit: r.Commit,
		Priced: string(r.Price), TokensIn: r.TokensIn, TokensOut: r.TokensOut, UnreadPrice: r.UnreadPrice, Asked: r.Asked,
		Shared: append([]git.SharedChange{}, r.Shared...), Overlaps: append([]string{}, r.Overlaps...),
	}
	if r.Price == clone.PriceUnknown && r.Cost > 0 {
		one.Priced = string(clone.PriceSaid) // a record of an older version
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

// isThere reports whether a process runs, as far as that can be seen.
func isThere(id process.ID) bool {
	running, _ := process.Running(id)
	return running
}

// RunsRequest asks for the runs of an actor, or of all, since a time, a week unless told.
type RunsRequest struct {
	Name, Since string
	All         bool // whoever's; Name is not read
}

// Runs lists what the loop of an actor ran, or those of all, the oldest first.
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

// runsSince reads the runs of the actors that are asked for; lines that cannot be read are warned of.
func runsSince(a *workspace.Run, since time.Time, of func(name string) bool) ([]clone.Run, error) {
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	all, damaged, err := place.Runs(since)
	for _, where := range damaged {
		a.Warn("%s: holds a line that cannot be read", where)
	}
	return slices.DeleteFunc(all, func(r clone.Run) bool { return !of(r.Actor) }), err
}

// LogRequest asks for the output of a run of an actor: of the last one, unless Run
// names another. With Follow it goes on until the run ends.
type LogRequest struct {
	Name, Run string
	Follow    bool
}

// Log writes the output of a run. An actor without one is fault.Usage.
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
		over := !r.Follow || !RunOf(run).Running // asked before reading: what was written until then is there
		switch err := f.copyTo(w); {
		case over && errors.Is(err, fs.ErrNotExist):
			return Run{}, &fault.Error{Code: fault.Usage, Reason: run.Log + ": the log is gone", Hint: "type stig actor runs " + r.Name}
		case err != nil && !errors.Is(err, fs.ErrNotExist): // else the program has not started
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

// growing is a file that is only added to, and may not be there yet.
type growing struct {
	path string
	file *os.File
}

// copyTo copies what was added since the last time.
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
		_ = g.file.Close() // it was read only
	}
}

// followEvery is how often a log is read on.
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

// theRun finds the run that is asked for, among those since a time.
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
