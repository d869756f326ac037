package night

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/forge"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// Synced says what became of the requests.
type Synced struct {
	Branch string      `json:"branch"` // the default branch of the forge
	Commit string      `json:"commit"` // its commit
	Issues []Requested `json:"issues"`
	DryRun bool        `json:"dry_run"`

	Committed string `json:"committed"` // commit of the store; "" for none
}

// Requested is an issue with a request.
type Requested struct {
	ID      string              `json:"id"`
	Title   string              `json:"title"`
	Request int                 `json:"request"`
	URL     string              `json:"url"`
	State   signals.ReviewState `json:"state"`
	Did     Did                 `json:"did"`
	Why     string              `json:"why"`
	Rounds  int                 `json:"rounds"` // batches of remarks that workers were given
	Failed  []string            `json:"failed"` // jobs that failed
	// Strangers are remarks of people who may not write to the repository, which workers do not
	// get.
	Strangers []Stranger `json:"strangers"`
}

// Did is what a synchronization did.
type Did string

const (
	DidNothing  Did = ""
	DidClose    Did = "closed"
	DidReopen   Did = "reopened"
	DidAsk      Did = "asked"      // a person
	DidFeed     Did = "feedback"   // gave reviewers' remarks to the worker
	DidMark     Did = "ready"      // marked the request ready for review
	DidRetarget Did = "retargeted" // the request goes to the default branch, since the one below it landed
	DidFail     Did = "failed"     // see Why
	landedLimit     = 20           // commits kept of what landed
)

// ListRequested lists the issues with a request, as the store says.
func ListRequested(file *beads.Snapshot) (list []Requested, reviews []signals.Review, err error) {
	reader := file.Reader()
	for _, issue := range file.All() {
		if !issue.HasNotes {
			continue
		}
		text, err := reader.Notes(issue, signals.ReviewSection)
		if err != nil {
			return nil, nil, err
		}
		if text == "" {
			continue
		}
		if r, ok := signals.LastReview(notes.Parse(text)); ok {
			list = append(list, Requested{ID: issue.ID, Title: issue.Title, Request: r.Number, URL: r.URL, State: r.State, Rounds: r.Rounds, Failed: []string{}, Strangers: []Stranger{}})
			reviews = append(reviews, r)
		}
	}
	return list, reviews, nil
}

// Requests lists the issues with a request, without asking the forge.
func Requests(a *workspace.Run) (*Synced, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list, _, err := ListRequested(file)
	if err != nil {
		return nil, err
	}
	place, err := a.Live(file.Place())
	if ReadSeen(place).addTo(list); !a.ByPerson(a.Actor) {
		HideStrangers(list)
	}
	return &Synced{Issues: append([]Requested{}, list...)}, err
}

// syncing is one synchronization.
type syncing struct {
	*Site
	list    []Requested
	reviews []signals.Review // of list, before
	closed  map[string]bool  // issues that were closed before
	tip     string
	reverts *git.Reverts // on the default branch
	dryRun  bool
}

// synchronize is Sync without a record of it.
func synchronize(ctx context.Context, a *workspace.Run, dryRun bool) (*Synced, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	list, reviews, err := ListRequested(file)
	closed := map[string]bool{}
	for _, issue := range file.All() {
		closed[issue.ID] = beads.IsClosed(issue.Status)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if !a.Config.ByReview() && len(list) == 0 {
		return nil, workspace.Usage("land --sync: work does not land by review here", `set land: "review" in .stig.cue, or type stig land`)
	}
	site, err := OpenSite(ctx, a)
	if err != nil {
		return nil, err
	}
	s := &syncing{Site: site, dryRun: dryRun}
	if s.tip, err = site.Fetch(ctx); err == nil {
		s.reverts, err = a.GitIn(site.trees.Root).Reverts(ctx, s.tip)
	}
	if err != nil {
		return nil, err
	}
	done := &Synced{Branch: site.Default, Commit: s.tip, Issues: append([]Requested{}, list...), DryRun: dryRun}
	s.list, s.reviews, s.closed = done.Issues, reviews, closed
	for again := true; again; { // what waits for another issue closes after it
		again = false
		for i := range done.Issues {
			one := &done.Issues[i]
			if one.Did != DidNothing && one.Did != DidFail {
				continue
			}
			err := s.one(ctx, one, reviews[i], closed[one.ID])
			if ctx.Err() != nil {
				return done, context.Cause(ctx)
			}
			if err != nil {
				one.Did, one.Why = DidFail, visible.OneLine(visible.HideSecrets(err.Error()))
			}
			again = again || one.Did == DidClose
		}
	}
	return done, nil
}

// SyncAndCommit synchronizes, and commits the store if that changed an issue.
func SyncAndCommit(ctx context.Context, a *workspace.Run) (*Synced, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	commit, err := service.PrepareCommit(ctx, a, store.Place())
	if err != nil {
		return nil, err
	}
	done, err := Sync(ctx, a, false)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, one := range done.Issues {
		if one.Did != DidNothing && one.Did != DidFail {
			ids = append(ids, one.ID)
		}
	}
	if len(ids) > 0 {
		done.Committed, err = commit(ctx, strings.Join(ids, ", "))
	}
	return done, err
}

// one handles one issue.
func (s *syncing) one(ctx context.Context, one *Requested, r signals.Review, closed bool) error {
	if len(r.Landed) > 0 && (r.State == signals.ReviewLanded || r.State == signals.ReviewReverted) {
		return s.hasLanded(ctx, one, r, closed)
	}
	if r.State == signals.ReviewLanded || r.State == signals.ReviewReverted || closed && !r.IsRequested() {
		return nil
	}
	request, err := s.forge.Request(ctx, r.Number)
	if err != nil {
		return err
	}
	landed, by, err := s.landed(ctx, one.ID, r, request)
	switch {
	case err != nil:
		return err
	case landed:
		revert, err := s.reverts.Of(ctx, workOf(one.ID, r, by))
		switch {
		case err != nil:
			return err
		case revert.Commit != "":
			return s.reverted(ctx, one, revert, by, closed)
		case closed: // by a process that was killed, or by a person
			return s.set(ctx, one, DidNothing, toLanded(by), nil)
		}
		return s.close(ctx, one, r, by)
	case closed:
		return nil
	case request.State == forge.StateMerged:
		one.Why = fmt.Sprintf("the forge merged it, but its change is not on %s", s.Default)
		return nil
	case request.State == forge.StateClosed && r.State != signals.ReviewClosed:
		return s.askOfClosed(ctx, one, r)
	case request.State == forge.StateClosed:
		return nil
	}
	if r.Upon != "" && s.isOver(r.Upon) {
		return s.retarget(ctx, one, r)
	}
	return s.review(ctx, one, r, request)
}

// isOver reports whether the issue with a branch is closed, so that what is stacked upon its
// request goes to the default branch.
func (s *syncing) isOver(branch string) bool {
	for i, r := range s.reviews {
		if r.Branch == branch && (s.closed[s.list[i].ID] && s.list[i].Did != DidReopen || s.list[i].Did == DidClose) {
			return true
		}
	}
	return false
}

// stackedUpon says which issues are stacked upon the request of a branch; "" for none.
func (s *syncing) stackedUpon(branch string) string {
	var ids []string
	for i, r := range s.reviews {
		if r.Upon == branch && r.IsRequested() && !s.closed[s.list[i].ID] {
			ids = append(ids, s.list[i].ID)
		}
	}
	if ids == nil {
		return ""
	}
	return strings.Join(ids, ", ") + " is stacked upon it, and waits."
}

// retarget makes the request of an issue go to the default branch, which is merged into its
// branch. If that conflicts, the next run of a worker merges it.
func (s *syncing) retarget(ctx context.Context, one *Requested, r signals.Review) error {
	one.Why = "to " + s.Default
	if s.dryRun {
		one.Did = DidRetarget
		return nil
	}
	branch, err := s.FetchRequest(ctx, r.Branch, r)
	if err != nil {
		return err
	}
	base, commit := r.Base, r.Head
	if branch != "" {
		joined, err := s.join(ctx, branch, r)
		if err != nil {
			return err
		}
		if joined != "" {
			base, commit = s.tip, joined
		}
	}
	if err := s.forge.Retarget(ctx, r.Number, s.Default); err != nil {
		return err
	}
	now, err := s.app.Clock()
	if err != nil {
		return err
	}
	return s.set(ctx, one, DidRetarget, func(r signals.Review) (signals.Review, bool) {
		is := r.Upon != ""
		if r.Upon, r.Base = "", base; r.Head != commit {
			r.Head, r.Sent = commit, now.Format(time.RFC3339)
		}
		return r, is
	}, nil)
}

// join merges the default branch into the branch of a request, without what the request below
// it brought there, and pushes it. The result is "" for a conflict.
func (s *syncing) join(ctx context.Context, branch string, r signals.Review) (string, error) {
	head, err := s.app.GitIn(s.trees.Root).Commit(ctx, "refs/heads/"+branch)
	if err != nil {
		return "", err
	}
	commit, err := git.JoinedBeyond(ctx, s.trees, s.tip, s.Default, head, r.Base)
	if _, conflicts := errors.AsType[*git.RejectedError](err); conflicts {
		return "", nil
	}
	if err != nil || commit == s.tip {
		return "", err
	}
	return commit, git.Push(ctx, s.trees, s.address, r.Branch, commit, "")
}

// hasLanded handles an issue whose change landed before: it may have been reverted since, or
// brought back.
func (s *syncing) hasLanded(ctx context.Context, one *Requested, r signals.Review, closed bool) error {
	revert, err := s.reverts.Of(ctx, workOf(one.ID, r, r.Landed))
	switch gone := revert.Commit != ""; {
	case err != nil || gone == (r.State == signals.ReviewReverted):
		return err
	case gone:
		return s.reverted(ctx, one, revert, r.Landed, closed)
	case closed:
		return s.set(ctx, one, DidNothing, toLanded(r.Landed), nil)
	}
	there, err := git.Contains(ctx, s.trees, s.tip, r.Landed[0])
	if err != nil || !there {
		return err
	}
	return s.close(ctx, one, r, r.Landed)
}

// workOf returns the work of a request, which landed by some commits.
func workOf(id string, r signals.Review, by []string) git.Work {
	return git.Work{Issue: id, Since: r.Base, Landed: by, Request: r.Number}
}

// landed reports whether the change of an issue is on the default branch, and the commits that
// brought it: by the forge's word with a commit that is there, or by ancestry, patch id or
// trailer. The trailer counts only once the request is no longer open, since part of a change has
// it too.
func (s *syncing) landed(ctx context.Context, id string, r signals.Review, request forge.Request) (is bool, by []string, err error) {
	if request.Merge != "" {
		if is, err = git.Contains(ctx, s.trees, s.tip, request.Merge); err != nil {
			return false, nil, err
		}
	}
	if is {
		by = []string{request.Merge}
	}
	known, err := git.FetchRequest(ctx, s.trees, s.remote, r.Number, r.Head)
	if err != nil || !known {
		return is, by, err
	}
	there, more, err := git.Delivered(ctx, s.trees, id, r.Base, r.Head, s.tip, request.State != forge.StateOpen)
	if by = append(by, more...); len(by) > landedLimit {
		by = by[:landedLimit]
	}
	return is || there, by, err
}

// set changes the review of an issue, with what beside does in the same edit.
func (s *syncing) set(ctx context.Context, one *Requested, did Did, next func(signals.Review) (signals.Review, bool), beside func(*beads.Tx) error) error {
	after, err := SetReview(ctx, s.app, one.ID, s.dryRun, next, beside)
	if err == nil && after.Changed {
		one.Did, one.State = did, after.State
	}
	return err
}

// SetReview calls checkpoint.SetReview for the store of a run.
func SetReview(ctx context.Context, a *workspace.Run, id string, dryRun bool, next func(signals.Review) (signals.Review, bool), beside func(*beads.Tx) error) (*checkpoint.Reviewed, error) {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return nil, err
	}
	return checkpoint.SetReview(ctx, store, options, id, next, beside, checkpoint.Rules{Schema: a.Schema, Now: options.Now})
}

// toLanded returns the change of a review that landed by some commits.
func toLanded(by []string) func(signals.Review) (signals.Review, bool) {
	return func(r signals.Review) (signals.Review, bool) {
		r.State, r.Landed = signals.ReviewLanded, by
		return r, true
	}
}

// close closes an issue whose change is on the default branch, once its checks pass there.
func (s *syncing) close(ctx context.Context, one *Requested, r signals.Review, by []string) error {
	if s.dryRun {
		one.Did = DidClose
		return nil
	}
	gated, err := s.gate(ctx, one, r)
	switch {
	case fault.Is(err, fault.Waits):
		one.Why = visible.OneLine(err.Error())
		return nil
	case err != nil:
		return err
	case !gated.Passed():
		question := checkpoint.Question{Unclosed: true, Text: fmt.Sprintf("Its change is on %s, but its checks fail there: %s. Is the work at fault, or are they?\n\nThe request is %s.", s.Default, gated.Verdict().Summary(), one.URL)}
		if err := s.ask(ctx, one.ID, question); err != nil {
			return err
		}
		return s.set(ctx, one, DidAsk, toLanded(by), nil)
	}
	if _, err := gated.Close(ctx); err != nil {
		return err
	}
	if err := s.set(ctx, one, DidClose, toLanded(by), nil); err != nil {
		return err
	}
	if err := s.beginAnew(ctx, one.ID); err != nil {
		s.app.Note("%v", err)
	}
	service.RemoveLeftovers(ctx, s.app, s.store, one.ID)
	return nil
}

// gate runs the checks of an issue on the default branch. What no check shows counts as shown by
// the merge.
func (s *syncing) gate(ctx context.Context, one *Requested, r signals.Review) (gated *service.PendingClose, err error) {
	dir, remove, err := git.DetachedTree(ctx, s.trees, "review of "+one.ID, s.tip)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove(context.WithoutCancel(ctx))) }()
	place, err := s.app.Live(s.store)
	if err != nil {
		return nil, err
	}
	there := s.app.Fresh(ctx, s.app.Running)
	there.Dir, there.Progress, there.Terminal, there.Store = dir, io.Discard, false, filepath.Join(place.Worktree, filepath.FromSlash(place.Store))
	if err := service.SetUp(ctx, s.app, s.store, dir, one.ID); err != nil {
		return nil, err
	}
	reason := fmt.Sprintf("%s: landed on %s by request #%d", one.Title, s.Default, r.Number)
	gated, err = service.Gate(ctx, there, one.ID, service.CloseOptions{Reason: reason})
	if errors.Is(err, workspace.ErrNotRun) && gated != nil {
		err = gated.Take(fmt.Sprintf("request #%d was merged", r.Number), string(s.forge.Kind()))
	}
	return gated, err
}

// beginAnew sets the work tree and the branch of an issue aside: a later run begins at the
// default branch, without what was squashed or reverted there.
func (s *syncing) beginAnew(ctx context.Context, id string) error {
	if s.dryRun {
		return nil
	}
	place, err := s.app.Live(s.store)
	if err != nil {
		return err
	}
	trees := s.trees
	trees.Onto = git.DefaultBranch
	if err := git.RemoveBranch(ctx, trees, git.RequestBranch(git.BranchOf(id, git.WorkBranch))); err != nil {
		return err
	}
	list, err := git.Worktrees(ctx, trees)
	for _, tree := range list {
		if tree.Issue == id {
			_, e := putAside(ctx, place, tree, true)
			err = errors.Join(err, e)
		}
	}
	return err
}

// reverted reopens an issue whose change was reverted on the default branch.
func (s *syncing) reverted(ctx context.Context, one *Requested, by git.Revert, landed []string, closed bool) error {
	why := fmt.Sprintf("its change was reverted on %s by %.12s: %s", s.Default, by.Commit, visible.OneLine(visible.HideSecrets(by.Subject)))
	if closed {
		a := s.as(ctx)
		if _, err := service.Reopen(ctx, a, service.ReopenRequest{ID: one.ID, Reason: why, DryRun: s.dryRun}); err != nil {
			return err
		}
	}
	if err := s.beginAnew(ctx, one.ID); err != nil {
		return err
	}
	one.Why = why
	beside, err := s.leaving(ctx, one.ID, why, "")
	if err != nil {
		return err
	}
	return s.set(ctx, one, DidReopen, func(r signals.Review) (signals.Review, bool) {
		is := r.State != signals.ReviewReverted
		r.State, r.Landed = signals.ReviewReverted, landed
		return r, is
	}, beside)
}
