package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/criteria"
	"stig/fault"
	"stig/git"
	"stig/jsonl"
	"stig/live"
	"stig/process"
	"stig/profile"
	"stig/signals"
	"stig/verify"
	"stig/worktree"
)

// workspace is where criteria are run, and where what came of it is kept.
type workspace struct {
	store beads.Place
	root  string     // the directory that checks run in
	place git.Place  // the repository that root is in, the zero value for none
	git   git.Client // in root
	look  criteria.Lookup
	again func() criteria.Lookup // one that knows what has been built since
	state string                 // the user's state directory of stig
	own   string                 // for what holds in this work tree alone; "" without git
}

// Workspace finds the place of the checks: the work tree that stig is started in. Where
// the store is in a directory of that repository below its root, checks run in that
// directory of the work tree, wherever in it stig is started.
func (a *App) Workspace(ctx context.Context, store beads.Place) (*workspace, error) {
	here, err := realPath(cmp.Or(a.Dir, "."))
	if err != nil {
		return nil, err
	}
	holder, err := realPath(filepath.Dir(store.Dir))
	if err != nil {
		return nil, err
	}
	if filepath.Base(store.Dir) != beads.DirName {
		if holder, err = realPath(store.Dir); err != nil {
			return nil, err
		}
	}
	s := &workspace{store: store, state: a.StateDir()}
	if s.place, err = a.PlaceOf(ctx, here); err != nil {
		return nil, err
	}
	switch top := s.place.Root; {
	case top == "":
		s.root = holder
		if s.place, err = a.PlaceOf(ctx, holder); err != nil {
			return nil, err
		}
	case filepath.Base(store.Dir) != beads.DirName:
		s.root = top
	default:
		s.root = filepath.Join(top, a.below(ctx, s.place, holder))
	}
	s.git = a.GitIn(s.root)
	s.git.Top = s.place.Root
	if s.place.Own != "" {
		s.own = live.Writable(s.place.Own, store.Path)
	}
	s.again = func() criteria.Lookup { return process.Finder(s.root, a.Getenv) }
	s.look = s.again()
	return s, nil
}

// below is where in its work tree the directory with the store is, where that is one of
// the same repository; "" where it is none, or at the root, or missing in this work tree.
func (a *App) below(ctx context.Context, p git.Place, holder string) string {
	if holder == p.Root || exists(filepath.Join(holder, ".git")) {
		return ""
	}
	its, err := a.PlaceOf(ctx, holder)
	if err != nil || its.Home != p.Home || its.Root == "" {
		return ""
	}
	path, err := filepath.Rel(its.Root, holder)
	if err != nil || !exists(filepath.Join(p.Root, path)) {
		return ""
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// realPath is a path in one way only: absolute, without symbolic links.
func realPath(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

// CodeOf is the work tree of what the issues of a store are about, the zero value without
// git: that which has .beads, though this may be a submodule, or a link to a store that is
// elsewhere.
func CodeOf(store beads.Place) (jsonl.Worktree, error) {
	dir, err := filepath.Abs(store.Dir)
	if err != nil {
		return jsonl.Worktree{}, err
	}
	if filepath.Base(dir) == beads.DirName {
		if code, err := jsonl.WorktreeOf(filepath.Dir(dir)); err != nil || code.Root != "" {
			return code, err
		}
	}
	return jsonl.WorktreeOf(dir)
}

// Trees says where the work trees of runs go; nil without git.
func (a *App) Trees(store beads.Place) (*worktree.Options, error) {
	dir, err := filepath.Abs(store.Dir)
	if err != nil {
		return nil, err
	}
	code, err := CodeOf(store)
	if err != nil || code.Root == "" {
		return nil, err
	}
	state := a.StateDir()
	if state == "" {
		return nil, Usage("no directory to keep work trees in", "set XDG_STATE_HOME or HOME")
	}
	tracked, err := filepath.Rel(code.Root, dir)
	if err != nil || !filepath.IsLocal(tracked) || filepath.Base(dir) != beads.DirName {
		tracked = ""
	}
	return &worktree.Options{
		Git: a.GitIn(code.Root), Root: code.Root, Dir: filepath.Join(state, "trees"), Store: filepath.ToSlash(tracked), Common: code.Common,
	}, nil
}

// FreshenTrees has the branch that work trees begin at catch up with HEAD, where nobody
// named another, and tells what it lacks: work would begin on old code. trees may be nil.
func FreshenTrees(ctx context.Context, trees *worktree.Options, tell func(string)) error {
	if trees == nil {
		return nil
	}
	behind, err := worktree.Begin(ctx, *trees)
	if err == nil && behind > 0 {
		tell(fmt.Sprintf("%s lacks %s of HEAD: git merge %[1]s has work begin there, or git branch -f %[1]s HEAD where its own are merged",
			cmp.Or(trees.Onto, worktree.Usual), Counted(behind, "commit")))
	}
	return err
}

// Program gives a command whose program is named so that it is found from any directory:
// a path is that of the one in which stig was started. ok is false where there is no such
// program.
func (a *App) Program(command []string) (found []string, ok bool, err error) {
	found = slices.Clone(command)
	program := found[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		if found[0], err = filepath.Abs(filepath.Join(cmp.Or(a.Dir, "."), program)); err != nil {
			return nil, false, err
		}
	}
	return found, program != "" && process.Finder(a.Dir, a.Getenv)(found[0]), nil
}

// EndProgram ends the program of a run whose own process was killed.
func (a *App) EndProgram(r live.Run, grace time.Duration) {
	if r.Program.PID == 0 {
		return
	}
	if err := process.EndID(r.Program, grace); err != nil {
		a.Warn("run %s: %v", r.ID, err)
	}
}

// StateDir is where stig keeps what belongs to the user and to no repository;
// "" when HOME is not set, is a relative path, or is no directory, such as
// /dev/null.
func (a *App) StateDir() string {
	if dir := a.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "stig")
	}
	if dir := a.Getenv("LocalAppData"); runtime.GOOS == "windows" && filepath.IsAbs(dir) {
		return filepath.Join(dir, "stig")
	}
	home, err := a.HomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	if info, err := os.Stat(home); err != nil || !info.IsDir() {
		return ""
	}
	return filepath.Join(home, ".local", "state", "stig")
}

// repository names what is trusted, and the commit that it began with.
func (s *workspace) repository(ctx context.Context, known ...string) (root, commit string, err error) {
	commit, err = s.git.RootCommit(ctx, known...)
	return cmp.Or(s.place.Home, s.root), commit, err
}

// Trusted reports whether criteria may be run here, and what the configuration of the
// repository names may be started.
func (a *App) Trusted(ctx context.Context, s *workspace) (bool, error) {
	t, err := a.standing(ctx, s)
	return t.trusted, err
}

// standing is how far a repository is trusted.
type standing struct {
	trusted bool
	changed string        // what its configuration passes on and starts now, where that was another thing when it was trusted
	grant   *verify.Grant // nil where it is trusted by the environment, and where it is not
}

func (a *App) standing(ctx context.Context, s *workspace) (standing, error) {
	switch word := a.Getenv("STIG_TRUST"); word {
	case "1":
		return standing{trusted: true}, nil
	case "", "0":
	default:
		return standing{}, Usage(fmt.Sprintf("STIG_TRUST: must be 1 or 0; found %q", word), "type unset STIG_TRUST; stig trust trusts this repository alone")
	}
	trust := verify.Trust{Dir: s.state}
	root, commit, err := s.repository(ctx, trust.Commits(cmp.Or(s.place.Home, s.root))...)
	if err != nil || !trust.Granted(root, commit) {
		return standing{}, err
	}
	grant, ok := trust.At(root)
	if !ok {
		return standing{}, nil
	}
	settings, words, err := a.reaches(s.store)
	if errors.Is(err, errConfig) {
		settings, err = grant.Settings, nil // nothing of it counts, and others say so
	}
	if err != nil {
		return standing{}, err
	}
	if grant.Settings != settings {
		return standing{changed: words}, nil
	}
	return standing{trusted: true, grant: &grant}, nil
}

// reaches is what the configuration beside the store passes on to checks and starts, as
// a hash, "" for nothing, and in words: a commit may change it at any time.
func (a *App) reaches(store beads.Place) (settings, words string, err error) {
	files := a.ConfigFiles(store)
	alone := a.Fresh(a.Ctx, a.Running)
	if err := alone.ReadConfig(files[len(files)-1]); err != nil {
		return "", "", err
	}
	env, notify, sandbox := slices.Sorted(slices.Values(alone.Config.Gate.Env)), alone.Config.Notify, alone.Config.Gate.Sandbox
	var parts []string
	if len(env) > 0 {
		parts = append(parts, "gate.env names "+strings.Join(env, ", "))
	}
	if len(sandbox) > 0 {
		parts = append(parts, "gate.sandbox starts "+sandbox[0])
	}
	if !notify.Off() {
		parts = append(parts, "notify tells "+strings.Join(notify.Words(), ", "))
	}
	if parts == nil {
		return "", "no longer passes on or starts anything", nil
	}
	text, err := json.Marshal([]any{env, notify, sandbox})
	return verify.Hash(string(text)), strings.Join(parts, "; "), err
}

// refused is why the checks of an issue are not run here, nil where they may be.
func (t standing) refused(id string) error {
	switch {
	case t.trusted:
		return nil
	case t.changed != "":
		return notRun(id, "what .stig.cue passes on or starts has changed since this repository was trusted: "+t.changed,
			"read .stig.cue, then type stig trust")
	}
	return notRun(id, "its checks are commands of a repository that is not trusted here",
		"read them, then type stig trust, or set STIG_TRUST=1 to trust whatever is here")
}

// tellNew prints the commands that came into the criteria since trust was given, before
// any of them runs.
func (a *App) tellNew(t *Trial, grant *verify.Grant) {
	if grant == nil {
		return
	}
	for _, c := range t.Plan {
		if c.Asked() && !grant.Knows(c) {
			a.Note("%s: new since this repository was trusted on %s: %s", t.Id, signals.Day(grant.Time), strings.TrimRight(c.Text, "\n"))
		}
	}
}

// commands have a grant know the commands that the criteria of all issues ask for.
func (s *workspace) commands(store beads.Store, grant *verify.Grant) error {
	file, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	var checks []criteria.Check
	for i := range file.Len() {
		if issue := file.At(i); !beads.IsClosed(issue.Status) {
			record, err := issue.Record()
			if err != nil {
				return err
			}
			checks = append(checks, criteria.Of(record).Plan(s.look)...)
		}
	}
	grant.Know(checks)
	return nil
}

// verdicts keeps what the gate found, in git's own directory of this work
// tree, below the path of the store, since a repository may have several; ok is
// false where there is no git, and nothing can tell two trees apart.
func (s *workspace) verdicts() (kept verify.Verdicts, ok bool) {
	if s.own == "" {
		return verify.Verdicts{}, false
	}
	place, err := live.At(s.store.Path)
	return verify.Verdicts{Dir: filepath.Join(s.own, "verdicts", filepath.FromSlash(place.Store))}, err == nil
}

// logs is the directory for whole outputs, "" where there is none.
func (s *workspace) logs() string { return below(cmp.Or(s.own, s.state), "logs") }

// below is a place in a directory; "" where there is none.
func below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.Join(names...))
}

// fresh looks at the tree once, and gives what finds the verdict on criteria
// that passed and still counts, for any number of issues.
func (s *workspace) fresh(ctx context.Context) (func(id string, c criteria.Criteria) (*verify.Verdict, bool), error) {
	none := func(string, criteria.Criteria) (*verify.Verdict, bool) { return nil, false }
	kept, ok := s.verdicts()
	if !ok {
		return none, nil
	}
	if _, err := os.Stat(kept.Dir); errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	without, err := jsonl.Touched(s.store)
	if err != nil {
		return nil, err
	}
	tree, err := s.git.Tree(ctx, without...)
	look := s.again()
	return func(id string, c criteria.Criteria) (*verify.Verdict, bool) {
		return kept.Fresh(id, c.Text(), c.Plan(look), tree)
	}, err
}

// edited compares criteria with those that are committed.
func (a *App) edited(ctx context.Context, s *workspace, id string, c criteria.Criteria) (*checkpoint.Edited, error) {
	if s.store.File() == "" {
		return nil, nil
	}
	repo, path, err := a.Git(s.store)
	if err != nil {
		return nil, err
	}
	return checkpoint.EditedSince(ctx, repo, path, id, c, s.look)
}

// TrustRequest says what is to become of the trust in the repository of a run.
type TrustRequest struct{ Revoke, DryRun bool }

// TrustResult says what became of it.
type TrustResult struct {
	Root    string // of the repository
	Before  bool   // it was trusted; not known of a grant
	Trusted bool   // it is now
	Diff    string // of a dry run
}

// Trust lets the commands in the repository's acceptance criteria run on this
// machine, or takes that back.
func (a *App) Trust(ctx context.Context, r TrustRequest) (*TrustResult, error) {
	trust, grant, err := a.trustHere(ctx)
	if err != nil {
		return nil, err
	}
	result := &TrustResult{Root: grant.Root, Trusted: !r.Revoke}
	switch {
	case r.DryRun:
		result.Before = trust.Granted(grant.Root, grant.Commit)
		result.Trusted = result.Before
		result.Diff, err = trustDiff(trust, grant, r.Revoke)
	case r.Revoke:
		result.Before, err = trust.Revoke(grant.Root)
	default:
		err = trust.Grant(grant)
	}
	return result, err
}

// trustDiff shows what would become of the record of a grant.
func trustDiff(trust verify.Trust, grant verify.Grant, revoke bool) (string, error) {
	path, after, err := trust.Record(grant)
	if err != nil {
		return "", err
	}
	if revoke {
		after = nil
	}
	file := HostFile{Path: path}
	before, err := file.Read()
	return file.Diff(before, after), err
}

// Grants lists what is trusted on this machine.
func (a *App) Grants() ([]verify.Grant, error) { return verify.Trust{Dir: a.StateDir()}.List() }

// trustHere gives what is trusted, and the grant for the repository that stig is
// started in.
func (a *App) trustHere(ctx context.Context) (trust verify.Trust, grant verify.Grant, err error) {
	store, err := a.Discover()
	if err != nil {
		return trust, grant, err
	}
	s, err := a.Workspace(ctx, store.Place())
	if err != nil {
		return trust, grant, err
	}
	if trust.Dir = s.state; trust.Dir == "" {
		return trust, grant, Usage("no directory to keep what is trusted", "set XDG_STATE_HOME or HOME")
	}
	if grant.Root, grant.Commit, err = s.repository(ctx); err != nil {
		return trust, grant, err
	}
	if grant.Time, err = a.Clock(); err != nil {
		return trust, grant, err
	}
	if grant.By, err = a.ActorName(ctx); err != nil {
		return trust, grant, err
	}
	if grant.Settings, _, err = a.reaches(s.store); err != nil {
		return trust, grant, err
	}
	if had, ok := trust.At(grant.Root); a.ByPerson(grant.By) {
		a.agreeToActors(s, &grant)
	} else if ok && trust.Granted(grant.Root, grant.Commit) {
		grant.Actors = had.Actors
	}
	return trust, grant, s.commands(store, &grant)
}

// ByPerson reports whether an actor of this run is a person: neither the session of an
// assistant nor what a worker loop started, as the environment says or the processes above.
func (a *App) ByPerson(name string) bool {
	return a.Assistant(name) == "" && a.Getenv("STIG_RUN") == "" && !a.belowRun()
}

// belowRun reports whether the command of a run that has not ended started this process. It
// is false where that cannot be seen.
func (a *App) belowRun() bool {
	store, err := a.Discover()
	if err != nil {
		return false
	}
	place, err := a.Live(store.Place())
	if err != nil {
		return false
	}
	runs, _, _ := place.Runs(time.Time{}) // whatever the clock is set to
	above := a.above()
	return slices.ContainsFunc(runs, func(r live.Run) bool {
		// The program is recorded a moment after it started, its loop before that.
		return r.Ended.IsZero() && slices.ContainsFunc(above, func(id process.ID) bool {
			return r.Loop.PID != 0 && r.Loop.Same(id) || r.Program.PID != 0 && r.Program.Same(id)
		})
	})
}

// agreeToActors has a grant know what the files of actors have run. A file with a
// mistake runs nothing, and is asked about when it is right.
func (a *App) agreeToActors(s *workspace, grant *verify.Grant) {
	root := filepath.Dir(s.store.Dir)
	names, err := profile.Names(root)
	for _, name := range names {
		p, bad := profile.Load(root, name)
		if err = errors.Join(err, bad); bad == nil {
			grant.Agree(commandsOf(p))
		}
	}
	if err != nil {
		a.Warn("%v", err)
	}
}

// commandsOf is a hash of what the file of an actor has run.
func commandsOf(p *profile.Profile) string {
	text, _ := json.Marshal([]string{p.Name, p.Command, p.Setup}) // texts can be encoded
	return verify.Hash(string(text))
}

// ActorTrust is how far what the file of an actor has run is trusted.
type ActorTrust struct {
	Repository bool // the repository is
	Agreed     bool // and a person agreed to these very commands

	workspace *workspace
	grant     *verify.Grant
}

// TrustsActor tells how far what the file of an actor has run is trusted.
func (a *App) TrustsActor(ctx context.Context, p *profile.Profile) (t ActorTrust, err error) {
	store, err := a.Discover()
	if err != nil {
		return t, err
	}
	if t.workspace, err = a.Workspace(ctx, store.Place()); err != nil {
		return t, err
	}
	s, err := a.standing(ctx, t.workspace)
	t.Repository, t.grant = s.trusted, s.grant
	t.Agreed = s.trusted && (s.grant == nil || s.grant.Agreed(commandsOf(p)))
	return t, err
}

// AgreeToActor records that a person agreed to what the file of an actor has run, in
// a repository that is trusted.
func (t ActorTrust) AgreeToActor(p *profile.Profile) error {
	if t.Agreed || t.grant == nil {
		return nil
	}
	err := verify.Trust{Dir: t.workspace.state}.Agree(t.grant.Root, commandsOf(p))
	if errors.Is(err, fs.ErrNotExist) { // what was read before is not put back
		err = &fault.Error{Code: fault.Conflict, Path: t.grant.Root, Reason: "its trust was taken back meanwhile", Hint: "read what it runs, then type stig trust"}
	}
	return err
}
