package orient

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/visible"
	"stig/signals"
)

// Survey is how the whole store stands: what needs attention first, and what
// to do next. How much of each part it shows follows from its scale; what that
// or a budget leaves out is named in Omitted.
type Survey struct {
	Scale        string        `json:"scale"`
	Counts       Counts        `json:"counts"`
	As           string        `json:"as,omitempty"`
	Inbox        int           `json:"inbox,omitempty"` // items in the reader's inbox
	Attention    []Attention   `json:"attention"`
	Rules        []RuleCount   `json:"attention_counts"` // by rule, of all that needs attention
	InProgress   []Claim       `json:"in_progress"`
	Workers      []Worker      `json:"workers,omitempty"`
	ToLand       string        `json:"to_land,omitempty"` // how many issues are finished and not on the branch of the checkout, and what to type
	Ready        []Entry       `json:"ready"`
	Epics        []EpicState   `json:"epics"`
	Convergence  []Convergence `json:"convergence"`
	CriticalPath []string      `json:"critical_path"` // ids, first to do first
	Omitted      []Omission    `json:"omitted"`
	Next         []Step        `json:"next"` // one

	statuses  map[string]int // issues of statuses that stig does not know
	wholePath bool           // show all of the critical path
	there     all            // before anything was left out
}

// Scales, by the number of unclosed issues: under 30, to 100, over.
const (
	Small  = "small"
	Medium = "medium"
	Large  = "large"
)

// Counts are numbers of issues: total is closed and unclosed together, and
// unclosed is the sum of ready to other, each issue in one of them. Deleted,
// ephemeral and template issues do not count.
type Counts struct {
	Total      int `json:"total"`
	Closed     int `json:"closed"`
	Unclosed   int `json:"unclosed"`
	Ready      int `json:"ready"` // can be taken by the reader
	InProgress int `json:"in_progress"`
	Asked      int `json:"asked"`    // wait for a person's answer
	Assigned   int `json:"assigned"` // open, and somebody else's
	Blocked    int `json:"blocked"`
	Deferred   int `json:"deferred"`
	Epics      int `json:"epics"`   // open, not blocked, and what is left to do is their children's
	Unknown    int `json:"unknown"` // of a status that stig does not know
	Other      int `json:"other"`   // no work: pinned, or another program's record
	Open       int `json:"open"`    // of status open, whatever holds them
	Uncounted  int `json:"uncounted"`
}

// Attention is something that somebody should look at before anything else.
type Attention struct {
	Rule    string   `json:"rule"`
	ID      string   `json:"id"` // "" when it is about the store
	Title   string   `json:"title"`
	Message string   `json:"message"`
	Argv    []string `json:"argv"` // the command to begin with

	first bool // no other step can be finished before it
}

// RuleCount is how often a rule asks for attention.
type RuleCount struct {
	Rule  string `json:"rule"`
	Count int    `json:"count"`
}

// Claim is an issue in progress, here or elsewhere.
type Claim struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Assignee string `json:"assignee"`
	Progress string `json:"progress"`
	Stale    bool   `json:"stale,omitempty"` // unchanged for long, which Attention says
	Held     *Held  `json:"held,omitempty"`  // of an issue that is open in this store: it is worked on elsewhere

	noted bool // its progress is written down
}

// Entry is an issue that the reader can take now.
type Entry struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Priority  int    `json:"priority"`
	Unblocks  int    `json:"unblocks"` // unclosed issues that wait for it, directly or not
	Epic      string `json:"epic"`
	FirstLine string `json:"first_line,omitempty"` // of its description, at small scale
	Against   string `json:"against,omitempty"`    // why it is not the first to take, in its own words

	bare      bool // it says nothing but its title
	index     int
	epicTitle string
}

// EpicState is an unclosed epic and where its children stand: total is the sum
// of the counts after it.
type EpicState struct {
	ID         string  `json:"id"`
	Title      string  `json:"title"`
	Total      int     `json:"total"`
	Closed     int     `json:"closed"`
	Ready      int     `json:"ready"`
	InProgress int     `json:"in_progress"`
	Asked      int     `json:"asked"`
	Assigned   int     `json:"assigned"`
	Blocked    int     `json:"blocked"`
	Deferred   int     `json:"deferred"`
	Epics      int     `json:"epics"`
	Unknown    int     `json:"unknown"`
	Other      int     `json:"other"`
	Complete   bool    `json:"complete"`         // all children are closed, and one was done: it can be closed itself
	Undone     string  `json:"undone,omitempty"` // where all are closed: how those ended that were not done
	Surprise   float64 `json:"surprise"`         // sum over its children
	Rated      int     `json:"rated"`            // children that record a surprise
}

// Convergence is an open issue that brings closed blockers together, of which
// one at least recorded its surprise.
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
	Actor  string // who reads, and can take what is assigned to this name; As when ""
	Budget int    // most characters of the Markdown; 0 for no limit
	Full   bool   // everything, whatever the scale
	// Left reports whether stig sweep returns a claim; nil where that is not known.
	Left func(issue *beads.Issue) bool
	Held map[string]Held // by id, issues that are open here and that somebody has elsewhere
	// MayTake reports whether who reads can take what is assigned to another name; nil for none.
	MayTake func(name string) bool
	Workers []Worker // whose loops run, wait or were paused
	Inbox   int      // items in the inbox of who reads
	ToLand  string   // what is to land, in one line; "" for nothing
}

// NewSurvey surveys the store. It reads the notes of every issue once and fails
// only when a line can no longer be read.
func NewSurvey(f *beads.Snapshot, g *dag.Graph, req SurveyRequest, rules Rules) (*Survey, error) {
	list, err := allNoted(f, rules)
	if err != nil {
		return nil, err
	}
	s := &surveyor{file: f, graph: g, rules: rules, notes: list, counted: counted(f, g)}
	s.alarm = newAlerts(f, g, rules, func(i int) (summary, error) { return list[i], nil })
	s.returned, s.held = req.Left, req.Held
	s.worker = dag.Worker{Now: rules.Now, Name: cmp.Or(req.Actor, req.As), MayTake: req.MayTake, Asked: func(i int) bool { return list[i].Holds(s.worker.Name) }}
	s.worker.Held = func(i int) bool { _, held := req.Held[f.At(i).ID]; return held }
	survey := &Survey{As: req.As, Omitted: []Omission{}}
	survey.Counts, survey.statuses = s.counts()
	survey.Scale = scale(survey.Counts.Unclosed)
	if survey.Attention, err = s.attention(); err != nil {
		return nil, err
	}
	survey.Rules = countRules(survey.Attention)
	survey.InProgress = s.inProgress(req.As)
	survey.Workers, survey.Inbox, survey.ToLand = req.Workers, req.Inbox, req.ToLand
	if survey.Ready, err = s.ready(); err != nil {
		return nil, err
	}
	survey.Epics = s.epics()
	survey.Convergence = s.convergence()
	survey.CriticalPath = s.criticalPath()
	survey.Next = typed(f.Place(), survey.next())
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
	returned func(*beads.Issue) bool // see SurveyRequest
	held     map[string]Held
	file     *beads.Snapshot
	graph    *dag.Graph
	rules    Rules
	worker   dag.Worker
	notes    []summary
	counted  []int // the issues that a survey counts
	alarm    alerts
}

// counted are the issues that a survey counts.
func counted(f *beads.Snapshot, g *dag.Graph) []int {
	var list []int
	for i := range f.Len() {
		if g.Lasting(i) {
			list = append(list, i)
		}
	}
	return list
}

func (s *surveyor) each(visit func(i int, issue *beads.Issue)) {
	for _, i := range s.counted {
		visit(i, s.file.At(i))
	}
}

// counts counts issues by where they stand, and unknown statuses by name.
func (s *surveyor) counts() (Counts, map[string]int) {
	var t dag.Tally
	open, statuses := 0, map[string]int{}
	s.each(func(i int, issue *beads.Issue) {
		state := s.graph.State(i, s.worker)
		t.Add(state)
		if issue.Status == beads.StatusOpen {
			open++
		}
		if state == dag.StateUnknown {
			statuses[issue.Status]++
		}
	})
	passing := 0
	for _, issue := range s.file.All() {
		if (issue.Ephemeral || issue.Template) && !beads.IsClosed(issue.Status) {
			passing++
		}
	}
	return Counts{
		Total: t.Total, Closed: t.Closed, Unclosed: t.Unclosed(), Ready: t.Ready, InProgress: t.InProgress,
		Asked: t.Asked, Assigned: t.Assigned, Blocked: t.Blocked, Deferred: t.Deferred, Epics: t.Epics + t.Complete,
		Unknown: t.Unknown, Other: t.Other, Open: open, Uncounted: passing,
	}, statuses
}

// inProgress lists the claims by id: those of one worker, then those of others,
// then the stale ones of others.
func (s *surveyor) inProgress(first string) []Claim {
	list := []Claim{}
	s.each(func(i int, issue *beads.Issue) {
		if issue.Status == beads.StatusInProgress {
			_, stale := signals.Stale(issue.UpdatedAt, s.rules.Now, s.rules.StaleDays)
			list = append(list, Claim{ID: issue.ID, Title: issue.Title, Assignee: issue.Assignee,
				Progress: s.notes[i].progress, Stale: stale, noted: s.notes[i].table})
		}
		if h, held := s.held[issue.ID]; held {
			list = append(list, Claim{ID: issue.ID, Title: issue.Title, Assignee: h.By, Progress: s.notes[i].progress, Held: &h})
		}
	})
	others := func(c Claim) int {
		switch {
		case clone.BelongsTo(c.Assignee, first):
			return 0
		case !c.Stale:
			return 1
		}
		return 2
	}
	slices.SortFunc(list, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(others(a), others(b)), strings.Compare(a.ID, b.ID))
	})
	return list
}

// ready lists what the reader can take, in the order of dag.Graph.Ready.
func (s *surveyor) ready() ([]Entry, error) {
	unblocks, ready := s.graph.Unblocks(), s.graph.Takeable(s.worker)
	list := make([]Entry, 0, len(ready))
	for _, i := range ready {
		issue := s.file.At(i)
		e := Entry{ID: issue.ID, Title: issue.Title, Priority: issue.Priority, Unblocks: unblocks[i], index: i}
		if epic, ok := s.graph.Epic(i); ok {
			e.Epic, e.epicTitle = s.file.At(epic).ID, s.file.At(epic).Title
		}
		if len(list) < MostWeighed {
			advice, err := AdviceOf(issue)
			if err != nil {
				return nil, err
			}
			e.Against, e.bare = advice.Against, advice.Bare
		}
		list = append(list, e)
	}
	return list, nil
}

// epics lists the unclosed ones by priority, then id, those first that need only
// be closed.
func (s *surveyor) epics() []EpicState {
	indices := slices.DeleteFunc(s.graph.Epics(), func(i int) bool { return s.graph.Closed(i) || !s.graph.Lasting(i) })
	slices.SortStableFunc(indices, func(a, b int) int { return cmp.Compare(s.file.At(a).Priority, s.file.At(b).Priority) })
	list := []EpicState{}
	for _, i := range indices {
		t := s.graph.Tally(i, s.worker)
		closed, all := s.graph.Progress(i)
		e := EpicState{
			ID: s.file.At(i).ID, Title: s.file.At(i).Title, Total: t.Total, Closed: t.Closed,
			Ready: t.Ready, InProgress: t.InProgress, Asked: t.Asked, Assigned: t.Assigned, Blocked: t.Blocked,
			Deferred: t.Deferred, Epics: t.Epics + t.Complete, Unknown: t.Unknown, Other: t.Other,
		}
		if closed == all {
			e.Complete, e.Undone = s.graph.DoneByClose(i) && !s.graph.Blocked(i) && !s.notes[i].Asks, s.graph.Ends(i).Words()
		}
		e.Surprise, e.Rated = s.sum(s.graph.Children(i))
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b EpicState) int {
		switch {
		case a.Complete == b.Complete:
			return 0
		case a.Complete:
			return -1
		}
		return 1
	})
	return list
}

// convergence lists the open issues where closed blockers come together and
// surprise was recorded, those with most blockers first.
func (s *surveyor) convergence() []Convergence {
	list := []Convergence{}
	s.each(func(i int, issue *beads.Issue) {
		if issue.Status != beads.StatusOpen || !s.graph.Converges(i) {
			return
		}
		blockers := s.graph.ClosedBlockers(i)
		surprise, rated := s.sum(blockers)
		if rated == 0 {
			return
		}
		list = append(list, Convergence{
			ID: issue.ID, Title: issue.Title, Blockers: len(blockers), Surprise: surprise,
			Limit: signals.ConvergenceLimit(s.notes[i].Cynefin, len(blockers)),
		})
	})
	slices.SortFunc(list, func(a, b Convergence) int {
		return cmp.Or(cmp.Compare(b.Blockers, a.Blockers), strings.Compare(a.ID, b.ID))
	})
	return list
}

// sum adds up the surprise of issues, and counts those that record one.
func (s *surveyor) sum(issues []int) (sum float64, rated int) {
	list := make([]float64, len(issues))
	for k, i := range issues {
		if list[k] = s.notes[i].Surprise; s.notes[i].Rated {
			rated++
		}
	}
	return signals.Sum(list), rated
}

func (s *surveyor) criticalPath() []string {
	path := []string{}
	for _, i := range s.graph.LongestChain(s.graph.Lasting) {
		path = append(path, s.file.At(i).ID)
	}
	return path
}

// texts reads from the store what is shown of few issues only.
func (s *surveyor) texts(survey *Survey) error {
	for k := range survey.Attention {
		if a := &survey.Attention[k]; a.Rule == attentionEscalation {
			i, _ := s.file.Index(a.ID)
			var err error
			if a.Message, err = question(s.file.At(i), s.rules.Now); err != nil {
				return err
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
		if line = visible.OneLine(line); strings.Trim(line, "#-*_=` ") != "" && !strings.HasPrefix(line, "#") {
			return clip(line, widest-len("  > "))
		}
	}
	return ""
}

// next recommends one step: to fix a store that refuses every write, else to go on with what the reader holds, else to start
// the best that can be taken, else to close an epic whose children are, else to
// clear what holds people up.
func (s *Survey) next() []Step {
	brief := func(why, id string) []Step { return []Step{{Why: why, Argv: []string{"stig", "orient", id}}} }
	complete := slices.IndexFunc(s.Epics, func(e EpicState) bool { return e.Complete })
	first, nothing := 0, "nothing can be started"
	if len(s.Ready) > 0 {
		first, nothing = recommended(s.Ready), "what can be started says that it waits"+passedOver(s.Ready[:1])
	}
	damage := slices.IndexFunc(s.Attention, func(a Attention) bool { return a.first })
	switch {
	case damage >= 0:
		a := s.Attention[damage]
		return []Step{{Why: "nothing can be written before the store is fixed: " + a.Message, Argv: a.Argv}}
	case len(s.InProgress) > 0 && clone.BelongsTo(s.InProgress[0].Assignee, s.As):
		return brief("go on with what "+s.As+" holds: "+title(s.InProgress[0].Title), s.InProgress[0].ID)
	case len(s.Ready) > 0 && s.Ready[first].Against == "":
		return brief(s.Ready[first].why(len(s.Ready))+passedOver(s.Ready[:first]), s.Ready[first].ID)
	case complete >= 0:
		e := s.Epics[complete]
		return brief(nothing+", and all children of this epic are closed: close it: "+title(e.Title), e.ID)
	case len(s.Attention) > 0:
		a := s.Attention[0]
		return []Step{{Why: nothing + "; begin with what holds people up: " + a.words(), Argv: a.Argv}}
	case len(s.Ready) > 0:
		return brief(s.Ready[first].why(len(s.Ready))+"; see first whether it can be done now: "+s.Ready[first].Against, s.Ready[first].ID)
	case len(s.InProgress) > 0:
		return brief("nothing can be started; see whether this one needs help: "+title(s.InProgress[0].Title), s.InProgress[0].ID)
	case s.Counts.Unclosed > 0:
		return []Step{{Why: "nothing can be started; see all that is unclosed", Argv: []string{"stig", "plan"}}}
	}
	why := "no unclosed issues; add what comes next"
	if s.Counts.Total == 0 {
		why = "no issues yet; add the first"
	}
	return []Step{{Why: why, Argv: []string{"stig", "create", "…"}}}
}

// recommended is the place of the one to begin with.
func recommended(ready []Entry) int {
	advice := make([]Advice, min(len(ready), MostWeighed))
	for k := range advice {
		advice[k] = Advice{ready[k].Priority, ready[k].Against, ready[k].bare}
	}
	return Advised(advice)[0]
}

// passedOver names the issues before the recommended one, and what speaks against each.
func passedOver(list []Entry) string {
	var words []string
	for _, e := range list {
		why := e.Against
		if why == "" {
			why = "only a title"
		}
		words = append(words, e.ID+" ("+why+")")
	}
	if len(words) == 0 {
		return ""
	}
	return "; passed over: " + visible.Some(words, 3)
}

// why says why the first of so many issues is the one to take.
func (e Entry) why(of int) string {
	why := fmt.Sprintf("P%d, first of %d that can be started", e.Priority, of)
	if of == 1 {
		why = fmt.Sprintf("P%d, the only one that can be started", e.Priority)
	}
	switch e.Unblocks {
	case 0:
	case 1:
		why += "; 1 issue waits for it"
	default:
		why += fmt.Sprintf("; %d issues wait for it", e.Unblocks)
	}
	return why + ": " + title(e.Title)
}
