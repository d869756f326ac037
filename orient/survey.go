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

// Survey is the state of the whole store: what needs attention first, and what to do next. The
// length of each part follows from the scale. What the scale or a budget leaves out is named in
// Omitted.
type Survey struct {
	Scale        string        `json:"scale"`
	Counts       Counts        `json:"counts"`
	As           string        `json:"as,omitempty"`
	Inbox        int           `json:"inbox,omitempty"` // items in the reader's inbox
	Attention    []Attention   `json:"attention"`
	Rules        []RuleCount   `json:"attention_counts"` // by rule, of all entries
	InProgress   []Claim       `json:"in_progress"`
	Workers      []Worker      `json:"workers,omitempty"`
	ToLand       string        `json:"to_land,omitempty"` // number of finished issues not on the current branch, and the command
	Ready        []Entry       `json:"ready"`
	Epics        []EpicState   `json:"epics"`
	Convergence  []Convergence `json:"convergence"`
	CriticalPath []string      `json:"critical_path"` // ids in order of work
	Omitted      []Omission    `json:"omitted"`
	Next         []Step        `json:"next"` // exactly one

	statuses  map[string]int // numbers of issues with statuses unknown to stig
	wholePath bool           // show the whole critical path
	there     all            // numbers before anything was left out
}

// Scales, by the number of unclosed issues: under 30, 30 to 100, over 100.
const (
	Small  = "small"
	Medium = "medium"
	Large  = "large"
)

// Counts are numbers of issues: total is closed plus unclosed, and unclosed is the sum of ready
// to other, which are disjoint. Deleted, ephemeral and template issues are excluded.
type Counts struct {
	Total      int `json:"total"`
	Closed     int `json:"closed"`
	Unclosed   int `json:"unclosed"`
	Ready      int `json:"ready"` // the reader can take them
	InProgress int `json:"in_progress"`
	Asked      int `json:"asked"`    // waiting for a person's answer
	Assigned   int `json:"assigned"` // open and assigned to others
	Blocked    int `json:"blocked"`
	Deferred   int `json:"deferred"`
	Epics      int `json:"epics"`   // open and not blocked; the remaining work is in their children
	Unknown    int `json:"unknown"` // of unknown status
	Other      int `json:"other"`   // not work: pinned, or another program's record
	Open       int `json:"open"`    // of status open, blocked or not
	Uncounted  int `json:"uncounted"`
}

// Attention is something that needs attention before anything else.
type Attention struct {
	Rule    string   `json:"rule"`
	ID      string   `json:"id"` // "" if it is about the store
	Title   string   `json:"title"`
	Message string   `json:"message"`
	Argv    []string `json:"argv"` // the first command to run

	first bool // nothing else can be finished before it
}

// RuleCount is the number of attention entries of a rule.
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
	Stale    bool   `json:"stale,omitempty"` // unchanged for long; listed in Attention too
	Held     *Held  `json:"held,omitempty"`  // open in this store, but worked on elsewhere; nil otherwise

	noted bool // it has a signal table
}

// Entry is an issue that the reader can take now.
type Entry struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Priority  int    `json:"priority"`
	Unblocks  int    `json:"unblocks"` // unclosed issues that wait for it, directly or not
	Epic      string `json:"epic"`
	FirstLine string `json:"first_line,omitempty"` // first line of its description, at scale small
	Against   string `json:"against,omitempty"`    // why not to take it first, in words from the issue
	Upon      string `json:"upon,omitempty"`       // the request that it is built upon, in words

	bare      bool // it has only a title
	index     int
	epicTitle string
}

// EpicState is an unclosed epic with the states of its children: total is the sum of the counts
// after it.
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
	Complete   bool    `json:"complete"`         // all children are closed and at least one was done: it can be closed
	Undone     string  `json:"undone,omitempty"` // if all are closed: how the undone ones ended
	Surprise   float64 `json:"surprise"`         // sum over its children
	Rated      int     `json:"rated"`            // number of children that recorded surprise
}

// Convergence is an open issue with several closed blockers, at least one of which recorded its
// surprise.
type Convergence struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Blockers int     `json:"blockers"`
	Surprise float64 `json:"surprise"` // sum over its blockers
	Limit    float64 `json:"limit"`    // an alert is raised above this limit
}

// SurveyRequest says how to survey the store.
type SurveyRequest struct {
	As     string // a worker, whose claims are listed first
	Actor  string // the reader, who can take issues assigned to this name; As if ""
	Budget int    // limit of the Markdown in characters; 0 for none
	Full   bool   // show everything, at any scale
	// Left reports whether stig sweep would return a claim; nil if that is unknown.
	Left func(issue *beads.Issue) bool
	Held map[string]Held // by id, issues that are open here and held elsewhere
	// MayTake reports whether the reader can take issues assigned to another name; nil means
	// never.
	MayTake func(name string) bool
	Workers []Worker // actors whose loops run, wait or were paused
	Inbox   int      // items in the reader's inbox
	ToLand  string   // what is waiting to land, in one line; "" for nothing
}

// NewSurvey surveys the store. It reads the notes of every issue once, and fails only if a line
// can no longer be read.
func NewSurvey(f *beads.Snapshot, g *dag.Graph, req SurveyRequest, rules Rules) (*Survey, error) {
	list, err := allNoted(f, rules)
	if err != nil {
		return nil, err
	}
	s := &surveyor{file: f, graph: g, rules: rules, notes: list, counted: counted(f, g)}
	s.alarm = newAlerts(f, g, rules, func(i int) (summary, error) { return list[i], nil })
	s.returned, s.held = req.Left, req.Held
	s.worker = dag.Worker{Now: rules.Now, Name: cmp.Or(req.Actor, req.As), MayTake: req.MayTake, Asked: func(i int) bool { return list[i].Holds(s.worker.Name) }}
	s.worker.Reviewed = func(i int) string { return list[i].Review }
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

// surveyor is the input of a survey.
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

// counted returns the issues that a survey counts.
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

// counts counts issues by state, and unknown statuses by name.
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

// inProgress lists the claims by id: those of one worker, then those of others, then stale ones
// of others.
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
		if u, ok := s.graph.Upon(i); ok {
			e.Upon = u.Words(func(i int) string { return s.file.At(i).ID })
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

// epics lists the unclosed epics by priority, then id; those that only need to be closed come
// first.
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

// convergence lists the open issues with closed blockers and recorded surprise, those with most
// blockers first.
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

// sum adds up the surprise of issues, and counts the issues that recorded one.
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

// texts reads texts from the store that are shown for few issues only.
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

// firstLine returns the first line of a text with content, skipping headings.
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
