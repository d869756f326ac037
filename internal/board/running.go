package board

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"stig/internal/assistant"
	"stig/internal/clone"
	"stig/internal/loop/actors"
)

// running is an issue that somebody works on.
type running struct {
	ID, Title, Actor string
	Live             bool      // a loop runs a program for it
	Since            time.Time // the run began, or the last sign of life of who claimed it
	Said             time.Time // the last output of the run, or when it began
	Words            []string  // the last lines of the run
	Cost             string    // of the earlier runs on it
}

// quiet is after how long without output a run is shown first.
const quiet = 10 * time.Minute

// Quiet returns how long a run has printed nothing; 0 if that is not worth a warning.
func (v *view) Quiet(r running) time.Duration {
	if d := v.now.Sub(r.Said); r.Live && d >= quiet {
		return d
	}
	return 0
}

// rank sorts quiet runs before other runs, and those before claims without a run.
func (v *view) rank(r running) int {
	switch {
	case v.Quiet(r) > 0:
		return 0
	case r.Live:
		return 1
	}
	return 2
}

// readRunning reads the issues in progress, quiet runs first, then other runs, and the state of
// the loops.
func (v *view) readRunning(d *day) error {
	all, err := v.standings()
	if err != nil {
		return err
	}
	listed, err := actors.List(v.Run, actors.ListRequest{All: true})
	if err != nil {
		return err
	}
	runs, err := v.liveRuns()
	if err != nil {
		return err
	}
	did, err := v.workOf()
	if err != nil {
		return err
	}
	seen := map[string]time.Time{}
	for _, a := range listed.Actors {
		if a.Seen != nil {
			seen[a.Name] = *a.Seen
		}
	}
	file, err := v.Open()
	if err != nil {
		return err
	}
	defer file.Close()
	for i, issue := range file.All() {
		if at, ok := file.Index(issue.ID); !ok || at != i || all.Of[issue.ID].Column != columnRunning {
			continue
		}
		one := running{ID: issue.ID, Title: issue.Title, Actor: issue.Assignee, Since: seen[issue.Assignee], Cost: costText(did[issue.ID].spent)}
		if r, live := runs[issue.ID]; live {
			one.Live, one.Actor, one.Since, one.Said, one.Words = true, r.Actor, r.Started, r.Started, tail(r.Log, lastWords)
			if log, err := os.Stat(r.Log); err == nil && log.ModTime().After(r.Started) {
				one.Said = log.ModTime()
			}
			d.Working++
		}
		d.Running = append(d.Running, one)
	}
	slices.SortStableFunc(d.Running, func(a, b running) int {
		return cmp.Or(v.rank(a)-v.rank(b), b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
	})
	d.Claimed = len(d.Running) - d.Working
	d.MoreRunning = max(0, len(d.Running)-mostRunning)
	d.Running = d.Running[:len(d.Running)-d.MoreRunning]
	d.Loops, err = v.loops(listed.Actors)
	return err
}

// liveRuns returns the runs of programs that run now, by issue.
func (v *view) liveRuns() (map[string]clone.Run, error) {
	place, err := v.LivePlace()
	if err != nil {
		return nil, err
	}
	runs, _, err := place.Runs(v.now.Add(-longestRun)) // stig doctor reports damaged lines
	live := map[string]clone.Run{}
	for _, r := range runs {
		if r.Ended.IsZero() && r.IsRunning() {
			live[r.Issue] = r
		}
	}
	return live, err
}

// longestRun is how far back live runs are searched.
const longestRun = 48 * time.Hour

// Limits of a log on a page: lines on Today, lines on the page of an actor, bytes read for them.
const (
	lastWords = 2
	liveWords = 40
	readWords = 64 << 10
)

// tail returns the last lines of a log, as people read them; nil if it cannot be read.
func tail(path string, most int) []string {
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
	if strings.TrimSpace(readable) == "" {
		return nil
	}
	lines := strings.Split(strings.TrimRight(readable, "\n"), "\n")
	lines = lines[max(0, len(lines)-most):]
	for i, line := range lines {
		lines[i] = short(line, 240)
	}
	return lines
}
