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

// Runs without an issue: for the actor's inbox, and its heartbeat. They have no claim, work in
// a separate tree that is removed at the end, and leave only traces.

// mostWakings is how many times within Window a loop is started for one thread. Without it, two
// workers that answer each other would never end.
const mostWakings = 3

// withoutIssue runs the command if no issue can be taken: for the inbox, otherwise for the
// heartbeat. next is when one of them is due; zero for never.
func (l *loop) withoutIssue(ctx context.Context) (ran bool, next time.Time, err error) {
	if l.filter.issue != "" {
		return false, next, nil
	}
	r, next, err := l.wake(ctx)
	if err == nil && r == nil && !l.Once && !l.UntilEmpty {
		var due time.Time
		if r, due, err = l.heartbeat(); next.IsZero() || !due.IsZero() && due.Before(next) {
			next = due
		}
	}
	if err != nil || r == nil {
		return false, next, err
	}
	return true, next, l.perform(ctx, r)
}

// begun records and returns a new run without an issue.
func (l *loop) begun(task string, items ...clone.Waking) (*Run, error) {
	self, _ := process.Self()
	r := &Run{state: runClaimed, Run: clone.Run{ID: clone.NewRunID(), Actor: l.name, Task: task, Attempt: 1, Loop: self.ID, Step: stepClaimed, Started: l.now(), Items: items}}
	return r, l.record(&r.Run)
}

// heartbeat begins a heartbeat if it is due: Every after the start of the last one. due is zero
// if the actor has no heartbeat.
func (l *loop) heartbeat() (r *Run, due time.Time, err error) {
	if l.profile.Every <= 0 || l.profile.Section(clone.Heartbeat) == "" {
		return nil, due, nil
	}
	runs, now, err := l.runs()
	if err != nil {
		return nil, due, err
	}
	for _, r := range runs {
		if r.Actor == l.name && r.Task == taskHeartbeat && !r.Started.After(now) { // otherwise the clock was set back
			due = r.Started.Add(l.profile.Every)
		}
	}
	if now.Before(due) {
		return nil, due, nil
	}
	r, err = l.begun(taskHeartbeat)
	return r, due, err
}

// wake begins one run for all items in the inbox that may wake the loop. next is when the first
// waiting item may; zero for none.
func (l *loop) wake(ctx context.Context) (r *Run, next time.Time, err error) {
	if l.inbox.err != nil || len(l.inbox.items) == 0 {
		return nil, next, l.inbox.err
	}
	unlock, err := l.place.Lock(ctx, "waking") // so that only one of two loops with the same role answers
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

// inbox is the unacknowledged items that ask something of the actor, as last read.
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

// inboxIn reads the inbox from a store already read. It leaves out answers about the loop's
// place, which the loop handles itself.
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

// wakings are what an actor's runs were started for.
type wakings struct {
	done    map[string]bool      // items whose run completed
	again   map[string]time.Time // when items whose run did not complete may wake again
	broken  map[string]int       // number of runs that did not complete
	threads map[string]int       // number of runs within Window by thread
	others  map[string]bool      // items that others are running for
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

// mayWake reports whether an item may wake the loop, and after what time. It may do so once,
// unless that run did not complete. What was said on an issue before a run on it was in that
// run's prompt. An answer on such an issue makes the loop take the issue again instead.
func (w wakings) mayWake(item traces.Item) (until time.Time, ok bool) {
	last, ran := w.ran[item.Issue]
	isAnswer := item.Why == traces.WhyAnswer && item.Thread == ""
	if w.done[item.ID] || item.ByRole && w.others[item.ID] || ran && (isAnswer || item.At.Before(last.Truncate(time.Second))) {
		return until, false
	}
	return w.again[item.ID], w.threads[threadOf(item)] < mostWakings
}

// threadOf returns the thread of an item. An answer to a question is its own thread.
func threadOf(i traces.Item) string { return cmp.Or(i.Thread, i.ID) }

// findDetached creates the tree of a run without an issue at the tip of the branch for results.
// None of it is kept.
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

// removeDetached removes the tree of a run without an issue and reports changed files.
func (l *loop) removeDetached(ctx context.Context, r *Run) {
	if r.remove == nil {
		return
	}
	there := l.app.GitIn(r.Worktree)
	there.Trusted = true // workers run in it
	if _, paths, err := there.Content(ctx, r.Base, nil); err == nil && len(paths) > 0 {
		shown := paths[:min(len(paths), mostChanged)]
		l.tell("", "run %s: %s changed, but a run without an issue keeps only traces: %s", r.ID, visible.Counted(len(paths), "file"), visible.OneLine(strings.Join(shown, ", ")))
	}
	if err := r.remove(ctx); err != nil {
		l.tell("", "run %s: its work tree was not removed: %v", r.ID, err)
	}
	r.remove = nil
}

const (
	mostWaiting = 10  // maximum number of items in a prompt
	waitingText = 400 // characters of each
)

// waitingFor returns the inbox for a prompt; "" if it is empty. An error reading it is shown
// there.
func (l *loop) waitingFor() string {
	items, err := l.inbox.items, l.inbox.err
	var text strings.Builder
	if err != nil {
		fmt.Fprintf(&text, "Error reading the inbox: %s\n", visible.OneLine(err.Error()))
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
	return "\n## Waiting for you\n\nAnswer each with its command, or type stig inbox --ack and its name once it is handled.\n\n" + text.String()
}
