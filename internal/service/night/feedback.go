package night

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/forge"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

const (
	feedbackBy = "review" // the author of feedback
	mostRounds = 3        // batches of feedback before a person is asked
	mostWords  = 4000     // characters of a remark

	jobsBegin = 2 * time.Minute // without a job after that time, the forge has none
)

// askOfClosed asks what to do about a request that was closed without a merge.
func (s *syncing) askOfClosed(ctx context.Context, one *Requested, r signals.Review) error {
	remarks, err := s.forge.Remarks(ctx, r.Number)
	if err != nil {
		return err
	}
	remarks = slices.DeleteFunc(remarks, func(m forge.Remark) bool {
		if !m.Trusted && !isReply().MatchString(m.Text) {
			one.stranger(m)
		}
		return !m.Trusted
	})
	text := fmt.Sprintf("Its request %s was closed without a merge. What should change?\n", one.URL)
	if above := s.stackedUpon(r.Branch); above != "" {
		text += "\n" + above + "\n"
	}
	if last := len(remarks) - 1; last >= 0 {
		text += "\nThe last remark:\n\n" + said(remarks[last])
	}
	one.Why = "its request was closed without a merge"
	if err := s.ask(ctx, one.ID, checkpoint.Question{Text: text, Unclosed: true}); err != nil {
		return err
	}
	return s.set(ctx, one, DidAsk, func(r signals.Review) (signals.Review, bool) { r.State = signals.ReviewClosed; return r, true }, nil)
}

// ask asks a person, unless the same question waits.
func (s *syncing) ask(ctx context.Context, id string, q checkpoint.Question) error {
	_, err := service.Escalate(ctx, s.as(ctx), service.EscalateRequest{ID: id, Question: q, DryRun: s.dryRun})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return err
}

// as returns a run of the author of feedback.
func (s *syncing) as(ctx context.Context) *workspace.Run {
	a := s.app.Fresh(ctx, s.app.Running)
	a.Actor = feedbackBy
	return a
}

// review gives remarks to the worker, or marks the request ready.
func (s *syncing) review(ctx context.Context, one *Requested, r signals.Review, request forge.Request) error {
	b, err := s.batch(ctx, one, r, request)
	switch {
	case err != nil:
		return err
	case len(b.keys) > 0 && r.Waits() && r.Fed != r.Head:
		return s.feed(ctx, one, r, b)
	case r.State == signals.ReviewDraft && b.waits != "":
		one.Why = b.waits
	case r.State == signals.ReviewDraft && len(b.keys) == 0:
		if !s.dryRun {
			if err := s.forge.MarkReady(ctx, request); err != nil {
				return err
			}
		}
		return s.set(ctx, one, DidMark, func(r signals.Review) (signals.Review, bool) {
			is := r.State == signals.ReviewDraft
			r.State = signals.ReviewOpen
			return r, is
		}, nil)
	}
	return nil
}

// batch is what a worker has to answer.
type batch struct {
	waits   string // what the jobs of the forge lack to be judged; "" for nothing
	keys    []string
	threads []string // keys of threads among them
	text    string   // Markdown
}

func (s *syncing) batch(ctx context.Context, one *Requested, r signals.Review, request forge.Request) (b batch, err error) {
	add := func(key, text string) {
		if key = keyOf(key); !slices.Contains(r.Seen, key) {
			b.keys = append(b.keys, key)
			b.text += text + "\n"
		}
	}
	remarks, err := s.forge.Remarks(ctx, r.Number)
	if err != nil {
		return b, err
	}
	for _, m := range remarks {
		switch {
		case isReply().MatchString(m.Text):
		case !m.Trusted:
			one.stranger(m)
		default:
			before := len(b.keys)
			if add(m.Key, said(m)); len(b.keys) > before && m.Thread != "" {
				b.threads = append(b.threads, keyOf(m.Key))
			}
		}
	}
	head := cmp.Or(request.Head, r.Head) // people may have pushed to the branch
	checks, err := s.forge.Checks(ctx, head)
	if err != nil {
		return b, err
	}
	now, err := s.app.Clock()
	switch {
	case err != nil:
		return b, err
	case checks.Pending:
		b.waits = "its jobs are running"
	case checks.Jobs == 0 && now.Sub(r.SentAt()) < jobsBegin:
		b.waits = "no job has started"
	}
	one.Failed = []string{}
	for _, job := range checks.Failed {
		one.Failed = append(one.Failed, visible.OneLine(job.Name))
		add("job "+job.Name+" "+head, fmt.Sprintf("- The job %s failed: %s\n%s", visible.OneLine(job.Name), visible.OneLine(job.URL), quoted(job.Tail)))
	}
	if r.Upon != "" { // it conflicts with what lands in another form, and is merged without that
		return b, nil
	}
	conflicts, err := git.Conflicts(ctx, s.trees, r.Head, s.tip)
	if len(conflicts) > 0 && request.Head == r.Head {
		add("conflict "+r.Head, fmt.Sprintf("- The request conflicts with %s in %s. The next run starts with %[1]s merged.\n", s.Default, visible.OneLine(strings.Join(conflicts, ", "))))
	}
	return b, err
}

// feed gives a batch to the worker, once: the feedback and its keys are one edit.
func (s *syncing) feed(ctx context.Context, one *Requested, r signals.Review, b batch) error {
	if r.Rounds >= mostRounds {
		one.Why = fmt.Sprintf("reviewers have remarks after %d rounds", mostRounds)
		question := checkpoint.Question{Unclosed: true, Text: fmt.Sprintf("Reviewers of %s have remarks after %d rounds of feedback. What should the worker do?\n\n%s", one.URL, mostRounds, b.text)}
		if err := s.ask(ctx, one.ID, question); err != nil {
			return err
		}
	}
	summary := fmt.Sprintf("request #%d needs changes", r.Number)
	beside, err := s.leaving(ctx, one.ID, summary, b.text)
	if err != nil {
		return err
	}
	did := DidFeed
	if r.Rounds >= mostRounds {
		did, beside = DidAsk, nil
	}
	return s.set(ctx, one, did, func(now signals.Review) (signals.Review, bool) {
		if now.Head != r.Head || now.Fed == now.Head {
			return now, false // given by another process
		}
		now.State, now.Fed, now.Seen, now.Open = signals.ReviewFeedback, now.Head, append(now.Seen, b.keys...), b.threads
		if now.Rounds++; did == DidAsk {
			now.Rounds = 0 // a person answers, and the count begins again
		}
		return now, true
	}, beside)
}

// leaving returns the edit that leaves feedback to whoever did the work.
func (s *syncing) leaving(ctx context.Context, id, summary, text string) (func(*beads.Tx) error, error) {
	place, err := s.app.Live(s.store)
	if err != nil {
		return nil, err
	}
	runs, _, err := place.Runs(time.Time{})
	if err != nil {
		return nil, err
	}
	content := map[string]any{"payload": summary, "to": "@all"}
	for _, r := range runs {
		if r.Issue == id && (!r.IsBesideOthers() || r.Outcome == string(clone.OutcomeInReview)) {
			content["to"], content["run"] = r.Actor, r.ID
		}
	}
	return traces.Leaving(ctx, s.as(ctx), traces.Draft{Issue: id, Type: trace.Feedback, Content: content, Body: strings.TrimSpace(text)})
}

// said returns a remark in Markdown.
func said(m forge.Remark) string {
	at := ""
	if m.Path != "" {
		at = fmt.Sprintf(", %s:%d", visible.OneLine(m.Path), m.Line)
	}
	return fmt.Sprintf("- %s%s:\n%s", visible.OneLine(m.Author), at, quoted(m.Text))
}

// quoted returns foreign text as a block that ends nothing around it.
func quoted(text string) string {
	text = visible.Clipped(visible.HideSecrets(workspace.Visible(strings.TrimSpace(text))), mostWords)
	if text == "" {
		return ""
	}
	return "\n" + visible.Fenced(text)
}
