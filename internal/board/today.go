package board

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/loop/actors"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/orient"
)

// today is the first page: open questions, what needs attention, what everybody does, and what
// was closed.
func today(v *view) (page, error) {
	p := page{Title: "Today", Section: "Today", Every: recheck}
	v.ahead(
		func(v *view) { _, _ = v.asked() }, // errors are handled below
		func(v *view) { _, _ = v.survey() },
		func(v *view) { _, _ = kept(v, "closings", longer, (*view).closings) },
		func(v *view) { _, _ = v.morning() },
	)
	asked, err := v.asked()
	if err != nil {
		return p, err
	}
	found, err := v.survey()
	if err != nil {
		return p, err
	}
	listed, err := actors.List(v.Run, actors.ListRequest{})
	if err != nil {
		return p, err
	}
	closed, err := kept(v, "closings", longer, (*view).closings)
	if err != nil {
		return p, err
	}
	night, err := v.morning()
	if err != nil {
		return p, err
	}
	p.Parts = []part{
		v.part("night", night),
		v.part("counts", found.Survey.Counts),
		v.part("questions", v.questions(asked.Pending)),
		v.part("attention", attentionOf(found.Survey)),
		v.part("doing", v.doing(listed.Actors)),
		v.part("closings", struct {
			List        []closing
			Total, More int
		}{closed[:min(len(closed), mostClosings)], len(closed), max(0, len(closed)-mostClosings)}),
	}
	return p, nil
}

// attention is the first findings that need attention, of all that the survey counts.
type attention struct {
	List        []orient.Attention
	Total, More int
}

// attentionOf leaves out questions, which the page shows in full.
func attentionOf(s *orient.Survey) (shown attention) {
	const asked = "escalation-pending"
	for _, r := range s.Rules {
		if r.Rule != asked {
			shown.Total += r.Count
		}
	}
	for _, a := range s.Attention {
		if a.Rule != asked && len(shown.List) < mostAttention {
			shown.List = append(shown.List, a)
		}
	}
	shown.More = shown.Total - len(shown.List)
	return shown
}

// Limits of the lists on Today.
const (
	mostAttention = 40
	mostDoing     = 50
	mostClosings  = 50
)

// asked returns the questions of the store, answered ones included.
func (v *view) asked() (*service.Escalations, error) {
	return kept(v, "asked", longer, func(v *view) (*service.Escalations, error) { return service.ListEscalations(v.Run, true) })
}

// survey returns the survey of the whole store.
func (v *view) survey() (*service.Orientation, error) {
	return kept(v, "survey", shortly, func(v *view) (*service.Orientation, error) {
		return service.Orient(v.ctx, v.Run, service.OrientRequest{})
	})
}

// morning returns what loops did since it was last read on a terminal.
func (v *view) morning() (*night.Morning, error) {
	return kept(v, "morning", shortly, func(v *view) (*night.Morning, error) {
		return night.ReadMorning(v.ctx, v.Run, "")
	})
}

// mostQuestions limits the questions on a page.
const mostQuestions = 20

// questions is the data of a list of questions.
type questions struct {
	List        []question
	Total, More int // More counts those not in List
}

// question is a question with what helps to answer it.
type question struct {
	orient.Asked
	Diff string // of the work on the issue; "" if there is none
	Gate string // the last output of the issue's checks
	Mine bool   // the viewer asked it
}

// questions returns the first open questions, oldest first.
func (v *view) questions(list []orient.Asked) questions {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b orient.Asked) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.Since, "9"), cmp.Or(b.Since, "9")), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Number, b.Number))
	})
	shown := questions{Total: len(list), More: max(0, len(list)-mostQuestions)}
	list = list[:min(len(list), mostQuestions)]
	var ids []string
	for _, q := range list {
		ids = append(ids, q.ID)
	}
	works := v.work(ids...)
	for _, q := range list {
		one := question{Asked: q, Mine: q.By != "" && q.By == v.Who}
		done := works[q.ID]
		one.Diff, one.Gate = done.Diff, gateText(done.Gate)
		shown.List = append(shown.List, one)
	}
	return shown
}

// mostDiff limits a diff, in bytes.
const mostDiff = 128 << 10

// work returns the work on issues; nil while it is not known.
func (v *view) work(issues ...string) map[string]Work {
	if len(issues) == 0 {
		return nil
	}
	done, _ := looked(v, workOf+strings.Join(issues, " "), 2*shortly, false, func(v *view) (map[string]Work, error) {
		return WorkOn(v.ctx, v.Run, issues, mostDiff)
	})
	return done.Value
}

// workOf is the name prefix of these searches.
const workOf = "work "

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

// doing is an actor with the last lines of its log.
type doing struct {
	*actors.Actor
	Words []string
}

// lastWords is how many lines of a log are shown, and readWords how many bytes are read for
// them.
const (
	lastWords = 4
	readWords = 64 << 10
)

// everyone is the actors, those with an issue first.
type everyone struct {
	List []doing
	More int
}

func (v *view) doing(list []*actors.Actor) (shown everyone) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *actors.Actor) int { return cmp.Compare(idle(a), idle(b)) })
	shown.More = max(0, len(list)-mostDoing)
	for _, a := range list[:len(list)-shown.More] {
		one := doing{Actor: a}
		if a.Issue != "" {
			one.Words = v.words(a.Name)
		}
		shown.List = append(shown.List, one)
	}
	return shown
}

func idle(a *actors.Actor) int {
	if a.Issue != "" {
		return 0
	}
	return 1
}

// words returns the last log lines of an actor's latest run.
func (v *view) words(name string) []string {
	runs, err := actors.Runs(v.Run, actors.RunsRequest{Name: name, Since: "1d"})
	if err != nil || len(runs) == 0 {
		return nil
	}
	return tail(runs[len(runs)-1].Log)
}

// tail returns the last lines of a file; nil if it cannot be read.
func tail(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	text := make([]byte, min(info.Size(), readWords))
	n, _ := f.ReadAt(text, info.Size()-int64(len(text))) // shorter if the log was truncated meanwhile
	if text = text[:n]; int64(n) < info.Size() {         // the first line may be incomplete
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok && len(rest) > 0 {
			text = rest
		}
	}
	readable := assistant.ReadableText(string(bytes.ToValidUTF8(text, nil)))
	lines := strings.Split(strings.TrimRight(readable, "\n"), "\n")
	lines = lines[max(0, len(lines)-lastWords):]
	for i, line := range lines {
		lines[i] = short(line, 240)
	}
	return lines
}

// closing is a closed issue with its proof.
type closing struct {
	ID, Title, Reason, By string
	At                    time.Time
}

// recent is for how long closed issues are shown.
const recent = 24 * time.Hour

// closings returns the issues closed within recent, newest first.
func (v *view) closings() (list []closing, err error) {
	file, err := v.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	reader := file.Reader()
	for i, is := range file.All() {
		if at, ok := file.Index(is.ID); is.Status != beads.StatusClosed || !ok || at != i {
			continue
		}
		at, err := closedAt(reader, is)
		if err != nil {
			return nil, err
		}
		if v.now.Sub(at) > recent {
			continue
		}
		record, err := reader.Record(is)
		if err != nil {
			return nil, err
		}
		list = append(list, closing{ID: is.ID, Title: is.Title, Reason: record.Text(beads.CloseReason), By: is.Assignee, At: at})
	}
	slices.SortStableFunc(list, func(a, b closing) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return list, nil
}

// closedAs is the key of closedAt's memo.
type closedAs struct{}

// closedAt returns when an issue was closed; the zero time if the store does not say.
func closedAt(reader *beads.Reader, is *beads.Issue) (time.Time, error) {
	if known, ok := is.Remembered(closedAs{}).(time.Time); ok {
		return known, nil
	}
	record, err := reader.Record(is)
	if err != nil {
		return time.Time{}, err
	}
	at, _ := time.Parse(time.RFC3339Nano, record.Text(beads.ClosedAt)) // zero if missing or malformed
	is.Remember(closedAs{}, at)
	return at, nil
}
