package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// Watch calls tell with each event that was asked for, until ctx ends, tell fails, or
// the event came that the request waits for.
func Watch(ctx context.Context, a *workspace.Run, r WatchRequest, tell func(Event) error) error {
	file, err := a.Open() // says what of the store is unreadable
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was read only
	if err := r.check(file); err != nil {
		return err
	}
	w, err := open(ctx, a, file, r)
	if err != nil {
		return err
	}
	defer w.close()
	changes, stop := w.store.Watch()
	defer stop()
	if r.Begun != nil {
		if err := r.Begun(); err != nil {
			return err
		}
	}
	for {
		done, later, err := w.look(tell)
		if err != nil || done {
			return err
		}
		most := workspace.Again
		if !later {
			most = w.untilDue()
		}
		if workspace.AwaitChange(ctx, changes, most) {
			continue
		}
		if w.switched > 0 {
			w.certain = true
			if done, _, err := w.look(tell); err != nil || done {
				return err
			}
		}
		return context.Cause(ctx)
	}
}

// watcher is one run of Watch.
type watcher struct {
	app     *workspace.Run
	request WatchRequest
	store   beads.Store
	place   clone.Place
	seen    Seen
	memory  *clone.Watcher // nil without a name
	state   clone.WatcherState

	first   map[string]time.Time // when a record was first read, by its Seq
	told    map[string]bool      // records that early told of
	ended   bool                 // early told of what the request waits for
	failing time.Time            // since when the store cannot be read; zero where it can
	warned  bool                 // and that was said

	switched int       // issues that a switch changed, which is not told yet
	doubted  time.Time // when it was first seen
	certain  bool      // it is told at once: this is the last look
}

// open begins where the watcher of that name was, else now.
func open(ctx context.Context, a *workspace.Run, file *beads.Snapshot, r WatchRequest) (*watcher, error) {
	w := &watcher{app: a, request: r, store: a.At(file.Place()), first: map[string]time.Time{}, told: map[string]bool{}}
	var err error
	if w.place, err = a.Live(file.Place()); err != nil {
		return nil, err
	}
	if r.As != "" {
		known, err := w.recall()
		if err != nil || known {
			return w, err
		}
		a.Note("watching as %s from now on", r.As)
	}
	now, err := w.now()
	if err != nil {
		return nil, err
	}
	if file, err = w.begin(ctx); err != nil {
		return nil, err
	}
	defer file.Close()
	if err := w.seen.Take(Reading{Store: file, Graph: dag.New(file), Now: now}); err != nil {
		return nil, err
	}
	return w, w.keep(nil)
}

// begin reads the store and the end of the journal while nobody writes: an edit between would
// be told as that of another program, or though it was before. Who waits for long goes without.
func (w *watcher) begin(ctx context.Context) (file *beads.Snapshot, err error) {
	if place := w.store.Place(); place.Mode != beads.Server {
		if resume, err := jsonl.Pause(ctx, place, pauseWait); err == nil {
			defer func() { _ = resume() }()
		}
	}
	w.state.Mark = w.place.Mark()
	return w.store.Snapshot()
}

const pauseWait = 2 * time.Second // how long a watcher that begins waits for those who write

// recall reads what the watcher of that name remembers.
func (w *watcher) recall() (known bool, err error) {
	now, err := w.now()
	if err != nil {
		return false, err
	}
	memory, state, lines, known, err := w.place.Watcher(w.request.As, w.request.Anew, now)
	if errors.Is(err, clone.ErrWatched) {
		return false, &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("--as %s: another process watches under this name", w.request.As), Hint: "give another name"}
	}
	if _, ofSystem := errors.AsType[*fs.PathError](err); ofSystem { // as it would refuse --anew
		return false, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("--as %s: what it sees cannot be kept: %v", w.request.As, err),
			Hint: "make room, or give yourself the right to write there; or leave out --as, and nothing is remembered", Err: err}
	}
	if err != nil {
		return false, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("--as %s: what it has seen cannot be read: %v", w.request.As, err),
			Hint: "type the command with --anew to watch from now on; what happened meanwhile is not told", Err: err}
	}
	w.memory = memory
	if !known {
		return false, nil
	}
	w.state = state
	text := bytes.Join(slices.Collect(maps.Values(lines)), []byte("\n"))
	file, err := beads.NewSnapshot(w.store.Place(), beads.Source{Lines: bytes.NewReader(text), Size: int64(len(text))})
	if err != nil {
		return false, err
	}
	defer file.Close()
	return true, w.seen.Take(Reading{Store: file, Graph: dag.New(file), Now: state.At})
}

func (w *watcher) close() {
	if w.memory != nil {
		_ = w.memory.Close() // the lock ends with the process at the latest
	}
}

func (w *watcher) now() (time.Time, error) { return w.app.Clock() }

// look tells of what happened since it last looked. later is set where the journal has
// an edit that the store does not show yet.
func (w *watcher) look(tell func(Event) error) (done, later bool, err error) {
	now, err := w.now()
	if err != nil {
		return false, false, err
	}
	before, err := w.early(tell)
	if err != nil {
		return false, false, err
	}
	file, err := w.store.Snapshot()
	if err != nil {
		return w.unread(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	end := w.place.Mark()
	records, err := w.fresh()
	if err != nil {
		return false, false, err
	}
	written := map[string]bool{} // before the store was read
	for _, r := range before {
		written[r.Seq] = r.Result == clone.Written
	}
	applied, rest := AppliedRecords(records, file, func(r clone.Record) bool {
		lost := r.Result == clone.Unfinished && w.app.Now().Sub(w.first[r.Seq]) > Patience
		return r.Result == clone.Failed || written[r.Seq] || lost
	})
	graph := dag.New(file)
	seen := w.seen
	events, err := seen.Look(Reading{Store: file, Graph: graph, Journal: applied, Told: w.told, Now: now})
	if err != nil {
		return w.unread(err)
	}
	picked, err := w.request.pick(events, file, graph)
	if err != nil {
		return w.unread(err)
	}
	w.failing, w.warned = time.Time{}, false
	if w.doubts(events) {
		return false, true, nil
	}
	w.seen = seen
	for _, e := range picked {
		if err := tell(e); err != nil {
			return false, false, err
		}
		done = done || e.Event == w.request.Until
	}
	done, w.ended = done || w.ended, false
	later = rest > 0
	return done, later, w.remember(applied, len(events) > 0, end, later, now)
}

// untilDue is for how long nothing happens unless the store changes; 0 for no bound.
func (w *watcher) untilDue() time.Duration {
	now, err := w.now()
	if err != nil {
		return workspace.Again // the next look says so
	}
	return workspace.Until(w.seen.Due, now)
}

// early reads the journal, and tells at once of the edits in it that are written: that
// takes a few milliseconds, and reading a large store a hundred. What an issue has to
// be like, labels and an epic, is not known before the store is read.
func (w *watcher) early(tell func(Event) error) (records []clone.Record, err error) {
	for range 8 {
		if records, err = w.fresh(); err != nil || !slices.ContainsFunc(records, pending) {
			break
		}
		time.Sleep(3 * time.Millisecond) // the result follows the store right away
	}
	if err != nil || len(w.request.Labels) > 0 || w.request.Epic != "" {
		return records, err
	}
	for _, r := range records {
		if pending(r) {
			break
		}
		if w.told[r.Seq] {
			continue
		}
		w.told[r.Seq] = true
		for _, e := range OwnEvents([]clone.Record{r}) {
			if !w.request.fits(e) {
				continue
			}
			if e.Title == "" {
				e.Title = w.seen.Title(e.ID)
			}
			if err := tell(e); err != nil {
				return records, err
			}
			w.ended = w.ended || e.Event == w.request.Until
		}
	}
	return records, nil
}

func pending(r clone.Record) bool { return r.Result == clone.Unfinished }

// doubts reports whether the events are those of a switch that was not seen for long: a
// program that writes the file in place makes it empty first, and may be slow.
func (w *watcher) doubts(events []Event) bool {
	now, issues := w.app.Now(), 0
	for _, e := range events {
		issues += e.Issues // 0 of all that is no switch
	}
	if issues == 0 || w.certain {
		w.switched = 0
		return false
	}
	if w.switched != issues {
		w.switched, w.doubted = issues, now
	}
	if now.Sub(w.doubted) < settles {
		return true
	}
	w.switched = 0
	return false
}

// settles is how long a switch stays before it is told.
const settles = 500 * time.Millisecond

// unread has the store looked at again soon: another program may be in the middle of
// writing it, or have made a new file of it. What lasts is said, once.
func (w *watcher) unread(err error) (done, later bool, _ error) {
	now := w.app.Now()
	switch {
	case w.failing.IsZero():
		w.failing = now
	case !w.warned && now.Sub(w.failing) > unreadableFor:
		w.warned = true
		w.app.Warn("%s", err)
	}
	return false, true, nil
}

// unreadableFor is how long a store may not be readable before that is said.
const unreadableFor = 2 * time.Second

// fresh reads the records that were not told of yet, of this work tree's store.
func (w *watcher) fresh() ([]clone.Record, error) {
	journal, err := w.place.Since(w.state.Mark)
	if err != nil {
		return nil, err
	}
	records := slices.DeleteFunc(journal.Records, func(r clone.Record) bool {
		return r.Worktree != w.place.Worktree || slices.Contains(w.state.Done, r.Seq)
	})
	for _, r := range records {
		if w.first[r.Seq].IsZero() {
			w.first[r.Seq] = w.app.Now()
		}
	}
	return records, nil
}

// remember keeps what was told of. The mark moves on when nothing is left to be told
// of before it: the journal may have got longer since it was read up to end, so what
// was told of is kept by name.
func (w *watcher) remember(applied []clone.Record, happened bool, end clone.Mark, later bool, now time.Time) error {
	if len(applied) == 0 && len(w.seen.Changed) == 0 && !happened {
		return nil
	}
	var told []string
	for _, r := range applied {
		told = append(told, r.Seq)
	}
	if later {
		w.state.Done = append(w.state.Done, told...)
	} else {
		w.state.Mark, w.state.Done = end, told
		clear(w.first)
		clear(w.told)
	}
	w.state.At = now
	return w.keep(w.seen.Changed)
}

func (w *watcher) keep(changed map[string][]byte) error {
	if w.memory == nil {
		return nil
	}
	if w.state.At.IsZero() {
		w.state.At, _ = w.now()
	}
	return w.memory.Keep(w.state, changed, w.seen.Lines)
}
