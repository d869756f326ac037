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

// What is wrong with the place in which all loops work is no issue's fault. It is asked on an
// issue of its own, a channel, which is never work.
const (
	loopsLabel = "loops"
	loopsTitle = "Questions of worker loops"
)

// askOfPlace asks a person what is about no issue, once, and gives the answer; nil while there
// is none. Of questions with the same first line one stands at a time, and one with the same
// text is asked once.
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
		return nil, nil // another loop asks just now
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
	if fault.Is(err, fault.Conflict) { // it waits already
		err = nil
	}
	return nil, err
}

// placeQuestions finds the issue on which loops ask about their place, "" for none, and what
// was asked there.
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

// refusedAlike asks what is to be done about work that is refused in the same words on several
// issues: after the first pause, if what came then was refused so too. It reports whether the
// loop is to wait for the answer, or has it.
func (l *loop) refusedAlike(ctx context.Context, a CorrelatedFailures) (waits, answered bool, err error) {
	if a.Rounds == 0 || len(a.Runs) == 0 || a.Runs[0].Refused == "" {
		return false, false, nil
	}
	last := a.Runs[len(a.Runs)-1]
	issues := map[string]bool{}
	var text strings.Builder
	fmt.Fprintf(&text, "Work is refused in the same words on several issues: `%s`\n\nWhere that passes in your checkout, the new work trees lack something: "+
		"a setup in the actor's file brings it, such as npm ci. The loops wait for an answer; any answer has them go on.\n", strings.ReplaceAll(a.Said, "`", "'"))
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

// trialTime bounds how long criteria run to find out whether a place is right for work.
const trialTime = time.Minute

// tryPlace finds out once, before the first run of a loop, whether work can be done in a new
// work tree: the setup of the actor, the hook before commits, a commit, and what of the
// criteria of the issue that comes first passes in the checkout. The error (fault.Found) is of
// the place: a run would be spent for nothing.
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

// placeFault says what fails in a new work tree, and what a person can do.
func (l *loop) placeFault(err error) error {
	if refused, ok := errors.AsType[*git.RejectedError](err); ok {
		return &fault.Error{Code: fault.Found, Reason: "no run is started, since work would fail in any new work tree: " + visible.OneLine(visible.HideSecrets(workspace.Visible(refused.Reason))),
			Hint: fmt.Sprintf("where a new work tree lacks what is in your checkout, give %s a setup in %s, such as setup: npm ci; else repair what fails",
				l.name, workspace.Shortest(clone.ProfilePath(l.files, l.name)))}
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return &fault.Error{Code: fault.Found, Reason: "no run is started, since git cannot keep work here: " + visible.OneLine(workspace.Visible(err.Error())),
		Hint: "see that git commit and git merge work in a new work tree of this repository: git worktree add ../trial", Err: err}
}

// greenThere says which of the criteria of an issue passes in the checkout and not in a new
// work tree of the same commit. Where the checkout holds more than that, and where criteria
// may not run or take longer than trialTime, nothing is said.
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
			return &git.RejectedError{Exit: exit, Reason: fmt.Sprintf("the check %s passes in the checkout, and ends with exit code %d there", visible.FirstLine(check), exit)}
		}
	}
	return nil
}

// beginBranch makes the branch that results go to, and remembers the branch of the person that
// it follows: one that it was made from, or stig/work, whoever made that. A branch that a person
// made moves by landing alone.
func (l *loop) beginBranch(ctx context.Context) error {
	if l.trees == nil {
		return nil
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

// The answers to the question about a branch that was rewritten.
const (
	replayIt  = "replay what is not landed on where it is now"
	stayThere = "stay: follow it again when it has all that is landed"
)

// followBranch brings the branch that results go to up to date with the one that it follows,
// and gives how many questions about that wait.
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

// askOfBranch asks about what conflicts where the branch that results go to is to follow another.
func (l *loop) askOfBranch(ctx context.Context, refused *git.RejectedError, branch, now string) (asked int, err error) {
	onto := l.trees.Onto
	answer, err := l.askOfPlace(ctx, checkpoint.Question{Text: fmt.Sprintf("%s cannot follow %s, since they conflict\n\n%s is at %.12s; the conflict is in %s. Work goes on from %[1]s as it is. "+
		"Merge them by hand: git worktree add ../merge %[1]s, git -C ../merge merge %[2]s, then git worktree remove ../merge.",
		onto, branch, branch, now, strings.Join(refused.Files, ", "))})
	if answer == nil && err == nil {
		asked = 1
	}
	return asked, err
}

// rewritten asks what is to become of work whose branch does not come any more from where the
// work began, and does what the answer says once no loop works.
func (l *loop) rewritten(ctx context.Context, f clone.Followed) (asked int, err error) {
	onto := l.trees.Onto
	answer, err := l.askOfPlace(ctx, checkpoint.Question{Options: []string{replayIt, stayThere}, Text: fmt.Sprintf("%s was rewritten, and %s began at what it was\n\n"+
		"%[1]s does not come from %.12[3]s any more, which %[2]s holds. Work goes on from %[2]s as it is until there is an answer.", f.Branch, onto, f.Tip)})
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
		l.tell("", "%s was not replayed: it has changes that are not committed, or conflicts", branch)
	}
	return 0, l.place.Follow(onto, clone.Followed{Branch: f.Branch, Tip: now})
}

// firstSaid is what refused work, with the first line that it printed; "" where it printed nothing.
func firstSaid(by, output string) string {
	line := lineOf(strings.SplitSeq(output, "\n"))
	if line == "" {
		return ""
	}
	return by + ": " + line
}
