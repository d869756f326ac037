package service

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
	"stig/orient"
	"stig/signals"
)

// OrientRequest asks for what to read before work: a briefing of one issue, or without ID the
// survey.
type OrientRequest struct {
	ID        string
	Depth     string // of a briefing, instead of the issue's own
	Budget    int    // most characters of the Markdown; 0 means orient.BriefingBudget or orient.SurveyBudget
	Full      bool   // no folding
	Whole     bool   // no limit if Budget is 0: for data
	Loop      bool   // the reader is run by a worker loop
	As        string // of the survey: whose claims come first
	StaleDays *int   // days without a change after which an issue in progress is stale; nil means the schema's
}

func (r OrientRequest) staleDays() int {
	if r.StaleDays == nil {
		return signals.ThresholdStaleDays
	}
	return *r.StaleDays
}

// check rejects options that cannot be used together, and invalid values.
func (r OrientRequest) check() error {
	switch depths := signals.PlanningDepth.Domain(); {
	case r.Depth != "" && !slices.Contains(depths, r.Depth):
		return workspace.Usage(fmt.Sprintf("--depth: must be one of %s; found %q", strings.Join(depths, ", "), r.Depth), "")
	case r.Budget != 0 && r.Budget < orient.MinBudget:
		return workspace.Usage(fmt.Sprintf("--budget: must be at least %d characters; found %d", orient.MinBudget, r.Budget), "")
	case r.Budget != 0 && r.Full:
		return workspace.Usage("--full and --budget cannot be used together", "omit one of them")
	case r.staleDays() < 0:
		return workspace.Usage(fmt.Sprintf("--stale-days: must not be negative; found %d", r.staleDays()), "")
	case r.ID == "" && r.Depth != "":
		return workspace.Usage("--depth: goes with one issue", "type stig orient ID --depth "+r.Depth)
	case r.ID != "" && r.As != "":
		return workspace.Usage("--as: goes with the survey, which names no issue", "type stig orient --as "+r.As)
	}
	return nil
}

// Orientation is what to read before work: a briefing or a survey.
type Orientation struct {
	Briefing *orient.Briefing
	Survey   *orient.Survey
}

// Markdown returns the orientation as text.
func (o *Orientation) Markdown() string {
	if o.Briefing != nil {
		return o.Briefing.Markdown()
	}
	return o.Survey.Markdown()
}

// Output returns the orientation as data.
func (o *Orientation) Output() workspace.Output {
	if o.Briefing != nil {
		return workspace.NewOutput("briefing", o.Briefing)
	}
	return workspace.NewOutput("survey", o.Survey)
}

// Orient returns what to read before work.
func Orient(ctx context.Context, a *workspace.Run, r OrientRequest) (*Orientation, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.ID == "" {
		survey, err := survey(ctx, a, r)
		return &Orientation{Survey: survey}, err
	}
	briefing, err := briefing(ctx, a, r)
	return &Orientation{Briefing: briefing}, err
}

func briefing(ctx context.Context, a *workspace.Run, r OrientRequest) (*orient.Briefing, error) {
	store, err := a.DiscoverToRead()
	if err != nil {
		return nil, err
	}
	rules, err := beforeWork(ctx, a, store.Place(), r.staleDays())
	if err != nil {
		return nil, err
	}
	if r.Budget == 0 && !r.Full && !r.Whole {
		r.Budget = orient.BriefingBudget
	}
	request := orient.Request{Depth: r.Depth, Budget: r.Budget, Full: r.Full, Loop: r.Loop || a.Getenv("STIG_RUN") != ""}
	if s, ok := a.Bare(store.Place()).(beads.Nearby); ok {
		request.Copied = func() *beads.Snapshot { return s.Copied(orient.MostSearched) }
	}
	request.Learned = learned(ctx, a, store.Place())
	rules.ReadOnly = Unwritable(ctx, a, store.Place())
	return withIssue(a, r.ID, true, func(file *beads.Snapshot, at int) (_ *orient.Briefing, err error) {
		if file.At(at).Assignee != "" {
			if request.Reader, err = a.ActorName(ctx); err != nil {
				return nil, err
			}
			request.MayTake = a.MayTake(request.Reader)
		}
		if held, ok := Held(a, file, rules.Now, file.At(at).ID)[file.At(at).ID]; ok {
			request.Held = &held
		}
		return orient.Brief(file, dag.New(file), at, request, rules)
	})
}

// learned returns what the actor's profile says it learned; "" if there is no profile or it is
// invalid, which other commands report.
func learned(ctx context.Context, a *workspace.Run, store beads.Place) string {
	root := filepath.Dir(store.Dir)
	if !workspace.Exists(clone.ProfileDir(root)) {
		return "" // avoids asking git for the actor
	}
	name, err := a.ActorName(ctx)
	if err != nil || name == "" {
		return ""
	}
	p, err := clone.LoadProfile(root, name)
	if err != nil {
		return ""
	}
	return p.Section(clone.Learned)
}

func survey(ctx context.Context, a *workspace.Run, r OrientRequest) (*orient.Survey, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rules, err := beforeWork(ctx, a, file.Place(), r.staleDays())
	if err != nil {
		return nil, err
	}
	if r.Budget == 0 && !r.Full {
		r.Budget = orient.SurveyBudget
	}
	reader, err := reader(ctx, a, file, r.As)
	if err != nil {
		return nil, err
	}
	graph, items := dag.New(file), 0
	if r.As == "" {
		items = a.InboxCount(ctx, file, graph, reader)
	}
	toLand, command := LandHint(ctx, a, file.Place(), "")
	if toLand != "" {
		toLand += ": `" + command + "`"
	}
	left, held := LeftAndHeld(a, file, rules.Now)
	return orient.NewSurvey(file, graph, orient.SurveyRequest{As: r.As, Actor: reader, Inbox: items, Left: left, Held: held, MayTake: a.MayTake(reader), Budget: r.Budget, Full: r.Full, Workers: workers(a), ToLand: toLand}, rules)
}

// workers lists the actors whose loops are running, were paused, or ended with an issue in
// hand. It omits unreadable entries; doctor reports them.
func workers(a *workspace.Run) (list []orient.Worker) {
	r, ok := a.Sessions()
	if !ok {
		return nil
	}
	all, _ := r.Place.Presences()
	for _, p := range all {
		w := orient.Worker{Name: p.Name, State: string(p.State), Issue: p.Issue, Why: p.Why}
		runs, known := p.Runs()
		said := p.State == clone.Paused || p.State == clone.Draining || p.State == clone.Maintenance
		switch {
		case p.State == clone.Dead, p.Process == (process.ID{}) && !said, said && !p.Until.IsZero() && !r.Now.Before(p.Until) && !runs:
			continue
		case p.Process != (process.ID{}) && known && !runs && p.Issue != "":
			w.State = orient.WorkerEnded
		case said && (p.Until.IsZero() || r.Now.Before(p.Until)):
		case !runs:
			continue
		case p.Issue != "":
			w.State, w.Why = orient.WorkerWorking, ""
		default:
			w.State, w.Why = orient.WorkerWaiting, ""
		}
		list = append(list, w)
	}
	return list
}

// beforeWork refuses a store with an unfinished merge, warns of lost values, and returns the
// rules for reading the store.
func beforeWork(ctx context.Context, a *workspace.Run, store beads.Place, staleDays int) (orient.Rules, error) {
	if err := a.RefuseUnfinished(ctx, store); err != nil {
		return orient.Rules{}, err
	}
	warnOfLost(ctx, a, store)
	return Reading(a, store, staleDays)
}

// withIssue calls read with a store and the index of an issue in it: first with an excerpt, if
// the store can read one, and again with more if read needs it. beside says that it needs what
// beads.Scope.Beside adds.
func withIssue[T any](a *workspace.Run, id string, beside bool, read func(f *beads.Snapshot, at int) (T, error)) (got T, err error) {
	scope := beads.Scope{IDs: []string{id}, Beside: beside}
	for {
		file, err := a.OpenNear(scope)
		if err != nil {
			return got, err
		}
		got, err = reading(file, id, read)
		more, exceeded := file.Exceeded()
		if err = cmp.Or(err, file.Close()); !exceeded {
			return got, err
		}
		scope = more
	}
}

func reading[T any](file *beads.Snapshot, id string, read func(f *beads.Snapshot, at int) (T, error)) (T, error) {
	issue, err := file.Find(id)
	if err != nil {
		return *new(T), err
	}
	at, _ := file.Index(issue.ID)
	return read(file, at)
}

// OpenIssue opens the whole store and finds an issue in it. The caller closes the store.
func OpenIssue(a *workspace.Run, id string) (*beads.Snapshot, int, error) {
	file, err := a.Open()
	if err != nil {
		return nil, 0, err
	}
	issue, err := file.Find(id)
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	at, _ := file.Index(issue.ID)
	return file, at, nil
}

// Reading returns the rules of services that read the store before work.
func Reading(a *workspace.Run, store beads.Place, staleDays int) (orient.Rules, error) {
	now, err := a.Clock()
	rules := orient.Rules{
		Schema: a.Schema, Exists: existsBelow(filepath.Dir(store.Dir)), Now: now, StaleDays: staleDays, Digest: a.Config.Traces.Digest,
	}
	if refused := ReadOnly(store); refused != nil {
		rules.ReadOnly = refused.Error()
	}
	return rules, err
}

// existsBelow returns a function that reports whether a path exists; relative paths are below
// root. It is nil if root is ".".
func existsBelow(root string) func(path string) bool {
	if root == "." {
		return nil // the store is in no directory
	}
	return func(path string) bool {
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		_, err := os.Lstat(path)
		return err == nil
	}
}

// Unwritable returns why this user cannot edit a store; "" if they can. It asks the server, if
// there is one.
func Unwritable(ctx context.Context, a *workspace.Run, p beads.Place) string {
	var refused error
	if s, ok := a.Bare(p).(interface{ Denied(context.Context) error }); ok && p.Mode == beads.Server {
		ctx, cancel := context.WithTimeout(ctx, patienceOfRights)
		defer cancel()
		refused = s.Denied(ctx)
	} else if e := ReadOnly(p); e != nil {
		refused = e
	}
	if refused == nil {
		return ""
	}
	return refused.Error()
}

// patienceOfRights is how long to wait for a server that is asked only for a suggestion.
const patienceOfRights = 2 * time.Second

// ReadOnly returns why this user cannot edit a store in a file; nil if they can. It is nil for
// a store on a server, which checks at the edit.
func ReadOnly(p beads.Place) *fault.Error {
	if p.Mode != beads.Plain {
		return nil
	}
	return jsonl.ReadOnly(p)
}

// Review returns the finished work that an issue is built on.
func Review(a *workspace.Run, id string) (*orient.Review, error) {
	return withIssue(a, id, false, func(file *beads.Snapshot, at int) (*orient.Review, error) {
		rules, err := Reading(a, file.Place(), signals.ThresholdStaleDays)
		if err != nil {
			return nil, err
		}
		return orient.Assess(file, dag.New(file), at, rules)
	})
}
