package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
)

// Code is the work tree in which checks run, and where their results are stored.
type Code struct {
	Store beads.Place
	Root  string     // the directory that checks run in
	Place git.Place  // the repository of Root; the zero value if there is none
	git   git.Client // runs in Root
	// trusted is Run.Trusted for this Code.
	trusted func(ctx context.Context) (bool, error)
	State   string // stig's state directory of the user
	Own     string // state of this work tree; "" without git
}

// Code finds where checks run: in the work tree that stig was started in. If the store is in a
// subdirectory of the repository, checks run in that subdirectory of the work tree, wherever in
// it stig was started.
func (a *Run) Code(ctx context.Context, store beads.Place) (*Code, error) {
	here, err := RealPath(cmp.Or(a.Dir, "."))
	if err != nil {
		return nil, err
	}
	holder, err := RealPath(filepath.Dir(store.Dir))
	if err != nil {
		return nil, err
	}
	if filepath.Base(store.Dir) != beads.DirName {
		if holder, err = RealPath(store.Dir); err != nil {
			return nil, err
		}
	}
	s := &Code{Store: store, State: a.StateDir()}
	if s.Place, err = a.PlaceOf(ctx, here); err != nil {
		return nil, err
	}
	switch top := s.Place.Root; {
	case top == "":
		s.Root = holder
		if s.Place, err = a.PlaceOf(ctx, holder); err != nil {
			return nil, err
		}
	case filepath.Base(store.Dir) != beads.DirName:
		s.Root = top
	default:
		s.Root = filepath.Join(top, a.below(ctx, s.Place, holder))
	}
	s.git = a.GitIn(s.Root)
	s.git.Top = s.Place.Root
	s.trusted = func(ctx context.Context) (bool, error) { return a.Trusted(ctx, s) }
	if s.Place.Own != "" {
		s.Own = clone.Writable(s.Place.Own, store.Path)
	}
	return s, nil
}

// below returns the path of the store's directory relative to its work tree; "" if that belongs
// to another repository, is the root, or is missing in this work tree.
func (a *Run) below(ctx context.Context, p git.Place, holder string) string {
	if git, err := git.DotGit(holder); holder == p.Root || git != "" || err != nil {
		return ""
	}
	its, err := a.PlaceOf(ctx, holder)
	if err != nil || its.Home != p.Home || its.Root == "" {
		return ""
	}
	path, err := filepath.Rel(its.Root, holder)
	if err != nil || !isThere(filepath.Join(p.Root, path)) {
		return ""
	}
	return path
}

// isThere reports whether a path exists, following links.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// RealPath returns the canonical form of a path: absolute, without symbolic links.
func RealPath(path string) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(full)
}

// CodeOf returns the work tree that the issues of a store are about: that of the directory with
// .beads, even if .beads itself is a submodule or a link elsewhere. It returns the zero value
// without git.
func CodeOf(store beads.Place) (git.Checkout, error) {
	dir, err := filepath.Abs(store.Dir)
	if err != nil {
		return git.Checkout{}, err
	}
	if filepath.Base(dir) == beads.DirName {
		if code, err := git.CheckoutOf(filepath.Dir(dir)); err != nil || code.Root != "" {
			return code, err
		}
	}
	return git.CheckoutOf(dir)
}

// Trees returns where the work trees of runs are created; nil without git.
func (a *Run) Trees(store beads.Place) (*git.WorktreeOptions, error) {
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
		return nil, Usage("no directory for work trees", "set XDG_STATE_HOME or HOME")
	}
	tracked, err := filepath.Rel(code.Root, dir)
	if err != nil || !filepath.IsLocal(tracked) || filepath.Base(dir) != beads.DirName {
		tracked = ""
	}
	return &git.WorktreeOptions{
		Git: a.GitIn(code.Root), Root: code.Root, Dir: filepath.Join(state, "trees"), Store: filepath.ToSlash(tracked), Common: code.Common,
		Leave: git.Leave{Allow: a.Config.Commit.Allow, Own: assistant.IsOwnFile},
	}, nil
}

// FreshenTrees fast-forwards the branch that work trees start from to HEAD, unless another
// branch was named. If it cannot, it calls tell: work would start on old code. trees may be
// nil.
func FreshenTrees(ctx context.Context, trees *git.WorktreeOptions, tell func(string)) error {
	if trees == nil {
		return nil
	}
	behind, err := git.BeginWork(ctx, *trees)
	if err == nil && behind > 0 {
		tell(fmt.Sprintf("%s lacks %s of HEAD, so work starts on old code: git merge %[1]s, or git branch -f %[1]s HEAD if its commits are merged",
			cmp.Or(trees.Onto, git.WorkBranch), visible.Counted(behind, "commit")))
	}
	return err
}

// Program returns the command with a program that is found from any directory: a relative path
// is made absolute from where stig was started. ok is false if there is no such program.
func (a *Run) Program(command []string) (found []string, ok bool, err error) {
	found = slices.Clone(command)
	program := found[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		if found[0], err = filepath.Abs(filepath.Join(cmp.Or(a.Dir, "."), program)); err != nil {
			return nil, false, err
		}
	}
	return found, program != "" && process.Finder(a.Dir, a.Getenv)(found[0]), nil
}

// EndProgram ends the program of a run whose loop was killed.
func (a *Run) EndProgram(r clone.Run, grace time.Duration) {
	if r.Program.PID == 0 {
		return
	}
	if err := process.EndID(r.Program, grace); err != nil {
		a.Warn("run %s: %v", r.ID, err)
	}
}

// StateDir returns the directory for state of the user that belongs to no repository; "" if
// HOME is not set, is a relative path, or is not a directory, such as /dev/null.
func (a *Run) StateDir() string {
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

// repository returns the root and the first commit of what is trusted.
func (s *Code) repository(ctx context.Context, known ...string) (root, commit string, err error) {
	commit, err = s.git.RootCommit(ctx, known...)
	return cmp.Or(s.Place.Home, s.Root), commit, err
}

// Trusted reports whether checks may run here, and whether programs that the repository's
// configuration names may be started.
func (a *Run) Trusted(ctx context.Context, s *Code) (bool, error) {
	t, err := a.TrustState(ctx, s)
	return t.trusted, err
}

// trustState is whether a repository is trusted, and why.
type trustState struct {
	trusted bool
	changed string      // what its configuration passes on and starts now, if that changed since it was trusted
	Grant   *gate.Grant // nil if it is not trusted, or trusted by the environment
}

// TrustState returns whether the repository of s is trusted: by STIG_TRUST=1, else by the
// user's grant. It returns a fault.Usage if STIG_TRUST is neither 1 nor 0.
func (a *Run) TrustState(ctx context.Context, s *Code) (trustState, error) {
	switch word := a.Getenv("STIG_TRUST"); word {
	case "1":
		return trustState{trusted: true}, nil
	case "", "0":
	default:
		return trustState{}, Usage(fmt.Sprintf("STIG_TRUST: must be 1 or 0; found %q", word), "type unset STIG_TRUST; stig trust trusts this repository alone")
	}
	trust := gate.Trust{Dir: s.State}
	root, commit, err := s.repository(ctx, trust.Commits(cmp.Or(s.Place.Home, s.Root))...)
	if err != nil || !trust.Granted(root, commit) {
		return trustState{}, err
	}
	grant, ok := trust.At(root)
	if !ok {
		return trustState{}, nil
	}
	settings, words, err := a.reaches(s.Store)
	if errors.Is(err, errConfig) {
		settings, err = grant.Settings, nil // none of its settings apply, and others report the error
	}
	if err != nil {
		return trustState{}, err
	}
	if grant.Settings != settings {
		return trustState{changed: words}, nil
	}
	return trustState{trusted: true, Grant: &grant}, nil
}

// reaches returns what the repository's configuration passes on to checks and starts: as a
// hash, "" for nothing, and in words. A commit may change it at any time.
func (a *Run) reaches(store beads.Place) (settings, words string, err error) {
	files := a.ConfigFiles(store)
	alone := a.Fresh(a.Ctx, a.Running)
	if err := alone.ReadConfig(files[len(files)-1]); err != nil {
		return "", "", err
	}
	external := alone.Config.Gate.External
	env, notify, sandbox := slices.Sorted(slices.Values(alone.Config.Gate.Env)), alone.Config.Notify, alone.Config.Gate.Sandbox
	var parts []string
	if len(env) > 0 {
		parts = append(parts, "gate.env names "+strings.Join(env, ", "))
	}
	if len(sandbox) > 0 {
		parts = append(parts, "gate.sandbox starts "+sandbox[0])
	}
	if len(external) > 0 {
		parts = append(parts, "gate.external starts "+strings.Join(slices.Sorted(maps.Values(external)), "; "))
	}
	if !notify.Off() {
		parts = append(parts, "notify tells "+strings.Join(notify.Words(), ", "))
	}
	if parts == nil {
		return "", "no longer passes on or starts anything", nil
	}
	passed := []any{env, notify, sandbox}
	if len(external) > 0 {
		passed = append(passed, external)
	}
	text, err := json.Marshal(passed)
	return gate.Hash(string(text)), strings.Join(parts, "; "), err
}

// Refused returns why the checks of an issue may not run here; nil if they may.
func (t trustState) Refused(id string) error {
	switch {
	case t.trusted:
		return nil
	case t.changed != "":
		return NotRun(id, "what .stig.cue passes on or starts has changed since this repository was trusted: "+t.changed,
			"read .stig.cue, then type stig trust")
	}
	return NotRun(id, "its checks come from a repository that is not trusted here",
		"read them, then type stig trust, or set STIG_TRUST=1 to trust whatever is here")
}

// commands adds the commands in the criteria of all unclosed issues to a grant.
func (s *Code) commands(store beads.Store, grant *gate.Grant) error {
	file, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	var checks []gate.Check
	for i := range file.All() {
		if issue := file.At(i); !beads.IsClosed(issue.Status) {
			record, err := issue.Record()
			if err != nil {
				return err
			}
			checks = append(checks, gate.Of(record).Plan()...)
		}
	}
	grant.Know(checks)
	return nil
}

// Verdicts returns the verdicts of the store in this work tree. They are in git's directory of
// the work tree, by store, since a repository may have several. ok is false without git, since
// the content of the tree is then unknown.
func (s *Code) Verdicts() (kept gate.Verdicts, ok bool) {
	if s.Own == "" {
		return gate.Verdicts{}, false
	}
	place, err := clone.At(s.Store.Path)
	return gate.Verdicts{Dir: filepath.Join(s.Own, "verdicts", filepath.FromSlash(place.Store))}, err == nil
}

// Logs returns the directory for full outputs; "" if there is none.
func (s *Code) Logs() string { return Below(cmp.Or(s.Own, s.State), "logs") }

// Below joins names to a directory; "" if dir is "".
func Below(dir string, names ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, filepath.Join(names...))
}

// Fresh reads the tree once, and returns a function that finds the passed verdict of an issue
// that is still valid.
func (s *Code) Fresh(ctx context.Context) (func(id string, c gate.Criteria) (*gate.Verdict, bool), error) {
	none := func(string, gate.Criteria) (*gate.Verdict, bool) { return nil, false }
	kept, ok := s.Verdicts()
	if !ok {
		return none, nil
	}
	if _, err := os.Stat(kept.Dir); errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	without, err := jsonl.Touched(s.Store)
	if err != nil {
		return nil, err
	}
	here := s.git
	if here.Trusted, err = s.trusted(ctx); err != nil {
		return nil, err
	}
	tree, err := here.Tree(ctx, without...)
	return func(id string, c gate.Criteria) (*gate.Verdict, bool) {
		return kept.Fresh(id, c.Text(), c.Plan(), tree)
	}, err
}

// CriteriaEdited compares criteria with the committed ones.
func (a *Run) CriteriaEdited(ctx context.Context, s *Code, id string, c gate.Criteria) (*checkpoint.Edited, error) {
	if s.Store.File() == "" {
		return nil, nil
	}
	repo, path, err := a.Git(s.Store)
	if err != nil {
		return nil, err
	}
	return checkpoint.EditedSince(ctx, repo, path, id, c)
}

// TrustRequest says whether to grant or revoke trust.
type TrustRequest struct{ Revoke, DryRun bool }

// TrustResult is the result of Trust.
type TrustResult struct {
	Root    string // of the repository
	Before  bool   // it was trusted; not set by a grant
	Trusted bool   // it is trusted now
	Diff    string // of a dry run
}

// Trust lets the commands in the repository's acceptance criteria run on this machine, or
// revokes that.
func (a *Run) Trust(ctx context.Context, r TrustRequest) (*TrustResult, error) {
	if err := a.ForPeople("trust"); err != nil && !r.DryRun {
		return nil, err
	}
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

// trustDiff returns the diff of a grant's record.
func trustDiff(trust gate.Trust, grant gate.Grant, revoke bool) (string, error) {
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
func (a *Run) Grants() ([]gate.Grant, error) { return gate.Trust{Dir: a.StateDir()}.List() }

// trustHere returns the trust records, and a new grant for the repository that stig was started
// in.
func (a *Run) trustHere(ctx context.Context) (trust gate.Trust, grant gate.Grant, err error) {
	store, err := a.Discover()
	if err != nil {
		return trust, grant, err
	}
	s, err := a.Code(ctx, store.Place())
	if err != nil {
		return trust, grant, err
	}
	if trust.Dir = s.State; trust.Dir == "" {
		return trust, grant, Usage("no directory for records of trust", "set XDG_STATE_HOME or HOME")
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
	if grant.Settings, _, err = a.reaches(s.Store); err != nil {
		return trust, grant, err
	}
	if had, ok := trust.At(grant.Root); a.ByPerson(grant.By) {
		a.agreeToActors(s, &grant)
	} else if ok && trust.Granted(grant.Root, grant.Commit) {
		grant.Actors = had.Actors
	}
	return trust, grant, s.commands(store, &grant)
}

// agreeToActors adds the commands in the files of actors to a grant. It skips invalid files,
// which run nothing; once fixed, they need agreement.
func (a *Run) agreeToActors(s *Code, grant *gate.Grant) {
	root := filepath.Dir(s.Store.Dir)
	names, err := clone.ProfileNames(root)
	for _, name := range names {
		p, bad := clone.LoadProfile(root, name)
		if err = errors.Join(err, bad); bad == nil {
			grant.Agree(commandsOf(p))
		}
	}
	if err != nil {
		a.Warn("%v", err)
	}
}

// commandsOf returns a hash of the commands in an actor's file.
func commandsOf(p *clone.Profile) string {
	text, _ := json.Marshal([]string{p.Name, p.Command, p.Setup}) // strings always encode
	return gate.Hash(string(text))
}

// ActorTrust says whether the commands in an actor's file are trusted.
type ActorTrust struct {
	Repository bool // the repository is
	Agreed     bool // and a person agreed to exactly these commands

	code  *Code
	grant *gate.Grant
}

// TrustsActor returns whether the commands in an actor's file are trusted.
func (a *Run) TrustsActor(ctx context.Context, p *clone.Profile) (t ActorTrust, err error) {
	store, err := a.Discover()
	if err != nil {
		return t, err
	}
	if t.code, err = a.Code(ctx, store.Place()); err != nil {
		return t, err
	}
	s, err := a.TrustState(ctx, t.code)
	t.Repository, t.grant = s.trusted, s.Grant
	t.Agreed = s.trusted && (s.Grant == nil || s.Grant.Agreed(commandsOf(p)))
	return t, err
}

// AgreeToActor records that a person agreed to the commands in an actor's file, in a trusted
// repository.
func (t ActorTrust) AgreeToActor(p *clone.Profile) error {
	if t.Agreed || t.grant == nil {
		return nil
	}
	err := gate.Trust{Dir: t.code.State}.Agree(t.grant.Root, commandsOf(p))
	if errors.Is(err, fs.ErrNotExist) { // a revoked grant is not restored
		err = &fault.Error{Code: fault.Conflict, Path: t.grant.Root, Reason: "its trust was revoked meanwhile", Hint: "read what it runs, then type stig trust"}
	}
	return err
}

// Git returns a git client beside the store, and the path that git has of it: the store's file,
// or the copy of a store on a server. Without a copy the error is a fault.Usage.
func (a *Run) Git(store beads.Place) (repo git.Client, path string, err error) {
	if store.File() == "" {
		return git.Client{}, "", Usage(store.Name()+": has no copy in git, so it has no history",
			"type stig store sync, and commit what it writes")
	}
	if path, err = filepath.Abs(store.File()); err != nil {
		return git.Client{}, "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if (store.Mode == beads.BD || store.Mode == beads.Server) && errors.Is(err, fs.ErrNotExist) { // bd has exported nothing yet, or no edit was copied yet
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			real = filepath.Join(real, filepath.Base(path))
		}
	}
	if err != nil {
		return git.Client{}, "", beads.Unreadable(store.Path, err)
	}
	return a.GitIn("").Beside(real), real, nil
}

// ErrNotRun is wrapped by the error (fault.Found) that the checks of an issue may not run.
var ErrNotRun = errors.New("its checks are not run")

func NotRun(id, reason, hint string) error {
	return &fault.Error{Code: fault.Found, ID: id, Reason: reason, Hint: hint, Err: ErrNotRun}
}
