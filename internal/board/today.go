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

// today is the first page: what waits for a person, what needs attention, what everybody
// does, and what was closed.
func today(v *view) (page, error) {
	p := page{Title: "Today", Section: "Today", Every: recheck}
	v.ahead(
		func(v *view) { _, _ = v.asked() }, // errors come again below
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

// attention is what needs attention: the first of each rule; the survey may leave some out.
type attention struct {
	List        []orient.Attention
	Total, More int
}

// attentionOf leaves out the questions, which stand above in full.
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

// How much of each list Today shows.
const (
	mostAttention = 40
	mostDoing     = 50
	mostClosings  = 50
)

// asked are the questions of the store, answered or not.
func (v *view) asked() (*service.Escalations, error) {
	return kept(v, "asked", longer, func(v *view) (*service.Escalations, error) { return service.ListEscalations(v.Run, true) })
}

// survey is that of the whole store.
func (v *view) survey() (*service.Orientation, error) {
	return kept(v, "survey", shortly, func(v *view) (*service.Orientation, error) {
		return service.Orient(v.ctx, v.Run, service.OrientRequest{})
	})
}

// morning is what loops did since somebody read that on a terminal.
func (v *view) morning() (*night.Morning, error) {
	return kept(v, "morning", shortly, func(v *view) (*night.Morning, error) {
		return night.ReadMorning(v.ctx, v.Run, "")
	})
}

// mostQuestions is how many questions a page shows.
const mostQuestions = 20

// questions are those of a page.
type questions struct {
	List        []question
	Total, More int // More are not in List
}

// question is a question with what a person wants to see beside it.
type question struct {
	orient.Asked
	Diff string // of the work on it, "" where there is none
	Gate string // what its checks printed last
	Mine bool   // who looks asked it
}

// questions are the first of those that wait, the oldest first.
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

// mostDiff is how much of a diff is read, in bytes.
const mostDiff = 128 << 10

// work is what was done for issues; what cannot be seen is left out.
func (v *view) work(issues ...string) map[string]Work {
	if len(issues) == 0 {
		return nil
	}
	done, _ := looked(v, workOf+strings.Join(issues, " "), 2*shortly, false, func(v *view) (map[string]Work, error) {
		return WorkOn(v.ctx, v.Run, issues, mostDiff)
	})
	return done.Value
}

// workOf is what the names of such searches begin with.
const workOf = "work "

// gateText is what checks printed, as text.
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

// doing is an actor with the last words of its log.
type doing struct {
	*actors.Actor
	Words []string
}

// lastWords is how many lines of a log are shown, and how much of it is read.
const (
	lastWords = 4
	readWords = 64 << 10
)

// everyone is who works here: those who have an issue in hand first.
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

// words are the last lines of the run that an actor has in hand.
func (v *view) words(name string) []string {
	runs, err := actors.Runs(v.Run, actors.RunsRequest{Name: name, Since: "1d"})
	if err != nil || len(runs) == 0 {
		return nil
	}
	return tail(runs[len(runs)-1].Log)
}

// tail gives the last lines of a file; none of one that cannot be read.
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
	n, _ := f.ReadAt(text, info.Size()-int64(len(text))) // of a log that was cut meanwhile there is less
	if text = text[:n]; int64(n) < info.Size() {         // the first line is torn
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

// closing is an issue that was closed, with its proof.
type closing struct {
	ID, Title, Reason, By string
	At                    time.Time
}

// recent is how far back closed issues are shown.
const recent = 24 * time.Hour

// closings are the issues that were closed within a day, the last first.
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

// closedAs names to a memo what closedAt found.
type closedAs struct{}

// closedAt is when an issue was closed; the zero time where its line does not say.
func closedAt(reader *beads.Reader, is *beads.Issue) (time.Time, error) {
	if known, ok := is.Remembered(closedAs{}).(time.Time); ok {
		return known, nil
	}
	record, err := reader.Record(is)
	if err != nil {
		return time.Time{}, err
	}
	at, _ := time.Parse(time.RFC3339Nano, record.Text(beads.ClosedAt)) // zero for none
	is.Remember(closedAs{}, at)
	return at, nil
}
