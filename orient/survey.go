package orient

import (
	"cmp"
	"slices"
	"strings"

	"stig/beads"
	"stig/dag"
	"stig/signals"
)

// Survey is how the whole store stands: what needs attention first, and what
// to do next. How much of each part it shows follows from its scale; what that
// or a budget leaves out is named in Omitted.
type Survey struct {
	Scale        string        `json:"scale"`
	Counts       Counts        `json:"counts"`
	As           string        `json:"as,omitempty"`
	Attention    []Attention   `json:"attention"`
	Rules        []RuleCount   `json:"attention_counts"` // by rule, of all that needs attention
	InProgress   []Claim       `json:"in_progress"`
	Ready        []Entry       `json:"ready"`
	Epics        []EpicState   `json:"epics"`
	Convergence  []Convergence `json:"convergence"`
	CriticalPath []string      `json:"critical_path"` // ids, first to do first
	Omitted      []Omission    `json:"omitted"`
	Next         []Step        `json:"next"` // one

	wholePath bool // show all of the critical path
	there     all  // before anything was left out
}

// Scales, by the number of unclosed issues: under 30, to 100, over.
const (
	Small  = "small"
	Medium = "medium"
	Large  = "large"
)

// Counts are numbers of issues, deleted ones left out. They overlap: an open
// issue may be blocked, deferred or ready.
type Counts struct {
	Total      int `json:"total"`
	Open       int `json:"open"`
	InProgress int `json:"in_progress"`
	Blocked    int `json:"blocked"`
	Ready      int `json:"ready"`
	Deferred   int `json:"deferred"`
	Closed     int `json:"closed"`
	Unclosed   int `json:"unclosed"` // all that are not closed, whatever their status
}

// Attention is something that somebody should look at before anything else.
type Attention struct {
	Rule    string   `json:"rule"`
	ID      string   `json:"id"` // "" when it is about the store
	Message string   `json:"message"`
	Argv    []string `json:"argv"` // the command to begin with
}

// RuleCount is how often a rule asks for attention.
type RuleCount struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// Claim is an issue in progress.
type Claim struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Assignee string `json:"assignee"`
	Progress string `json:"progress"`
}

// Entry is an issue that can be started now.
type Entry struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Priority  int    `json:"priority"`
	Unblocks  int    `json:"unblocks"` // unclosed issues that wait for it, directly or not
	Epic      string `json:"epic"`
	Asked     bool   `json:"asked,omitempty"`      // waits for a person's answer
	FirstLine string `json:"first_line,omitempty"` // of its description, at small scale

	index     int
	epicTitle string
}

// EpicState is an unclosed epic and how far its children are.
type EpicState struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Closed     int     `json:"closed"`
	Total      int     `json:"total"`
	Ready      int     `json:"ready"`
	InProgress int     `json:"in_progress"`
	Blocked    int     `json:"blocked"`
	Surprise   float64 `json:"surprise"` // sum over its children
}

// state says in a word why nothing of an epic can be started.
func (e EpicState) state() string {
	switch {
	case e.Closed == e.Total:
		return "all closed but the epic"
	case e.Ready > 0:
		return ""
	case e.InProgress > 0:
		return "saturated"
	}
	return "stuck"
}

// Convergence is an open issue whose blockers are all closed.
type Convergence struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Blockers int     `json:"blockers"`
	Surprise float64 `json:"surprise"` // sum over its blockers
	Limit    float64 `json:"limit"`    // above it there is an alert
}

// SurveyRequest says how to look at the whole store.
type SurveyRequest struct {
	As     string // a worker, whose claims come first
	Budget int    // most characters of the Markdown; 0 for no limit
	Full   bool   // everything, whatever the scale
}

// Look surveys the store. It reads the notes of every issue once and fails
// only when a line can no longer be read.
func Look(f *beads.Snapshot, g *dag.Graph, req SurveyRequest, rules Rules) (*Survey, error) {
	list, err := traces(f, rules.Schema)
	if err != nil {
		return nil, err
	}
	s := &surveyor{file: f, graph: g, rules: rules, traces: list, living: living(f)}
	s.alarm = alarm{file: f, graph: g, now: rules.Now, staleDays: rules.StaleDays,
		trace: func(i int) (trace, error) { return list[i], nil }}
	survey := &Survey{As: req.As, Counts: s.counts(), Omitted: []Omission{}}
	survey.Scale = scale(survey.Counts.Unclosed)
	if survey.Attention, err = s.attention(); err != nil {
		return nil, err
	}
	survey.Rules = countRules(survey.Attention)
	survey.InProgress = s.inProgress(req.As)
	survey.Ready = s.ready()
	survey.Epics = s.epics()
	survey.Convergence = s.convergence()
	survey.CriticalPath = s.criticalPath()
	survey.Next = typed(f.Place(), survey.next(s.startable(survey.Ready)))
	survey.there = survey.all()
	survey.wholePath = req.Full || survey.Scale != Large
	if !req.Full {
		survey.limit()
	}
	if err := s.texts(survey); err != nil {
		return nil, err
	}
	if req.Budget > 0 {
		fit(survey, req.Budget)
	}
	return survey, nil
}

func scale(unclosed int) string {
	switch {
	case unclosed < 30:
		return Small
	case unclosed <= 100:
		return Medium
	}
	return Large
}

// surveyor is what a survey is put together from.
type surveyor struct {
	file   *beads.Snapshot
	graph  *dag.Graph
	rules  Rules
	traces []trace
	living []int
	alarm  alarm
}

// living are the issues that are not deleted, repeated ids once.
func living(f *beads.Snapshot) []int {
	var list []int
	for i, issue := range f.All() {
		if at, ok := f.Index(issue.ID); ok && at == i && issue.Status != "tombstone" {
			list = append(list, i)
		}
	}
	return list
}

func (s *surveyor) each(visit func(i int, issue *beads.Issue)) {
	for _, i := range s.living {
		visit(i, s.file.At(i))
	}
}

func (s *surveyor) counts() Counts {
	var c Counts
	s.each(func(i int, issue *beads.Issue) {
		c.Total++
		switch issue.Status {
		case "closed":
			c.Closed++
			return
		case "open":
			c.Open++
		case "in_progress":
			c.InProgress++
		}
		c.Unclosed++
		if s.graph.Blocked(i) || issue.Status == "blocked" {
			c.Blocked++
		}
		if s.graph.IsReady(i, s.rules.Now) {
			c.Ready++
		}
		if issue.Status == "deferred" || issue.DeferUntil.After(s.rules.Now) {
			c.Deferred++
		}
	})
	return c
}

// inProgress lists the claims by id, those of one worker first.
func (s *surveyor) inProgress(first string) []Claim {
	list := []Claim{}
	s.each(func(i int, issue *beads.Issue) {
		if issue.Status == "in_progress" {
			list = append(list, Claim{ID: issue.ID, Title: issue.Title, Assignee: issue.Assignee, Progress: s.traces[i].progress})
		}
	})
	others := func(c Claim) int {
		if first != "" && c.Assignee == first {
			return 0
		}
		return 1
	}
	slices.SortFunc(list, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(others(a), others(b)), strings.Compare(a.ID, b.ID))
	})
	return list
}

// ready lists what can be started, in the order of dag.Graph.Ready.
func (s *surveyor) ready() []Entry {
	unblocks, ready := s.graph.Unblocks(), s.graph.Ready(s.rules.Now)
	list := make([]Entry, 0, len(ready))
	for _, i := range ready {
		issue := s.file.At(i)
		e := Entry{ID: issue.ID, Title: issue.Title, Priority: issue.Priority, Unblocks: unblocks[i], Asked: s.traces[i].pending, index: i}
		if epic, ok := s.graph.Epic(i); ok {
			e.Epic, e.epicTitle = s.file.At(epic).ID, s.file.At(epic).Title
		}
		list = append(list, e)
	}
	return list
}

// startable is the first ready issue that waits for no answer and is work
// itself rather than an epic with work in it; the first one when there is no
// other.
func (s *surveyor) startable(ready []Entry) *Entry {
	for k := range ready {
		if ready[k].Asked {
			continue
		}
		if tally := s.graph.Tally(ready[k].index, s.rules.Now); tally.Unclosed() == 0 {
			return &ready[k]
		}
	}
	if len(ready) > 0 {
		return &ready[0]
	}
	return nil
}

// epics lists the unclosed ones by priority, then id.
func (s *surveyor) epics() []EpicState {
	indices := slices.DeleteFunc(s.graph.Epics(), s.graph.Closed)
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(s.file.At(a).Priority, s.file.At(b).Priority) })
	list := []EpicState{}
	for _, i := range indices {
		tally := s.graph.Tally(i, s.rules.Now)
		list = append(list, EpicState{
			ID: s.file.At(i).ID, Title: s.file.At(i).Title,
			Closed: tally.Closed, Total: tally.Total,
			Ready: tally.Ready, InProgress: tally.InProgress, Blocked: tally.Blocked,
			Surprise: s.sum(s.graph.Children(i)),
		})
	}
	return list
}

// convergence lists the open issues whose blockers are all closed, those with
// most blockers first.
func (s *surveyor) convergence() []Convergence {
	list := []Convergence{}
	s.each(func(i int, issue *beads.Issue) {
		if issue.Status != "open" || !s.graph.Converges(i) {
			return
		}
		blockers := s.graph.ClosedBlockers(i)
		list = append(list, Convergence{
			ID: issue.ID, Title: issue.Title, Blockers: len(blockers), Surprise: s.sum(blockers),
			Limit: signals.ConvergenceLimit(s.traces[i].cynefin, len(blockers)),
		})
	})
	slices.SortFunc(list, func(a, b Convergence) int {
		return cmp.Or(cmp.Compare(b.Blockers, a.Blockers), strings.Compare(a.ID, b.ID))
	})
	return list
}

func (s *surveyor) sum(issues []int) float64 {
	list := make([]float64, len(issues))
	for k, i := range issues {
		list[k] = s.traces[i].surprise
	}
	return signals.Sum(list)
}

func (s *surveyor) criticalPath() []string {
	path := []string{}
	for _, i := range s.graph.LongestChain() {
		path = append(path, s.file.At(i).ID)
	}
	return path
}

// texts reads from the store what is shown of few issues only.
func (s *surveyor) texts(survey *Survey) error {
	for k := range survey.Attention {
		if a := &survey.Attention[k]; a.Rule == attentionEscalation {
			i, _ := s.file.Index(a.ID)
			question, err := question(s.file.At(i))
			if err != nil {
				return err
			}
			if a.Message = "asks: " + question; question == "" {
				a.Message = "waits for a person, and no question is written down"
			}
		}
	}
	if survey.Scale != Small {
		return nil
	}
	for k := range survey.Ready {
		record, err := s.file.At(survey.Ready[k].index).Record()
		if err != nil {
			return err
		}
		survey.Ready[k].FirstLine = firstLine(record.Text(beads.Description))
	}
	return nil
}

// firstLine is the first line of a text that says something.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = oneLine(line); strings.Trim(line, "#-*_=` ") != "" && !strings.HasPrefix(line, "#") {
			return clip(line, widest-len("  > "))
		}
	}
	return ""
}

// next recommends one step: to go on with what the reader holds, else to start
// the best that is ready, else to clear what keeps everybody waiting.
func (s *Survey) next(ready *Entry) []Step {
	brief := func(why, id string) []Step { return []Step{{Why: why, Argv: []string{"stig", "orient", id}}} }
	switch {
	case s.As != "" && len(s.InProgress) > 0 && s.InProgress[0].Assignee == s.As:
		return brief("go on with what "+s.As+" holds", s.InProgress[0].ID)
	case ready != nil && ready.Unblocks > 0:
		return brief("the most urgent that is ready, and "+count(ready.Unblocks, "issue")+" waiting for it", ready.ID)
	case ready != nil:
		return brief("the most urgent that is ready", ready.ID)
	case len(s.Attention) > 0:
		return []Step{{Why: "nothing is ready; begin with what needs attention", Argv: s.Attention[0].Argv}}
	case len(s.InProgress) > 0:
		return brief("nothing is ready; see whether this one needs help", s.InProgress[0].ID)
	}
	return []Step{{Why: "nothing is left to do; write down what comes next", Argv: []string{"stig", "create", "…"}}}
}
