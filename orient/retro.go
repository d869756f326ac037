package orient

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/dag"
	"stig/notes"
	"stig/signals"
	"stig/verify"
)

// FailureOpening is what the question about criteria that do not pass begins
// with, by which a retrospective finds it.
const FailureOpening = "Its acceptance criteria do not pass."

// RetroLast is how many closed issues a retrospective looks at unless told.
const RetroLast = 20

// RetroRequest says what to look back at.
type RetroRequest struct {
	Epic    string // what is inside of the epic with exactly this id, at any depth; "" for the whole store
	Last    int    // so many closed issues, at least 1
	History bool   // Turns are known; otherwise nothing is said that only history tells
	Turns   []Turn // the oldest first
}

// Retro is what the double loop looks at: not whether work was done well, but
// whether the way of working is right. What has children does not count, nor do
// epics: the surprise is that of the work itself. What is not known is null.
type Retro struct {
	Epic     string        `json:"epic"` // "" for the whole store
	Closed   []string      `json:"closed"`
	From     string        `json:"from"` // YYYY-MM-DD when the first and the last of them were closed, "" for none
	To       string        `json:"to"`
	Surprise RetroSurprise `json:"surprise"`
	Shifts   *RetroShifts  `json:"shifts"`
	Reopened *Share        `json:"reopened"`
	Waivers  Share         `json:"waivers"`
	// FirstPass is of those that were closed as verified: which of them never
	// were reopened, nor went back from verifying, nor had a failure put to a
	// person. A run that failed and was fixed at once leaves no trace.
	FirstPass Share `json:"first_pass"`
	// ZeroSurprise is of all: which have surprise 0.0, said or by default.
	ZeroSurprise Share     `json:"zero_surprise"`
	NoCheckpoint Share     `json:"no_checkpoint"`
	Patterns     []Pattern `json:"patterns"`
	Draft        string    `json:"draft"` // the question about the way of working, "" without a pattern
}

// Share is how many of some issues have something.
type Share struct {
	N   int      `json:"n"`
	Of  int      `json:"of"`
	IDs []string `json:"ids"`
}

// RetroSurprise is the surprise of the last closed issues, and of as many
// before them.
type RetroSurprise struct {
	N      int      `json:"n"`
	Sum    float64  `json:"sum"`
	Mean   *float64 `json:"mean"` // two decimals, null of none
	Before struct {
		N    int      `json:"n"`
		Mean *float64 `json:"mean"`
	} `json:"before"`
	Over []string `json:"over"` // the issues whose own surprise is a divergence
}

// RetroShifts are the last changes of cynefin, as many as there are issues.
type RetroShifts struct {
	N    int      `json:"n"`
	Up   int      `json:"up"`
	Down int      `json:"down"`
	IDs  []string `json:"ids"` // of the direction in which more went
}

// Pattern is something that is no accident.
type Pattern struct {
	Name     string   `json:"name"`
	Message  string   `json:"message"`
	IDs      []string `json:"ids"`
	Proposal string   `json:"proposal"`
}

// closedIssue is a closed issue as it is looked back at.
type closedIssue struct {
	id          string
	at          time.Time
	reason      string
	surprise    float64
	estimated   bool // it has a state estimate
	putToPerson bool // a failure of its checks
	reopened    bool // its notes say so, also where no commit shows it
}

// LookBack computes a retrospective. It fails only when a line of the store
// can no longer be read.
func LookBack(f *beads.Snapshot, g *dag.Graph, req RetroRequest, rules Rules) (*Retro, error) {
	within := retroScope(f, g, req.Epic)
	all, err := closedIssues(f, g, within, rules)
	if err != nil {
		return nil, err
	}
	last, before := split(all, req.Last)
	before, _ = split(before, req.Last)
	r := &Retro{Epic: req.Epic, Closed: idsOf(last), Surprise: retroSurprise(last, before)}
	if len(last) > 0 {
		r.From, r.To = dayIn(last[len(last)-1].at), dayIn(last[0].at)
	}
	turned := map[TurnKind]map[string]bool{Reopened: {}, WentBack: {}}
	for _, c := range last {
		turned[Reopened][c.id] = c.reopened // a reopening and a closing within one commit leave no turn
	}
	for _, t := range req.Turns {
		if turned[t.Kind] != nil {
			turned[t.Kind][t.ID] = true
		}
	}
	r.Waivers = share(last, func(c closedIssue) bool { return strings.HasPrefix(c.reason, verify.Unverified) })
	r.ZeroSurprise = share(last, func(c closedIssue) bool { return c.surprise == 0 })
	r.NoCheckpoint = share(last, func(c closedIssue) bool { return !c.estimated })
	verified := slices.DeleteFunc(slices.Clone(last), func(c closedIssue) bool { return !strings.HasPrefix(c.reason, verify.Verified) })
	r.FirstPass = share(verified, func(c closedIssue) bool {
		return !turned[Reopened][c.id] && !turned[WentBack][c.id] && !c.putToPerson
	})
	if req.History {
		reopened := share(last, func(c closedIssue) bool { return turned[Reopened][c.id] })
		r.Reopened, r.Shifts = &reopened, retroShifts(req.Turns, req.Last, within)
	}
	r.Patterns = r.patterns(verified)
	r.Draft = r.draft()
	return r, nil
}

// retroScope tells which issues are looked back at, by id.
func retroScope(f *beads.Snapshot, g *dag.Graph, epic string) func(id string) bool {
	at, there := f.Index(epic)
	if !there {
		return func(string) bool { return epic == "" }
	}
	inside := map[string]bool{}
	for _, i := range g.Inside(at) {
		inside[f.At(i).ID] = true
	}
	return func(id string) bool { return inside[id] }
}

// closedIssues lists closed issues, the last first, ties by id.
func closedIssues(f *beads.Snapshot, g *dag.Graph, within func(id string) bool, rules Rules) ([]closedIssue, error) {
	var list []closedIssue
	reader := f.Reader()
	for i, issue := range f.All() {
		at, _ := f.Index(issue.ID)
		if at != i || issue.Status != beads.StatusClosed || issue.Type == "epic" || len(g.Children(i)) > 0 || !within(issue.ID) {
			continue
		}
		record, err := reader.Record(issue)
		if err != nil {
			return nil, err
		}
		doc := notes.Parse(record.Text(beads.Notes))
		c := closedIssue{id: issue.ID, at: issue.UpdatedAt, reason: record.Text(beads.CloseReason), surprise: signals.Read(doc, rules.Schema).Number()}
		if t, ok := record.Time(beads.ClosedAt); ok {
			c.at = t
		}
		_, c.estimated = signals.LastEstimate(doc)
		c.reopened = signals.WasReopened(doc)
		c.putToPerson = slices.ContainsFunc(signals.Escalations(doc), func(p signals.Part) bool {
			return p.Kind.Asks() && strings.HasPrefix(p.Text, FailureOpening)
		})
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b closedIssue) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(a.id, b.id)) })
	return list, nil
}

func split(list []closedIssue, n int) (first, rest []closedIssue) {
	n = min(n, len(list))
	return list[:n], list[n:]
}

func idsOf(list []closedIssue) []string {
	ids := []string{}
	for _, c := range list {
		ids = append(ids, c.id)
	}
	return ids
}

func share(list []closedIssue, has func(closedIssue) bool) Share {
	those := slices.DeleteFunc(slices.Clone(list), func(c closedIssue) bool { return !has(c) })
	return Share{N: len(those), Of: len(list), IDs: idsOf(those)}
}

// over reports whether the share makes a pattern: it is above the limit, and not
// of too few issues.
func (s Share) over(limit float64) bool {
	return s.Of > signals.ThresholdTooFew && signals.Over(float64(s.N), limit*float64(s.Of))
}

// rest is the share of those that have it not.
func (s Share) rest(all []closedIssue) Share {
	return share(all, func(c closedIssue) bool { return !slices.Contains(s.IDs, c.id) })
}

func retroSurprise(last, before []closedIssue) (s RetroSurprise) {
	numbers := func(list []closedIssue) (all []float64) {
		for _, c := range list {
			all = append(all, c.surprise)
		}
		return all
	}
	s.N, s.Sum, s.Mean = len(last), signals.Sum(numbers(last)), mean(numbers(last))
	s.Before.N, s.Before.Mean = len(before), mean(numbers(before))
	s.Over = share(last, func(c closedIssue) bool { return signals.Over(c.surprise, signals.ThresholdDivergence) }).IDs
	return s
}

// mean is nil of nothing.
func mean(numbers []float64) *float64 {
	if len(numbers) == 0 {
		return nil
	}
	m := math.Round(signals.Sum(numbers)/float64(len(numbers))*100) / 100
	return &m
}

func retroShifts(turns []Turn, last int, within func(id string) bool) *RetroShifts {
	shifts := slices.DeleteFunc(slices.Clone(turns), func(t Turn) bool { return t.Kind != Shifted || !within(t.ID) })
	shifts = shifts[max(0, len(shifts)-last):]
	s := &RetroShifts{N: len(shifts)}
	up, down := []string{}, []string{}
	for _, t := range shifts {
		if signals.Complexity(t.To) > signals.Complexity(t.From) {
			up = append(up, t.ID)
		} else {
			down = append(down, t.ID)
		}
	}
	s.Up, s.Down, s.IDs = len(up), len(down), up
	if s.Down > s.Up {
		s.IDs = down
	}
	slices.Sort(s.IDs)
	s.IDs = slices.Compact(s.IDs)
	return s
}

// patterns finds what is no accident, the most telling first.
func (r *Retro) patterns(verified []closedIssue) []Pattern {
	list := []Pattern{}
	add := func(is bool, p Pattern) {
		if is {
			list = append(list, p)
		}
	}
	s := r.Surprise
	add(s.N > signals.ThresholdTooFew && signals.Over(*s.Mean, signals.ThresholdDivergence), Pattern{
		Name: "surprise", IDs: s.Over,
		Message:  "work turns out otherwise than it was described: surprise is " + s.words(),
		Proposal: "let somebody explore before such an issue is described, and split it afterwards",
	})
	if r.Shifts != nil {
		add(r.Shifts.oneWay(), r.Shifts.pattern())
	}
	failed := r.FirstPass.rest(verified)
	add(failed.over(signals.ThresholdPatternShare), Pattern{
		Name: "first-pass", IDs: failed.IDs,
		Message:  "work is taken for done before it is: " + failed.words() + " did not pass their criteria at first",
		Proposal: "run stig verify before work is handed over, or say in the criteria what they leave out",
	})
	add(r.Waivers.over(signals.ThresholdPatternShare), Pattern{
		Name: "waivers", IDs: r.Waivers.IDs,
		Message:  "issues are closed without a verdict: " + r.Waivers.words(),
		Proposal: "write criteria that can be run, or say of which kind of work nothing can be shown",
	})
	if r.Reopened != nil {
		add(r.Reopened.over(signals.ThresholdPatternShare), Pattern{
			Name: "reopened", IDs: r.Reopened.IDs,
			Message:  "what was closed is opened again: " + r.Reopened.words(),
			Proposal: "find out what the criteria of these did not ask for, and ask for it from now on",
		})
	}
	add(r.ZeroSurprise.over(signals.ThresholdHabitShare), Pattern{
		Name: "zero-surprise", IDs: r.ZeroSurprise.IDs,
		Message: fmt.Sprintf("almost no surprise is recorded: %s, %d of them without a checkpoint",
			r.ZeroSurprise.words(), r.NoCheckpoint.N),
		Proposal: "judge surprise anew with each checkpoint, against what the description said",
	})
	return list
}

// most is how many shifts go in the direction in which more of them go.
func (s *RetroShifts) most() int { return max(s.Up, s.Down) }

// oneWay reports whether hardly any shift goes in the other direction.
func (s *RetroShifts) oneWay() bool {
	return s.N > signals.ThresholdTooFew && signals.Over(float64(s.most()), (1-signals.ThresholdPatternShare)*float64(s.N))
}

func (s *RetroShifts) pattern() Pattern {
	certain, proposal := "less", "begin one domain higher where nobody has done the like before"
	if s.Down > s.Up {
		certain, proposal = "more", "begin one domain lower, and spare the depth of planning"
	}
	return Pattern{
		Name: "shifts", IDs: s.IDs, Proposal: proposal,
		Message: fmt.Sprintf("issues turn out %s certain than they were taken for: %d of the last %d changes of cynefin go in one direction",
			certain, s.most(), s.N),
	}
}

func (s Share) words() string { return fmt.Sprintf("%d of %d", s.N, s.Of) }

// words says the surprise, and that of before where there was enough of it.
func (s RetroSurprise) words() string {
	if s.Mean == nil {
		return "not known: nothing is closed"
	}
	words := fmt.Sprintf("%s on average over %s", signals.Decimal(*s.Mean), count(s.N, "issue"))
	if s.Before.N > signals.ThresholdTooFew {
		words += fmt.Sprintf(", and was %s over the %d before", signals.Decimal(*s.Before.Mean), s.Before.N)
	}
	return words
}

// draft is the question to a person. It must not end in a list, which would be
// taken for the options of an answer.
func (r *Retro) draft() string {
	if len(r.Patterns) == 0 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Should the way of working change? The last %s closed, from %s to %s, show %s.\n",
		count(len(r.Closed), "issue"), cmp.Or(r.From, "?"), cmp.Or(r.To, "?"), count(len(r.Patterns), "pattern"))
	for _, p := range r.Patterns {
		fmt.Fprintf(&text, "\nPattern: %s.\nEvidence: %s.\nProposal: %s.\n", p.Message, strings.Join(p.IDs, ", "), p.Proposal)
	}
	text.WriteString("\nWhy it cannot be fixed locally: each of these issues was done within the way of working, " +
		"and whoever takes the next one will do the same; only who decides on it can change it.\n")
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
	w.line(r.looked())
	w.blank()
	w.linef("- surprise: %s", r.Surprise.words())
	w.linef("- shifts of domain: %s", r.Shifts.words())
	w.linef("- passed at first: %s closed as verified%s", r.FirstPass.words(), r.FirstPass.few())
	w.linef("- waived: %s%s", r.Waivers.words(), r.Waivers.few())
	if r.Reopened == nil {
		w.line("- reopened: not known, the store has no history")
	} else {
		w.linef("- reopened: %s%s", r.Reopened.words(), r.Reopened.few())
	}
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

// looked says what was looked at.
func (r *Retro) looked() string {
	if len(r.Closed) == 0 {
		return "Nothing is closed yet."
	}
	return fmt.Sprintf("The last %s closed, from %s to %s.", count(len(r.Closed), "issue"), r.From, r.To)
}

// few says that nothing is claimed of a share.
func (s Share) few() string {
	if s.Of > signals.ThresholdTooFew {
		return ""
	}
	return " (too few to say more)"
}

func (s *RetroShifts) words() string {
	switch {
	case s == nil:
		return "not known, the store has no history"
	case s.N <= signals.ThresholdTooFew:
		return fmt.Sprintf("%d up, %d down (too few to say more)", s.Up, s.Down)
	}
	return fmt.Sprintf("%d up, %d down", s.Up, s.Down)
}
