package orient

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// over reports whether the issue is finished.
func (b *Briefing) over() bool { return beads.IsClosed(b.Issue.Status) }

// next returns steps that can succeed now: what else to do while the issue waits, or claiming
// it, then how to end the work.
func (b *Briefing) next() []Step {
	if b.over() {
		return []Step{b.Issue.left()}
	}
	if b.explorer {
		return []Step{
			{Why: "leave what you find", Argv: []string{"stig", "swarm", "finding", b.Issue.ID, "--idea", "…", "--direction", "…", "--details", "…"}},
			{Why: "keep a note for your next round", Argv: []string{"stig", "swarm", "state", b.Issue.ID, "-m", "…"}},
		}
	}
	if b.loop {
		return b.looped()
	}
	var steps []Step
	if b.against != "" && b.Children == nil && len(b.OpenBlockers) == 0 && !b.asks() {
		steps = append(steps, Step{Why: "first see whether it can be done now (" + b.against + "), or take another", Argv: []string{"stig", "orient"}})
	}
	steps = append(append(steps, b.instead()...), b.explored()...)
	steps = append(steps, b.take()...)
	if len(b.Also) > 0 {
		steps = append(steps, Step{Why: "once you have taken over what still holds from the other branch", Argv: []string{"stig", "checkpoint", b.Issue.ID, "--fold"}})
	}
	if !b.complete() {
		steps = append(steps, b.checkpoint())
	}
	if b.closable() {
		steps = append(steps, b.closing())
	}
	return steps
}

// looped returns the last steps for a reader in a worker loop, which claims and closes the
// issue itself.
func (b *Briefing) looped() []Step {
	end := b.checkpoint()
	end.Why = "you run in a worker loop, which claims and closes: before you end, leave the state for the next run"
	ask := Step{Why: "when only a person can decide, ask and end", Argv: []string{"stig", "escalate", b.Issue.ID, "-m", "…"}}
	return []Step{end, ask}
}

// instead returns what to do while the issue cannot be worked on.
func (b *Briefing) instead() (steps []Step) {
	if c := b.Children; c != nil && len(c.Open) > 0 {
		first := c.Open[0]
		why := "none of its children is ready; see what blocks the first"
		switch first.State {
		case childReady:
			why = "begin with the first ready child"
		case childProgress:
			why = "see how far the child in progress is"
		case childEpic:
			why = "its first child has children of its own; begin there"
		}
		steps = append(steps, Step{Why: why, Argv: []string{"stig", "orient", first.ID}})
	}
	switch {
	case b.ring:
		steps = append(steps, Step{Why: "it waits for itself; see which row to remove", Argv: []string{"stig", "cycles"}})
	case len(b.OpenBlockers) > 0:
		steps = append(steps, Step{Why: "see what it waits for", Argv: []string{"stig", "orient", b.OpenBlockers[0].ID}})
	}
	if len(b.OpenBlockers) > 0 || b.asks() {
		steps = append(steps, Step{Why: "while this one waits, take another that is ready", Argv: []string{"stig", "orient"}})
	}
	switch {
	case b.Escalation.Question != "":
		steps = append(steps, Step{Why: "if nothing else is left to do, wait for the answer", Argv: []string{"stig", "escalate", "--wait", b.Issue.ID}})
	case b.asks():
		steps = append(steps, Step{Why: "see why its escalation is pending although no question is recorded", Argv: []string{"stig", "vet", b.Issue.ID}})
	}
	return steps
}

// explored returns the step for the swarm that runs on the issue, even if the process that ran
// its rounds was killed.
func (b *Briefing) explored() []Step {
	if b.swarm == nil {
		return nil
	}
	why := fmt.Sprintf("%s started a swarm on it, in round %d: check its progress; stig swarm run continues it, and stig swarm end ends it",
		visible.OneLine(b.swarm.StartedBy), b.swarm.Round)
	return []Step{{Why: why, Argv: []string{"stig", "swarm", "status", b.Issue.ID}}}
}

// asks reports whether the issue waits for a person's answer.
func (b *Briefing) asks() bool {
	return b.Escalation.Question != "" || b.Escalation.State == signals.EscalationPending
}

// take returns the steps by which the reader gets the issue.
func (b *Briefing) take() []Step {
	id, others := b.Issue.ID, b.Issue.Assignee != "" && b.Issue.Assignee != b.reader
	switch {
	case b.Issue.Assignee != "" && !others && b.Issue.Status == beads.StatusInProgress:
		return nil // the reader already has it
	case b.stands.Free() && others:
		return []Step{{Why: "take it over from " + visible.OneLine(b.Issue.Assignee), Argv: []string{"stig", "claim", id}}}
	case b.stands.Free():
		return []Step{{Why: "claim it", Argv: []string{"stig", "claim", id}}}
	}
	switch b.stands.Holds[0].Kind {
	case dag.HeldByKind, dag.HeldByBlocker, dag.HeldByChildren, dag.HeldByComplete, dag.HeldByQuestion:
		return nil // the other steps say what to do instead
	case dag.HeldByRing:
		if b.ring {
			return nil
		}
		return []Step{{Why: "it is blocked by a dependency cycle: see which row to remove", Argv: []string{"stig", "cycles"}}}
	case dag.HeldByEnds:
		return []Step{{Why: "its children did none of the work; add what is left", Argv: []string{"stig", "create", "…", "--parent", id}}}
	case dag.HeldByLease:
		return []Step{{Why: "it is " + b.Held.Words() + ": take another that is ready", Argv: []string{"stig", "orient"}}}
	case dag.HeldByAssignee:
		why := fmt.Sprintf("%s has it: leave it to them, and take another that is ready", visible.OneLine(b.Issue.Assignee))
		if b.reader == "" {
			why = "unless you are " + strings.Replace(why, " has it:", ":", 1)
		}
		return []Step{{Why: why, Argv: []string{"stig", "orient"}}}
	}
	if b.unwritable() != "" {
		return nil
	}
	return []Step{{Why: "it " + b.Holds[0] + ": take another that is ready", Argv: []string{"stig", "orient"}}}
}

// unwritable returns why the line of the issue cannot be written; "" if it can.
func (b *Briefing) unwritable() string {
	h, _ := b.stands.Has(dag.HeldByLine)
	if h.Kind == "" {
		return ""
	}
	return h.Words(h.Through, nil)
}

// stand sets the state of the issue for the reader, and what it depends on.
func (b *Briefing) stand(a assembly, i int, req Request, rules Rules) {
	name := func(i int) string { return a.file.At(i).ID }
	b.stands = a.graph.Standing(i, dag.Worker{Now: rules.Now, Name: req.Reader, MayTake: req.MayTake,
		Asked: func(int) bool { return b.asks() }, Reviewed: func(int) string { return signals.InReview(a.doc) }, Held: func(int) bool { return b.Held != nil }})
	b.State, b.Holds = b.stands.State, append([]string{}, b.stands.Words(i, name)...)
	rest := b.stands
	rest.Holds = slices.DeleteFunc(slices.Clone(rest.Holds), func(h dag.Hold) bool {
		switch h.Kind {
		case dag.HeldByRing, dag.HeldByFirstChild, dag.HeldByCondition, dag.HeldByExternal, dag.HeldByRow, dag.HeldByTime, dag.HeldByLine:
			return false
		case dag.HeldByDeferral:
			return h.Through == i
		}
		return true // shown in another part
	})
	b.held = rest.Words(i, name)
	if b.over() {
		return
	}
	if u, ok := a.graph.Upon(i); ok {
		b.Conditions = append(b.Conditions, u.Words(name))
	}
	for _, c := range a.graph.Conditions(i) {
		b.Conditions = append(b.Conditions, a.condition(c))
	}
	b.Missing = a.graph.Missing(i)
}

// condition returns the words for a dependency on the failure of another issue.
func (a assembly) condition(c dag.Condition) string {
	words := c.Words(func(i int) string { return a.file.At(i).ID })
	if record, err := a.file.At(c.On).Record(); err == nil && a.graph.Closed(c.On) {
		words += ", which was closed: " + title(cmp.Or(visible.OneLine(record.Text(beads.CloseReason)), "without a reason"))
	}
	return words
}

// holds lists what prevents taking the issue and is not shown elsewhere.
func (b *Briefing) holds(w *page) {
	if len(b.held)+len(b.Conditions)+len(b.Missing) == 0 {
		return
	}
	w.heading("Other conditions")
	for _, words := range b.held {
		w.linef("- it %s", words)
	}
	for _, words := range b.Conditions {
		w.linef("- it is to be done %s", words)
	}
	for _, id := range b.Missing {
		w.linef("- %s, which is not in this store: it blocks nothing", visible.OneLine(id))
	}
}

func (b *Briefing) checkpoint() Step {
	surprise := "…"
	if b.Signals.Has(signals.Surprise) {
		surprise = b.Signals.Value(signals.Surprise)
	}
	return Step{
		Why: "whenever you stop",
		Argv: []string{"stig", "checkpoint", b.Issue.ID, "--surprise", surprise, "--progress", b.likelyProgress(),
			"--done", "…", "--learned", "…", "--remains", "…", "--downstream", "…"},
	}
}

// left returns the step that shows the results of a finished issue.
func (i Issue) left() Step {
	return Step{Why: "see what it left", Argv: []string{"stig", "show", i.ID, "--notes"}}
}

// closable reports whether a close would get as far as running checks.
func (b *Briefing) closable() bool {
	begun := b.Issue.Status == beads.StatusInProgress || b.stands.Inherited().Free()
	return b.Issue.workable && begun && !b.asks() && b.stands.KeepsOpen().Free()
}

// closing returns the step that closes the issue. Criteria with nothing to run cannot pass; the
// step says so now, before the work is done.
func (b *Briefing) closing() Step {
	s := Step{Why: "when its criteria pass", Argv: []string{"stig", "close", b.Issue.ID, "--reason", "…"}}
	_, unmet := b.stands.Has(dag.HeldByCondition)
	switch {
	case unmet:
		s.Why = "if it will not be done: say why"
		s.Argv = append(s.Argv[:3], "--not-planned", "…")
	case b.Acceptance.Text == "" && b.Children != nil && !b.Children.done:
		s.Why = "if nothing of it is left to do: say why"
		s.Argv = append(s.Argv[:3], "--not-planned", "…")
	case b.Acceptance.Text == "" && b.Children != nil:
		s.Why, s.Argv = "all its children are closed", s.Argv[:3]
	case b.Acceptance.Text == "":
		s.Why = "when done"
		s.Argv = append(s.Argv, "--waive", "…")
	case !gate.Asks(b.Acceptance.Checks):
		s.Why = "when its criteria hold; none can be run: add a command that shows it, else say why not"
		s.Argv = append(s.Argv, "--waive", "…")
	}
	return s
}

// writable removes the steps that stig would refuse because of the store, the issue's line
// (line says why it cannot be written) or its notes, and puts a step first that shows the
// cause. In a Dolt database bd writes, not stig.
func writable(f *beads.Snapshot, doc *notes.Doc, i Issue, line string, steps []Step, readOnly string) []Step {
	vet := func(why string, argv ...string) Step {
		return Step{Why: why, Argv: append([]string{"stig", "vet"}, argv...)}
	}
	var first Step
	refused := []string{"claim", "checkpoint", "close", "escalate"}
	problems := f.Problems()
	problem := slices.IndexFunc(problems, func(p beads.Problem) bool { return p.Rule != beads.DuplicateID || p.ID == i.ID })
	switch malformed := doc.Malformed(); {
	case f.Place().Mode == beads.Export || beads.IsClosed(i.Status):
		return steps
	case readOnly != "":
		first = Step{Why: "it is read-only here: " + readOnly, Argv: []string{"stig", "doctor"}}
	case problem >= 0:
		first = vet(fmt.Sprintf("it cannot be written before the store is fixed: line %d: %s", problems[problem].Line, problems[problem].Message))
	case line != "":
		first = vet("it "+line+": correct its line by hand", i.ID)
	case len(malformed) > 0:
		first = vet("its notes cannot be written before they are fixed: "+malformed[0].Error(), i.ID)
		refused = refused[1:]
	default:
		return steps
	}
	steps = slices.DeleteFunc(steps, func(s Step) bool { return slices.Contains(refused, s.Argv[1]) })
	return append([]Step{first}, steps...)
}

// typed rewrites the steps for the store: stig cannot write issues in a Dolt database, so they
// use bd.
func typed(p beads.Place, steps []Step) []Step {
	if p.Mode != beads.Export {
		return steps
	}
	steps = slices.DeleteFunc(steps, func(s Step) bool { return slices.Contains(s.Argv, "--fold") }) // bd has no equivalent
	for k, step := range steps {
		switch step.Argv[1] {
		case "claim":
			steps[k].Argv = []string{"bd", "update", step.Argv[2], "--claim"}
		case "checkpoint":
			steps[k].Argv = []string{"bd", "update", step.Argv[2], "--append-notes", "…"}
		case "close":
			steps[k] = Step{Why: "when it is done, before bd closes it", Argv: []string{"stig", "verify", step.Argv[2]}}
		case "create":
			steps[k].Argv[0] = "bd"
		}
	}
	return steps
}

// likelyProgress returns the progress that the next checkpoint will probably report. A worker
// who must explore first is not told to report implementing.
func (b *Briefing) likelyProgress() string {
	now := b.Signals.Value(signals.Progress)
	switch {
	case now != signals.ProgressNotStarted:
		return now
	case b.Depth == signals.PlanningDepthDeep, b.Depth == signals.PlanningDepthProbe:
		return signals.ProgressExploring
	}
	return signals.ProgressImplementing
}
