package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// byReview reports whether the work of the loop lands by review on a forge.
func (l *loop) byReview() bool {
	return l.trees != nil && !l.NoClose && l.app.Config.ByReview()
}

// beginAtDefault makes the branch for results follow the forge's default branch, of which stig
// keeps a copy: what is merged there comes to the next work.
func (l *loop) beginAtDefault(ctx context.Context) error {
	site, err := night.OpenSite(ctx, l.fresh(ctx, ""))
	if err != nil {
		return err
	}
	tip, err := site.Fetch(ctx)
	if err != nil {
		return err
	}
	at, _ := l.code.Ref("refs/heads/" + l.trees.Onto)
	if at == "" {
		if err := git.MoveOnto(ctx, *l.trees, "begin at "+git.DefaultBranch, "", tip); err != nil {
			return err
		}
	}
	if l.place.Followed(l.trees.Onto).Branch == git.DefaultBranch {
		return nil
	}
	if at != "" {
		base, err := l.app.GitIn(l.code.Root).Run(ctx, "merge-base", tip, at)
		if tip = strings.TrimSpace(string(base.Stdout)); err != nil || tip == "" {
			return err
		}
	}
	return l.place.Follow(l.trees.Onto, clone.Followed{Branch: git.DefaultBranch, Tip: tip})
}

// syncEvery is how often a loop asks the forge.
const syncEvery = time.Minute

// synchronize compares the requests with the forge, unless that was done lately. The forge may
// be away: the loop goes on.
func (l *loop) synchronize(ctx context.Context) {
	now := l.now()
	if !l.byReview() || now.Sub(l.synced) < syncEvery && !now.Before(l.synced) {
		return
	}
	l.synced = now
	done, err := night.Sync(ctx, l.fresh(ctx, ""), false)
	if err != nil {
		l.once("cannot ask the forge: " + visible.OneLine(visible.HideSecrets(err.Error())))
		return
	}
	for _, one := range done.Issues {
		switch text := fmt.Sprintf("request #%d: %s", one.Request, strings.TrimSuffix(string(one.Did)+": "+one.Why, ": ")); one.Did {
		case night.DidNothing:
		case night.DidFail: // the next time will fail too
			l.once(one.ID + ": " + text)
		default:
			l.tell(one.ID, "%s", text)
		}
	}
}

// requested returns the issues with a request that is open as far as the store says.
func (l *loop) requested(file *beads.Snapshot) (map[string]signals.Review, error) {
	if !l.byReview() {
		return nil, nil
	}
	list, reviews, err := night.ListRequested(file)
	open := map[string]signals.Review{}
	for i, one := range list {
		if at, ok := file.Index(one.ID); ok && reviews[i].IsRequested() && !beads.IsClosed(file.At(at).Status) {
			open[one.ID] = reviews[i]
		}
	}
	return open, err
}

// receive merges what the forge has of an issue's branch into the work tree of a run: people may
// have pushed commits to a request. It reports whether that changed anything.
func (l *loop) receive(ctx context.Context, r *Run) (changed bool, err error) {
	if !l.byReview() || r.tree == nil {
		return false, nil
	}
	was, err := l.reviewOf(r.Issue)
	if err != nil {
		return false, err
	}
	site, err := night.OpenSite(ctx, l.fresh(ctx, ""))
	if err != nil {
		return false, err
	}
	branch, err := site.FetchRequest(ctx, r.tree.Branch, was)
	if err != nil || branch == "" {
		return false, err
	}
	return r.tree.Include(ctx, branch)
}

// catchUp receives what people pushed to the request of an issue before a run works on it. What
// cannot be merged is left to the run. changed reports whether the work tree has more work now.
func (l *loop) catchUp(ctx context.Context, r *Run) (changed bool, err error) {
	was, err := l.reviewOf(r.Issue)
	if err != nil || was.Number == 0 {
		return false, err
	}
	changed, err = l.receive(ctx, r)
	if refused, ok := errors.AsType[*git.RejectedError](err); ok {
		r.found = append(r.found, fmt.Sprintf("The branch of request #%d on the forge has commits that are not in this work tree: %s. Commit your work, then type git merge %s.", was.Number, refused.Reason, git.RequestBranch(r.tree.Branch)))
		return false, nil
	}
	if changed {
		r.Base = r.tree.Base
		r.found = append(r.found, fmt.Sprintf("The branch of request #%d had commits on the forge that were not in this work tree. They are merged.", was.Number))
		l.tell(r.Issue, "merged the commits of request #%d from the forge", was.Number)
	}
	return changed, err
}

// findUpon finds the request that the work of a run is stacked upon, and fetches its branch.
func (l *loop) findUpon(ctx context.Context, r *Run) error {
	r.upon = signals.Review{}
	if !l.byReview() || !l.app.Config.Stack {
		return nil
	}
	on, err := l.lowerOf(r.Issue)
	if err != nil || on == "" {
		return err
	}
	lower, err := l.reviewOf(on)
	if err != nil {
		return err
	}
	site, err := night.OpenSite(ctx, l.fresh(ctx, ""))
	if err != nil {
		return err
	}
	copied, err := site.FetchRequest(ctx, lower.Branch, lower)
	if err == nil && copied == "" {
		err = &fault.Error{Code: fault.Conflict, ID: on, Reason: fmt.Sprintf("branch %s of request #%d is not on the forge", lower.Branch, lower.Number), Hint: "restore it there, or close the request"}
	}
	r.upon = lower
	return err
}

// lowerOf returns the issue in review that work on an issue is stacked upon; "" for none.
func (l *loop) lowerOf(issue string) (id string, err error) {
	file, err := l.store.Snapshot()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	at, there := file.Index(issue)
	if !there {
		return "", nil
	}
	if u, stacked := dag.New(file).Upon(at); stacked {
		id = file.At(u.On).ID
	}
	return id, nil
}

// reviewOf returns the request of an issue; the zero value for none.
func (l *loop) reviewOf(issue string) (signals.Review, error) {
	record, err := l.recordOf(issue)
	if err != nil || record == nil {
		return signals.Review{}, err
	}
	r, _ := signals.LastReview(notes.Parse(record.Text(beads.Notes)))
	return r, nil
}

// isFull reports whether as many requests are open as review.open allows, with the runs that may
// open one: those of others, or, for the claim of a run, those that began before it.
func (l *loop) isFull(requested map[string]signals.Review, claims clone.Claims, judge clone.Judge, own *clone.Lease) bool {
	n := len(requested)
	for _, lease := range claims.Leases {
		before := lease.Actor != l.name
		if own != nil {
			before = cmp.Or(lease.Since.Compare(own.Since), strings.Compare(lease.Run, own.Run)) < 0
		}
		if _, counted := requested[lease.Issue]; lease.Run != "" && before && !counted && judge.Holds(lease) {
			n++
		}
	}
	return l.byReview() && n >= l.app.Config.MostOpen()
}

// fullText says that isFull.
func (l *loop) fullText() string {
	return "waiting for reviewers: review.open allows " + visible.Counted(l.app.Config.MostOpen(), "open request")
}

// mayRequest reports whether review.open leaves a request for the run that just claimed an
// issue: others may have claimed theirs at the same time.
func (l *loop) mayRequest(r *Run) (may bool, err error) {
	if !l.byReview() {
		return true, nil
	}
	file, err := l.store.Snapshot()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	requested, err := l.requested(file)
	if err != nil {
		return false, err
	}
	claims, judge, err := service.Judge(l.app, l.place, l.now()).AsRead(func() (clone.Claims, error) { return l.place.Claims() })
	if err != nil {
		l.once(err.Error()) // the unreadable part was set aside
	}
	judge.InStore = service.Shows(file)
	for _, lease := range claims.Leases {
		if _, answers := requested[r.Issue]; lease.Run == r.ID && !answers {
			return !l.isFull(requested, claims, judge, &lease), nil
		}
	}
	return true, nil
}

// send sends proved work to the forge and opens a request for it. sent is false if it changes
// nothing there.
func (l *loop) send(ctx context.Context, r *Run, record *beads.Record, gated *service.PendingClose, done string) (sent bool, err error) {
	site, err := night.OpenSite(ctx, l.fresh(ctx, ""))
	if err != nil {
		return false, err
	}
	doc := notes.Parse(record.Text(beads.Notes))
	was, _ := signals.LastReview(doc)
	_, tip := r.tree.Landing()
	next, err := site.Publish(ctx, night.ReviewWork{
		Issue: r.Issue, Title: record.Text(beads.Title), Body: l.requestBody(ctx, r, record, gated, cmp.Or(r.upon.Branch, site.Default)), Branch: r.Branch, Commit: tip, Was: was, Upon: r.upon.Branch,
	})
	if err != nil || next.Number == 0 {
		return false, err
	}
	l.keepDone(ctx, r, done)
	if r.left.closed {
		if _, err := service.Reopen(ctx, l.fresh(ctx, ""), service.ReopenRequest{ID: r.Issue, Reason: "it closes once its request is merged"}); err != nil {
			return false, err
		}
	}
	if _, err := night.SetReview(ctx, l.fresh(ctx, ""), r.Issue, false, func(signals.Review) (signals.Review, bool) { return next, true }, nil); err != nil {
		return false, err
	}
	r.Why = fmt.Sprintf("request #%d: %s", next.Number, next.URL)
	return true, nil
}

// beforeAndAfter describes a difference of a check to those who do not know its names.
func beforeAndAfter(difference string) string {
	switch difference {
	case gate.Turned:
		return "failed before the work, passes now"
	case gate.New:
		return "could not run before the work, passes now"
	case gate.Held:
		return "passed before the work, and passes now"
	case gate.Flaky:
		return "passed once and failed once before the work, passes now"
	}
	return "passes; not run before the work"
}

// mostBody is how many characters describe work: GitHub takes 65,536 in all.
const mostBody = 60000

// requestBody describes the work of a run to its reviewers.
func (l *loop) requestBody(ctx context.Context, r *Run, record *beads.Record, gated *service.PendingClose, onto string) string {
	var text strings.Builder
	section := func(heading, body string) {
		if body = strings.TrimSpace(body); body != "" {
			text.WriteString("## " + heading + "\n\n" + body + "\n\n")
		}
	}
	if r.upon.Number != 0 {
		fmt.Fprintf(&text, "Stacked upon #%d: review that first. Once it is merged, this request goes to the default branch.\n\n", r.upon.Number)
	}
	section("What and why", record.Text(beads.Description))
	doc := notes.Parse(record.Text(beads.Notes))
	if last, ok := signals.LastEstimate(doc); ok {
		said := signals.ReadEstimate(last.Body)
		section("Done", said.Done)
		section("Learned", said.Learned)
	}
	if table := signals.Read(doc, l.app.Schema); table.Has(signals.Surprise) {
		section("Surprise", table.Value(signals.Surprise))
	}
	var checks strings.Builder
	for _, o := range gated.Verdict().Outcomes() {
		fmt.Fprintf(&checks, "- `%s`: %s\n", strings.ReplaceAll(visible.FirstLine(o.Text), "`", "'"), beforeAndAfter(o.Difference))
	}
	section("Acceptance criteria", checks.String())
	section("Files", l.diffOf(ctx, r))
	if edited := gated.Verdict().Edited(); len(edited) > 0 {
		section("Changed files that the checks use", "- "+strings.Join(edited, "\n- "))
	}
	var spent clone.Spent
	if runs, _, err := l.runs(); err == nil {
		for _, one := range runs {
			if one.Issue == r.Issue {
				spent.Add(one)
			}
		}
	}
	section("Cost", spent.String())
	check := fmt.Sprintf("Issue %s, run %s of %s. To check it: `stig check --against %s --verify`\n", r.Issue, r.ID, l.name, onto)
	return strings.TrimSpace(visible.Clipped(visible.HideSecrets(workspace.Visible(text.String())), mostBody)) + "\n\n" + check
}
