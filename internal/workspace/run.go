// Package workspace is one run of stig: who acts; where the store is and what wraps it;
// what code stands beside it, and which of its checks are trusted; the configuration, the
// clock, the environment, and the function that is told warnings and hints.
//
// It parses no flag, though its errors name some in their hints, knows no stream and no
// text layout, and reads no environment variable and no clock but those that it is given.
//
//	a := &workspace.Run{Dir: dir, Getenv: os.Getenv, Now: time.Now}
//	file, err := a.Open()
package workspace

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/cue"
	"stig/dag"
	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/signals"
)

// ActorName is who acts: the flag, else the environment, else the session of an
// assistant that this run was started in, else git's user.name; "" when no name is set.
// It refuses (fault.Usage) a name that nobody can have.
func (a *Run) ActorName(ctx context.Context) (string, error) {
	name := a.Named()
	if name == "" {
		if s, ok := a.Session(); ok {
			return s.Name, nil
		}
		var err error
		if name, err = a.Person(ctx); err != nil || name == "" {
			return "", err
		}
	}
	return name, checkActor(name)
}

// checkActor refuses (fault.Usage) an actor whose name nobody can have.
func checkActor(name string) error {
	if flaw := clone.ActorFlaw(name); flaw != "" {
		return Usage("actor: "+flaw, "give another name with --actor NAME, or set STIG_ACTOR")
	}
	return nil
}

// Named is the actor that the command line or the environment names; "" for none. The
// name of a session in the environment is that of an outer one, where this run was
// started in another: the one below got it from there.
func (a *Run) Named() string {
	name := cmp.Or(a.Getenv("STIG_ACTOR"), a.Getenv("BD_ACTOR"))
	if a.Actor == "" && clone.IsSession(name) {
		if s, ok := a.Session(); ok && !clone.BelongsTo(name, s.Name) {
			return s.Name
		}
	}
	return cmp.Or(a.Actor, name)
}

// Session gives the session of an assistant that this run was started in, or that its
// hook or its client is about. What a worker loop runs is in none.
func (a *Run) Session() (clone.SessionRecord, bool) {
	if a.Hooked != nil {
		return *a.Hooked, true
	}
	if r, ok := a.Sessions(); ok && a.Getenv("STIG_RUN") == "" {
		return r.Here()
	}
	return clone.SessionRecord{}, false
}

// Sessions are those of this clone; ok is false where there is no store.
func (a *Run) Sessions() (r clone.Registry, ok bool) {
	place, err := jsonl.Discover(a.Where())
	if err == nil {
		r.Place, err = a.Live(place)
	}
	if err == nil {
		r.Now, err = a.Clock()
	}
	if a.Ancestors != nil {
		r.Ancestors = a.Ancestors()
	}
	return r, err == nil
}

// MayTake reports for names whether an actor may go on with what they hold.
func (a *Run) MayTake(who string) func(holder string) bool {
	known := map[string]bool{}
	return func(holder string) bool {
		may, asked := known[holder]
		if !asked {
			if may = clone.MayTake(who, holder); !may {
				r, ok := a.Sessions()
				may = ok && r.MayTake(who, holder)
			}
			known[holder] = may
		}
		return may
	}
}

// Hold records for stop how the work on an issue stands, in the session that this run
// belongs to: as is who claimed it, "" whoever did. Without a record the session is
// reminded by date.
func (a *Run) Hold(ctx context.Context, store beads.Place, issue, as string) {
	r, ok := a.Sessions()
	if !ok {
		return
	}
	s, ok := a.Session()
	if name := cmp.Or(as, a.Named()); !ok && name != "" {
		s, ok = r.Named(name)
	}
	if !ok {
		return
	}
	head, beyond := a.Work(ctx, store)
	if work, err := beyond(head); err == nil {
		_ = r.Hold(s, issue, clone.Held{As: as, Base: head, Work: work})
	}
}

// Work gives the commit of HEAD in the work tree that stig is started in, and what
// identifies what the tree holds beyond a commit; "" without git.
func (a *Run) Work(ctx context.Context, store beads.Place) (head string, beyond func(base string) (string, error)) {
	tree, err := git.CheckoutOf(cmp.Or(a.Dir, "."))
	if err != nil || tree.Root == "" || !process.Finder(a.Dir, a.Getenv)("git") {
		return "", func(string) (string, error) { return "", nil }
	}
	git, known := a.GitIn(tree.Root), map[string]string{}
	if _, head = tree.Head(); head == "" { // before the first commit, or kept otherwise than in files
		if result, err := git.Run(ctx, "rev-parse", "-q", "--verify", "HEAD"); err == nil && result.Exit == 0 {
			head = strings.TrimSpace(string(result.Stdout))
		}
	}
	return head, func(base string) (string, error) {
		if state, asked := known[base]; asked {
			return state, nil
		}
		without, err := jsonl.Touched(store)
		if err != nil {
			return "", err
		}
		state, _, err := git.Content(ctx, base, nil, without...)
		if err == nil {
			known[base] = state
		}
		return state, err
	}
}

// Person is git's user.name; "" for none, which is asked again: there may be one later.
func (a *Run) Person(ctx context.Context) (string, error) {
	a.told.Lock()
	defer a.told.Unlock()
	if a.told.person != "" {
		return a.told.person, nil
	}
	if !process.Finder(a.Dir, a.Getenv)("git") {
		return "", nil
	}
	result, err := a.GitIn(a.Dir).Run(ctx, "config", "user.name")
	if err != nil {
		return "", err
	}
	if result.Exit == 0 {
		a.told.person = strings.TrimSpace(string(result.Stdout))
	}
	return a.told.person, nil
}

// told caches what git told a run, which asks it once.
type told struct {
	sync.Mutex
	person string               // user.name
	places map[string]git.Place // by a directory in them
}

// PlaceOf is the repository that a directory is in, the zero value for none, which is asked
// again: there may be one later.
func (a *Run) PlaceOf(ctx context.Context, dir string) (git.Place, error) {
	a.told.Lock()
	defer a.told.Unlock()
	if place, known := a.told.places[dir]; known {
		return place, nil
	}
	place, err := a.GitIn(dir).Place(ctx)
	if err == nil && place.Root != "" {
		if a.told.places == nil {
			a.told.places = map[string]git.Place{}
		}
		a.told.places[dir] = place
	}
	return place, err
}

// MustActor is ActorName, but returns an error if no actor is set.
func (a *Run) MustActor(ctx context.Context) (string, error) {
	name, err := a.ActorName(ctx)
	if err == nil && name == "" {
		err = Usage("no actor set", "give --actor NAME, or set STIG_ACTOR")
	}
	return name, err
}

// Assignee is whom an assignee in a request means: @me is who acts, none is nobody. It
// refuses (fault.Usage) a name that nobody can have.
func (a *Run) Assignee(ctx context.Context, name string) (string, error) {
	switch name {
	case "@me":
		return a.MustActor(ctx)
	case "none", "":
		return "", nil
	}
	if flaw := clone.ActorFlaw(name); flaw != "" {
		return "", Usage("assignee: "+flaw, "give a name, @me for yourself or none for nobody")
	}
	return name, nil
}

// Run is what every front end shares: where the store is, who acts, the clock, the
// configuration, and the function that is told warnings and hints.
type Run struct {
	Getenv             func(string) string
	Env                func() []string
	HomeDir, ConfigDir func() (string, error) // the user's
	CacheDir           func() (string, error) // the user's; nil for none
	Now                func() time.Time       // the machine's clock; what is told and written has clock
	Schema             *signals.Schema
	Config             Config
	Own                Notifications       // what the user's file says of them, whatever the repository does
	Say                func(Level, string) // what no result says
	Progress           io.Writer           // where checks print while they run
	Terminal           bool                // progress goes to a terminal

	// OpenStore opens the store at a place; nil opens its JSONL file, or connects
	// to its server. Tests have other stores opened.
	OpenStore func(beads.Place) beads.Store

	// servers are the stores on servers that this process has open; nil before the first.
	opening sync.Mutex
	servers *sql.Pool

	// Cache keeps the store between readings; nil where it is mostly read once.
	Cache *jsonl.Cache

	// Ancestors lists the processes that this run was started by; nil where no session
	// is looked for among them.
	Ancestors func() []process.Ancestor
	Hooked    *clone.SessionRecord // that a hook, or a client of this process, is about; nil for none

	// Inbox counts the items in the inbox of an actor where that costs little; nil counts
	// none.
	Inbox func(ctx context.Context, a *Run, file *beads.Snapshot, graph *dag.Graph, who string) int

	// Foreign watches leases of other machines; nil where a run is too short for that.
	Foreign *clone.Observer

	Ctx     context.Context // of the command that runs
	Running string          // its name
	Journal *journal        // of its edits; nil before a store is opened

	misconfigured bool // and the user was told

	told told   // by git
	run  string // of a worker, in which it was found to be

	Dir   string // -C
	Store string // --store
	Actor string // --actor
}

// Fresh is another run of the same front end, on the same store and by the same actor:
// one command, which reads the configuration and keeps a journal for itself. A server
// makes one for each call that it answers.
func (a *Run) Fresh(ctx context.Context, command string) *Run {
	return &Run{
		Getenv: a.Getenv, Env: a.Env, HomeDir: a.HomeDir, ConfigDir: a.ConfigDir, Now: a.Now, Schema: cue.Embedded(),
		Say: a.Say, Progress: a.Progress, Terminal: a.Terminal,
		Ctx: ctx, Running: command,
		CacheDir: a.CacheDir, servers: a.OnServers(),
		Dir: a.Dir, Store: a.Store, Actor: a.Actor, OpenStore: a.OpenStore, Cache: a.Cache, Ancestors: a.Ancestors, Inbox: a.Inbox, Foreign: a.Foreign,
	}
}

// Lasting is Fresh for a process that works as one actor for long: the store is read once
// for everything it does, and briefings search the whole of it.
func (a *Run) Lasting(ctx context.Context, command, actor string) *Run {
	long := a.Fresh(ctx, command)
	if long.Actor = actor; long.Cache == nil {
		long.Cache = jsonl.NewCache(long.Now)
	}
	return long
}

// Clock is the time of this run in UTC: fixed by STIG_NOW, for tests and demos that
// print the same thing every day.
func (a *Run) Clock() (time.Time, error) {
	fixed := a.Getenv("STIG_NOW")
	if fixed == "" {
		return a.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, fixed)
	if err != nil {
		return time.Time{}, Usage(fmt.Sprintf("STIG_NOW: must be a time such as 2026-11-20T09:00:00Z; found %q", fixed), "type unset STIG_NOW, and the time is that of the machine")
	}
	return t.UTC(), nil
}

// Environ is the environment that other programs are started in.
func (a *Run) Environ() []string { return a.Env() }

// ofRuns are variables that are not inherited by programs started for an actor: each is
// set anew or not at all, since trust is this process's own. The same goes for
// git.PlaceVariables: git finds the repository by the directory.
var ofRuns = []string{"STIG_TRUST", "STIG_ACTOR", "STIG_ISSUE", "STIG_RUN", "STIG_ATTEMPT", "STIG_ROUND", "STIG_BRIEFING", "BD_ACTOR"}

// EnvironFor is the environment of a program that is started for an actor, with variables
// NAME=VALUE of its own. The program is told to type stig: if none is on PATH, this one is
// added, last.
func (a *Run) EnvironFor(own ...string) (env []string) {
	drop := slices.Concat(ofRuns, git.PlaceVariables)
	for _, variable := range own {
		name, _, _ := strings.Cut(variable, "=")
		drop = append(drop, name)
	}
	for _, variable := range a.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if name == "PATH" {
			variable = name + "=" + withSelf(value)
		}
		if !slices.Contains(drop, name) {
			env = append(env, variable)
		}
	}
	return append(env, own...)
}

// withSelf adds the directory of this program to PATH, unless a stig is on it already, or
// this program has another name.
func withSelf(path string) string {
	self, err := os.Executable()
	if err != nil || strings.TrimSuffix(filepath.Base(self), ".exe") != "stig" {
		return path
	}
	if _, err := process.Find("stig"); err == nil {
		return path
	}
	return strings.Trim(path+string(filepath.ListSeparator)+filepath.Dir(self), string(filepath.ListSeparator))
}

// InboxCount counts the items in the inbox of an actor; 0 if who is "".
func (a *Run) InboxCount(ctx context.Context, file *beads.Snapshot, graph *dag.Graph, who string) int {
	if a.Inbox == nil || who == "" {
		return 0
	}
	return a.Inbox(ctx, a, file, graph, who)
}

// GitIn runs git in a directory.
func (a *Run) GitIn(dir string) git.Client { return git.Client{Dir: dir, Env: a.Environ()} }

// Shortest names a file below the working directory as one would type it.
func Shortest(path string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	below, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(below) {
		return path
	}
	return below
}

// SetupStep is one thing that setup does.
type SetupStep struct {
	What []string // what it changes, as it is reported
	Use  string   // the file and what it is for, in a line; may be empty
	Diff string   // the same as a dry run shows it
	Do   func() error
}

// Above lists the processes that this run was started by.
func (a *Run) Above() (list []process.ID) {
	if a.Ancestors == nil {
		return nil
	}
	for _, one := range a.Ancestors() {
		list = append(list, one.ID)
	}
	return list
}

// WarnOfShared warns, once, that the state shared by the clone or the database cannot be
// read or written: claims then depend on the store alone.
func (a *Run) WarnOfShared(err error) {
	if err != nil && !a.Edits().unshared {
		a.Edits().unshared = true
		a.Warn("claims and acknowledgements are not shared with others now: %v", err)
	}
}

// Assistant is the program of an assistant in whose session stig runs: by the name of
// the actor, by the name that its hook exported, whatever --actor says, by the program
// that we were started below, or by the variables that such programs set; "" for a person.
func (a *Run) Assistant(name string) string {
	for _, name := range []string{name, a.Getenv("STIG_ACTOR")} {
		if clone.IsSession(name) {
			return name
		}
	}
	if s, inside := a.Session(); inside {
		return s.Host
	}
	return assistant.Running(a.Getenv)
}
