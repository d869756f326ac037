// Package orient assembles what a worker reads before working: the survey of
// a whole store; a briefing about one issue, as deep as the issue is uncertain,
// built from what finished dependencies left behind; the review of an issue
// where finished work comes together; and what is known about some words or an issue, in
// the store and in the memories that bd keeps beside it (Recall).
//
// It never writes, runs nothing, and does not know the command line: each is
// data, rendered as Markdown or JSON by its caller.
//
//	b, err := orient.Brief(file, dag.New(file), i, orient.Request{}, rules)
//	if err != nil { … }
//	os.Stdout.WriteString(b.Markdown())
package orient

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/swarm"
	"stig/internal/visible"
	"stig/signals"
)

// Held is who has an issue that is open in this store: somebody works on it in another
// work tree, or closed it on another branch.
type Held struct {
	By       string `json:"by"`
	Worktree string `json:"worktree,omitempty"` // where it is worked on
	Until    string `json:"until,omitempty"`    // RFC 3339: when the claim ends unless it is renewed; "" where it does not
	Left     int    `json:"left,omitempty"`     // seconds until then
	Branch   string `json:"branch,omitempty"`   // where it was closed
}

// Words says who has the issue, where, and for how long.
func (h Held) Words() string {
	switch {
	case h.Branch != "":
		return fmt.Sprintf("closed by %s on branch %s", visible.OneLine(h.By), visible.OneLine(h.Branch))
	case h.Until != "":
		return fmt.Sprintf("held by %s in %s until %s", visible.OneLine(h.By), visible.OneLine(h.Worktree), h.Until)
	}
	return fmt.Sprintf("held by %s in %s", visible.OneLine(h.By), visible.OneLine(h.Worktree))
}

// Briefing is all that a worker needs to know about one issue. What its depth
// or its budget leaves out is named in Omitted.
type Briefing struct {
	Issue      Issue             `json:"issue"`
	Depth      string            `json:"depth"`
	DepthFrom  string            `json:"depth_from"` // one of the DepthFrom constants
	Signals    *signals.Table    `json:"signals"`
	Assessed   bool              `json:"assessed"` // there is a signal table
	Violations []signals.Finding `json:"violations"`
	Alerts     []signals.Alert   `json:"alerts"`  // its own, then those of its epic
	Notices    []string          `json:"notices"` // contradictions and dead ends, a line each
	Epic       *Epic             `json:"epic"`    // nil outside any
	Related    []Related         `json:"related"`
	Escalation Escalation        `json:"escalation"`
	Held       *Held             `json:"held,omitempty"`       // by whom, where the store does not show it; nil for nobody
	State      dag.State         `json:"state"`                // where it stands for the reader
	Holds      []string          `json:"holds"`                // why the reader cannot take it; none where that can be
	Conditions []string          `json:"conditions,omitempty"` // on which other issues must have failed
	Missing    []string          `json:"missing,omitempty"`    // ids that it is said to wait for, and that the store does not hold

	Estimate    *Estimate   `json:"checkpoint,omitempty"`
	Also        []Estimate  `json:"also_learned,omitempty"` // what other branches left, kept by a merge
	Shown       *Shown      `json:"evidence,omitempty"`
	Concluded   *Concluded  `json:"swarm,omitempty"` // of the newest swarm on the issue that ended
	Divergence  *Divergence `json:"divergence"`
	Description string      `json:"description"`
	Design      string      `json:"design"`
	Comments    []Comment   `json:"comments"` // newest last
	Traces      []LeftTrace `json:"traces"`   // the last summary, then what was left after it, newest last
	Acceptance  Acceptance  `json:"acceptance"`
	Notes       string      `json:"notes,omitempty"`    // notes outside the sections that stig reads
	Children    *Children   `json:"children,omitempty"` // nil where it contains none

	ClosedDependencies []Dependency `json:"closed_dependencies"`  // each behind those that it was built on
	Farther            []string     `json:"farther_dependencies"` // ids of those that a budget left out
	Upstream           Evidence     `json:"upstream_evidence"`    // of all closed dependencies, left out or not
	OpenBlockers       []Blocker    `json:"open_blockers"`
	Dependents         []beads.Ref  `json:"dependents"` // unclosed issues that wait for this one

	Findings  []LeftTrace `json:"upstream_findings"` // depth deep: on closed dependencies and open blockers, newest last
	Seen      []Known     `json:"seen_before"`       // depths deep and probe: issues like this one, and memories
	Known     []Item      `json:"known"`             // depth deep
	Discover  []Item      `json:"discover"`          // depth deep
	Probe     *Probe      `json:"probe,omitempty"`   // depth probe
	Directive string      `json:"directive"`
	Learned   string      `json:"learned,omitempty"` // what the reader learned from earlier work, see Request

	Omitted []Omission `json:"omitted"`
	Next    []Step     `json:"next"`

	stands     dag.Standing        // see State
	held       []string            // those of Holds that no other part of the briefing says
	override   string              // the depth that was asked for instead of the issue's own
	reader     string              // see Request
	mayTake    func(string) bool   // see Request
	loop       bool                // see Request
	swarm      *swarm.State        // that runs on the issue; nil for none
	ring       bool                // it is in a dependency cycle
	against    string              // why it is not the first to take, in its own words
	pointers   []string            // URLs and paths in its texts
	designTold bool                // the description holds the design
	full       bool                // everything was asked for
	wholes     map[*string]*string // texts as they were, where a budget cut them
	untold     bool                // nothing but its title says what is to be done
}

// Where the depth of a briefing comes from.
const (
	depthFromFlag    = "flag"    // it was asked for
	depthFromSignal  = "signal"  // the issue's planning-depth
	depthFromCynefin = "cynefin" // what its domain stands for
	depthFromDefault = "default" // nobody said
)

// Issue identifies an issue and says where it stands.
type Issue struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Status   string   `json:"status"`
	Type     string   `json:"issue_type"`
	Priority int      `json:"priority"`
	Assignee string   `json:"assignee"`
	Labels   []string `json:"labels"`

	Started  string `json:"started,omitempty"`        // YYYY-MM-DD, where the store says when work began
	Changed  string `json:"changed,omitempty"`        // YYYY-MM-DD of the last change
	Deferred string `json:"deferred_until,omitempty"` // YYYY-MM-DD, while it is to come

	ExternalRef string  `json:"external_ref,omitempty"`
	SpecID      string  `json:"spec_id,omitempty"`
	DueAt       string  `json:"due_at,omitempty"` // as written
	Keys        []Keyed `json:"keys,omitempty"`   // metadata, and keys that the format does not know
	CloseReason string  `json:"close_reason,omitempty"`

	due      string // when it is due, in words
	workable bool   // neither pinned, a template nor another program's record
}

// Blocker is an unclosed issue that holds this one up.
type Blocker struct {
	beads.Ref
	Assignee string `json:"assignee,omitempty"`
	Through  string `json:"through,omitempty"` // id of the epic that waits for it, where the issue itself does not
	Above    bool   `json:"above,omitempty"`   // it is an epic of the issue: neither can be done before the other
}

// Comment is a remark on the issue.
type Comment struct {
	Author    string `json:"author"`
	CreatedAt string `json:"created_at"` // RFC 3339, UTC; "" when the store has none
	Text      string `json:"text"`

	whole string // as it was, where a budget cut it
}

// Epic is the issue that contains another, and how far its children are.
type Epic struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Closed int    `json:"closed"`
	Total  int    `json:"total"`
}

// Escalation is what was asked of a person about the issue, and the answers.
type Escalation struct {
	State      string     `json:"state"`
	Question   string     `json:"question"`
	Resolution string     `json:"resolution"` // the texts of all answers
	Answered   []Answered `json:"answered"`   // the answers with what they answer, oldest first

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
	Text   string       `json:"text"`
	Checks []gate.Check `json:"checks"`
	Beside []Beside     `json:"beside,omitempty"` // where else the issue says it, while Text is empty

	there bool // there is a text, though a budget may have cut it
}

// Beside is a place outside of the acceptance criteria that says how an issue is known
// to work.
type Beside struct {
	Name  string `json:"name"`  // the heading, label or key
	Place string `json:"place"` // such as "description, line 3"
	Text  string `json:"text,omitempty"`
}

// isOneScript reports whether the criteria are one script that can run and no
// word more: then text and check are the same.
func (a Acceptance) isOneScript() bool {
	return len(a.Checks) == 1 && a.Checks[0].Origin == gate.Fence && a.Checks[0].Class == gate.Runnable &&
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

	assessed   bool // Surprise is what somebody wrote
	level      int  // how much of it is shown
	reduced    bool // a budget cut something of it
	wordless   bool // its close reason says nothing
	end        beads.End
	labels     []string
	downstream string // its Downstream impact
	aged       bool   // Freshness is a day
	ageDays    int    // since then
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

func (i Item) size() int { return utf8.RuneCountInString(i.From + i.Text) }

func (d Dependency) size() int {
	n := utf8.RuneCountInString(d.ID + d.Title + d.facts() + d.CloseReason + d.Checkpoint + d.Ran)
	if d.CloseReason+d.Checkpoint+d.Ran != "" {
		n += len("> Closed: \n\n")
	}
	return n + len("-  ()\n")
}

func refSize(r beads.Ref) int             { return utf8.RuneCountInString(r.ID + r.Title + r.Status) }
func checkSize(c gate.Check) int          { return utf8.RuneCountInString(c.Text + c.Reason) }
func violationSize(v signals.Finding) int { return utf8.RuneCountInString(v.Message) }
func alertSize(a signals.Alert) int       { return utf8.RuneCountInString(a.Rule + a.Message) }
