package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// Project is where another project is.
type Project struct {
	Path   string `json:"path"`   // absolute, or relative to the directory of the configuration file
	Remote string `json:"remote"` // name or URL; "" for git.Client.Published to choose
}

// asking is a store whose snapshots answer beads.Snapshot.External.
type asking struct {
	beads.Store
	others *others
}

// Snapshot implements beads.Store.
func (s asking) Snapshot() (*beads.Snapshot, error) {
	file, err := s.Store.Snapshot()
	if err != nil {
		return nil, err
	}
	return file.Asking(s.others.external()), nil
}

// Edit asks other projects before the edit and not during it, since their commands may take
// long: an edit that needs an unknown answer starts over.
func (s asking) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	s.others.expire()
	for {
		var unknown []*edge
		changes, err := s.Store.Edit(ctx, o, func(tx *beads.Tx) error {
			unknown = nil
			tx.Ask(func(issue *beads.Issue, id string) beads.External {
				e, known := s.others.answered(issue, id)
				if !known {
					unknown = append(unknown, &edge{issue, id})
				}
				return e
			})
			if err := fn(tx); unknown == nil {
				return err
			}
			return errUnknown
		})
		if !errors.Is(err, errUnknown) {
			return changes, err
		}
		for _, e := range unknown {
			s.others.ask(e.issue, e.id)
		}
	}
}

// errUnknown ends an edit that needs an answer of another project.
var errUnknown = errors.New("another project was not asked yet")

// edge is a dependency of an issue on another store.
type edge struct {
	issue *beads.Issue
	id    string
}

// others answers how the dependencies of one store on other projects stand. Each project is
// read, and each command run, at most once every freshFor, and only if a row needs it. It is
// safe for concurrent use.
type others struct {
	app   *Run
	place beads.Place // of the store that depends

	mu       sync.Mutex
	since    time.Time
	answers  map[string]answer // by the id in the row
	projects map[string]*project
}

// freshFor is how long answers of other projects are used.
const freshFor = 5 * time.Second

// answer is how another project answers, whatever is recorded here.
type answer struct {
	beads.External
	unknown bool // the project or its command cannot be asked on this machine
}

// othersOf returns the other projects as a store sees them.
func (a *Run) othersOf(p beads.Place) *others {
	a.cached.Lock()
	defer a.cached.Unlock()
	if a.cached.others == nil {
		a.cached.others = map[string]*others{}
	}
	if a.cached.others[p.Dir] == nil {
		a.cached.others[p.Dir] = &others{app: a, place: p}
	}
	return a.cached.others[p.Dir]
}

// external returns the function that answers External for a new snapshot.
func (o *others) external() func(*beads.Issue, string) beads.External {
	o.expire()
	return func(issue *beads.Issue, id string) beads.External {
		e, known := o.answered(issue, id)
		if !known {
			e = o.ask(issue, id)
		}
		return e
	}
}

// expire forgets old answers.
func (o *others) expire() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.app.Now(); now.Sub(o.since).Abs() >= freshFor {
		for _, p := range o.projects {
			p.close()
		}
		o.since, o.answers, o.projects = now, map[string]answer{}, map[string]*project{}
	}
}

// answered returns the answer for a dependency if it is known.
func (o *others) answered(issue *beads.Issue, id string) (e beads.External, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a, known := o.answers[id]
	return a.with(issue, id), known
}

// ask asks the other project.
func (o *others) ask(issue *beads.Issue, id string) beads.External {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.answers[id]; !known {
		a := o.answer(id)
		a.Why = visible.OneLine(a.Why)
		o.answers[id] = a
	}
	return o.answers[id].with(issue, id)
}

// with combines an answer with what the notes of the issue record: the record counts while the
// project cannot be asked.
func (a answer) with(issue *beads.Issue, id string) beads.External {
	e := a.External
	kept, recorded := recordOf(issue, id)
	switch {
	case !recorded:
	case e.Done:
		e.Recorded = kept.Issue == e.Issue && kept.Commit == e.Commit
	case a.unknown:
		e.Done, e.Recorded, e.Issue, e.Commit = true, true, kept.Issue, kept.Commit
	default:
		e.Stale, e.Why = true, "recorded as done on "+kept.Day+", but "+e.Why
	}
	return e
}

func recordOf(issue *beads.Issue, id string) (signals.Elsewhere, bool) {
	if !issue.HasNotes {
		return signals.Elsewhere{}, false
	}
	record, err := issue.Record()
	if err != nil {
		return signals.Elsewhere{}, false
	}
	return signals.LastElsewhere(notes.Parse(record.Text(beads.Notes)), id)
}

// answer asks the project, or runs the command that stands for it.
func (o *others) answer(id string) answer {
	_, rest, _ := strings.Cut(id, ":")
	name, of, ok := strings.Cut(rest, ":")
	if name, of = strings.TrimSpace(name), strings.TrimSpace(of); !ok || name == "" || of == "" {
		return answer{External: beads.External{Why: "it must be external:PROJECT:ID or external:PROJECT:CAPABILITY"}}
	}
	if command := o.app.Config.Gate.External[name+":"+of]; command != "" {
		a := o.run(id, command)
		a.Project = name
		return a
	}
	p := o.projects[name]
	if p == nil {
		p = o.open(name)
		o.projects[name] = p
	}
	a := answer{External: beads.External{Why: p.unread}, unknown: p.away}
	if p.unread == "" {
		a = p.find(of)
	}
	a.Project = name
	return a
}

func (o *others) ctx() context.Context {
	if o.app.Ctx == nil {
		return context.Background()
	}
	return o.app.Ctx
}

// externalTimeout limits a command of gate.external.
const externalTimeout = 30 * time.Second

// run runs the command that proves a dependency, as checks run.
func (o *others) run(id, command string) answer {
	a, ctx := o.app, o.ctx()
	refused := func(why string) answer { return answer{External: beads.External{Why: why}, unknown: true} }
	code, err := a.Code(ctx, o.place)
	if err != nil {
		return refused(err.Error())
	}
	if trusted, err := a.Trusted(ctx, code); err != nil || !trusted {
		return refused("its command in gate.external is not run, since this repository is not trusted; read .stig.cue, then type stig trust")
	}
	now, err := a.Clock()
	if err != nil {
		return refused(err.Error())
	}
	passed, err := gate.Passes(ctx, gate.Job{
		Issue: id, Criteria: command, Checks: []gate.Check{{Text: command, Class: gate.Runnable}}, Root: code.Root,
		Env: a.Environ(), Pass: a.Config.Gate.Env, Sandbox: a.Config.Gate.Sandbox, Timeout: externalTimeout, Time: now, Now: a.Now,
	})
	if err != nil {
		return refused(err.Error())
	}
	e := beads.External{Done: passed}
	if !passed {
		e.Why = fmt.Sprintf("its command fails: %s", visible.OneLine(command))
	}
	return answer{External: e, unknown: !passed} // a command that fails later says nothing about what was released
}

// project is another project as its clone on this machine has it.
type project struct {
	unread    string // why it cannot be read; "" if it can
	away      bool   // since it is not configured, or this machine has no clone of it
	place     beads.Place
	file      *beads.Snapshot
	git       git.Client
	branch    string          // the published one
	unknown   string          // why there is no branch; "" if there is
	reverts   *git.Reverts    // there; nil until asked for
	published *beads.Snapshot // the store on that branch; nil if git does not track it
	store     string          // path of the store's file, from the root; "" if git does not track it
	ctx       context.Context
}

func (p *project) close() {
	for _, file := range []*beads.Snapshot{p.file, p.published} {
		if file != nil {
			_ = file.Close()
		}
	}
}

// open reads the store of a project, in its directory and on its published branch.
func (o *others) open(name string) *project {
	to, ok := o.app.Config.Projects[name]
	if !ok {
		settings, _ := jsonl.ReadTrackerSettings(o.place.Dir) // without one, it is not configured
		if to.Path = settings["external_projects."+name]; to.Path == "" {
			return &project{away: true, unread: fmt.Sprintf("no project %q is configured; add projects: %[1]q: path: … to .stig.cue", name)}
		}
		if !filepath.IsAbs(to.Path) {
			to.Path = filepath.Join(filepath.Dir(o.place.Dir), to.Path)
		}
	}
	p := &project{ctx: o.ctx()}
	switch err := p.read(o.app, to.Path); {
	case errors.Is(err, errNotHere):
		return &project{away: true, unread: fmt.Sprintf("project %q is not here: %s", name, err)}
	case err != nil:
		return &project{unread: fmt.Sprintf("project %q cannot be read: %s", name, err)}
	}
	if err := p.publish(o.app, to.Remote); err != nil {
		p.unknown = fmt.Sprintf("project %q: %s", name, err)
	}
	return p
}

// errNotHere says that this machine has no clone of a project.
var errNotHere = errors.New("there is no directory")

// read reads the store in a directory.
func (p *project) read(a *Run, dir string) (err error) {
	if !Exists(filepath.Join(dir, beads.DirName)) {
		return fmt.Errorf("%w %s", errNotHere, filepath.Join(dir, beads.DirName))
	}
	if dir, err = RealPath(dir); err != nil {
		return err
	}
	if p.place, err = jsonl.Discover(jsonl.Where{Dir: dir}); err != nil {
		return err
	}
	store := a.Bare(p.place)
	if s, ok := store.(*jsonl.Store); ok {
		s.Cache = nil // it is for the store of this run
	}
	if p.file, err = store.Snapshot(); err != nil {
		return err
	}
	if !p.file.CanEdit() {
		p.close()
		return fmt.Errorf("%s has unreadable lines", p.place.Name())
	}
	return nil
}

// publish finds the published branch, and reads the store on it.
func (p *project) publish(a *Run, remote string) error {
	dir, err := RealPath(p.place.Dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "store")
	if file := p.place.File(); file != "" {
		if path, err = RealPath(file); err != nil {
			return err
		}
	}
	p.git = a.GitIn("").Around(path)
	at, err := p.git.Place(p.ctx)
	if err != nil {
		return err
	}
	if at.Root == "" {
		return errors.New("it is not in a git repository")
	}
	p.git.Dir, p.git.Top = at.Root, at.Root
	if p.branch, err = p.git.Published(p.ctx, remote); err != nil || p.place.File() == "" {
		return err
	}
	var text bytes.Buffer
	if p.git.FileAt(p.ctx, p.branch, path, &text) != nil {
		return nil // it is not tracked
	}
	if below, err := filepath.Rel(at.Root, path); err == nil && filepath.IsLocal(below) {
		p.store = filepath.ToSlash(below)
	}
	p.published, err = beads.NewSnapshot(beads.Place{Path: path}, beads.Source{Lines: bytes.NewReader(text.Bytes()), Size: int64(text.Len())})
	return err
}

// find returns how an issue of the project stands, by its id, or as the one that provides a
// capability.
func (p *project) find(of string) answer {
	if _, ok := p.file.Index(of); ok {
		return p.judge(of)
	}
	best := answer{External: beads.External{Why: fmt.Sprintf("there is no issue %q, and no closed issue with the label provides:%[1]s", of)}}
	for i, issue := range p.file.All() {
		if at, _ := p.file.Index(issue.ID); at != i {
			continue
		}
		record, err := p.newest(issue.ID)
		if err != nil || !beads.IsClosed(record.Text(beads.Status)) || !slices.Contains(record.Labels(), "provides:"+of) {
			continue
		}
		if a := p.judge(issue.ID); a.Done || best.Issue == "" {
			best = a
		}
		if best.Done {
			break
		}
	}
	return best
}

// newest returns an issue as its directory or the published branch has it, whichever was
// changed last.
func (p *project) newest(id string) (*beads.Record, error) {
	at, _ := p.file.Index(id)
	issue := p.file.At(at)
	if p.published != nil {
		if k, ok := p.published.Index(id); ok && p.published.At(k).UpdatedAt.After(issue.UpdatedAt) {
			issue = p.published.At(k)
		}
	}
	return issue.Record()
}

// judge returns whether an issue is closed by a verdict or by a person, and its work published.
func (p *project) judge(id string) answer {
	e := beads.External{Issue: id}
	record, err := p.newest(id)
	if err != nil {
		e.Why = fmt.Sprintf("%s cannot be read there: %v", id, err)
		return answer{External: e, unknown: true}
	}
	e.Title, e.Status = record.Text(beads.Title), record.Text(beads.Status)
	e.CloseReason = strings.TrimSpace(record.Text(beads.CloseReason))
	if last, ok := signals.LastEstimate(notes.Parse(record.Text(beads.Notes))); ok {
		e.Checkpoint = last.Body
	}
	switch end := beads.OutcomeOf(e.CloseReason).End; {
	case p.file.Repeated()[id] > 0:
		e.Why = fmt.Sprintf("%s is on several lines there", id)
	case e.Status != beads.StatusClosed:
		e.Why = fmt.Sprintf("%s has the status %q there", id, e.Status)
	case end != beads.EndDone:
		e.Why = fmt.Sprintf("%s was closed there as %s", id, end)
	case !p.vouched(e.CloseReason):
		e.Why = fmt.Sprintf("%s was closed there without a verdict or a person's waiver", id)
	case p.unknown != "":
		e.Why = fmt.Sprintf("%s is closed there, but %s", id, p.unknown)
		return answer{External: e, unknown: true}
	default:
		if e.Commit, e.Why, err = p.landed(id, e.CloseReason); err != nil {
			e.Why = fmt.Sprintf("%s is closed there, but git fails: %v", id, err)
		}
		e.Done = e.Why == ""
	}
	return answer{External: e, unknown: err != nil}
}

// vouched reports whether a close reason is a verdict, or a waiver by a person.
func (p *project) vouched(reason string) bool {
	if strings.HasPrefix(reason, gate.Verified) {
		return true
	}
	who := gate.WaivedBy(reason)
	if who == "" || clone.IsSession(who) {
		return false
	}
	profile, err := clone.LoadProfile(filepath.Dir(p.place.Dir), who)
	return err != nil || profile.Kind != clone.Agent && profile.Kind != clone.Program
}

// landed returns the commit that proves that the work on a closed issue is on the published
// branch and not reverted there, or why it is not.
func (p *project) landed(id, reason string) (commit, why string, err error) {
	on, w := shortRef(p.branch), git.Work{Issue: id, Store: p.store}
	commit, dirty := commitIn(reason)
	if commit != "" {
		has, known, err := p.git.Has(p.ctx, git.Work{Commit: commit, Store: p.store}, p.branch)
		if err != nil {
			return "", "", err
		}
		if known && !has {
			return "", fmt.Sprintf("%s is closed there, but commit %s is not on %s", id, commit, on), nil
		}
		if known {
			w.Since = commit
		}
	}
	if w.Since != "" && !dirty {
		w.Commit = commit
	} else if clean := p.isClean(commit); !clean && !p.isClosedOn(id) {
		return "", fmt.Sprintf("%s is closed there, but not on %s", id, on), nil
	} else if !clean && w.Since != "" && !p.hasMore(w.Since) {
		return "", fmt.Sprintf("%s is closed there, but what was uncommitted then is not on %s", id, on), nil
	} else if commit, err = p.git.Commit(p.ctx, p.branch); err != nil {
		return "", "", err
	}
	if p.reverts == nil {
		if p.reverts, err = p.git.Reverts(p.ctx, p.branch); err != nil {
			return "", "", err
		}
	}
	by, err := p.reverts.Of(p.ctx, w)
	if by.Commit != "" {
		why = fmt.Sprintf("%s is closed there, but commit %.7s on %s reverted its work", id, by.Commit, on)
	}
	return fmt.Sprintf("%.7s", commit), why, err
}

// commitIn returns the commit that a close reason names, and whether the work tree then had
// changes that the commit lacks.
func commitIn(reason string) (commit string, dirty bool) {
	results, ok := gate.ParseResults(reason)
	if !ok || strings.Trim(results.Commit, "0123456789abcdef") != "" {
		return "", false
	}
	return results.Commit, strings.Contains(reason, results.Commit+" with uncommitted changes")
}

// isClosedOn reports whether the store on the published branch has an issue as closed, by a
// verdict or a person.
func (p *project) isClosedOn(id string) bool {
	if p.published == nil {
		return false
	}
	at, ok := p.published.Index(id)
	if !ok || p.published.At(at).Status != beads.StatusClosed {
		return false
	}
	record, err := p.published.At(at).Record()
	return err == nil && p.vouched(strings.TrimSpace(record.Text(beads.CloseReason)))
}

// hasMore reports whether the published branch has changes beside the store since a commit.
func (p *project) hasMore(since string) bool {
	store := ""
	if p.store != "" {
		store = path.Dir(p.store)
	}
	changes, err := p.git.Between(p.ctx, since, p.branch, store)
	return err == nil && len(changes) > 0
}

// isClean reports whether the published branch has all that this clone has beside the store, so
// that it has the work on an issue whose close is in this directory only. The work is not in the
// commit before; "" if that is unknown.
func (p *project) isClean(before string) bool {
	if p.place.Mode != beads.Plain {
		return false // it may have been closed elsewhere
	}
	without, err := jsonl.Touched(p.place)
	if err != nil {
		return false
	}
	tree, err := p.git.Tree(p.ctx, without...)
	if err != nil || tree.Dirty || tree.Head == "" || before != "" && strings.HasPrefix(tree.Head, before) {
		return false
	}
	has, known, err := p.git.Has(p.ctx, git.Work{Commit: tree.Head, Store: p.store}, p.branch)
	return err == nil && has && known
}

// shortRef returns a branch as git branch prints it.
func shortRef(ref string) string {
	for _, space := range []string{"refs/heads/", "refs/remotes/"} {
		ref = strings.TrimPrefix(ref, space)
	}
	return ref
}
