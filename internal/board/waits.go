package board

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/checkpoint"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/orient"
)

// questions is the data of a list of questions.
type questions struct {
	List        []question
	Total, More int // More counts those not in List
}

// question is a question with what helps to answer it.
type question struct {
	orient.Asked
	Short   string // its beginning, if it is long; "" if it is shown whole
	When    string // when it was asked
	Diff    string // of the work on the issue; "" if there is none
	Gate    string // the last output of the issue's checks
	Mine    bool   // the viewer asked it
	Buttons []button
}

// button is an option of a question.
type button struct {
	Number   int
	Text     string
	Proposed bool // if nobody answers
	Remark   bool // it asks for a remark first
}

// Unproven reports whether the question is about work that no check shows.
func (q question) Unproven() bool { return isUnproven(q.Asked) }

// questions returns the first open questions: those that most issues wait for, then those with
// options, then the newest.
func (v *view) questions(list []orient.Asked) (questions, error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b orient.Asked) int {
		quick := func(q orient.Asked) int { return min(len(q.Options), 1) }
		return cmp.Or(len(b.Waits)-len(a.Waits), quick(b)-quick(a), cmp.Compare(b.Since, a.Since), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Number, b.Number))
	})
	shown := questions{Total: len(list), More: max(0, len(list)-mostQuestions)}
	list = list[:min(len(list), mostQuestions)]
	var ids []string
	for _, q := range list {
		ids = append(ids, q.ID)
	}
	works := v.work(ids...)
	did, err := v.workOf()
	for _, q := range list {
		one := question{Asked: q, Mine: q.By != "" && q.By == v.Who, Short: shortOf(q), When: v.asking(q, did[q.ID]), Buttons: buttonsOf(q)}
		done := works[q.ID]
		one.Diff, one.Gate = done.Diff, gateText(done.Gate)
		shown.List = append(shown.List, one)
	}
	return shown, err
}

// asking says when a question was asked: by the end of the run that asked it, or by its date.
func (v *view) asking(q orient.Asked, did work) string {
	if last := did.last; last.Actor == q.By && last.Ended.UTC().Format(time.DateOnly) == q.Since {
		return v.Ago(last.Ended)
	}
	switch {
	case q.AgeDays == nil:
		return ""
	case *q.AgeDays <= 0:
		return "today"
	case *q.AgeDays == 1:
		return "yesterday"
	}
	return fmt.Sprintf("%d days ago", *q.AgeDays)
}

// Questions are shown whole up to these limits.
const (
	wholeQuestion = 360 // bytes
	wholeLines    = 5
)

// runID matches the name of a run in a text, which means nothing to a person.
var runID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\brun r-[0-9a-f]{10}\b`) })

// shortOf returns the beginning of a question, on one line, if it is long or has names of runs,
// branches or paths; "" for others.
func shortOf(q orient.Asked) string {
	text, _, _ := strings.Cut(strings.TrimSpace(q.Question), "\nIts branch is ") // a loop says where the work is
	if isUnproven(q) {
		if end := strings.Index(text, "? "); end > 0 {
			text = text[:end+1]
		}
	}
	if len(text) <= wholeQuestion && strings.Count(text, "\n") < wholeLines && !runID().MatchString(text) && text == strings.TrimSpace(q.Question) {
		return ""
	}
	first, _, _ := strings.Cut(text, "\n\n")
	return visible.ClippedBytes(visible.OneLine(runID().ReplaceAllString(first, "the run")), wholeQuestion)
}

// isUnproven reports whether a question asks if work is done that no check shows.
func isUnproven(q orient.Asked) bool {
	return len(q.Options) > 1 && (q.Options[0] == checkpoint.TakeIt || q.Options[0] == checkpoint.OnMyWord)
}

// buttonsOf returns the options of a question. That of rejecting work asks for a remark.
func buttonsOf(q orient.Asked) (list []button) {
	for i, text := range q.Options {
		one := button{Number: i + 1, Text: text, Proposed: q.Default != nil && q.Default.Option == i+1}
		switch {
		case isUnproven(q) && i == 0:
			one.Text = "Take it"
		case isUnproven(q) && i == 1:
			one.Text, one.Remark = "Send it back", true
		}
		list = append(list, one)
	}
	return list
}

// failure is an issue at which runs failed.
type failure struct {
	night.Failure
	At     time.Time    // when the last run failed
	Words  []string     // the last lines of that run
	Remark *trace.Entry // the last comment since; nil for none
}

// readFailures reads the failures since the viewer last looked, with what helps to decide what
// comes next.
func (v *view) readFailures(d *day, pending []orient.Asked) error {
	failed, err := kept(v, "failures", 2*time.Second, func(v *view) ([]night.Failure, error) {
		waits := map[string]bool{}
		for _, q := range pending {
			waits[q.ID] = true
		}
		return night.Failures(v.ctx, v.Run, d.Since, waits)
	})
	if err != nil {
		return err
	}
	did, err := v.workOf()
	if err != nil {
		return err
	}
	d.MoreFailed = max(0, len(failed)-mostFailures)
	for _, f := range failed[:len(failed)-d.MoreFailed] {
		one, r := failure{Failure: f}, did[f.ID].failed
		one.Why = strings.TrimPrefix(f.Why, "failed: ") // the card says so
		if one.At, one.Words = r.Ended, tail(r.Log, liveWords); f.ID != "" {
			if one.Remark, err = v.remark(f.ID, r); err != nil {
				return err
			}
		}
		d.Failed = append(d.Failed, one)
	}
	return nil
}

// remark returns the last comment on an issue since a run, without those of its worker.
func (v *view) remark(id string, since clone.Run) (last *trace.Entry, err error) {
	all, err := kept(v, "comments "+id, longer, func(v *view) ([]trace.Entry, error) {
		return traces.List(v.ctx, v.Run, traces.ListRequest{Issue: id, Types: []string{trace.Comment}})
	})
	for _, l := range all {
		if !l.At.Before(since.Ended.Truncate(time.Second)) && l.Source != since.Actor {
			last = &l
		}
	}
	return last, err
}

// landings is the work to land.
type landings struct {
	List  []landing
	Total int
	More  []landing // not shown as cards
}

// landing is the work on an issue that is to land.
type landing struct {
	service.UnlandedIssue
	By, Proof, Cost string
	Diff            string
	Names           string // of its files, the first ones
	At              time.Time
}

// searchLandings is the name of the search for landings.
const searchLandings = "landings"

// landings returns the work to land, which takes git and may come later.
func (v *view) landings() (shown landings, err error) {
	if v.Config.ByReview() {
		return shown, nil
	}
	last, err := looked(v, searchLandings, 2*shortly, false, (*view).findLandings)
	if fault.Is(err, fault.Usage) || fault.Is(err, fault.NoRevision) { // not in a repository, or without a commit
		return shown, nil
	}
	list := last.Value
	shown.Total = len(list)
	shown.List = list[:min(len(list), mostLandings)]
	shown.More = list[len(shown.List):]
	return shown, err
}

func (v *view) findLandings() (list []landing, err error) {
	u, err := night.ToLand(v.ctx, v.Run, "")
	if err != nil {
		return nil, err
	}
	closed, err := v.closings()
	if err != nil {
		return nil, err
	}
	did, err := v.workOf()
	for i, one := range u.Issues {
		l := landing{UnlandedIssue: one, By: did[one.ID].by, Cost: costText(did[one.ID].spent)}
		if at := slices.IndexFunc(closed, func(c closing) bool { return c.ID == one.ID }); at >= 0 {
			l.At, l.Proof, l.By = closed[at].At, closed[at].Proof, cmp.Or(l.By, closed[at].By)
		}
		if i < mostLandings {
			diff, err := u.DiffOf(v.ctx, one)
			if err != nil {
				return nil, err
			}
			l.Diff = visible.ClippedBytes(diff, mostDiff)
			l.Names = namesIn(diff)
		}
		list = append(list, l)
	}
	return list, err
}

// diffOf returns the patch of an issue to land; "" while it is not known.
func (v *view) diffOf(id string) string {
	found, _ := looked(v, searchLandings+" "+id, 2*shortly, false, func(v *view) (string, error) {
		text, err := night.Diff(v.ctx, v.Run, id, "")
		return visible.ClippedBytes(text, mostDiff), err
	})
	return found.Value
}

// only returns the work on one issue.
func (l landings) only(id string) (one landings) {
	for _, each := range slices.Concat(l.List, l.More) {
		if each.ID == id {
			one.List, one.Total = append(one.List, each), 1
		}
	}
	return one
}

// work is what the loops did for an issue.
type work struct {
	by    string // whose run closed it, or ran last
	last  clone.Run
	took  time.Duration
	spent clone.Spent

	failed   clone.Run // the last run that failed
	failures int       // runs that failed since one closed the issue or asked
}

// tally counts the failed runs.
func (w *work) tally(r clone.Run) {
	switch o := clone.Outcome(r.Outcome); {
	case o == clone.OutcomeClosed, o == clone.OutcomeWaiting:
		w.failures = 0
	case o.IsFailure(), o == clone.OutcomeRejected:
		w.failed = r
		w.failures++
	}
	if r.Asked {
		w.failures = 0
	}
}

// Failed says how often runs failed; "" for never.
func (w work) Failed() string {
	switch w.failures {
	case 0:
		return ""
	case 1:
		return "failed once"
	case 2:
		return "failed twice"
	}
	return fmt.Sprintf("failed %d times", w.failures)
}

// costText formats the cost of runs; "" if nothing of it is known.
func costText(s clone.Spent) string {
	if len(s.Amounts) == 0 && s.Tokens == 0 {
		return ""
	}
	return s.String()
}

// workOf returns what the loops did within workSeen, by issue.
func (v *view) workOf() (map[string]work, error) {
	return kept(v, "runs", 2*time.Second, func(v *view) (map[string]work, error) {
		place, err := v.LivePlace()
		if err != nil {
			return nil, err
		}
		runs, _, err := place.Runs(v.now.Add(-workSeen)) // stig doctor reports damaged lines
		all := map[string]work{}
		for _, r := range runs {
			w := all[r.Issue]
			if !r.Ended.IsZero() {
				w.took += r.Ended.Sub(r.Started)
			}
			if w.spent.Add(r); w.by == "" || w.last.Outcome != string(clone.OutcomeClosed) {
				w.by, w.last = r.Actor, r
			}
			w.tally(r)
			all[r.Issue] = w
		}
		return all, err
	})
}

// mostDiff limits a diff, in bytes.
const mostDiff = 128 << 10

// work returns the work on issues; nil while it is not known.
func (v *view) work(issues ...string) map[string]Work {
	if len(issues) == 0 {
		return nil
	}
	done, _ := looked(v, searchWork+strings.Join(issues, " "), 2*shortly, false, func(v *view) (map[string]Work, error) {
		return WorkOn(v.ctx, v.Run, issues, mostDiff)
	})
	return done.Value
}

// searchWork is the name prefix of these searches.
const searchWork = "work "

// gateText formats the output of checks.
func gateText(verdict *gate.Verdict) string {
	if verdict == nil {
		return ""
	}
	var b strings.Builder
	for _, o := range verdict.Outcomes() {
		b.WriteString(outcomeText(o))
	}
	return b.String()
}

func outcomeText(o gate.Outcome) string {
	state := "passed"
	if !o.Passed() {
		state = fmt.Sprintf("exit %d %s", o.Exit, cmp.Or(o.Reason, o.Fault()))
	}
	return "$ " + o.Text + "\n" + o.Tail + "\n" + state + "\n\n"
}
