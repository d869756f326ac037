package board

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/app"
	"stig/app/actors"
	"stig/beads"
	"stig/orient"
	"stig/verify"
)

// today is the first page: what waits for a person, what needs attention, what everybody
// does, and what was closed.
func today(v *view) (page, error) {
	p := page{Title: "Today", Section: "Today"}
	asked, err := v.Escalations(false)
	if err != nil {
		return p, err
	}
	found, err := v.Orient(v.ctx, app.OrientRequest{})
	if err != nil {
		return p, err
	}
	listed, err := actors.List(v.App, actors.ListRequest{})
	if err != nil {
		return p, err
	}
	closed, err := v.closings()
	if err != nil {
		return p, err
	}
	p.Parts = []part{
		v.part("counts", found.Survey.Counts),
		v.part("questions", v.questions(asked.Pending)),
		v.part("attention", found.Survey.Attention),
		v.part("doing", v.doing(listed.Actors)),
		v.part("closings", closed),
	}
	return p, nil
}

// mostQuestions is how many questions the first page shows in full.
const mostQuestions = 20

// question is a question with what a person wants to see beside it.
type question struct {
	orient.Asked
	Diff string // of the work on it, "" where there is none
	Gate string // what its checks said last
	Late bool   // its default holds by now
	Mine bool   // who looks asked it
}

func (v *view) questions(list []orient.Asked) (shown []question) {
	for _, q := range list[:min(len(list), mostQuestions)] {
		one := question{Asked: q, Mine: q.By != "" && q.By == v.Who, Late: q.Default != nil && q.Default.Overdue}
		one.Diff, one.Gate = v.diff(q.ID), v.gate(q.ID)
		shown = append(shown, one)
	}
	return shown
}

// mostDiff is how much of a diff is shown, in bytes.
const mostDiff = 48 << 10

// diff is what a worker did for an issue on its branch, beyond what is checked out.
func (v *view) diff(issue string) string {
	store, err := v.Discover()
	if err != nil {
		return ""
	}
	git := v.GitIn(filepath.Dir(store.Place().Dir))
	branch := "refs/heads/stig/" + issue
	if result, err := git.Run(v.ctx, "rev-parse", "-q", "--verify", branch); err != nil || result.Exit != 0 {
		return ""
	}
	result, err := git.Run(v.ctx, "diff", "--no-color", "--no-ext-diff", "--no-textconv", "--stat", "--patch", "HEAD..."+branch, "--")
	if err != nil || result.Exit != 0 {
		return ""
	}
	return cut(string(result.Stdout), mostDiff)
}

// cut is the beginning of a text that is long.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "\n… (there is more)\n"
}

// gate is what the checks of an issue said when they ran last in this work tree.
func (v *view) gate(issue string) string {
	verdict, ok := v.Verdict(issue)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, o := range verdict.Outcomes() {
		b.WriteString(outcomeText(o))
	}
	return cut(b.String(), mostDiff)
}

func outcomeText(o verify.Outcome) string {
	state := "passed"
	if !o.Passed() {
		state = fmt.Sprintf("exit %d %s", o.Exit, o.Reason)
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
	readWords = 4 << 10
)

func (v *view) doing(list []*actors.Actor) (shown []doing) {
	for _, a := range list {
		one := doing{Actor: a}
		if a.Issue != "" {
			one.Words = v.words(a.Name)
		}
		shown = append(shown, one)
	}
	slices.SortStableFunc(shown, func(a, b doing) int { return cmp.Compare(idle(a), idle(b)) })
	return shown
}

func idle(d doing) int {
	if d.Issue != "" {
		return 0
	}
	return 1
}

// words are the last lines of the run that an actor has in hand.
func (v *view) words(name string) []string {
	runs, err := actors.Runs(v.App, actors.RunsRequest{Name: name, Since: "1d"})
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
	if _, err := f.ReadAt(text, info.Size()-int64(len(text))); err != nil && !errors.Is(err, fs.ErrClosed) && len(text) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimRight(string(bytes.ToValidUTF8(text, nil)), "\n"), "\n")
	lines = lines[max(0, len(lines)-lastWords):]
	for i, line := range lines {
		lines[i] = app.Visible(cut(line, 240))
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
		if at, ok := file.Index(is.ID); is.Status != "closed" || !ok || at != i {
			continue
		}
		record, err := reader.Record(is)
		if err != nil {
			return nil, err
		}
		at, err := time.Parse(time.RFC3339Nano, record.Text(beads.ClosedAt))
		if err != nil || v.now.Sub(at) > recent {
			continue
		}
		list = append(list, closing{ID: is.ID, Title: is.Title, Reason: record.Text(beads.CloseReason), By: is.Assignee, At: at})
	}
	slices.SortStableFunc(list, func(a, b closing) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), 50)], nil
}
