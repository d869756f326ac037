package orient

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// FailureOpening begins the question about failing criteria; a retrospective finds the question
// by it.
const FailureOpening = "Its acceptance criteria do not pass."

// RetroLast is the default number of closed issues in a retrospective.
const RetroLast = 20

// Retro is the input of the double loop: not whether the work was done well, but whether the
// way of working is right. Epics and issues with children are excluded, because surprise is
// recorded on the work itself.
type Retro struct {
	Epic     string        `json:"epic"` // "" for the whole store
	Closed   []string      `json:"closed"`
	From     string        `json:"from"` // From and To: YYYY-MM-DD of the first and last close, "" for none
	To       string        `json:"to"`
	Surprise RetroSurprise `json:"surprise"`
	Reopened Share         `json:"reopened"`
	Waivers  Share         `json:"waivers"`
	// FirstPass is the share of issues closed as verified that were never reopened and had no
	// failure escalated to a person.
	FirstPass Share `json:"first_pass"`
	// ZeroSurprise is the share of all issues with surprise 0.0, recorded or by default.
	ZeroSurprise Share     `json:"zero_surprise"`
	NoCheckpoint Share     `json:"no_checkpoint"`
	Patterns     []Pattern `json:"patterns"`
	Draft        string    `json:"draft"` // the question about the way of working; "" without a pattern
}

// Share is how many of a set of issues have a property.
type Share struct {
	N   int      `json:"n"`
	Of  int      `json:"of"`
	IDs []string `json:"ids"`
}

// RetroSurprise is the surprise of closed issues.
type RetroSurprise struct {
	N    int      `json:"n"`
	Sum  float64  `json:"sum"`
	Mean *float64 `json:"mean"` // two decimals, null without issues
	Over []string `json:"over"` // issues whose surprise is over the divergence threshold
}

// Pattern is a finding that is unlikely to be an accident.
type Pattern struct {
	Name     string   `json:"name"`
	Message  string   `json:"message"`
	IDs      []string `json:"ids"`
	Proposal string   `json:"proposal"`
}

// closedIssue is a closed issue in a retrospective.
type closedIssue struct {
	id        string
	at        time.Time
	reason    string
	surprise  float64
	estimated bool // it has a state estimate
	failed    bool // a failure of its checks was escalated to a person
	reopened  bool
}

// LookBack computes a retrospective of the last closed issues, in an epic at any depth, or in
// the whole store if epic is "". last must be at least 1. LookBack fails only if a line of the
// store can no longer be read.
func LookBack(f *beads.Snapshot, g *dag.Graph, epic string, last int, rules Rules) (*Retro, error) {
	list, err := closedIssues(f, g, epic, rules)
	if err != nil {
		return nil, err
	}
	list = list[:min(last, len(list))]
	var surprises []float64
	for _, c := range list {
		surprises = append(surprises, c.surprise)
	}
	all := share(list, func(closedIssue) bool { return true })
	verified := slices.DeleteFunc(slices.Clone(list), func(c closedIssue) bool { return !strings.HasPrefix(c.reason, gate.Verified) })
	failed := share(verified, func(c closedIssue) bool { return c.reopened || c.failed })
	r := &Retro{
		Epic: epic, Closed: all.IDs,
		Surprise: RetroSurprise{N: all.N, Sum: signals.Sum(surprises),
			Over: share(list, func(c closedIssue) bool { return signals.Over(c.surprise, signals.ThresholdDivergence) }).IDs},
		Reopened:     share(list, func(c closedIssue) bool { return c.reopened }),
		Waivers:      share(list, func(c closedIssue) bool { return strings.HasPrefix(c.reason, gate.Unverified) }),
		FirstPass:    share(verified, func(c closedIssue) bool { return !c.reopened && !c.failed }),
		ZeroSurprise: share(list, func(c closedIssue) bool { return c.surprise == 0 }),
		NoCheckpoint: share(list, func(c closedIssue) bool { return !c.estimated }),
	}
	if len(list) > 0 {
		mean := math.Round(r.Surprise.Sum/float64(len(list))*100) / 100
		r.From, r.To, r.Surprise.Mean = dayIn(list[len(list)-1].at), dayIn(list[0].at), &mean
	}
	r.Patterns = r.patterns(failed)
	r.Draft = r.draft()
	return r, nil
}

// closedIssues lists closed issues, the last closed first, ties by id.
func closedIssues(f *beads.Snapshot, g *dag.Graph, epic string, rules Rules) ([]closedIssue, error) {
	inside := map[int]bool{}
	if at, there := f.Index(epic); there {
		for _, i := range g.Inside(at) {
			inside[i] = true
		}
	}
	var list []closedIssue
	reader := f.Reader()
	for i, issue := range f.All() {
		at, _ := f.Index(issue.ID)
		if at != i || issue.Status != beads.StatusClosed || issue.Type == "epic" || len(g.Children(i)) > 0 || epic != "" && !inside[i] {
			continue
		}
		record, err := reader.Record(issue)
		if err != nil {
			return nil, err
		}
		doc := notes.Parse(record.Text(beads.Notes))
		c := closedIssue{id: issue.ID, at: issue.UpdatedAt, reason: record.Text(beads.CloseReason),
			surprise: signals.Read(doc, rules.Schema).Number(), reopened: signals.WasReopened(doc)}
		if strings.HasPrefix(c.reason, gate.NotPlanned) {
			continue // not work to look back at
		}
		if t, ok := record.Time(beads.ClosedAt); ok {
			c.at = t
		}
		_, c.estimated = signals.LastEstimate(doc)
		c.failed = slices.ContainsFunc(signals.Escalations(doc), func(p signals.Part) bool {
			return p.Kind.Asks() && strings.HasPrefix(p.Text, FailureOpening)
		})
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b closedIssue) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(a.id, b.id)) })
	return list, nil
}

func share(list []closedIssue, has func(closedIssue) bool) Share {
	s := Share{Of: len(list), IDs: []string{}}
	for _, c := range list {
		if has(c) {
			s.IDs = append(s.IDs, c.id)
		}
	}
	s.N = len(s.IDs)
	return s
}

// over reports whether the share is a pattern: it is above the limit, and based on enough
// issues.
func (s Share) over(limit float64) bool {
	return s.Of > signals.ThresholdTooFew && signals.Over(float64(s.N), limit*float64(s.Of))
}

// patterns returns the patterns, the most telling first. failed is the share of issues closed
// as verified that did not pass at first.
func (r *Retro) patterns(failed Share) []Pattern {
	list := []Pattern{}
	if s := r.Surprise; s.N > signals.ThresholdTooFew && signals.Over(*s.Mean, signals.ThresholdDivergence) {
		list = append(list, Pattern{"surprise", "work turns out differently than described: surprise is " + s.words(), s.Over,
			"let somebody explore before such an issue is described, and split it afterwards"})
	}
	for _, p := range []struct {
		name              string
		share             Share
		limit             float64
		message, proposal string
	}{
		{"first-pass", failed, signals.ThresholdPatternShare,
			"work is considered done too early: " + failed.words() + " did not pass their criteria at first",
			"run stig verify before work is handed over, or say in the criteria what they leave out"},
		{"waivers", r.Waivers, signals.ThresholdPatternShare, "issues are closed without a verdict: " + r.Waivers.words(),
			"write criteria that can be run, or say which kind of work cannot be verified"},
		{"reopened", r.Reopened, signals.ThresholdPatternShare, "closed issues are reopened: " + r.Reopened.words(),
			"find out what their criteria missed, and ask for it from now on"},
		{"zero-surprise", r.ZeroSurprise, signals.ThresholdHabitShare,
			fmt.Sprintf("almost no surprise is recorded: %s, %d of them without a checkpoint", r.ZeroSurprise.words(), r.NoCheckpoint.N),
			"reassess surprise at each checkpoint, against the description"},
	} {
		if p.share.over(p.limit) {
			list = append(list, Pattern{p.name, p.message, p.share.IDs, p.proposal})
		}
	}
	return list
}

func (s Share) words() string { return fmt.Sprintf("%d of %d", s.N, s.Of) }

func (s RetroSurprise) words() string {
	if s.Mean == nil {
		return "not known: nothing is closed"
	}
	return fmt.Sprintf("%s on average over %s", signals.Decimal(*s.Mean), visible.Counted(s.N, "issue"))
}

// draft returns the question to a person. It must not end in a list, which would be parsed as
// the options of an answer.
func (r *Retro) draft() string {
	if len(r.Patterns) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Should the way of working change? The last %s closed, from %s to %s, show %s.\n",
		visible.Counted(len(r.Closed), "issue"), cmp.Or(r.From, "?"), cmp.Or(r.To, "?"), visible.Counted(len(r.Patterns), "pattern"))
	for _, p := range r.Patterns {
		fmt.Fprintf(&text, "\nPattern: %s.\nEvidence: %s.\nProposal: %s.\n", p.Message, strings.Join(p.IDs, ", "), p.Proposal)
	}
	text.WriteString("\nWhy it cannot be fixed locally: each of these issues followed the current way of working, " +
		"and so will the next ones; only whoever decides on it can change it.\n")
	return text.String()
}

// Markdown renders the retrospective.
func (r *Retro) Markdown() string {
	w := &page{}
	where := "the store"
	if r.Epic != "" {
		where = "epic " + r.Epic
	}
	w.linef("# Retrospective of %s", where)
	w.blank()
	if len(r.Closed) == 0 {
		w.line("Nothing is closed yet.")
	} else {
		w.linef("The last %s closed, from %s to %s.", visible.Counted(len(r.Closed), "issue"), r.From, r.To)
	}
	w.blank()
	w.linef("- surprise: %s", r.Surprise.words())
	w.linef("- passed at first: %s closed as verified%s", r.FirstPass.words(), r.FirstPass.few())
	w.linef("- waived: %s%s", r.Waivers.words(), r.Waivers.few())
	w.linef("- reopened: %s%s", r.Reopened.words(), r.Reopened.few())
	w.linef("- no surprise at all: %s, without a checkpoint: %s%s", r.ZeroSurprise.words(), r.NoCheckpoint.words(), r.ZeroSurprise.few())
	if r.Draft == "" {
		w.blank()
		w.line("No pattern stands out.")
		return w.String()
	}
	w.heading("To escalate")
	w.quote(r.Draft)
	return strings.TrimRight(w.String(), "\n") + "\n"
}

// few returns a note if there are too few issues for a claim.
func (s Share) few() string {
	if s.Of > signals.ThresholdTooFew {
		return ""
	}
	return " (too few to say more)"
}
