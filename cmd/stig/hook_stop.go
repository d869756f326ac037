package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/host"
	"stig/notes"
	"stig/signals"
)

// stop reminds of claimed work without a checkpoint of today, once a session.
// That it did is kept in git's own directory: where there is none, and where
// nobody says which session it is, it does not remind.
func (a *core) stop(ctx context.Context, h host.Host, e host.Event) []byte {
	if e.Again || e.Session == "" {
		return nil
	}
	file, _, claims, err := a.claims(ctx)
	if err != nil {
		return nil
	}
	defer file.Close()
	now, err := a.clock()
	if err != nil {
		return nil
	}
	var forgotten []string
	for _, i := range claims {
		if last, ok := a.lastCheckpoint(file.At(i)); ok && last < signals.Day(now) {
			forgotten = append(forgotten, file.At(i).ID)
		}
	}
	if len(forgotten) == 0 || !a.firstTime(ctx, e.Session, now) {
		return nil
	}
	return h.GoOn(visible(reminder(forgotten)))
}

func reminder(ids []string) string {
	have := "has"
	if len(ids) > 1 {
		have = "have"
	}
	return fmt.Sprintf("%s: claimed, and %s no checkpoint of today\n", strings.Join(ids, ", "), have) +
		fmt.Sprintf("hint: type stig checkpoint %s --surprise … --progress … --done … --learned … --remains … --downstream …, "+
			"or stig release %s if you did not work on it; then stop", ids[0], ids[0])
}

// lastCheckpoint is the latest date of the state estimate and the signals of
// an issue; "" when it has neither, or a draft alone.
func (a *core) lastCheckpoint(issue *beads.Issue) (date string, ok bool) {
	record, err := issue.Record()
	if err != nil {
		return "", false
	}
	doc := notes.Parse(record.Text(beads.Notes))
	estimate, _ := signals.LastEstimate(doc)
	if strings.Contains(estimate.Body, draftMark) {
		return "", true
	}
	date = estimate.Date
	table := signals.Read(doc, a.schema)
	for _, s := range table.Signals() {
		date = max(date, table.Updated(s))
	}
	return date, true
}

// markAge is how long it is kept that a session was reminded.
const markAge = 14 * 24 * time.Hour

// firstTime reports whether a session has not been reminded yet, and keeps that
// it is now. Of two that ask at once one is the first.
func (a *core) firstTime(ctx context.Context, session string, now time.Time) bool {
	place, err := a.gitIn(cmp.Or(a.dir, ".")).Place(ctx)
	if err != nil || place.Own == "" {
		return false
	}
	dir := filepath.Join(place.Own, "sessions")
	if os.MkdirAll(dir, 0o755) != nil {
		return false
	}
	forget(dir, now.Add(-markAge))
	mark, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(session)))[:32]), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return false
	}
	return mark.Close() == nil
}

// forget removes the marks of sessions that are long over. One that cannot be
// removed is in nobody's way.
func forget(dir string, before time.Time) {
	marks, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, mark := range marks {
		if info, err := mark.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, mark.Name()))
		}
	}
}

// draftMark tells a draft from what a worker wrote.
const draftMark = "This is a draft that a hook left before the context of a session was compacted"

// draftWait is how long a draft waits for the lock of the store: a session must
// not wait for others.
const draftWait = 10 * time.Millisecond

// preCompact leaves a draft of the state estimate on claimed issues that have
// none, before what the session knows is cut short. It gives up where another
// holds the store, and where bd would have to take the draft up, which takes
// longer than an assistant should wait.
func (a *core) preCompact(ctx context.Context, h host.Host, _ host.Event) []byte {
	file, _, claims, err := a.claims(ctx)
	if err != nil {
		return nil
	}
	defer file.Close()
	if file.Store().Mode != beads.Plain {
		return h.Nothing()
	}
	var without []string
	for _, i := range claims {
		if record, err := file.At(i).Record(); err == nil {
			if _, has := signals.LastEstimate(notes.Parse(record.Text(beads.Notes))); !has {
				without = append(without, file.At(i).ID)
			}
		}
	}
	options, err := a.options(false)
	if len(without) == 0 || err != nil || a.refuseUnfinished(ctx, file.Store()) != nil {
		return h.Nothing()
	}
	options.Wait = draftWait
	update := checkpoint.Update{Estimate: a.draft(ctx), Evidence: a.config.Signals.Evidence}
	for _, id := range without {
		// Giving up is no failure: a draft is better than nothing, and no more.
		_, _ = checkpoint.Sketch(ctx, file.Store(), options, id, update, checkpoint.Rules{Schema: a.schema, Now: options.Now})
	}
	return h.Nothing()
}

// draft says what can be told of work from outside.
func (a *core) draft(ctx context.Context) signals.Estimate {
	e := signals.Estimate{
		Done:    "not recorded. " + draftMark,
		Remains: "not recorded. Hold the tree against the acceptance criteria, and replace this draft with a checkpoint",
	}
	git := a.gitIn(cmp.Or(a.dir, "."))
	result, err := git.Run(ctx, "status", "--short", "--branch", "--no-ahead-behind", "--untracked-files=normal")
	if err != nil || result.Exit != 0 {
		return e
	}
	lines := strings.Split(strings.TrimSpace(visible(string(result.Stdout))), "\n")
	branch, files := strings.TrimPrefix(lines[0], "## "), lines[1:]
	for i, file := range files {
		files[i] = strings.TrimSpace(file)
	}
	const shown = 10
	if len(files) > shown {
		files = append(files[:shown], fmt.Sprintf("and %d more", len(files)-shown))
	}
	if len(files) == 0 {
		files = []string{"none"}
	}
	e.Done += fmt.Sprintf(". Branch: %s. Changed since its last commit: %s", branch, strings.Join(files, ", "))
	return e
}
