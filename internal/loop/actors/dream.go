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
	// dreamTask is the task name of dreams among an actor's runs.
	dreamTask = "dream"
	// dreamLimit is the timeout for the program's answer. TimeoutStartSec of the unit has the
	// same value.
	dreamLimit = 10 * time.Minute
	// mostAnswer is the maximum size of the answer in bytes, more than any actor's file.
	mostAnswer = 1 << 20
)

// DreamRequest is the input of Dream.
type DreamRequest struct {
	Name    string
	Command []string // program to ask; empty for the command in the actor's file
	Print   bool     // return the prompt and run nothing
	DryRun  bool     // run the program but write nothing
}

// Dreamed is the result of a dream.
type Dreamed struct {
	Name     string    `json:"name"`
	Since    time.Time `json:"since,omitzero"` // zero for no lower bound
	Nothing  bool      `json:"nothing"`        // nothing happened since
	Held     string    `json:"held"`           // why the program was not run: the actor is paused or dead
	Written  bool      `json:"written"`        // the actor's file changed
	Learned  string    `json:"learned"`
	Reason   string    `json:"reason"`
	Proposal string    `json:"proposal"` // proposed changes, for a person to decide
	Prompt   string    `json:"prompt"`   // if no program was run
	Diff     string    `json:"diff"`     // of the actor's file
	DryRun   bool      `json:"dry_run"`
}

// Dream asks a program what an actor learned since its last dream and writes the answer into
// the actor's file. If the answer is rejected (fault.Found), the file stays unchanged and the
// next dream covers the same time.
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
		return nil, &fault.Error{Code: fault.Conflict, ID: r.Name, Reason: "already dreaming in another process", Hint: "wait until it finishes"}
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = unlock() }() // the lock ends with the process
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

// heldBack returns the state of an actor that is paused or dead, and so does not dream by
// itself; "" otherwise. It also returns "" if the actor is paused because its file changed:
// Trusted reports that.
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

// actorHere returns the profile of an actor and the place of its live state.
func actorHere(a *workspace.Run, name string) (*clone.Profile, clone.Place, error) {
	root, err := Root(a)
	if err != nil {
		return nil, clone.Place{}, err
	}
	p, err := clone.LoadProfile(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, clone.Place{}, &fault.Error{Code: fault.Usage, ID: name, Err: err, Reason: "no such actor: it has no file " + workspace.Shortest(clone.ProfilePath(root, name)),
			Hint: "type stig actor list to see who is here; stig worker add creates the file"}
	}
	if err != nil {
		return nil, clone.Place{}, err
	}
	place, err := placeOf(a)
	return p, place, err
}

// askDream runs the program, parses its answer and writes what was learned.
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

// answerOf runs a program with the question on its standard input and returns its output.
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
		return "", 0, workspace.Usage(r.Command[0]+": no such program", "give a program on PATH after --")
	case err != nil:
		return "", result.Exit, &fault.Error{Code: fault.Found, ID: r.Name, Err: err, Reason: visible.OneLine(err.Error()), Hint: "type stig dream " + r.Name + " --print to see what it was given"}
	case result.Exit != 0:
		return "", result.Exit, &fault.Error{Code: fault.Found, ID: r.Name,
			Reason: fmt.Sprintf("%s ended with exit code %d, and nothing was written: %s", r.Command[0], result.Exit, visible.Clipped(visible.OneLine(string(result.Stderr)), keptOfText)),
			Hint:   "type stig dream " + r.Name + " --print to see what it was given"}
	}
	return answer.String(), 0, nil
}

// settle parses an answer and writes what was learned into the actor's file. It returns an
// error if the file changed while the program ran.
func (d *Dreamed) settle(a *workspace.Run, p *clone.Profile, text string, did past, dryRun bool) error {
	root, err := Root(a)
	if err != nil {
		return err
	}
	if now, err := clone.LoadProfile(root, p.Name); err != nil || now.Text() != p.Text() {
		return &fault.Error{Code: fault.Changed, Path: workspace.Shortest(p.Path), Reason: "changed while the program ran; nothing was written",
			Hint: "look at the change with git diff, then retry"}
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

// words summarizes what a dream was about. It is the reason if the program gives none.
func (p past) words() string {
	return fmt.Sprintf("after %s, %s, %s and %s", visible.Counted(len(p.runs), "run"), visible.Counted(len(p.errors), "error"),
		visible.Counted(len(p.feedback)+len(p.answers), "answer"), visible.Counted(len(p.learned), "checkpoint"))
}
