package night

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/orient"
)

// Morning is what happened to the issues and the loops since a time, for a person who was away.
// It counts the runs that ended since then or are still running.
type Morning struct {
	Since    time.Time      `json:"since"`
	Until    time.Time      `json:"until"`
	Done     []Done         `json:"done"`  // first closed first
	Waits    []Question     `json:"waits"` // for a person, regardless of when they were asked
	Failed   []Failure      `json:"failed"`
	Loops    []Loop         `json:"loops"`
	InReview []Requested    `json:"in_review"` // issues with an open request
	ToLand   Pending        `json:"to_land"`
	Cost     Cost           `json:"cost"`
	Outcomes map[string]int `json:"outcomes"` // number of runs by outcome; "running" for those not ended
}

// Done is a closed issue.
type Done struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	Epic  string    `json:"epic"` // title of the epic; "" for none
	At    time.Time `json:"at"`
	By    string    `json:"by"`
	Proof string    `json:"proof"` // short proof that it is done
	git.Stat
	Cost string `json:"cost"` // of its runs
}

// Question is a question to a person.
type Question struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	By       string `json:"by"`
	Since    string `json:"since"`    // YYYY-MM-DD; "" if unknown
	Question string `json:"question"` // its first line
	Command  string `json:"command"`  // the command that answers it
}

// Failure is an issue that runs failed at and that is neither closed nor waiting for a person.
type Failure struct {
	ID    string    `json:"id"` // "" for runs without an issue
	Title string    `json:"title"`
	Times int       `json:"times"`
	By    []string  `json:"by"`
	At    time.Time `json:"at"`  // of the last
	Why   string    `json:"why"` // the last reason
	Cost  string    `json:"cost"`
}

// Loop is the state of an actor's loop, and why it ended.
type Loop struct {
	Name  string     `json:"name"`
	State string     `json:"state"` // working, waiting, ended, killed, or the state set by a person
	Issue string     `json:"issue"` // in hand
	Why   string     `json:"why"`
	Ended *time.Time `json:"ended"` // null if it has not ended
	Runs  int        `json:"runs"`
	Cost  string     `json:"cost"`
}

// Pending is the work to land.
type Pending struct {
	Issues  int    `json:"issues"`
	Text    string `json:"text"`
	Command string `json:"command"` // "" if there is nothing to land
	Since   string `json:"since"`   // when the first issue was closed, YYYY-MM-DD; "" if unknown
}

// Cost is the total cost of the runs.
type Cost struct {
	Text    string             `json:"text"`
	Amounts map[string]float64 `json:"amounts"` // by currency
	Unknown int                `json:"unknown"` // number of runs with unknown or partly known cost
	Tokens  int64              `json:"tokens"`
	Runs    int                `json:"runs"`
}

// firstMorning is how far back the first morning report looks.
const firstMorning = 24 * time.Hour

// ReadMorning collects what happened to the issues and the loops since a time, in the format of
// --since. "" means since the last report.
func ReadMorning(ctx context.Context, a *workspace.Run, since string) (*Morning, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	place, err := a.Live(file.Place())
	if err != nil {
		return nil, err
	}
	m := &Morning{Until: now, Since: place.LastMorning(), Outcomes: map[string]int{}}
	if m.Since.IsZero() || m.Since.After(now) {
		m.Since = now.Add(-firstMorning)
	}
	if since != "" {
		if m.Since, err = workspace.TimeOf(since, now); err != nil {
			return nil, err
		}
	}
	night, err := runsOfNight(a, place, m.Since)
	if err != nil {
		return nil, err
	}
	m.InReview = []Requested{}
	g := &gathering{Morning: m, app: a, file: file, graph: dag.New(file), place: place, night: night}
	for _, step := range []func(context.Context) error{g.closed, g.waiting, g.failed, g.loops, g.landing} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	g.cost()
	return m, nil
}

// MorningRead records that the report was read.
func MorningRead(a *workspace.Run, m *Morning) error {
	place, err := a.LivePlace()
	if err == nil {
		err = place.KeepMorning(m.Until)
	}
	return err
}

// runsOfNight returns the runs that ended since a time or have not ended.
func runsOfNight(a *workspace.Run, place clone.Place, since time.Time) ([]clone.Run, error) {
	all, damaged, err := place.Runs(since.Add(-longestRun))
	for _, where := range damaged {
		a.Warn("%s: contains an unreadable line", where)
	}
	return slices.DeleteFunc(all, func(r clone.Run) bool {
		over := r.Ended.IsZero() && r.Started.Before(since) && !r.IsRunning()
		return over || !r.Ended.IsZero() && r.Ended.Before(since)
	}), err
}

// longestRun is how long before its end a run may have started.
const longestRun = 48 * time.Hour

// gathering collects a morning report.
type gathering struct {
	*Morning
	app   *workspace.Run
	file  *beads.Snapshot
	graph *dag.Graph
	place clone.Place
	night []clone.Run
	asked map[string]bool // issues that wait for a person
}

// spent returns the total cost of the runs that pick selects, and their number.
func (g *gathering) spent(pick func(clone.Run) bool) (s clone.Spent, runs int) {
	for _, r := range g.night {
		if pick(r) {
			s.Add(r)
			runs++
		}
	}
	return s, runs
}

func (g *gathering) costOf(issue string) string {
	s, _ := g.spent(func(r clone.Run) bool { return r.Issue == issue })
	return s.String()
}

// closed lists the issues that were closed as done, also if they changed after the close.
func (g *gathering) closed(ctx context.Context) error {
	g.Done = []Done{}
	since := g.Since.Truncate(time.Second) // the precision of closed_at
	for i, issue := range g.file.All() {
		if issue.Status != beads.StatusClosed || issue.UpdatedAt.Before(since) {
			continue
		}
		record, err := issue.Record()
		if err != nil {
			return err
		}
		at, _ := time.Parse(time.RFC3339Nano, record.Text(beads.ClosedAt)) // zero if missing
		if reason := record.Text(beads.CloseReason); !at.Before(since) && beads.OutcomeOf(reason).End == beads.EndDone {
			one := Done{ID: issue.ID, Title: issue.Title, At: at, By: issue.Assignee, Proof: ProofIn(reason), Cost: g.costOf(issue.ID)}
			if epic, ok := g.graph.Epic(i); ok {
				one.Epic = g.file.At(epic).Title
			}
			if err := g.changedBy(ctx, &one); err != nil {
				return err
			}
			g.Done = append(g.Done, one)
		}
	}
	slices.SortStableFunc(g.Done, func(a, b Done) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return nil
}

// changedBy sets who did an issue and the size of the change, from the run that closed it.
func (g *gathering) changedBy(ctx context.Context, one *Done) error {
	for _, r := range slices.Backward(g.night) {
		if r.Issue != one.ID || r.Outcome != string(clone.OutcomeClosed) {
			continue
		}
		one.By = r.Actor
		trees, err := g.app.Trees(g.file.Place())
		if err != nil || trees == nil || r.Base == "" || r.Commit == "" || r.Base == r.Commit {
			return err
		}
		if stat, err := git.StatOf(ctx, *trees, git.Unit{From: r.Base, Commit: r.Commit}); err == nil {
			one.Stat = stat // on error the commits are gone
		}
		return nil
	}
	return nil
}

// ProofIn returns, in short, the proof that a close reason contains.
func ProofIn(reason string) string {
	if why, ok := gate.ParseWaived(reason); ok {
		return "waived: " + visible.OneLine(why)
	}
	found, ok := gate.ParseResults(reason)
	if !ok {
		return "no check ran"
	}
	text := visible.Counted(found.Passed, "check")
	if found.Passed < found.All {
		text = fmt.Sprintf("%d of %s", found.Passed, visible.Counted(found.All, "check"))
	}
	if difference := gate.DifferenceIn(reason); difference != "" {
		text += " (" + difference + ")"
	}
	return text
}

// waiting lists the questions to people.
func (g *gathering) waiting(context.Context) error {
	list, err := orient.Escalations(g.file, g.graph, orient.Rules{Schema: g.app.Schema, Now: g.Until})
	g.Waits, g.asked = []Question{}, map[string]bool{}
	for _, q := range list {
		g.asked[q.ID] = true
		one := Question{ID: q.ID, Title: q.Title, By: q.By, Since: q.Since, Question: firstLine(q.Question), Command: "stig resolve " + visible.Quoted(q.ID)}
		if q.Number > 1 {
			one.Command += fmt.Sprintf(" --question %d", q.Number)
		}
		if len(q.Options) > 0 {
			one.Command += " --option 1"
			one.Question += "  1 " + strings.Join(numbered(q.Options), "  ")
		} else {
			one.Command += " -m ANSWER"
		}
		g.Waits = append(g.Waits, one)
	}
	return err
}

// numbered returns options with their numbers, the first without.
func numbered(options []string) (list []string) {
	for i, option := range options {
		if option = firstLine(option); i > 0 {
			option = fmt.Sprintf("%d %s", i+1, option)
		}
		list = append(list, option)
	}
	return list
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return visible.OneLine(line)
}

// failed lists the issues that runs failed at and that were neither closed since nor escalated.
func (g *gathering) failed(context.Context) error {
	g.Failed = []Failure{}
	at := map[string]int{}
	for _, r := range g.night {
		o := clone.Outcome(r.Outcome)
		if g.Outcomes[cmp.Or(r.Outcome, "running")]++; !o.IsFailure() && o != clone.OutcomeRejected || g.asked[r.Issue] || g.isClosed(r.Issue) {
			continue
		}
		i, known := at[r.Issue]
		if !known {
			i = len(g.Failed)
			at[r.Issue], g.Failed = i, append(g.Failed, Failure{ID: r.Issue, Title: g.titleOf(r.Issue), By: []string{}, Cost: g.costOf(r.Issue)})
		}
		one := &g.Failed[i]
		one.Times, one.At = one.Times+1, cmp.Or(r.Ended, r.Started)
		one.Why = r.Outcome + ": " + cmp.Or(r.Why, r.Said, fmt.Sprintf("exit %d", r.Exit))
		if !slices.Contains(one.By, r.Actor) {
			one.By = append(one.By, r.Actor)
		}
	}
	return nil
}

// Failures returns the issues that runs failed at since a time and that are not closed, without
// those that wait for a person.
func Failures(ctx context.Context, a *workspace.Run, since time.Time, waits map[string]bool) ([]Failure, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	place, err := a.Live(file.Place())
	if err != nil {
		return nil, err
	}
	runs, err := runsOfNight(a, place, since)
	if err != nil {
		return nil, err
	}
	g := &gathering{Morning: &Morning{Outcomes: map[string]int{}}, file: file, night: runs, asked: waits}
	err = g.failed(ctx)
	return g.Failed, err
}

func (g *gathering) isClosed(id string) bool {
	at, ok := g.file.Index(id)
	return ok && beads.IsClosed(g.file.At(at).Status)
}

func (g *gathering) titleOf(id string) string {
	if at, ok := g.file.Index(id); ok {
		return g.file.At(at).Title
	}
	return ""
}

// loops lists the loops that were active since then.
func (g *gathering) loops(context.Context) error {
	g.Loops = []Loop{}
	all, err := g.place.Presences()
	for _, p := range all {
		running, known := p.Runs()
		spent, runs := g.spent(func(r clone.Run) bool { return r.Actor == p.Name || r.Holder == p.Name })
		if p.Boots == 0 || !running && p.Seen.Before(g.Since) && runs == 0 {
			continue
		}
		one := Loop{Name: p.Name, Issue: p.Issue, Why: p.EndedWhy, Runs: runs, Cost: spent.String()}
		switch {
		case running && p.Issue != "":
			one.State, one.Why = orient.WorkerWorking, ""
		case running:
			one.State, one.Why = orient.WorkerWaiting, ""
		case p.Process != (process.ID{}) && known:
			one.State, one.Why = "killed", "its process is gone; the next stig work continues its issue"
		case p.Process != (process.ID{}):
			one.State, one.Why = "unknown", "it runs or ran on another machine"
		default:
			one.State = "ended"
			if !p.Ended.IsZero() {
				one.Ended = &p.Ended
			}
		}
		if said := p.State == clone.Paused || p.State == clone.Draining || p.State == clone.Dead || p.State == clone.Maintenance; said && (p.Until.IsZero() || g.Until.Before(p.Until)) {
			one.State = string(p.State)
			one.Why = cmp.Or(p.Why, one.Why)
		}
		g.Loops = append(g.Loops, one)
	}
	return err
}

func (g *gathering) landing(ctx context.Context) error {
	if !process.Finder("", g.app.Getenv)("git") {
		return nil
	}
	code, err := workspace.CodeOf(g.file.Place())
	if err != nil || code.Root == "" {
		return err // without a repository there is nothing to land
	}
	if g.app.Config.ByReview() {
		return g.inReview()
	}
	switch u, err := service.FindUnlanded(ctx, g.app, g.file.Place(), "", false); {
	case fault.Is(err, fault.NoRevision): // no commit yet
		return nil
	case err != nil:
		g.ToLand.Text = "unknown: " + err.Error()
		return nil
	default:
		g.ToLand.Issues = len(u.Issues)
		for _, one := range u.Issues {
			g.ToLand.Since = earliest(g.ToLand.Since, g.closedOn(one.ID))
		}
	}
	g.ToLand.Text, g.ToLand.Command = service.LandHint(ctx, g.app, g.file.Place(), "")
	return nil
}

// closedOn returns the day on which an issue was closed; "" if it is unknown.
func (g *gathering) closedOn(id string) string {
	at, ok := g.file.Index(id)
	if !ok || !g.isClosed(id) {
		return ""
	}
	record, err := g.file.At(at).Record()
	if err != nil {
		return ""
	}
	day, _, _ := strings.Cut(record.Text(beads.ClosedAt), "T")
	return day
}

// earliest returns the earlier of two days, either of which may be "".
func earliest(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}

// inReview lists the issues with a request that is open as far as the store says.
func (g *gathering) inReview() error {
	list, reviews, err := ListRequested(g.file)
	if ReadSeen(g.place).addTo(list); !g.app.ByPerson(g.app.Actor) {
		HideStrangers(list)
	}
	for i, one := range list {
		if reviews[i].IsRequested() && !g.isClosed(one.ID) {
			g.InReview = append(g.InReview, one)
		}
	}
	if g.ToLand.Issues = len(g.InReview); g.ToLand.Issues > 0 {
		g.ToLand.Text, g.ToLand.Command = visible.Counted(g.ToLand.Issues, "issue")+" in review", "stig land --sync"
	}
	return err
}

func (g *gathering) cost() {
	spent, runs := g.spent(func(clone.Run) bool { return true })
	g.Cost = Cost{Text: spent.String(), Amounts: spent.Amounts, Unknown: spent.Unknown, Tokens: spent.Tokens, Runs: runs}
	if g.Cost.Amounts == nil {
		g.Cost.Amounts = map[string]float64{}
	}
}
