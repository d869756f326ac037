package service

import (
	"stig/checkpoint"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/workspace"
)

// Finding is the result of one issue at the gate.
type Finding struct {
	Id        string
	GateRun   *GateRun           // nil if it did not get that far
	Closed    *checkpoint.Closed // nil if not requested, or refused
	Escalated bool               // the failure became a question
	DryRun    bool
	Err       error // why it stopped
}

// Code returns the exit code for this issue alone.
func (f Finding) Code() int {
	switch {
	case f.Err != nil:
		return workspace.Classify(f.Err).Code
	case f.Failed(), f.Closed != nil && f.Closed.Unkept != "":
		return workspace.ExitFound
	}
	return workspace.ExitDone
}

// Failed reports whether its checks ran and did not all pass, without a waiver.
func (f Finding) Failed() bool {
	return f.Closed == nil && f.GateRun != nil && f.GateRun.Verdict != nil && !f.GateRun.Verdict.Passed()
}

// verdict is a finding as data. Keys that only a closed issue has are left out of others.
type verdict struct {
	Alerts          []checkpoint.Alert   `json:"alerts,omitzero"`
	Already         *bool                `json:"already,omitempty"`
	Changed         []checkpoint.Changed `json:"changed,omitzero"`
	Checks          any                  `json:"checks"` // []gate.Check, or []gate.Outcome once they have run
	CloseReason     string               `json:"close_reason"`
	Closed          bool                 `json:"closed"`
	CriteriaChanged bool                 `json:"criteria_changed"`
	CriteriaEdited  *checkpoint.Edited   `json:"criteria_edited,omitempty"`
	Counts          *gate.Counts         `json:"counts,omitempty"` // nil if nothing ran
	CriteriaHash    string               `json:"criteria_hash"`
	Diff            *string              `json:"diff,omitempty"`
	DryRun          bool                 `json:"dry_run"`
	Epic            any                  `json:"epic,omitempty"` // *checkpoint.EpicTold; null for a closed issue without an epic
	Error           *workspace.Failure   `json:"error,omitempty"`
	Escalated       bool                 `json:"escalated"`
	ID              string               `json:"id"`
	Ignored         []string             `json:"ignored,omitzero"`
	StillBlocked    *int                 `json:"nearer,omitempty"`
	NotRun          []gate.Check         `json:"not_run"`
	Passed          bool                 `json:"passed"`
	ReasonNotKept   string               `json:"reason_not_kept,omitempty"`
	Reused          bool                 `json:"reused"`
	Tree            *git.Tree            `json:"tree"` // nil if nothing ran
	Told            []string             `json:"told,omitempty"`
	TreeChanged     *bool                `json:"tree_changed,omitempty"`
	Unblocked       []string             `json:"unblocked"`
	Warnings        []string             `json:"warnings,omitzero"`
}

func (f Finding) verdict() (verdict, error) {
	o := verdict{ID: f.Id, Checks: []gate.Check{}, NotRun: []gate.Check{}, Unblocked: []string{}, Escalated: f.Escalated, DryRun: f.DryRun}
	if t := f.GateRun; t != nil {
		o.Checks, o.NotRun = t.Plan, gate.NotRun(t.Plan)
		o.CriteriaHash, o.Reused = gate.Hash(t.criteria.Text()), t.Reused
		o.CriteriaChanged, o.CriteriaEdited = t.Edited != nil, t.Edited
		if v := t.Verdict; v != nil {
			o.Passed, o.Checks, o.NotRun = v.Passed(), v.Outcomes(), v.NotRun()
			o.Tree, o.TreeChanged = new(v.Tree()), new(v.Changed())
			o.Counts, o.Ignored = new(v.Counts()), v.Ignored()
		}
	}
	if f.Err != nil {
		o.Error = new(workspace.Classify(f.Err))
	}
	c := f.Closed
	if c == nil {
		return o, nil
	}
	for _, ref := range c.Unblocked {
		o.Unblocked = append(o.Unblocked, ref.ID)
	}
	o.Closed, o.Already, o.CloseReason, o.ReasonNotKept = !f.DryRun || c.Already, &c.Already, c.Reason, c.Unkept
	o.Changed, o.StillBlocked, o.Epic = append([]checkpoint.Changed{}, c.Changed...), &c.StillBlocked, c.Epic
	o.Told = c.Told
	o.Alerts, o.Warnings = append([]checkpoint.Alert{}, c.Alerts...), append([]string{}, c.Warnings...)
	if !f.DryRun {
		return o, nil
	}
	diff, err := workspace.DiffText(c.Lines)
	o.Diff = &diff
	return o, err
}

// VerdictOutput returns the results of the gate as data: an object for one issue, a list for
// several. It returns the error of a single issue that has nothing else to report.
func VerdictOutput(findings []Finding) (workspace.Output, error) {
	if len(findings) == 1 && findings[0].GateRun == nil && findings[0].Err != nil {
		return workspace.Output{}, findings[0].Err
	}
	if len(findings) == 1 {
		one, err := findings[0].verdict()
		return workspace.NewOutput("verdict", one), err
	}
	return VerdictOutputs(findings)
}

// VerdictOutputs returns the results of the gate as a list, for any number of issues.
func VerdictOutputs(findings []Finding) (workspace.Output, error) {
	list := []verdict{}
	for _, f := range findings {
		one, err := f.verdict()
		if err != nil {
			return workspace.Output{}, err
		}
		list = append(list, one)
	}
	return workspace.NewOutput("verdicts", struct {
		Verdicts []verdict `json:"verdicts"`
	}{list}), nil
}
