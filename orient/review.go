package orient

import (
	"cmp"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/signals"
)

// Review is the input for judging a convergence point: the trails of the issue's dependencies,
// their surprise, how well their claims are verified, and what the issue's own criteria would
// run.
type Review struct {
	Issue        Issue           `json:"issue"`
	Cynefin      *string         `json:"cynefin"`   // nil without a signal table
	Converges    bool            `json:"converges"` // it has blockers, and all are closed
	OpenBlockers []beads.Ref     `json:"open_blockers"`
	Holds        []string        `json:"holds"`                // why nobody can start it, including these blockers
	Conditions   []string        `json:"conditions,omitempty"` // as in Briefing
	Alerts       []signals.Alert `json:"alerts"`
	Surprise     Surprise        `json:"surprise"`
	Evidence     Evidence        `json:"evidence"`
	Dependencies []Dependency    `json:"closed_dependencies"` // dependencies before dependents
	Acceptance   Acceptance      `json:"acceptance"`
	Next         []Step          `json:"next"`

	held *Briefing // the issue's other conditions
}

// Surprise is the summed surprise of the closed blockers, compared with θ for each.
type Surprise struct {
	Sum      float64 `json:"sum"`
	Blockers int     `json:"blockers"`
	Theta    float64 `json:"theta"`
	Limit    float64 `json:"limit"` // θ × blockers
	Over     bool    `json:"over"`  // Sum > Limit
}

// Assess reviews the issue at index i. It fails only if a line of the store can no longer be
// read.
func Assess(f *beads.Snapshot, g *dag.Graph, i int, rules Rules) (*Review, error) {
	record, err := f.At(i).Record()
	if err != nil {
		return nil, err
	}
	a := assemble(f, g, rules, record)
	b := a.common(i, record)
	r := &Review{
		Issue: b.Issue, Converges: g.Converges(i),
		OpenBlockers: []beads.Ref{}, Acceptance: b.Acceptance,
	}
	domain := a.table.Value(signals.Cynefin)
	if a.table.Present() {
		r.Cynefin = &domain
	}
	for _, blocker := range b.OpenBlockers {
		r.OpenBlockers = append(r.OpenBlockers, blocker.Ref)
	}
	b.stand(a, i, Request{}, rules)
	r.Holds, r.Conditions, r.held = b.Holds, b.Conditions, b
	if r.Alerts, err = a.alerts(i, nil); err != nil {
		return nil, err
	}
	if r.Dependencies, err = a.closedDependencies(i); err != nil {
		return nil, err
	}
	r.Surprise = r.surprise(domain)
	r.Evidence = evidenceOf(r.Dependencies, rules.Now)
	r.Next = r.next()
	return r, nil
}

func (r *Review) surprise(domain string) Surprise {
	var direct []float64
	for _, d := range r.Dependencies {
		if d.Distance == 1 {
			direct = append(direct, d.Surprise)
		}
	}
	s := Surprise{
		Sum: signals.Sum(direct), Blockers: len(direct),
		Theta: signals.ThresholdConvergence(domain), Limit: signals.ConvergenceLimit(domain, len(direct)),
	}
	s.Over = signals.Over(s.Sum, s.Limit)
	return s
}

// domain returns the Cynefin domain, or without if the issue has no signal table.
func (r *Review) domain(without string) string {
	if r.Cynefin == nil {
		return without
	}
	return *r.Cynefin
}

func (r *Review) next() []Step {
	id := r.Issue.ID
	switch {
	case beads.IsClosed(r.Issue.Status):
		return []Step{r.Issue.left()}
	case len(r.OpenBlockers) > 0:
		return []Step{{Why: "some blockers are not closed; see the first", Argv: []string{"stig", "orient", r.OpenBlockers[0].ID}}}
	case len(r.held.held) > 0:
		return []Step{{Why: "it " + r.held.held[0] + "; read its briefing", Argv: []string{"stig", "orient", id}}}
	case r.Surprise.Over:
		return []Step{
			{Why: "if what was found makes this issue less certain than it says", Argv: []string{"stig", "checkpoint", id, "--cynefin", "…", "--learned", "…"}},
			{Why: "then read its briefing", Argv: []string{"stig", "orient", id}},
		}
	}
	for _, d := range r.Dependencies {
		if d.end != beads.EndDone {
			return []Step{{Why: d.ID + " was closed as " + d.end.String() + ", not done; read its briefing", Argv: []string{"stig", "orient", id}}}
		}
	}
	return []Step{{Why: "nothing speaks against building on this; read its briefing", Argv: []string{"stig", "orient", id}}}
}

// Markdown renders a review: the judgement first, then the trails.
func (r *Review) Markdown() string {
	w := &page{}
	w.linef("# %s %s: review", r.Issue.ID, visible.OneLine(r.Issue.Title))
	w.blank()
	w.linef("%s · %s · P%d · %s", r.Issue.Status, cmp.Or(r.Issue.Type, "no type"), r.Issue.Priority, r.domain(signals.NoTable))
	w.line(r.convergence())
	for _, alert := range r.Alerts {
		w.linef("alert %s: %s", alert.Rule, alert.Message)
	}
	w.list("Blocked by", refLines(r.OpenBlockers))
	r.held.holds(w)
	w.heading("How much is certain")
	r.certainty(w)
	trails := &Briefing{ClosedDependencies: r.Dependencies}
	trails.dependencies(w, builtHeading)
	r.commands(w)
	w.next(r.Next)
	return w.String()
}

func (r *Review) convergence() string {
	switch {
	case r.Converges:
		return "convergence point: " + visible.Counted(r.Surprise.Blockers, "blocker") + ", all closed"
	case len(r.OpenBlockers) > 0:
		return "not a convergence point yet: it waits for " + visible.Counted(len(r.OpenBlockers), "issue")
	case r.Surprise.Blockers > 0:
		return r.Issue.Status + ": it came out of " + visible.Counted(r.Surprise.Blockers, "closed blocker")
	}
	return "not a convergence point: none of its dependencies is closed"
}

func (r *Review) certainty(w *page) {
	s, e := r.Surprise, r.Evidence
	verdict := "within"
	if s.Over {
		verdict = "over"
	}
	if s.Blockers > 0 {
		w.linef("- surprise %s of at most %s (θ %s of %s × %d): %s", signals.Decimal(s.Sum), signals.Decimal(s.Limit),
			signals.Decimal(s.Theta), r.domain(signals.Cynefin.Default()+" by default"), s.Blockers, verdict)
	}
	for _, line := range e.least() {
		w.linef("- %s", line)
	}
	if len(e.Undated) > 0 {
		w.linef("- undated evidence: %s", strings.Join(e.Undated, ", "))
	}
	if len(e.Unrecorded) > 0 {
		w.linef("- no confidence recorded: %s", strings.Join(e.Unrecorded, ", "))
	}
	if len(r.Dependencies) == 0 {
		w.line("No finished dependency left a trail.")
	}
}

// commands shows what the issue's own criteria would run, by class.
func (r *Review) commands(w *page) {
	w.heading("What its own criteria would run")
	if len(r.Acceptance.Checks) == 0 {
		w.line("Nothing: its acceptance criteria name no command.")
		return
	}
	var classes []string
	for _, c := range r.Acceptance.Checks {
		if !slices.Contains(classes, c.Class) {
			classes = append(classes, c.Class)
		}
	}
	for _, class := range classes {
		w.linef("%s:", class)
		for _, c := range r.Acceptance.Checks {
			switch {
			case c.Class != class:
			case class == gate.Runnable:
				w.command(c.Text)
			default:
				w.linef("- `%s`: %s", visible.OneLine(c.Text), visible.OneLine(c.Reason))
			}
		}
		w.blank()
	}
}
