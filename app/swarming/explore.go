package swarming

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/app"
	"stig/git"
	"stig/live"
	"stig/process"
	"stig/secret"
	"stig/swarm"
	"stig/work"
	"stig/worktree"
)

// explorer is one agent in one round.
type explorer struct {
	*runner
	agent  string
	round  int
	tree   *worktree.Tree // nil in place
	prompt string
}

// explorer prepares the work tree and the prompt of an agent.
func (x *runner) explorer(ctx context.Context, agent string) (*explorer, error) {
	e := &explorer{runner: x, agent: agent, round: x.state.Round}
	var err error
	if x.trees != nil {
		if e.tree, err = worktree.Prepare(ctx, *x.trees, treeName(x.issue, agent)); err != nil {
			return nil, err
		}
	}
	e.prompt, err = x.promptOf(ctx, agent)
	return e, err
}

// explore runs the command, and once more with a reminder where it did nothing.
func (e *explorer) explore(ctx context.Context) error {
	began := e.app.Now()
	for attempt := 1; attempt <= 2; attempt++ {
		limit := e.ResponseTimeout
		prompt := e.prompt
		if attempt == 2 {
			limit = e.RoundTimeout - e.app.Now().Sub(began)
			prompt += "\n## Reminder\n\nThis round has no answer of yours yet. A second round in a row without one ends your part.\n"
		}
		if limit <= 0 {
			break
		}
		if err := e.attempt(ctx, attempt, limit, prompt); err != nil {
			return err
		}
		if e.answered() {
			break
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.place.ChangeSwarmRound(e.issue, func(r *live.SwarmRound) error {
		if r.Swarm != e.state.Swarm || r.Round != e.round {
			*r = live.SwarmRound{Store: r.Store, Issue: r.Issue, Swarm: e.state.Swarm, Round: e.round, Refused: r.Refused}
		}
		if !slices.Contains(r.Done, e.agent) {
			r.Done = append(r.Done, e.agent)
		}
		return nil
	})
}

// answered reports whether the agent did anything in the round.
func (e *explorer) answered() bool {
	r, err := e.place.SwarmRound(e.issue)
	return err == nil && r.Swarm == e.state.Swarm && r.Round == e.round &&
		slices.ContainsFunc(operations(r), func(o swarm.Operation) bool { return o.Agent == e.agent })
}

// attempt is one run of the command, with its record.
func (e *explorer) attempt(ctx context.Context, attempt int, limit time.Duration, prompt string) error {
	now, err := e.app.Clock()
	if err != nil {
		return err
	}
	self, _ := process.Self()
	r := &live.Run{ID: live.NewRunID(), Actor: e.agent, Task: live.SwarmTask, Issue: e.issue, Attempt: attempt, Loop: self.ID, Step: "claimed", Started: now, Worktree: e.root}
	if e.tree != nil {
		r.Worktree, r.Branch, r.Base = e.tree.Dir, e.tree.Branch, e.tree.Base
	}
	files, err := e.place.RunFiles(r.ID)
	if err != nil {
		return err
	}
	r.Log = files.Log
	if err := os.WriteFile(files.Briefing, []byte(prompt), 0o600); err != nil {
		return err
	}
	if err := e.place.RecordRun(*r, now); err != nil {
		return err
	}
	said := &tail{}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ended, err := process.Supervise(limited, process.Supervised{
		Command: process.Command{Argv: e.Command, Dir: r.Worktree, Env: e.environ(r, files.Briefing), Stdin: []byte(prompt), Stdout: said},
		Log:     r.Log, Grace: e.Grace,
		Started: func(id process.ID) {
			r.Program, r.Step = id, "started"
			_ = e.place.RecordRun(*r, now) // without it a killed run ends what has its mark
		},
	})
	if err != nil {
		r.Why = app.Folded(err.Error())
	}
	r.Exit, r.Bytes, r.TimedOut, r.Step = ended.Exit, ended.Bytes, ended.TimedOut, "ended"
	r.Cost, r.Currency = work.Cost(ended.Lines)
	e.take(ctx, said.text(), r)
	return e.record(ctx, r)
}

// record ends the record of a run: what it left is on its branch.
func (e *explorer) record(ctx context.Context, r *live.Run) error {
	if e.tree != nil {
		limited, cancel := context.WithTimeout(ctx, e.RoundTimeout)
		commit, err := e.tree.Commit(limited, fmt.Sprintf("%s: work of %s in round %d\n\nRun: %s\n", e.issue, e.agent, e.round, r.ID), e.agent)
		cancel()
		if err != nil {
			e.app.Warn("%s: the work of %s is not committed: %v", e.issue, e.agent, err)
		}
		r.Commit = commit
	}
	now, err := e.app.Clock()
	if err != nil {
		return err
	}
	r.Ended = now
	switch {
	case r.TimedOut:
		r.Outcome = string(work.TimedOut)
	case e.answered():
		r.Outcome = string(work.Advanced)
	case r.Exit != 0 || r.Why != "":
		r.Outcome = string(work.Failed)
	default:
		r.Outcome = string(work.Silent)
	}
	return e.place.RecordRun(*r, now)
}

// environ is the environment of the command, as that of stig work.
func (e *explorer) environ(r *live.Run, briefing string) []string {
	dir, _ := filepath.Abs(e.store.Place().Dir)
	own := [][2]string{
		{"STIG_ISSUE", e.issue}, {"STIG_ACTOR", e.agent}, {"STIG_ROUND", fmt.Sprint(e.round)}, {"STIG_RUN", r.ID},
		{"STIG_BRIEFING", briefing}, {"BEADS_DIR", dir},
	}
	drop := append([]string{"STIG_TRUST", "BD_ACTOR"}, git.PlaceVariables...)
	for _, variable := range own {
		drop = append(drop, variable[0])
	}
	var env []string
	for _, variable := range e.app.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !slices.Contains(drop, name) {
			env = append(env, variable)
		}
	}
	for _, variable := range own {
		env = append(env, variable[0]+"="+variable[1])
	}
	return env
}

// completed is what a command may end its output with, in place of calling stig swarm.
type completed struct {
	Direction  string            `json:"direction"`
	Findings   []json.RawMessage `json:"findings"`
	Operations []json.RawMessage `json:"operations"`
}

// take has the operations of an output count, one by one. What is refused is told in the
// next prompt; the others count.
func (e *explorer) take(ctx context.Context, text string, r *live.Run) {
	report, found, err := lastReport(text)
	if !found {
		return
	}
	var refused []string
	if err != nil {
		refused = append(refused, "round_complete: "+err.Error())
	}
	add := func(raw json.RawMessage, kind swarm.Kind) {
		var o swarm.Operation
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&o)
		if kind != "" {
			o.Kind = kind
		}
		if o.Kind == swarm.Find && o.Direction == "" {
			o.Direction = report.Direction
		}
		if err == nil {
			err = e.accept(ctx, o)
		}
		if err != nil {
			refused = append(refused, secret.Hide(app.Folded(fmt.Sprintf("%.200s: %s", raw, app.Classify(err).Message))))
		}
	}
	for _, raw := range report.Findings {
		add(raw, swarm.Find)
	}
	for _, raw := range report.Operations {
		add(raw, "")
	}
	if len(refused) > 0 {
		r.Said = refused[0]
	}
	_ = e.place.ChangeSwarmRound(e.issue, func(r *live.SwarmRound) error { // it is told, or not
		if r.Refused == nil {
			r.Refused = map[string][]string{}
		}
		r.Refused[e.agent] = refused[:min(len(refused), 10)]
		return nil
	})
}

// accept has one operation of the agent count.
func (e *explorer) accept(ctx context.Context, o swarm.Operation) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now, err := e.app.Clock()
	if err != nil {
		return err
	}
	s := *e.session
	s.now, s.state = now, s.replay(live.SwarmRound{})
	if o, err = s.checked(ctx, e.agent, o); err != nil {
		return err
	}
	_, err = s.act(o, false)
	return err
}

// lastReport finds the last report of a round in an output.
func lastReport(text string) (c completed, found bool, err error) {
	at := strings.LastIndex(text, `"round_complete"`)
	if at < 0 {
		return c, false, nil
	}
	from := strings.LastIndexByte(text[:at], '{')
	if from < 0 || strings.TrimSpace(text[from+1:at]) != "" {
		return c, true, errors.New(`must begin with {"round_complete": …}`)
	}
	var whole struct {
		Round completed `json:"round_complete"`
	}
	err = json.NewDecoder(strings.NewReader(text[from:])).Decode(&whole)
	return whole.Round, true, err
}

// tail keeps the end of an output.
type tail struct {
	mu  sync.Mutex
	end []byte
}

// mostTail is how much of an output is searched for a report.
const mostTail = 512 << 10

// Write keeps what is written, and forgets what is too long ago.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if len(t.end) > 2*mostTail {
		t.end = append([]byte{}, t.end[len(t.end)-mostTail:]...)
	}
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end)
}
