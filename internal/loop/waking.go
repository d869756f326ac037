package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/service/traces"
	"stig/internal/visible"
)

// Runs without an issue: what waits for the actor in its inbox, and its heartbeat. They have
// no claim, work in a tree of their own that is removed at the end, and leave traces only.

// mostWakings is how often within Window a loop is started for one thread: two workers that
// answer each other would never end.
const mostWakings = 3

// withoutIssue runs the command where no issue can be taken: for what waits in the inbox, else
// for the heartbeat. next is when it is due where it is not yet; zero for never.
func (l *loop) withoutIssue(ctx context.Context) (ran bool, next time.Time, err error) {
	if l.filter.issue != "" {
		return false, next, nil
	}
	r, next, err := l.wake(ctx)
	if err == nil && r == nil && !l.Once && !l.UntilEmpty {
		var due time.Time
		if r, due, err = l.beat(); next.IsZero() || !due.IsZero() && due.Before(next) {
			next = due
		}
	}
	if err != nil || r == nil {
		return false, next, err
	}
	return true, next, l.perform(ctx, r)
}

// begun is the record of a run without an issue, which begins it.
func (l *loop) begun(task string, items ...clone.Waking) (*Run, error) {
	self, _ := process.Self()
	r := &Run{state: runClaimed, Run: clone.Run{ID: clone.NewRunID(), Actor: l.name, Task: task, Attempt: 1, Loop: self.ID, Step: stepClaimed, Started: l.now(), Items: items}}
	return r, l.record(&r.Run)
}

// beat begins a heartbeat when it is due: Every after the last one began, which is a second at
// least; the zero time where there is none.
func (l *loop) beat() (r *Run, due time.Time, err error) {
	if l.profile.Every <= 0 || l.profile.Section(clone.Heartbeat) == "" {
		return nil, due, nil
	}
	runs, now, err := l.runs()
	if err != nil {
		return nil, due, err
	}
	for _, r := range runs {
		if r.Actor == l.name && r.Task == taskHeartbeat && !r.Started.After(now) { // else the clock was set back
			due = r.Started.Add(l.profile.Every)
		}
	}
	if now.Before(due) {
		return nil, due, nil
	}
	r, err = l.begun(taskHeartbeat)
	return r, due, err
}

// wake begins a run for what waits in the inbox, all of it at once. next is when an item that
// has to wait wakes the loop.
func (l *loop) wake(ctx context.Context) (r *Run, next time.Time, err error) {
	if l.inbox.err != nil || len(l.inbox.items) == 0 {
		return nil, next, l.inbox.err
	}
	unlock, err := l.place.Lock(ctx, "waking") // of two loops of one role one answers
	if err != nil {
		return nil, next, err
	}
	defer func() { _ = unlock() }()
	l.readInbox(ctx)
	items, err := l.inbox.items, l.inbox.err
	if err != nil {
		return nil, next, err
	}
	runs, now, err := l.runs()
	if err != nil {
		return nil, next, err
	}
	if oldest := now.Add(-Window); slices.ContainsFunc(items, func(i traces.Item) bool { return i.At.Before(oldest) }) {
		if runs, _, err = l.place.Runs(time.Time{}); err != nil {
			return nil, next, err
		}
	}
	before, woken := wakingsOf(runs, l.name, now), []clone.Waking{}
	for _, item := range items {
		switch until, ok := before.mayWake(item); {
		case !ok:
		case until.After(now):
			if next.IsZero() || until.Before(next) {
				next = until
			}
		default:
			woken = append(woken, clone.Waking{Item: item.ID, Thread: threadOf(item)})
		}
	}
	if len(woken) == 0 {
		return nil, next, nil
	}
	r, err = l.begun(taskInbox, woken...)
	return r, next, err
}

// inbox is what was not acknowledged and asks something of the actor, as it was last read.
type inbox struct {
	items []traces.Item
	err   error
}

// readInbox reads the inbox.
func (l *loop) readInbox(ctx context.Context) {
	file, err := l.store.Snapshot()
	if err != nil {
		l.inbox = inbox{err: err}
		return
	}
	defer file.Close()
	l.inboxIn(ctx, file, dag.New(file))
}

// inboxIn reads the inbox in a store that is read already. The loop itself acts on answers to what
// it asked about its place.
func (l *loop) inboxIn(ctx context.Context, file *beads.Snapshot, graph *dag.Graph) {
	in, err := traces.InboxIn(ctx, l.fresh(ctx, ""), file, graph, traces.InboxRequest{Actor: l.name, Roles: l.roles})
	if err != nil {
		l.inbox = inbox{err: err}
		return
	}
	place, _, err := l.placeQuestions()
	items := slices.DeleteFunc(in.Items, func(i traces.Item) bool { return !i.Wakes() || i.Why == traces.WhyAnswer && i.Issue == place })
	l.inbox = inbox{items, err}
}

// wakings are what runs of an actor were started for.
type wakings struct {
	done    map[string]bool      // items for which a run came to its end
	again   map[string]time.Time // after which time those wake once more whose run did not
	broken  map[string]int       // how many did not
	threads map[string]int       // runs within Window that were started for a thread
	others  map[string]bool      // items for which somebody else runs
	ran     map[string]time.Time // when the actor last ran on an issue
}

func wakingsOf(runs []clone.Run, name string, now time.Time) wakings {
	w := wakings{map[string]bool{}, map[string]time.Time{}, map[string]int{}, map[string]int{}, map[string]bool{}, map[string]time.Time{}}
	for _, r := range runs {
		if r.Actor != name {
			for _, item := range r.Items {
				w.others[item.Item] = w.others[item.Item] || r.Outcome == ""
			}
			continue
		}
		if r.Issue != "" {
			w.ran[r.Issue] = r.Started
		}
		counted := map[string]bool{}
		for _, item := range r.Items {
			if clone.Outcome(r.Outcome).IsRepeated() {
				w.broken[item.Item]++
				w.again[item.Item] = r.Ended.Add(BackOff(w.broken[item.Item]))
			} else {
				w.done[item.Item] = true
			}
			if !counted[item.Thread] && now.Sub(r.Started).Abs() <= Window {
				w.threads[item.Thread]++
				counted[item.Thread] = true
			}
		}
	}
	return w
}

// mayWake reports whether an item may wake the loop, and after which time: once, unless that
// run did not come to its end. What was said on an issue before a run of it stood in that run's
// prompt, and an answer to what was asked on such an issue has the issue taken up again.
func (w wakings) mayWake(item traces.Item) (until time.Time, ok bool) {
	last, ran := w.ran[item.Issue]
	isAnswer := item.Why == traces.WhyAnswer && item.Thread == ""
	if w.done[item.ID] || item.ByRole && w.others[item.ID] || ran && (isAnswer || item.At.Before(last.Truncate(time.Second))) {
		return until, false
	}
	return w.again[item.ID], w.threads[threadOf(item)] < mostWakings
}

// threadOf names what an item is part of; an answer to a question is a thread of its own.
func threadOf(i traces.Item) string { return cmp.Or(i.Thread, i.ID) }

// findDetached gives a run without an issue its tree: what is at the tip of the branch that
// results go to. Nothing of it is kept.
func (l *loop) findDetached(ctx context.Context, r *Run) (err error) {
	r.Worktree, r.remove, err = git.DetachedTree(ctx, *l.trees, "no issue, "+l.name, "refs/heads/"+l.trees.Onto)
	if err != nil {
		return err
	}
	if at, err := git.CheckoutOf(r.Worktree); err == nil {
		_, r.Base = at.Head()
	}
	return l.setUp(ctx, r, r.Worktree)
}

// removeDetached removes the tree of a run without an issue, and names what was changed in it.
func (l *loop) removeDetached(ctx context.Context, r *Run) {
	if r.remove == nil {
		return
	}
	there := l.app.GitIn(r.Worktree)
	there.Trusted = true // workers run in it
	if _, paths, err := there.Content(ctx, r.Base, nil); err == nil && len(paths) > 0 {
		shown := paths[:min(len(paths), mostChanged)]
		l.tell("", "run %s: %s changed without an issue, which keeps traces only: %s", r.ID, visible.Counted(len(paths), "file"), visible.OneLine(strings.Join(shown, ", ")))
	}
	if err := r.remove(ctx); err != nil {
		l.tell("", "run %s: its work tree stays: %v", r.ID, err)
	}
	r.remove = nil
}

const (
	mostWaiting = 10  // items that a prompt names
	waitingText = 400 // characters of each
)

// waitingFor is what waits for the actor, as every prompt has it; "" for nothing. What cannot
// be read is named there.
func (l *loop) waitingFor() string {
	items, err := l.inbox.items, l.inbox.err
	var text strings.Builder
	if err != nil {
		fmt.Fprintf(&text, "The inbox cannot be read: %s\n", visible.OneLine(err.Error()))
	}
	for _, item := range items[:min(len(items), mostWaiting)] {
		fmt.Fprintf(&text, "- %s on %s, %s of %s: %s\n  `%s`\n", item.ID, visible.OneLine(item.Issue), cmp.Or(item.Type, item.Why), visible.OneLine(cmp.Or(item.By, "somebody")),
			visible.Clipped(item.Text, waitingText), item.Command)
	}
	if text.Len() == 0 {
		return ""
	}
	if more := len(items) - mostWaiting; more > 0 {
		fmt.Fprintf(&text, "- %d more: `stig inbox`\n", more)
	}
	return "\n## Waiting for you\n\nAnswer each with its command, or type stig inbox --ack and its name when it is dealt with.\n\n" + text.String()
}
