package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/visible"
)

// Batch is what RunAll is to run.
type Batch struct {
	Jobs     []Job // their Out and Terminal do not count
	Parallel int   // how many of them run at once, 1 at least

	Out      io.Writer // gets what became of each job; nil discards it
	Terminal bool      // Out is a terminal: it gets a line with what runs too
	Now      func() time.Time
}

// RunAll runs jobs of one tree beside each other and gives their verdicts in the order
// of the jobs. Of those with the same criteria the first runs for all, unless they name
// the variable that holds the issue. Their output is
// in their logs; of a check that fails the end of it is shown.
//
// Errors are those of Run: after the first no further job is begun.
func RunAll(ctx context.Context, b Batch) ([]*Verdict, error) {
	out := b.Out
	if out == nil {
		out = io.Discard
	}
	board := &board{screen: screen{out: out}, total: len(b.Jobs), began: b.Now(), now: b.Now}
	if b.Terminal {
		defer board.timing(board.text)()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	verdicts, errs := make([]*Verdict, len(b.Jobs)), make([]error, len(b.Jobs))
	var workers sync.WaitGroup
	turns := make(chan struct{}, max(1, b.Parallel))
	for _, same := range sameCriteria(b.Jobs) {
		turns <- struct{}{}
		workers.Go(func() {
			defer func() { <-turns }()
			if errs[same[0]] = context.Cause(ctx); errs[same[0]] != nil {
				return
			}
			for n, i := range same {
				var v *Verdict
				if n == 0 {
					v, errs[i] = board.run(ctx, b.Jobs[i])
				} else {
					v = verdicts[same[0]].of(b.Jobs[i].Issue)
				}
				if errs[i] == nil {
					errs[i] = board.done(v)
				}
				if errs[i] != nil {
					cancel(errs[i])
					return
				}
				verdicts[i] = v
			}
		})
	}
	workers.Wait()
	return verdicts, cmp.Or(context.Cause(ctx), errors.Join(errs...))
}

// sameCriteria are the indices of jobs, those whose criteria ask the same together.
func sameCriteria(jobs []Job) (groups [][]int) {
	at := map[string]int{}
	for i, j := range jobs {
		n, known := at[j.Criteria]
		if !known || strings.Contains(j.Criteria, issueVariable) {
			n = len(groups)
			at[j.Criteria] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], i)
	}
	return groups
}

// of is the same verdict on another issue with the same criteria.
func (v *Verdict) of(issue string) *Verdict {
	other := *v
	other.issue = issue
	return &other
}

// board shows how far a batch is.
type board struct {
	screen
	total int
	began time.Time
	now   func() time.Time

	mu      sync.Mutex
	ended   int
	running []string
}

// run runs a job, which is shown as running meanwhile.
func (b *board) run(ctx context.Context, j Job) (*Verdict, error) {
	b.mu.Lock()
	b.running = append(b.running, j.Issue)
	b.mu.Unlock()
	j.Out, j.Terminal = nil, false
	return Run(ctx, j)
}

// text is the line with what runs.
func (b *board) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%v: %d of %d issues; running %s", b.now().Sub(b.began).Round(time.Second), b.ended, b.total, strings.Join(b.running, ", "))
}

// done says what became of a job.
func (b *board) done(v *Verdict) error {
	b.mu.Lock()
	b.ended++
	b.running = slices.DeleteFunc(b.running, func(id string) bool { return id == v.issue })
	b.mu.Unlock()
	_, err := io.WriteString(b, v.lines())
	return err
}

// lines are a verdict for a log: one line where it passed, else the end of the output of
// each check that did not, too.
func (v *Verdict) lines() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", v.issue, v.Summary())
	for _, o := range v.outcomes {
		if o.Passed() || o.Exit == ExitNotRun {
			continue
		}
		text.WriteString(echo(o.Text) + "\n")
		if at := o.Fault(); at != visible.FirstLine(o.Text) {
			text.WriteString("  fails at " + at + "\n")
		}
		for _, said := range []string{o.Reason, o.Tail} {
			for line := range strings.Lines(said) {
				text.WriteString("  " + visible.Text(strings.TrimSuffix(line, "\n")) + "\n")
			}
		}
	}
	return text.String()
}
