// Package workspace is one run of stig: the actor, the store and its wrappers, the code beside
// it and which of its checks are trusted, the configuration, clock and environment, and the
// receiver of warnings and hints.
//
// It parses no flags, though its hints name some. It knows no streams and no text layout, and
// uses only the environment and the clock that it is given.
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
	"stig/internal/project"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/signals"
)

// ActorName returns the actor: from --actor, the environment, the assistant's session that this
// run was started in, or git's user.name, in this order; "" if none is set. It returns a
// fault.Usage if the name is invalid.
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

// checkActor returns a fault.Usage if an actor's name is invalid.
func checkActor(name string) error {
	if flaw := clone.ActorFlaw(name); flaw != "" {
		return Usage("actor: "+flaw, "give another name with --actor NAME, or set STIG_ACTOR")
	}
	return nil
}

// Named returns the actor set on the command line or in the environment; "" if there is none. A
// session's name in the environment that belongs to an outer session is replaced by the session
// that this run was started in, which inherited it.
func (a *Run) Named() string {
	name := cmp.Or(a.Getenv("STIG_ACTOR"), a.Getenv("BD_ACTOR"))
	if a.Actor == "" && clone.IsSession(name) {
		if s, ok := a.Session(); ok && !clone.BelongsTo(name, s.Name) {
			return s.Name
		}
	}
	return cmp.Or(a.Actor, name)
}

// Session returns the assistant's session that this run was started in, or that its hook or
// client belongs to. The runs of worker loops have none.
func (a *Run) Session() (clone.SessionRecord, bool) {
	if a.Hooked != nil {
		return *a.Hooked, true
	}
	if r, ok := a.Sessions(); ok && a.Getenv("STIG_RUN") == "" {
		return r.Here()
	}
	return clone.SessionRecord{}, false
}

// Sessions returns the sessions of this clone; ok is false if there is no store.
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

// MayTake returns a function that reports whether an actor may continue what a holder has.
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

// Hold records the state of the work on an issue in the session of this run, for stig's stop
// hook. as is who claimed it; "" keeps that. Without such a record the session is reminded by
// date.
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

// Work returns the commit of HEAD in the work tree that stig was started in, and a function
// that identifies the changes since a commit. Both return "" without git.
func (a *Run) Work(ctx context.Context, store beads.Place) (head string, beyond func(base string) (string, error)) {
	tree, err := git.CheckoutOf(cmp.Or(a.Dir, "."))
	if err != nil || tree.Root == "" || !process.Finder(a.Dir, a.Getenv)("git") {
		return "", func(string) (string, error) { return "", nil }
	}
	git, known := a.GitIn(tree.Root), map[string]string{}
	if _, head = tree.Head(); head == "" { // before the first commit, or refs are not stored as files
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

// Person returns git's user.name; "" if it is not set. Only a name is cached.
func (a *Run) Person(ctx context.Context) (string, error) {
	a.cached.Lock()
	defer a.cached.Unlock()
	if a.cached.person != "" {
		return a.cached.person, nil
	}
	if !process.Finder(a.Dir, a.Getenv)("git") {
		return "", nil
	}
	result, err := a.GitIn(a.Dir).Run(ctx, "config", "user.name")
	if err != nil {
		return "", err
	}
	if result.Exit == 0 {
		a.cached.person = strings.TrimSpace(string(result.Stdout))
	}
	return a.cached.person, nil
}

// cached caches what git and other projects report.
type cached struct {
	sync.Mutex
	person string                    // user.name
	places map[string]git.Place      // by a directory in them
	edges  map[string]*project.Edges // by the directory of the store that depends on them
}

// PlaceOf returns the repository of a directory; the zero value if there is none. Only a
// repository is cached.
func (a *Run) PlaceOf(ctx context.Context, dir string) (git.Place, error) {
	a.cached.Lock()
	defer a.cached.Unlock()
	if place, known := a.cached.places[dir]; known {
		return place, nil
	}
	place, err := a.GitIn(dir).Place(ctx)
	if err == nil && place.Root != "" {
		if a.cached.places == nil {
			a.cached.places = map[string]git.Place{}
		}
		a.cached.places[dir] = place
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

// Assignee resolves an assignee in a request: @me is the actor, none is "". It returns a
// fault.Usage if the name is invalid.
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

// Run is what all front ends share: the store, the actor, the clock, the configuration, and the
// receiver of warnings and hints.
type Run struct {
	Getenv             func(string) string
	Env                func() []string
	HomeDir, ConfigDir func() (string, error) // the user's
	CacheDir           func() (string, error) // the user's; nil if there is none
	Now                func() time.Time       // the machine's clock; messages and records use Clock
	Schema             *signals.Schema
	Config             Config
	Own                Notifications       // what the user's file says, whatever the repository's says
	Say                func(Level, string) // receives messages that are not part of the result
	Progress           io.Writer           // receives the output of checks while they run
	Terminal           bool                // Progress is a terminal

	// OpenStore opens the store at a place; nil opens its JSONL file or connects to its server.
	// Tests set it.
	OpenStore func(beads.Place) beads.Store

	// servers are the open stores on servers; nil before the first.
	opening sync.Mutex
	servers *sql.Pool

	// Cache keeps the parsed store between reads; nil if it is mostly read once.
	Cache *jsonl.Cache

	// Ancestors lists the parent processes of this run; nil if no session is searched among
	// them.
	Ancestors func() []process.Ancestor
	Hooked    *clone.SessionRecord // the session of this hook or client; nil if there is none

	// Inbox counts the inbox items of an actor if that is cheap; nil counts none.
	Inbox func(ctx context.Context, a *Run, file *beads.Snapshot, graph *dag.Graph, who string) int

	// Foreign observes leases of other machines; nil if this run is too short for that.
	Foreign *clone.Observer

	Ctx     context.Context // of the running command
	Running string          // the name of the command
	Journal *journal        // of this run's edits; nil before a store is opened

	Project  string // its name, of Projects
	Alone    bool   // Projects found no other
	ReadOnly bool   // in another project: nothing is written there, live state included
	damage   string // what of the store cannot be read; "" for nothing, or if it was not read

	misconfigured bool // the user was warned of the configuration

	cached cached // from git
	run    string // the worker's run that this process is in, if known

	Dir   string // -C
	Store string // --store
	Actor string // --actor
}

// Fresh returns a run for another command of the same front end, with the same store and actor.
// It reads the configuration and has a journal of its own. Servers create one per call.
func (a *Run) Fresh(ctx context.Context, command string) *Run {
	return &Run{
		Getenv: a.Getenv, Env: a.Env, HomeDir: a.HomeDir, ConfigDir: a.ConfigDir, Now: a.Now, Schema: cue.Embedded(),
		Say: a.Say, Progress: a.Progress, Terminal: a.Terminal,
		Ctx: ctx, Running: command,
		CacheDir: a.CacheDir, servers: a.OnServers(),
		Project: a.Project, ReadOnly: a.ReadOnly,
		Dir: a.Dir, Store: a.Store, Actor: a.Actor, OpenStore: a.OpenStore, Cache: a.Cache, Ancestors: a.Ancestors, Inbox: a.Inbox, Foreign: a.Foreign,
	}
}

// Lasting is Fresh for a long-running process of one actor: the parsed store is cached, and
// briefings search all of it.
func (a *Run) Lasting(ctx context.Context, command, actor string) *Run {
	long := a.Fresh(ctx, command)
	if long.Actor = actor; long.Cache == nil {
		long.Cache = jsonl.NewCache(long.Now)
	}
	return long
}

// Clock returns the time of this run in UTC. STIG_NOW fixes it, for reproducible tests and
// demos.
func (a *Run) Clock() (time.Time, error) {
	fixed := a.Getenv("STIG_NOW")
	if fixed == "" {
		return a.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, fixed)
	if err != nil {
		return time.Time{}, Usage(fmt.Sprintf("STIG_NOW: must be a time such as 2026-11-20T09:00:00Z; found %q", fixed), "type unset STIG_NOW to use the machine's clock")
	}
	return t.UTC(), nil
}

// Environ returns the environment for other programs.
func (a *Run) Environ() []string { return a.Env() }

// ofRuns are variables that programs started for an actor do not inherit: each is set anew or
// not at all, since trust belongs to this process. The same applies to git.PlaceVariables,
// since git finds the repository by the directory.
var ofRuns = []string{"STIG_TRUST", "STIG_ACTOR", "STIG_ISSUE", "STIG_RUN", "STIG_ATTEMPT", "STIG_ROUND", "STIG_BRIEFING", "BD_ACTOR"}

// EnvironFor returns the environment of a program started for an actor, with own variables as
// NAME=VALUE. If no stig is on PATH, the directory of this one is appended, since the program
// is told to type stig.
func (a *Run) EnvironFor(own ...string) (env []string) {
	drop := slices.Concat(ofRuns, git.PlaceVariables)
	if a.Config.ByReview() { // a worker must not judge its own request
		drop = append(drop, "GITEA_TOKEN", "FORGEJO_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
	}
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

// withSelf adds the directory of this program to PATH, unless stig is already on it or this
// program has another name.
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

// InboxCount returns the number of inbox items of an actor; 0 if who is "".
func (a *Run) InboxCount(ctx context.Context, file *beads.Snapshot, graph *dag.Graph, who string) int {
	if a.Inbox == nil || who == "" {
		return 0
	}
	return a.Inbox(ctx, a, file, graph, who)
}

// GitIn returns a git client for a directory.
func (a *Run) GitIn(dir string) git.Client { return git.Client{Dir: dir, Env: a.Environ()} }

// Shortest returns a path relative to the working directory if it is below it.
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

// SetupStep is one change that setup makes.
type SetupStep struct {
	What []string // what it changes, for the report
	Use  string   // one line with the file and its purpose; may be empty
	Diff string   // the change, for a dry run
	Do   func() error
}

// Above returns the parent processes of this run.
func (a *Run) Above() (list []process.ID) {
	if a.Ancestors == nil {
		return nil
	}
	for _, one := range a.Ancestors() {
		list = append(list, one.ID)
	}
	return list
}

// WarnOfShared warns, once, that the state shared by the clone or the database cannot be read
// or written: claims then depend on the store alone.
func (a *Run) WarnOfShared(err error) {
	if err != nil && !a.Edits().unshared {
		a.Edits().unshared = true
		a.Warn("claims and acknowledgements are not shared with others now: %v", err)
	}
}

// Assistant returns the program of the assistant in whose session stig runs: from the actor's
// name, the name exported by its hook, whatever --actor says, the parent processes, or
// variables that such programs set; "" for a person.
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
