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

// Batch is the input of RunAll.
type Batch struct {
	Jobs     []Job // their Out and Terminal are ignored
	Parallel int   // how many run at once, at least 1

	Out      io.Writer // receives the result of each job; nil discards it
	Terminal bool      // Out is a terminal: it also gets a status line
	Now      func() time.Time
}

// RunAll runs jobs of one tree concurrently and returns their verdicts in order. Jobs with the
// same criteria run once, unless these name the issue's variable. The output goes to their
// logs; for a failed check its end is shown.
//
// Errors are those of Run; after the first no further job starts.
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

// sameCriteria are the indices of jobs, grouped by equal criteria.
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

// of returns the same verdict for another issue with the same criteria.
func (v *Verdict) of(issue string) *Verdict {
	other := *v
	other.issue = issue
	return &other
}

// board shows the progress of a batch.
type board struct {
	screen
	total int
	began time.Time
	now   func() time.Time

	mu      sync.Mutex
	ended   int
	running []string
}

// run runs a job, and shows it as running.
func (b *board) run(ctx context.Context, j Job) (*Verdict, error) {
	b.mu.Lock()
	b.running = append(b.running, j.Issue)
	b.mu.Unlock()
	j.Out, j.Terminal = nil, false
	return Run(ctx, j)
}

// text is the status line.
func (b *board) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%v: %d of %d issues; running %s", b.now().Sub(b.began).Round(time.Second), b.ended, b.total, strings.Join(b.running, ", "))
}

// done reports the result of a job.
func (b *board) done(v *Verdict) error {
	b.mu.Lock()
	b.ended++
	b.running = slices.DeleteFunc(b.running, func(id string) bool { return id == v.issue })
	b.mu.Unlock()
	_, err := io.WriteString(b, v.lines())
	return err
}

// lines formats a verdict for a log: one line if it passed, else also the end of the output of
// each failed check.
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
