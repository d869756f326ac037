// Package orient assembles what a worker reads before starting work: the survey of a whole
// store; the briefing of an issue, as deep as the issue is uncertain, built from the results of
// finished dependencies; the review of an issue where finished work comes together; and the
// answers of Recall from the store and bd's memories.
//
// The package never writes, executes nothing, and does not depend on the command line. Its
// results are data that callers render as Markdown or JSON.
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

// Held says who has an issue that is open in this store: somebody works on it in another work
// tree, or closed it on another branch.
type Held struct {
	By       string `json:"by"`
	Worktree string `json:"worktree,omitempty"` // the work tree of the work
	Until    string `json:"until,omitempty"`    // RFC 3339: when the claim ends unless renewed; "" for never
	Left     int    `json:"left,omitempty"`     // seconds until then
	Branch   string `json:"branch,omitempty"`   // the branch on which it was closed
}

// Words returns who has the issue, where, and until when.
func (h Held) Words() string {
	switch {
	case h.Branch != "":
		return fmt.Sprintf("closed by %s on branch %s", visible.OneLine(h.By), visible.OneLine(h.Branch))
	case h.Until != "":
		return fmt.Sprintf("held by %s in %s until %s", visible.OneLine(h.By), visible.OneLine(h.Worktree), h.Until)
	}
	return fmt.Sprintf("held by %s in %s", visible.OneLine(h.By), visible.OneLine(h.Worktree))
}

// Briefing is what a worker needs to know about one issue. Parts that its depth or budget
// leaves out are named in Omitted.
type Briefing struct {
	Issue      Issue             `json:"issue"`
	Depth      string            `json:"depth"`
	DepthFrom  string            `json:"depth_from"` // one of the DepthFrom constants
	Signals    *signals.Table    `json:"signals"`
	Assessed   bool              `json:"assessed"` // the issue has a signal table
	Violations []signals.Finding `json:"violations"`
	Alerts     []signals.Alert   `json:"alerts"`  // the issue's own, then those of its epic
	Notices    []string          `json:"notices"` // contradictions and dead ends, one line each
	Epic       *Epic             `json:"epic"`    // nil if it has none
	Related    []Related         `json:"related"`
	Escalation Escalation        `json:"escalation"`
	Held       *Held             `json:"held,omitempty"`       // who holds it elsewhere; nil for nobody
	State      dag.State         `json:"state"`                // from the reader's view
	Holds      []string          `json:"holds"`                // why the reader cannot take it; empty if they can
	Conditions []string          `json:"conditions,omitempty"` // the request that it is built upon, and dependencies on the failure of other issues
	Missing    []string          `json:"missing,omitempty"`    // ids of dependencies that are not in the store
	Elsewhere  []Elsewhere       `json:"elsewhere,omitempty"`  // what it depends on in other projects

	Estimate    *Estimate   `json:"checkpoint,omitempty"`
	Also        []Estimate  `json:"also_learned,omitempty"` // estimates of other branches, kept by a merge
	Shown       *Shown      `json:"evidence,omitempty"`
	Concluded   *Concluded  `json:"swarm,omitempty"` // the newest ended swarm on the issue
	Divergence  *Divergence `json:"divergence"`
	Description string      `json:"description"`
	Design      string      `json:"design"`
	Comments    []Comment   `json:"comments"` // newest last
	Traces      []LeftTrace `json:"traces"`   // the last summary, then later traces, newest last
	Acceptance  Acceptance  `json:"acceptance"`
	Notes       string      `json:"notes,omitempty"`    // notes outside the sections that stig reads
	Children    *Children   `json:"children,omitempty"` // nil if it has none

	ClosedDependencies []Dependency `json:"closed_dependencies"`  // dependencies before dependents
	Farther            []string     `json:"farther_dependencies"` // ids of those that a budget left out
	Upstream           Evidence     `json:"upstream_evidence"`    // of all closed dependencies, including omitted ones
	OpenBlockers       []Blocker    `json:"open_blockers"`
	Dependents         []beads.Ref  `json:"dependents"` // unclosed issues that wait for this one

	Findings  []LeftTrace `json:"upstream_findings"` // conclusions of swarms on closed dependencies and open blockers; at depth deep the findings there too, newest last
	Seen      []Known     `json:"seen_before"`       // depths deep and probe: similar issues and memories
	Known     []Item      `json:"known"`             // depth deep
	Discover  []Item      `json:"discover"`          // depth deep
	Probe     *Probe      `json:"probe,omitempty"`   // depth probe
	Directive string      `json:"directive"`
	Learned   string      `json:"learned,omitempty"` // see Request

	Omitted []Omission `json:"omitted"`
	Next    []Step     `json:"next"`

	stands     dag.Standing        // see State
	held       []string            // those of Holds that no other part of the briefing shows
	override   string              // the requested depth if it overrides the issue's own
	reader     string              // see Request
	mayTake    func(string) bool   // see Request
	loop       bool                // see Request
	swarm      *swarm.State        // the swarm running on the issue; nil for none
	explorer   bool                // the reader is an agent of that swarm, in one of its runs
	folded     int                 // findings of swarms that are not shown
	ring       bool                // the issue is in a dependency cycle
	against    string              // why not to take it first, in words from the issue
	pointers   []string            // URLs and paths in the issue's texts
	designTold bool                // the description contains the design
	full       bool                // everything was requested
	wholes     map[*string]*string // texts before a budget cut them
	untold     bool                // only its title says what to do
}

// Origins of a briefing's depth.
const (
	depthFromFlag    = "flag"    // it was asked for
	depthFromSignal  = "signal"  // the issue's planning-depth
	depthFromCynefin = "cynefin" // what its domain stands for
	depthFromDefault = "default" // nobody said
)

// Issue identifies an issue and gives its state.
type Issue struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Status   string   `json:"status"`
	Type     string   `json:"issue_type"`
	Priority int      `json:"priority"`
	Assignee string   `json:"assignee"`
	Labels   []string `json:"labels"`

	Started  string `json:"started,omitempty"`        // YYYY-MM-DD when work began, if recorded
	Changed  string `json:"changed,omitempty"`        // YYYY-MM-DD of the last change
	Deferred string `json:"deferred_until,omitempty"` // YYYY-MM-DD, if in the future

	ExternalRef string  `json:"external_ref,omitempty"`
	SpecID      string  `json:"spec_id,omitempty"`
	DueAt       string  `json:"due_at,omitempty"` // as written
	Keys        []Keyed `json:"keys,omitempty"`   // metadata, and keys unknown to the format
	CloseReason string  `json:"close_reason,omitempty"`

	due      string // due time in words
	workable bool   // neither pinned, nor a template, nor another program's record
}

// Blocker is an unclosed issue that blocks this one.
type Blocker struct {
	beads.Ref
	Assignee string `json:"assignee,omitempty"`
	Through  string `json:"through,omitempty"` // id of the epic that waits for it; "" if the issue itself does
	Above    bool   `json:"above,omitempty"`   // it is an epic above the issue, so neither can close first
}

// Comment is a comment on the issue.
type Comment struct {
	Author    string `json:"author"`
	CreatedAt string `json:"created_at"` // RFC 3339, UTC; "" if not recorded
	Text      string `json:"text"`

	whole string // text before a budget cut it
}

// Epic is the issue that contains another, with the progress of its children.
type Epic struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Closed int    `json:"closed"`
	Total  int    `json:"total"`
}

// Escalation contains the questions to a person about the issue, and the answers.
type Escalation struct {
	State      string     `json:"state"`
	Question   string     `json:"question"`
	Resolution string     `json:"resolution"` // the texts of all answers
	Answered   []Answered `json:"answered"`   // the answers with their questions, oldest first

	Default *Default `json:"default,omitempty"` // the default of the last question that has one
}

// Estimate is the state estimate that the last worker wrote on the issue.
type Estimate struct {
	Date string `json:"date,omitempty"`
	Text string `json:"text"`
}

// Divergence warns that earlier work on the issue found its description to be wrong.
type Divergence struct {
	Surprise  float64 `json:"surprise"`
	Explained string  `json:"explained"` // where to find the explanation
}

// Acceptance contains the acceptance criteria and their checks.
type Acceptance struct {
	Text   string       `json:"text"`
	Checks []gate.Check `json:"checks"`
	Beside []Beside     `json:"beside,omitempty"` // where else the issue says it; only if Text is empty

	there bool // the issue has criteria, even if a budget cut the text
}

// Beside is a place outside of the acceptance criteria that says how the issue is verified.
type Beside struct {
	Name  string `json:"name"`  // the heading, label or key
	Place string `json:"place"` // such as "description, line 3"
	Text  string `json:"text,omitempty"`
}

// isOneScript reports whether the criteria consist of a single runnable script; then text and
// check are the same.
func (a Acceptance) isOneScript() bool {
	return len(a.Checks) == 1 && a.Checks[0].Origin == gate.Fence && a.Checks[0].Class == gate.Runnable &&
		strings.HasPrefix(a.Text, "```") && strings.HasSuffix(a.Text, "```") && strings.Count(a.Text, "```") == 2
}

// Dependency is a closed issue that this one was built on, with what it left.
type Dependency struct {
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	Distance    int     `json:"distance"` // 1 for a direct dependency
	CloseReason string  `json:"close_reason"`
	Checkpoint  string  `json:"checkpoint"`
	Surprise    float64 `json:"surprise"`
	Confidence  string  `json:"confidence"`
	Freshness   string  `json:"evidence_freshness,omitempty"`
	Ran         string  `json:"evidence,omitempty"` // the last evidence run

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

// Elsewhere is an issue of another project that the issue depends on.
type Elsewhere struct {
	On          string `json:"on"` // as the row names it
	Project     string `json:"project"`
	ID          string `json:"id"`
	Title       string `json:"title"`
	Status      string `json:"status"`
	Done        bool   `json:"done"`             // proved done, see beads.External
	Commit      string `json:"commit,omitempty"` // the proof
	Why         string `json:"why,omitempty"`    // why it is not done
	CloseReason string `json:"close_reason"`
	Checkpoint  string `json:"checkpoint"`
}

// Item is one thing that is known, or that is to be discovered.
type Item struct {
	From string `json:"from"` // an issue id, or a part of this issue
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
