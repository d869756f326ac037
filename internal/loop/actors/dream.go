package actors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
)

const (
	// dreamTask names a dream among the runs of an actor.
	dreamTask = "dream"
	// dreamLimit is how long a program may take to answer; TimeoutStartSec of the unit
	// has it too.
	dreamLimit = 10 * time.Minute
	// mostAnswer is how many bytes it may print: the whole text of an actor, and more.
	mostAnswer = 1 << 20
)

// DreamRequest has an actor learn from what it did since it dreamt last.
type DreamRequest struct {
	Name    string
	Command []string // that is asked; that of the actor's file where it is empty
	Print   bool     // give the question, and ask nobody
	DryRun  bool     // ask, and write nothing
}

// Dreamed is what came of a dream.
type Dreamed struct {
	Name     string    `json:"name"`
	Since    time.Time `json:"since,omitzero"` // zero for all time
	Nothing  bool      `json:"nothing"`        // nothing happened since
	Held     string    `json:"held"`           // why nobody was asked: it is paused, or was ended
	Written  bool      `json:"written"`        // the file of the actor changed
	Learned  string    `json:"learned"`
	Reason   string    `json:"reason"`
	Proposal string    `json:"proposal"` // of changes that a person decides on
	Prompt   string    `json:"prompt"`   // where nobody was asked
	Diff     string    `json:"diff"`     // of the file
	DryRun   bool      `json:"dry_run"`
}

// Dream asks a program what an actor learned from what it did, and writes that into the
// actor's file. An answer that is refused (fault.Found) leaves the file as it is, and
// the same is asked the next time.
func Dream(ctx context.Context, a *workspace.Run, r DreamRequest) (*Dreamed, error) {
	p, place, err := actorHere(a, r.Name)
	if err != nil {
		return nil, err
	}
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	known, unlock, err := place.Dream(r.Name)
	if errors.Is(err, clone.ErrDreaming) {
		return nil, &fault.Error{Code: fault.Conflict, ID: r.Name, Reason: "another process has it dream", Hint: "wait until that has ended"}
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the lock goes with the process
	did, err := pastOf(ctx, a, place, r.Name, known.Until, now)
	if err != nil {
		return nil, err
	}
	d := &Dreamed{Name: r.Name, Since: known.Until, Nothing: did.isEmpty(), DryRun: r.DryRun}
	if len(r.Command) == 0 && p.Command == "" || r.Print {
		d.Prompt = did.prompt(p)
		return d, nil
	}
	if d.Nothing {
		return d, nil
	}
	if len(r.Command) == 0 {
		if d.Held = heldBack(place, r.Name, now); d.Held != "" {
			return d, nil
		}
		if err := Trusted(ctx, a, p); err != nil {
			return nil, err
		}
		r.Command = []string{"sh", "-c", p.Command}
	}
	return d, askDream(ctx, a, place, p, did, r, d)
}

// heldBack says that an actor is paused or was ended, which keeps it from dreaming by
// itself; "" where it is not, or only since its file changed, which Trusted says.
func heldBack(place clone.Place, name string, now time.Time) string {
	one, _ := place.Presence(name)
	w := &Worker{}
	w.setPresence(one, now)
	switch {
	case forChange(one), w.State != clone.Paused && w.State != clone.Maintenance && w.State != clone.Dead:
		return ""
	}
	return w.Words()
}

// actorHere gives the file of an actor, and where its live state is.
func actorHere(a *workspace.Run, name string) (*clone.Profile, clone.Place, error) {
	root, err := Root(a)
	if err != nil {
		return nil, clone.Place{}, err
	}
	p, err := clone.LoadProfile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, clone.Place{}, &fault.Error{Code: fault.Usage, ID: name, Err: err, Reason: "no such actor: it has no file " + workspace.Shortest(clone.ProfilePath(root, name)),
			Hint: "type stig actor list to see who is here; stig worker add makes the file"}
	}
	if err != nil {
		return nil, clone.Place{}, err
	}
	place, err := placeOf(a)
	return p, place, err
}

// askDream asks the program, reads its answer, and writes what was learned.
func askDream(ctx context.Context, a *workspace.Run, place clone.Place, p *clone.Profile, did past, r DreamRequest, d *Dreamed) error {
	run := clone.Run{ID: clone.NewRunID(), Actor: r.Name, Task: dreamTask, Started: did.until}
	if self, ok := process.Self(); ok {
		run.Loop = self.ID
	}
	record := func() error {
		if r.DryRun {
			return nil
		}
		return place.RecordRun(run, did.until)
	}
	if err := record(); err != nil {
		return err
	}
	text, exit, err := answerOf(ctx, a, r, run.ID, did.prompt(p))
	if err == nil {
		err = d.settle(a, p, text, did, r.DryRun)
	}
	run.Exit, run.Outcome, run.Why = exit, string(clone.OutcomeAdvanced), visible.Clipped(visible.OneLine(d.Reason), lineLimit)
	if err != nil {
		run.Outcome, run.Why = string(clone.OutcomeFailed), visible.Clipped(visible.OneLine(err.Error()), lineLimit)
	}
	if run.Ended, _ = a.Clock(); run.Ended.Before(run.Started) {
		run.Ended = run.Started
	}
	if err := errors.Join(err, record()); err != nil || r.DryRun {
		return err
	}
	known := place.Dreamt(r.Name)
	known.Until, known.At, known.Said = did.until, run.Ended, run.Why
	known.Count++
	return place.RecordDream(known)
}

// answerOf gives a program the question and takes what it prints.
func answerOf(ctx context.Context, a *workspace.Run, r DreamRequest, run, question string) (text string, exit int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dreamLimit, fmt.Errorf("it did not answer within %s", dreamLimit))
	defer cancel()
	root, err := Root(a)
	if err != nil {
		return "", 0, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	answer := &process.Short{Most: mostAnswer, Stop: stop}
	result, err := process.Run(ctx, process.Command{Argv: r.Command, Dir: root, Env: a.EnvironFor("STIG_ACTOR="+r.Name, "STIG_RUN="+run), Stdin: []byte(question), Stdout: answer, Limit: dreamLimit})
	switch {
	case errors.Is(err, process.ErrNotFound):
		return "", 0, workspace.Usage(r.Command[0]+": no such program", "give a program that is on PATH behind --")
	case err != nil:
		return "", result.Exit, &fault.Error{Code: fault.Found, ID: r.Name, Err: err, Reason: visible.OneLine(err.Error()), Hint: "type stig dream " + r.Name + " --print to see what it was given"}
	case result.Exit != 0:
		return "", result.Exit, &fault.Error{Code: fault.Found, ID: r.Name,
			Reason: fmt.Sprintf("%s ended with exit code %d, and nothing was written: %s", r.Command[0], result.Exit, visible.Clipped(visible.OneLine(string(result.Stderr)), keptOfText)),
			Hint:   "type stig dream " + r.Name + " --print to see what it was given"}
	}
	return answer.String(), 0, nil
}

// settle reads an answer, and writes what was learned into the actor's file, unless
// that changed while the program ran.
func (d *Dreamed) settle(a *workspace.Run, p *clone.Profile, text string, did past, dryRun bool) error {
	root, err := Root(a)
	if err != nil {
		return err
	}
	if now, err := clone.LoadProfile(root, p.Name); err != nil || now.Text() != p.Text() {
		return &fault.Error{Code: fault.Changed, Path: workspace.Shortest(p.Path), Reason: "changed while the program ran, and nothing was written",
			Hint: "look at it with git diff, then dream again"}
	}
	answer, err := readAnswer(p, text)
	if err != nil {
		return err
	}
	after, err := learn(p, answer, did.words(), did.until)
	if err != nil {
		return err
	}
	d.Learned, d.Reason, d.Proposal = answer.learned, cmp.Or(answer.reason, did.words()), workspace.Visible(answer.proposal)
	file := workspace.HostFile{Path: p.Path}
	for _, step := range file.Change([]byte(p.Text()), after) {
		if d.Diff = step.Diff; dryRun {
			continue
		}
		if err := step.Do(); err != nil {
			return err
		}
		d.Written = true
	}
	return nil
}

// words say what a dream was about, where the program gives no reason.
func (p past) words() string {
	return fmt.Sprintf("after %s, %s, %s and %s", visible.Counted(len(p.runs), "run"), visible.Counted(len(p.errors), "error"),
		visible.Counted(len(p.feedback)+len(p.answers), "answer"), visible.Counted(len(p.learned), "checkpoint"))
}
