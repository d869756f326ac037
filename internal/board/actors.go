package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/loop/actors"
	"stig/internal/process"
	"stig/internal/service/traces"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// Limits of the actors, and of the inbox items and runs, on a page.
const (
	mostActors = 100
	mostItems  = 100
	mostRuns   = 30
)

// actorRow is an actor with its state in words.
type actorRow struct {
	*actors.Actor
	Title string // of the issue in hand
	Tone  string // a class of .state
	Words string // the state with its reason
	Loop  bool   // it has or had a loop
	Next  string // the action that its state suggests: pause, resume; "" for none
}

// everybody is the page of all actors of the clone.
func everybody(v *view) (page, error) {
	p := page{Title: "Actors", Section: "Actors", Every: recheck}
	listed, err := actors.List(v.Run, actors.ListRequest{All: v.query.Get("all") != ""})
	if err != nil {
		return p, err
	}
	rows, err := v.actorRows(listed.Actors[:min(len(listed.Actors), mostActors)])
	if err != nil {
		return p, err
	}
	p.Parts = []part{v.part("actors", struct {
		List         []actorRow
		More, Hidden int
	}{rows, len(listed.Actors) - len(rows), listed.Hidden})}
	return p, nil
}

// actorRows puts the states of actors into words, those who work first.
func (v *view) actorRows(list []*actors.Actor) ([]actorRow, error) {
	place, err := v.LivePlace()
	if err != nil {
		return nil, err
	}
	all, err := place.Presences()
	if err != nil {
		return nil, err
	}
	presences := map[string]clone.Presence{}
	for _, p := range all {
		presences[p.Name] = p
	}
	file, err := v.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rows []actorRow
	for _, a := range list {
		one := actorRow{Actor: a}
		if at, ok := file.Index(a.Issue); ok {
			one.Title = file.At(at).Title
		}
		v.describe(&one, presences[a.Name])
		rows = append(rows, one)
	}
	slices.SortStableFunc(rows, func(a, b actorRow) int { return cmp.Compare(a.rank(), b.rank()) })
	return rows, nil
}

// Day says in short what an actor did today.
func (a actorRow) Day() string {
	var words []string
	if a.Done > 0 {
		words = append(words, fmt.Sprintf("%d closed today", a.Done))
	}
	if a.Failed > 0 {
		words = append(words, fmt.Sprintf("%d failed today", a.Failed))
	}
	if a.Cost != "" {
		words = append(words, workspace.Visible(a.Cost))
	}
	return strings.Join(words, " · ")
}

// rank sorts loops that work before those that wait, ended ones, and everybody else.
func (a actorRow) rank() int {
	switch {
	case a.Next == "pause" && a.Issue != "":
		return 0
	case a.Loop && a.Next != "":
		return 1
	case a.Loop || len(a.Issues) > 0:
		return 2
	}
	return 3
}

// describe sets the state of an actor: as somebody set it, as its loop shows, or by its last
// sign of life.
func (v *view) describe(a *actorRow, p clone.Presence) {
	runs, known := p.Runs()
	a.Loop = p.Boots > 0
	because := func(words string) string {
		if why := strings.TrimSpace(a.Why); why != "" {
			words += ": " + why
		}
		if a.Until != nil {
			words += ", until " + visible.Moment(*a.Until)
		}
		return words
	}
	by := ""
	if a.By != "" {
		by = " by " + a.By
	}
	switch told := clone.State(a.State); {
	case told == clone.Paused && runs && a.Issue != "":
		a.Tone, a.Words, a.Next = "warn", because("paused"+by+" after this run"), "resume"
	case told == clone.Paused:
		a.Tone, a.Words, a.Next = "warn", because("paused"+by), "resume"
	case told == clone.Draining:
		a.Tone, a.Words, a.Next = "warn", because("ends after this run"+by), "resume"
	case told == clone.Dead:
		a.Tone, a.Words, a.Next = "bad", because("stopped"+by), "resume"
	case told == clone.Maintenance:
		a.Tone, a.Words, a.Next = "warn", because("in maintenance"+by), "resume"
	case runs && a.Issue != "":
		a.Tone, a.Words, a.Next = "work", "working", "pause"
	case runs:
		a.Tone, a.Words, a.Next = "good", "waits for an issue", "pause"
	case p.Process != (process.ID{}) && known:
		a.Tone, a.Words = "bad", "killed: its process is gone; the next stig work continues its issue"
	case p.Process != (process.ID{}):
		a.Tone, a.Words = "idle", "runs or ran on another machine"
	case a.Loop && !p.Ended.IsZero():
		a.Tone, a.Words = "idle", v.ended(p)
	case a.Seen != nil:
		a.Tone, a.Words = "idle", "last command "+v.Ago(*a.Seen)
	default:
		a.Tone, a.Words = "idle", "no command in this clone yet"
	}
	if a.State == "error" && a.Next != "resume" {
		a.Tone, a.Words = "bad", a.Words+"; its last 3 runs failed"
	}
}

// Over reports whether an actor's loop ended, without an error.
func (a actorRow) Over() bool { return a.Tone == "idle" }

// Over returns how many loops ended, without an error.
func (d day) Over() (n int) {
	for _, l := range d.Loops {
		if l.Over() {
			n++
		}
	}
	return n
}

// ended says when and why a loop ended.
func (v *view) ended(p clone.Presence) string {
	words := "ended " + v.Ago(p.Ended)
	if p.EndedWhy != "" {
		words += ": " + p.EndedWhy
	}
	return words
}

// loopRow is a loop on Today.
type loopRow = actorRow

// loops returns the actors with a loop that runs or ended since the viewer last looked.
func (v *view) loops(list []*actors.Actor) (rows []loopRow, err error) {
	all, err := v.actorRows(list)
	for _, a := range all {
		if a.Loop && (a.Next != "" || a.Seen != nil && v.now.Sub(*a.Seen) < 24*time.Hour) && len(rows) < mostRunning {
			rows = append(rows, a)
		}
	}
	return rows, err
}

// actor is the page of one actor: its state, what it does now, its runs and its inbox.
func actor(v *view) (page, error) {
	name := v.path[1]
	p := page{Title: name, Section: "Actors", Every: recheck}
	shown, err := actors.Show(v.Run, name)
	if err != nil {
		return p, err
	}
	rows, err := v.actorRows([]*actors.Actor{shown.Actor})
	if err != nil {
		return p, err
	}
	done, err := v.runRows(name)
	if err != nil {
		return p, err
	}
	items, err := traces.ListInbox(v.ctx, v.Run, traces.InboxRequest{Actor: name})
	if err != nil {
		items = []traces.Item{} // no inbox has that name
	}
	p.Parts = []part{
		v.top("standing", struct {
			actorRow
			Profile *actors.Settings
		}{rows[0], shown.Profile}),
		v.part("live", done), v.part("steer", rows[0]), v.part("runs", done),
		v.side("inbox", struct {
			List        []traces.Item
			Total, More int
		}{items[:min(len(items), mostItems)], len(items), max(0, len(items)-mostItems)}),
	}
	return p, nil
}

// runRow is a run in the table of an actor.
type runRow struct {
	actors.Run
	Title string
	Took  time.Duration
}

// actorRuns is the runs of an actor, newest first, with the last lines of the newest.
type actorRuns struct {
	List  []runRow
	Live  bool // the newest one is running
	Words []string
}

func (v *view) runRows(name string) (done actorRuns, err error) {
	runs, err := actors.Runs(v.Run, actors.RunsRequest{Name: name})
	if err != nil {
		return done, err
	}
	file, err := v.Open()
	if err != nil {
		return done, err
	}
	defer file.Close()
	for _, r := range slices.Backward(runs[max(0, len(runs)-mostRuns):]) {
		one := runRow{Run: r}
		if at, ok := file.Index(r.Issue); ok {
			one.Title = file.At(at).Title
		}
		switch {
		case r.Ended != nil:
			one.Took = r.Ended.Sub(r.Started)
		case r.Running:
			one.Took = v.now.Sub(r.Started)
		}
		done.List = append(done.List, one)
	}
	if len(done.List) > 0 {
		done.Live, done.Words = done.List[0].Running, tail(done.List[0].Log, liveWords)
	}
	return done, nil
}

// Span formats a duration for people; "" for none.
func (v *view) Span(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
