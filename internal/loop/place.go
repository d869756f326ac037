package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// A problem of the place in which all loops work is not the fault of an issue. It is asked
// about on a separate issue, a channel, which is never taken as work.
const (
	loopsLabel = "loops"
	loopsTitle = "Questions of worker loops"
)

// askOfPlace asks a person a question that concerns no issue, once, and returns the answer; nil
// while there is none. At most one question with the same first line waits at a time, and a
// question with the same text is asked only once.
func (l *loop) askOfPlace(ctx context.Context, q checkpoint.Question) (answer *signals.Part, err error) {
	id, said, err := l.placeQuestions()
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(said) {
		text := signals.ReadQuestion(e.Question.Text).Text
		switch {
		case visible.FirstLine(text) != visible.FirstLine(q.Text):
		case e.Answer == nil, text == strings.TrimSpace(q.Text):
			return e.Answer, nil
		}
	}
	alone, err := l.place.LockLoop("\x00asks") // no actor has such a name
	if err != nil {
		return nil, nil // another loop is asking
	}
	defer func() { _ = alone() }()
	if id == "" {
		created, err := service.Create(ctx, l.fresh(ctx, ""), service.CreateRequest{Draft: checkpoint.Draft{
			Title: loopsTitle, Type: "task", Labels: []string{beads.ChannelLabel, loopsLabel}, Priority: 2,
			Description: "What loops ask of people that is about no issue. This is a channel: no work, and never closed by a loop.",
		}})
		if err != nil {
			return nil, err
		}
		id = created.ID
	}
	_, err = service.Escalate(ctx, l.fresh(ctx, ""), service.EscalateRequest{ID: id, Question: q})
	if fault.Is(err, fault.Conflict) { // it already waits
		err = nil
	}
	return nil, err
}

// placeQuestions returns the issue on which loops ask about their place, "" for none, and the
// questions on it.
func (l *loop) placeQuestions() (id string, said []signals.Exchange, err error) {
	file, err := l.store.Snapshot()
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, issue := range file.All() {
		if !issue.Channel || beads.IsClosed(issue.Status) {
			continue
		}
		record, err := issue.Record()
		if err != nil {
			return "", nil, err
		}
		if slices.Contains(record.Labels(), loopsLabel) {
			return issue.ID, signals.Exchanges(signals.Escalations(notes.Parse(record.Text(beads.Notes)))), nil
		}
	}
	return "", nil, nil
}

// refusedAlike asks what to do about work that is rejected with the same message on several
// issues. It asks after the first pause, if the work after it was rejected too. It reports
// whether the loop has to wait for the answer, or has it.
func (l *loop) refusedAlike(ctx context.Context, a CorrelatedFailures) (waits, answered bool, err error) {
	if a.Rounds == 0 || len(a.Runs) == 0 || a.Runs[0].Refused == "" {
		return false, false, nil
	}
	last := a.Runs[len(a.Runs)-1]
	issues := map[string]bool{}
	var text strings.Builder
	fmt.Fprintf(&text, "Work is rejected with the same message on several issues: `%s`\n\nIf the check passes in your checkout, new work trees lack something: "+
		"add a setup to the actor's file, such as npm ci. The loops wait for an answer; any answer lets them continue.\n", strings.ReplaceAll(a.Said, "`", "'"))
	for _, r := range a.Runs {
		if !issues[r.Issue] {
			fmt.Fprintf(&text, "\n- %s, run %s of %s", r.Issue, r.ID, r.Actor)
		}
		issues[r.Issue] = true
	}
	fmt.Fprintf(&text, "\n\nThe last was run %s.", last.ID)
	answer, err := l.askOfPlace(ctx, checkpoint.Question{Text: text.String()})
	return answer == nil, answer != nil, err
}

// trialTime limits how long criteria run in the trial of a place.
const trialTime = time.Minute

// tryPlace tries once, before the first run of a loop, whether work is possible in a new work
// tree: the actor's setup, the pre-commit hook, a commit, and those criteria of the first issue
// that pass in the checkout. The error (fault.Found) means that any run would be wasted here.
func (l *loop) tryPlace(ctx context.Context, issue string) error {
	if l.tried || l.trees == nil {
		return nil
	}
	needed, err := git.NeedsTrial(ctx, *l.trees)
	if err != nil {
		return err
	}
	r := &Run{Run: clone.Run{Actor: l.name, Task: "trial", Issue: issue, Started: l.now()}}
	if needed || l.profile.Setup != "" {
		err = git.TryWorktree(ctx, *l.trees, "trial-"+l.name, cmp.Or(l.runTimeout, time.Hour), func(dir string) error {
			if err := l.setUp(ctx, r, dir); err != nil {
				return &git.RejectedError{Reason: err.Error()}
			}
			return nil
		})
	}
	if err == nil {
		err = l.greenThere(ctx, r)
	}
	if err != nil && ctx.Err() == nil {
		return l.placeFault(err)
	}
	l.tried = err == nil
	return err
}

// placeFault returns an error with what fails in a new work tree and what a person can do.
func (l *loop) placeFault(err error) error {
	if refused, ok := errors.AsType[*git.RejectedError](err); ok {
		return &fault.Error{Code: fault.Found, Reason: "no run started: work would fail in any new work tree: " + visible.OneLine(visible.HideSecrets(workspace.Visible(refused.Reason))),
			Hint: fmt.Sprintf("if a new work tree lacks something that your checkout has, give %s a setup in %s, such as setup: npm ci; otherwise fix what fails",
				l.name, workspace.Shortest(clone.ProfilePath(l.files, l.name)))}
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return &fault.Error{Code: fault.Found, Reason: "no run started: git cannot store work here: " + visible.OneLine(workspace.Visible(err.Error())),
		Hint: "make git commit and git merge work in a new work tree of this repository: git worktree add ../trial", Err: err}
}

// greenThere returns an error if a criterion of an issue passes in the checkout but not in a new
// work tree of the same commit. It returns nil if the checkout differs from that commit, or if
// the criteria may not run or take longer than trialTime.
func (l *loop) greenThere(ctx context.Context, r *Run) error {
	_, head := l.code.Head()
	content, _, err := l.content(ctx, &Run{Run: clone.Run{Worktree: l.code.Root, Base: head}})
	if l.NoClose || head == "" || content != git.NoContent || err != nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	green, _, err := service.Passing(limited, l.quiet(limited, l.root), r.Issue)
	if err != nil || limited.Err() != nil || len(green) == 0 {
		return context.Cause(ctx)
	}
	dir, remove, err := l.checkout(ctx, r, head)
	if err != nil {
		return err
	}
	defer func() { _ = remove(context.WithoutCancel(ctx)) }()
	_, fails, err := service.Passing(limited, l.quiet(limited, dir), r.Issue)
	if err != nil || limited.Err() != nil {
		return context.Cause(ctx)
	}
	for _, check := range green {
		if exit, failed := fails[check]; failed {
			return &git.RejectedError{Exit: exit, Reason: fmt.Sprintf("the check %s passes in the checkout but ends with exit code %d there", visible.FirstLine(check), exit)}
		}
	}
	return nil
}

// beginBranch creates the branch for results and records the person's branch that it follows. Only
// a branch created here and stig/work, whoever created it, follow another branch; any other
// existing branch moves only by landing.
func (l *loop) beginBranch(ctx context.Context) error {
	if l.trees == nil {
		return nil
	}
	if l.byReview() {
		return l.beginAtDefault(ctx)
	}
	at, _ := l.code.Ref("refs/heads/" + l.trees.Onto)
	if at != "" && l.place.Followed(l.trees.Onto).Branch != "" {
		return nil
	}
	if err := workspace.FreshenTrees(ctx, l.trees, func(text string) { l.tell("", "%s", text) }); err != nil {
		return err
	}
	branch, tip := l.code.Head()
	if branch == "" || at != "" && l.trees.Onto != git.WorkBranch {
		return nil
	}
	if at != "" {
		base, err := l.app.GitIn(l.code.Root).Run(ctx, "merge-base", tip, "refs/heads/"+l.trees.Onto)
		if tip = strings.TrimSpace(string(base.Stdout)); err != nil || tip == "" {
			return err
		}
	}
	return l.place.Follow(l.trees.Onto, clone.Followed{Branch: branch, Tip: tip})
}

// Options of the question about a rewritten branch.
const (
	replayIt  = "replay what is not landed on where it is now"
	stayThere = "stay: follow it again when it has all that is landed"
)

// followBranch updates the branch for results from the branch that it follows. It returns the
// number of unanswered questions about that.
func (l *loop) followBranch(ctx context.Context) (asked int, err error) {
	if l.trees == nil {
		return 0, nil
	}
	onto := l.trees.Onto
	f := l.place.Followed(onto)
	if now, known := l.code.Ref("refs/heads/" + f.Branch); f.Branch == "" || known && (now == f.Tip || now == "") {
		return 0, nil
	}
	unlock, err := clone.LockOnto(ctx, l.place, onto, l.Cap)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unlock() }()
	f = l.place.Followed(onto) // others may have followed it meanwhile
	now, how, err := git.Follow(ctx, *l.trees, f.Branch, f.Tip)
	refused, isRefused := errors.AsType[*git.RejectedError](err)
	switch {
	case isRefused:
		return l.askOfBranch(ctx, refused, f.Branch, now)
	case errors.Is(err, git.ErrRewritten):
		return l.rewritten(ctx, f)
	case err != nil:
		return 0, err
	case how != "":
		l.tell("", "%s %s, which moved to %.12s", onto, how, now)
	}
	return 0, l.place.Follow(onto, clone.Followed{Branch: f.Branch, Tip: now})
}

// askOfBranch asks a person about a conflict between the branch for results and the branch that it
// follows.
func (l *loop) askOfBranch(ctx context.Context, refused *git.RejectedError, branch, now string) (asked int, err error) {
	onto := l.trees.Onto
	answer, err := l.askOfPlace(ctx, checkpoint.Question{Text: fmt.Sprintf("%s cannot follow %s, since they conflict\n\n%s is at %.12s; the conflict is in %s. Work continues from %[1]s as it is. "+
		"Merge them by hand: git worktree add ../merge %[1]s, git -C ../merge merge %[2]s, then git worktree remove ../merge.",
		onto, branch, branch, now, strings.Join(refused.Files, ", "))})
	if answer == nil && err == nil {
		asked = 1
	}
	return asked, err
}

// rewritten asks a person what to do with work after the followed branch was rewritten, so that it
// no longer contains the commit where the work began. It carries out the answer once no other
// loop is running.
func (l *loop) rewritten(ctx context.Context, f clone.Followed) (asked int, err error) {
	onto := l.trees.Onto
	answer, err := l.askOfPlace(ctx, checkpoint.Question{Options: []string{replayIt, stayThere}, Text: fmt.Sprintf("%s was rewritten after %s began\n\n"+
		"%[1]s no longer contains commit %.12[3]s, which is in %[2]s. Work continues from %[2]s as it is until there is an answer.", f.Branch, onto, f.Tip)})
	if err != nil || answer == nil {
		return 1, err
	}
	if !strings.HasPrefix(answer.Text, replayIt) || !service.IsPerson(l.app, l.place, answer.By) {
		return 0, nil
	}
	runs, _, err := l.runs()
	if err != nil || slices.ContainsFunc(runs, func(r clone.Run) bool { return r.Outcome == "" && l.isOthers(r) }) {
		return 0, err
	}
	now, kept, err := git.Replay(ctx, *l.trees, f.Branch, f.Tip)
	if refused, ok := errors.AsType[*git.RejectedError](err); ok {
		return l.askOfBranch(ctx, refused, f.Branch, now)
	}
	if err != nil {
		return 0, err
	}
	l.tell("", "%s was replayed on %s", onto, f.Branch)
	for _, branch := range kept {
		l.tell("", "%s was not replayed: it has uncommitted changes or conflicts", branch)
	}
	return 0, l.place.Follow(onto, clone.Followed{Branch: f.Branch, Tip: now})
}

// firstSaid names what rejected the work, followed by the first line of its output; "" if there was no output.
func firstSaid(by, output string) string {
	line := lineOf(strings.SplitSeq(output, "\n"))
	if line == "" {
		return ""
	}
	return by + ": " + line
}
