package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/merge"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// left is what the command of a run left.
type left struct {
	exit       int
	timedOut   bool // it hit its time limit
	stopped    bool // ended by a person or by a crash of the loop
	claimLost  bool // the claim ended during the run
	gone       bool // the issue was deleted or belongs to another actor
	asked      bool // a question on the issue waits for an answer
	closed     bool // the issue is closed in the store
	landed     bool // its work is on the branch for results
	checkpoint bool // the notes of the issue changed
	traces     bool // it added comments or edited issues
	changed    bool // its tree contains work
	elsewhere  bool // its work is outside its tree, which has none
}

// saw returns the observation that takes precedence.
func (f left) saw() observation {
	switch {
	case f.landed && f.closed: // the loop was killed afterwards; nothing is left to decide
		return sawClosed
	case f.stopped:
		return sawStop
	case f.claimLost:
		return sawClaimLost
	case f.gone:
		return sawGone
	case f.asked:
		return sawQuestion
	case f.exit == clone.ExitLater && !f.timedOut:
		return sawLater
	case (f.timedOut || f.exit != 0) && f.checkpoint:
		return sawProgress
	case f.timedOut:
		return sawTimeout
	case f.exit != 0:
		return sawFailure
	case !f.closed && !f.checkpoint && !f.traces && !f.changed && f.elsewhere:
		return sawElsewhere
	case !f.closed && !f.checkpoint && !f.traces && !f.changed:
		return sawNothing
	}
	return sawWork
}

// look determines what the command of a run left, independent of what it claims.
func (l *loop) look(ctx context.Context, r *Run) (observation, error) {
	after := context.WithoutCancel(ctx)
	r.left = left{
		exit: r.Exit, timedOut: r.TimedOut, landed: r.Step == stepLanded,
		stopped: r.Cause == string(clone.OutcomeStopped), claimLost: r.Cause == string(clone.OutcomeLost),
	}
	if err := l.compareShared(after, r); err != nil {
		return "", unknown{err}
	}
	r.left.elsewhere = l.strayWork(after, r) != ""
	if !r.left.claimLost && r.Issue != "" {
		if err := l.lookFurther(after, r); err != nil {
			return "", unknown{err}
		}
	}
	saw := r.left.saw()
	switch {
	case r.Issue == "" && (saw == sawNothing || saw == sawElsewhere || saw == sawWork): // no issue, so nothing to judge
		return sawBeat, nil
	case saw == sawElsewhere:
		r.refused("", "its work tree is unchanged, and it left work elsewhere: "+strings.Join(ownChanges(&r.Run), "; "), 0, "")
	case saw == sawNothing && len(r.Shared) > 0:
		r.Why = "its work tree is unchanged; " + strings.Join(r.SharedText(r.Shared), "; ")
	case saw == sawClosed:
		l.commitStore(after, r)
	}
	return saw, nil
}

// lookFurther examines the issue and the directory of a run.
func (l *loop) lookFurther(ctx context.Context, r *Run) error {
	record, err := l.recordOf(r.Issue)
	if err != nil {
		return err
	}
	if r.left.gone, r.left.closed = l.lostTo(r, record); r.left.gone {
		return nil
	}
	doc := notes.Parse(record.Text(beads.Notes))
	r.left.asked = signals.HoldsBack(doc, signals.Read(doc, l.app.Schema), l.name)
	r.left.checkpoint = r.Notes != gate.Hash(record.Text(beads.Notes)) && !l.onlyOthers(r, changesNotes)
	r.left.traces = l.comments(record, r.ID) > r.Comments || l.edited(r)
	now, _, err := l.content(ctx, r)
	r.left.changed = now != r.Tree || r.Taken != nil || r.Regated || l.code.Root == "" // without git this is unknown, and the gate decides
	if err == nil && !r.left.changed && r.tree != nil {
		r.left.changed, err = l.holdsWork(r, now)
	}
	return err
}

// lostTo reports whether the issue of a run no longer belongs to it, and whether it is closed.
// record is nil if the issue does not exist. The reason is recorded in the run.
func (l *loop) lostTo(r *Run, record *beads.Record) (gone, closed bool) {
	switch {
	case record == nil:
		r.Why = "the issue is no longer in the store"
		return true, false
	case record.Text(beads.Status) == beads.StatusTombstone:
		r.Why = "the issue was deleted"
		return true, false
	case record.Text(beads.Status) == beads.StatusInProgress:
		holder := record.Text(beads.Assignee)
		if gone = holder != "" && holder != holderOf(r.Run); gone {
			r.Why = "the issue is assigned to " + workspace.Visible(holder)
		}
		return gone, false
	case isClosed(record):
		gone, r.Why = l.closedByOthers(r)
		return gone, true
	}
	return false, false
}

// holdsWork reports whether there is work of earlier runs to judge although this run changed no
// file: in the work tree, whose content is given, or landed by a loop that was killed before it
// closed the issue.
func (l *loop) holdsWork(r *Run, content string) (bool, error) {
	runs, _, err := l.runs()
	if err != nil {
		return false, err
	}
	if _, landed := unclosed(runs, r.Issue); landed {
		return true, nil
	}
	fresh, err := l.isFresh(r, content)
	return !fresh, err
}

// unclosed returns the last run of an issue that landed its work but was killed before it
// closed the issue, unless a later run closed it.
func unclosed(runs []clone.Run, issue string) (last clone.Run, ok bool) {
	for _, e := range runs {
		switch {
		case e.Issue != issue:
		case e.Outcome == string(clone.OutcomeClosed):
			ok = false
		case e.Step == stepLanded:
			last, ok = e, true
		}
	}
	return last, ok
}

// edits returns the edits made with stig since a run started, except those of the loop.
func (l *loop) edits(r *Run) []clone.Record {
	journal, err := l.place.Lately(r.Started)
	if err != nil {
		return nil // the state of the issue says more
	}
	return slices.DeleteFunc(journal.Records, func(e clone.Record) bool { return e.Command == "work" || e.At.Before(r.Started) })
}

// editors returns the actors of all edits since the run's start that made a change to its issue
// selected by pick, one name per edit.
func (l *loop) editors(r *Run, pick func(clone.Change) bool) (names []string) {
	for _, e := range l.edits(r) {
		// The result of an edit is recorded just after the store shows it.
		if e.Result != clone.Failed && slices.ContainsFunc(e.Changes, func(c clone.Change) bool { return c.Issue == r.Issue && pick(c) }) {
			names = append(names, e.Actor)
		}
	}
	return names
}

// isOwn reports whether a name is that of the loop's actor or of something it started.
func (l *loop) isOwn(name string) bool { return name == l.name || clone.BelongsTo(name, l.name) }

// onlyOthers reports whether changes selected by pick were made only by others.
func (l *loop) onlyOthers(r *Run, pick func(clone.Change) bool) bool {
	names := l.editors(r, pick)
	return len(names) > 0 && !slices.ContainsFunc(names, l.isOwn)
}

// closedByOthers reports whether another actor closed the issue of a run since it started, and
// who. A close made without stig counts as the command's own.
func (l *loop) closedByOthers(r *Run) (closed bool, why string) {
	names := l.editors(r, func(c clone.Change) bool {
		return c.Kind == string(merge.Key) && c.Name == string(beads.Status) && c.Now == `"`+beads.StatusClosed+`"`
	})
	switch {
	case len(names) == 0 && r.Holder != "" && r.Step != stepLanded:
		return true, "the issue was closed with the work of another worker"
	case len(names) == 0 || l.isOwn(names[len(names)-1]):
		return false, r.Why
	}
	return true, "the issue was closed by " + cmp.Or(workspace.Visible(names[len(names)-1]), "somebody else")
}

func changesNotes(c clone.Change) bool {
	return slices.Contains([]merge.Kind{merge.Section, merge.Signal, merge.KindProse}, merge.Kind(c.Kind))
}

// edited reports whether the actor edited any issue during the run, other than through the
// loop.
func (l *loop) edited(r *Run) bool {
	return slices.ContainsFunc(l.edits(r), func(e clone.Record) bool { return e.Actor == l.name && e.Result == clone.Written })
}

// offer commits the work of a run and decides whether it should land.
func (l *loop) offer(ctx context.Context, r *Run) (observation, error) {
	err := l.keep(ctx, r)
	refused, isRefused := errors.AsType[*git.RejectedError](err)
	switch {
	case isRefused && refused.Unable != nil:
		return "", unknown{refused.Unable} // the loop retries this run and starts no other
	case isRefused:
		return r.refused(firstSaid("git", refused.Tail), refused.Reason, refused.Exit, fenced(refused.Tail)), nil
	case err != nil:
		return "", err
	}
	if err := l.holdBack(r); err != nil {
		return "", err
	}
	switch {
	case l.NoClose && r.left.closed:
		return sawClosed, nil
	case l.NoClose:
		return sawReview, nil
	case l.isLost(context.WithoutCancel(ctx), r):
		r.Why = "the claim was released or ended while the command ran"
		return sawLost, nil
	}
	return sawKept, nil
}

// keepTree commits work that does not land. If a hook of the repository rejects the commit, the
// changes stay uncommitted in the work tree.
func (l *loop) keepTree(ctx context.Context, r *Run) error {
	err := l.keep(ctx, r)
	if _, refused := errors.AsType[*git.RejectedError](err); refused {
		return nil
	}
	if err == nil && r.tree != nil && len(r.tree.LeftOut) > 0 {
		l.tell(r.Issue, "left out of the commit; still in the work tree: %s", listed(r.LeftOut))
	}
	return err
}

// keep commits what a run left uncommitted on the branch of its issue.
func (l *loop) keep(ctx context.Context, r *Run) error {
	if r.tree == nil || r.Issue == "" {
		return nil
	}
	limit := cmp.Or(l.runTimeout, time.Hour)
	limited, cancel := l.toEnd(ctx, limit)
	defer cancel()
	commit, err := r.tree.Commit(limited, l.message(r), l.name)
	if commit != "" {
		r.Commit = commit
	}
	leftOut(&r.Run, r.tree.LeftOut)
	if err != nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		return &git.RejectedError{Reason: fmt.Sprintf("git commit: timed out after %s; a hook of the repository may hang", limit), Tail: "timed out"}
	}
	return err
}

// toEnd returns a context for work that must be completed, such as a commit with its hooks. It
// ends after limit, or, once ctx has ended, after the grace period of a command.
func (l *loop) toEnd(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(l.Times.Grace, cancel) })
	return limited, func() { stop(); cancel() }
}

// issueWords are the texts about an issue in commits and events.
type issueWords struct {
	title  string
	checks []string // that decide whether it is closed
}

func wordsOf(record *beads.Record) issueWords {
	w := issueWords{title: visible.OneLine(record.Text(beads.Title))}
	for _, check := range gate.Of(record).Plan() {
		if check.Class == gate.Runnable {
			w.checks = append(w.checks, visible.FirstLine(check.Text))
		}
	}
	return w
}

// message returns the commit message of a run. Its trailer names the issue, so that the work is
// found on any branch.
func (l *loop) message(r *Run) string {
	w := l.known[r.Issue]
	text := fmt.Sprintf("%s\n\n%s did this in run %s.\n", l.subject(r.Issue, w.title), l.name, r.ID)
	for i, check := range w.checks {
		if i == 0 {
			text += "Checks:\n"
		}
		if text += "- " + check + "\n"; i+1 == mostChecks {
			break
		}
	}
	return text + fmt.Sprintf("\nRun: %s\n%s: %s\n", r.ID, git.IssueTrailer, r.Issue)
}

const (
	mostChecks    = 20  // maximum number of checks in a commit message
	widestSubject = 200 // characters
)

// subject returns the first line of the commit message for an issue.
func (l *loop) subject(id, title string) string {
	words := strings.NewReplacer("{id}", id, "{title}", title, "{actor}", l.name)
	return visible.Clipped(words.Replace(cmp.Or(l.app.Config.Commits.Subject, "{id}: {title}")), widestSubject)
}

// trySubject passes the message of the first commit to the repository's commit-msg hook. If the
// hook rejects it, all work would be rejected, so that is an error (fault.Usage).
func (l *loop) trySubject(ctx context.Context) error {
	if l.trees == nil {
		return nil
	}
	g := l.app.GitIn(l.code.Root)
	if there, err := g.HasHook(ctx, "commit-msg"); err != nil || !there {
		return err
	}
	s, err := l.sense(ctx)
	if err != nil || len(s.order) == 0 {
		return err
	}
	record, err := l.recordOf(s.order[0].Issue)
	if err != nil || record == nil {
		return err
	}
	r := &Run{Run: clone.Run{ID: clone.NewRunID(), Issue: s.order[0].Issue}}
	l.known[r.Issue] = wordsOf(record)
	limited, cancel := context.WithTimeout(ctx, hookLimit)
	defer cancel()
	refused, err := g.RunHook(limited, "commit-msg", l.message(r))
	if err != nil || refused == "" {
		return err
	}
	return workspace.Usage(fmt.Sprintf("the commit-msg hook rejects %q: %s", l.subject(r.Issue, l.known[r.Issue].title), visible.OneLine(visible.HideSecrets(workspace.Visible(refused)))),
		`set a subject that it accepts in .stig.cue, such as commits: subject: "feat: {title} ({id})"`)
}

// hookLimit is the timeout of that trial.
const hookLimit = time.Minute
