// Package orient assembles what a worker reads before working: the survey of
// a whole store; a briefing about one issue, as deep as the issue is uncertain,
// built from what finished dependencies left behind; the review of an issue
// where finished work comes together.
//
// It never writes, runs nothing, and does not know the command line: each is
// data, rendered as Markdown or JSON by its caller.
//
//	b, err := orient.Brief(file, dag.New(file), i, orient.Request{}, rules)
//	if err != nil { … }
//	os.Stdout.WriteString(b.Markdown())
package orient

import (
	"strings"
	"unicode/utf8"

	"stig/criteria"
	"stig/signals"
)

// Briefing is all that a worker needs to know about one issue. What its depth
// or its budget leaves out is named in Omitted.
type Briefing struct {
	Issue      Issue             `json:"issue"`
	Depth      string            `json:"depth"`
	Signals    *signals.Table    `json:"signals"`
	Violations []signals.Finding `json:"violations"`
	Alerts     []signals.Alert   `json:"alerts"` // its own, then those of its epic
	Epic       *Epic             `json:"epic"`   // nil outside any
	Escalation Escalation        `json:"escalation"`

	Estimate    *Estimate   `json:"checkpoint,omitempty"`
	Also        []Estimate  `json:"also_learned,omitempty"` // what other branches left, kept by a merge
	Shown       *Shown      `json:"evidence,omitempty"`
	Divergence  *Divergence `json:"divergence"`
	Description string      `json:"description"`
	Acceptance  Acceptance  `json:"acceptance"`
	Notes       string      `json:"notes,omitempty"` // notes outside the sections that stig reads

	ClosedDependencies []Dependency `json:"closed_dependencies"` // dependencies before dependents
	Upstream           Evidence     `json:"upstream_evidence"`   // of all closed dependencies, left out or not
	OpenBlockers       []Ref        `json:"open_blockers"`
	Dependents         []Ref        `json:"dependents"` // unclosed issues that wait for this one

	Known     []Item `json:"known"`           // depth deep
	Discover  []Item `json:"discover"`        // depth deep
	Probe     *Probe `json:"probe,omitempty"` // depth probe
	Directive string `json:"directive"`

	Omitted []Omission `json:"omitted"`
	Next    []Step     `json:"next"`

	override string // the depth that was asked for instead of the issue's own
}

// Issue identifies an issue and says where it stands.
type Issue struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Status   string   `json:"status"`
	Type     string   `json:"issue_type"`
	Priority int      `json:"priority"`
	Assignee string   `json:"assignee"`
	Labels   []string `json:"labels"`
}

// Epic is the issue that contains another, and how far its children are.
type Epic struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Closed int    `json:"closed"`
	Total  int    `json:"total"`
}

// Escalation is what was asked of a person about the issue, and the last answer.
type Escalation struct {
	State      string `json:"state"`
	Question   string `json:"question"`
	Resolution string `json:"resolution"`

	Default *Default `json:"default,omitempty"` // of the last question that has one
}

// Estimate is the state estimate that the last worker left on the issue.
type Estimate struct {
	Date string `json:"date,omitempty"`
	Text string `json:"text"`
}

// Divergence warns that earlier work on this very issue left its description.
type Divergence struct {
	Surprise  float64 `json:"surprise"`
	Explained string  `json:"explained"` // where the explanation stands, or that there is none
}

// Acceptance is what must hold at the end.
type Acceptance struct {
	Text   string           `json:"text"`
	Checks []criteria.Check `json:"checks"`
}

// isOneScript reports whether the criteria are one script that can run and no
// word more: then text and check are the same.
func (a Acceptance) isOneScript() bool {
	return len(a.Checks) == 1 && a.Checks[0].Origin == criteria.Fence && a.Checks[0].Class == criteria.Runnable &&
		strings.HasPrefix(a.Text, "```") && strings.HasSuffix(a.Text, "```") && strings.Count(a.Text, "```") == 2
}

// Dependency is a closed issue that this one was built on, with what it left.
type Dependency struct {
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	Distance    int     `json:"distance"` // 1 for a direct one
	CloseReason string  `json:"close_reason"`
	Checkpoint  string  `json:"checkpoint"`
	Surprise    float64 `json:"surprise"`
	Confidence  string  `json:"confidence"`
	Freshness   string  `json:"evidence_freshness,omitempty"`
	Ran         string  `json:"evidence,omitempty"` // what was run to show it

	labels     []string
	downstream string // its Downstream impact
	aged       bool   // Freshness is a day
	ageDays    int    // since then
}

// Ref names another issue.
type Ref struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

// Item is one thing that is known, or that is to be discovered.
type Item struct {
	From string `json:"from"` // issue id, or the part of this issue it stands in
	Text string `json:"text"`
}

// Probe is what a chaotic issue says about the smallest step that teaches something.
type Probe struct {
	Hypothesis   string `json:"hypothesis,omitempty"`
	Intervention string `json:"intervention,omitempty"`
	Feedback     string `json:"feedback,omitempty"`
	Stabilised   string `json:"stabilised,omitempty"`
}

// Omission names something left out and the command that shows it.
type Omission struct {
	What string   `json:"what"`
	Argv []string `json:"argv"`

	kind string
}

// Step is a thing to do next.
type Step struct {
	Why  string   `json:"why"`
	Argv []string `json:"argv"`
}

// The sizes below are what a reader would miss, in characters; the Markdown
// around it is not counted, so a cut frees at least this much.

func (r Ref) size() int  { return utf8.RuneCountInString(r.ID + r.Title + r.Status) }
func (i Item) size() int { return utf8.RuneCountInString(i.From + i.Text) }

func (d Dependency) size() int {
	return utf8.RuneCountInString(d.ID + d.Title + d.CloseReason + d.Checkpoint + d.Ran)
}

func checkSize(c criteria.Check) int      { return utf8.RuneCountInString(c.Text + c.Reason) }
func violationSize(v signals.Finding) int { return utf8.RuneCountInString(v.Message) }
func alertSize(a signals.Alert) int       { return utf8.RuneCountInString(a.Rule + a.Message) }
