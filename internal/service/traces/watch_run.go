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

// Watch calls tell with each requested event, until ctx ends, tell fails, or the event of Until
// has come.
func Watch(ctx context.Context, a *workspace.Run, r WatchRequest, tell func(Event) error) error {
	file, err := a.Open() // warns of unreadable parts of the store
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
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
	told    map[string]bool      // records that early reported
	ended   bool                 // early reported the event that the request waits for
	failing time.Time            // since when the store is unreadable; zero if it is readable
	warned  bool                 // and a warning was printed

	switched int       // number of issues of a switch that is not reported yet
	doubted  time.Time // when it was first seen
	certain  bool      // the last look: report it at once
}

// open continues where the watcher of that name stopped, or begins now.
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

// begin reads the store and the end of the journal while writers are paused: an edit in between
// would be reported as that of another program, or although it was earlier. If the pause takes
// too long it reads without.
func (w *watcher) begin(ctx context.Context) (file *beads.Snapshot, err error) {
	if place := w.store.Place(); place.Mode != beads.Server {
		if resume, err := jsonl.Pause(ctx, place, pauseWait); err == nil {
			defer func() { _ = resume() }()
		}
	}
	w.state.Mark = w.place.Mark()
	return w.store.Snapshot()
}

const pauseWait = 2 * time.Second // how long a beginning watcher waits for writers

// recall reads what is remembered under the watcher's name.
func (w *watcher) recall() (known bool, err error) {
	now, err := w.now()
	if err != nil {
		return false, err
	}
	memory, state, lines, known, err := w.place.Watcher(w.request.As, w.request.Anew, now)
	if errors.Is(err, clone.ErrWatched) {
		return false, &fault.Error{Code: fault.Conflict, Reason: fmt.Sprintf("--as %s: another process is watching under this name", w.request.As), Hint: "give another name"}
	}
	if _, ofSystem := errors.AsType[*fs.PathError](err); ofSystem { // --anew would fail in the same way
		return false, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("--as %s: cannot save what was seen: %v", w.request.As, err),
			Hint: "free disk space or fix the permissions; or leave out --as, which saves nothing", Err: err}
	}
	if err != nil {
		return false, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("--as %s: cannot read what was seen: %v", w.request.As, err),
			Hint: "add --anew to watch from now on; earlier events are not reported", Err: err}
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

// look reports what happened since the last look. later is set if the journal has an edit that
// the store does not show yet.
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

// untilDue returns for how long nothing can happen unless the store changes; 0 for no limit.
func (w *watcher) untilDue() time.Duration {
	now, err := w.now()
	if err != nil {
		return workspace.Again // the next look reports the error
	}
	return workspace.Until(w.seen.Due, now)
}

// early reads the journal and at once reports the written edits in it. This takes milliseconds;
// reading a large store takes a hundred. It skips requests with labels or an epic, which need
// the store.
func (w *watcher) early(tell func(Event) error) (records []clone.Record, err error) {
	for range 8 {
		if records, err = w.fresh(); err != nil || !slices.ContainsFunc(records, pending) {
			break
		}
		time.Sleep(3 * time.Millisecond) // the result follows the edit of the store right away
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

// doubts reports whether the events are a switch that was first seen only moments ago: a
// program that writes the file in place empties it first, and may be slow.
func (w *watcher) doubts(events []Event) bool {
	now, issues := w.app.Now(), 0
	for _, e := range events {
		issues += e.Issues // 0 except for a switch
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

// settles is how long a switch must last before it is reported.
const settles = 500 * time.Millisecond

// unread makes the watcher look again soon: another program may be writing the store or
// replacing its file. It warns once if the error lasts.
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

// unreadableFor is how long a store may be unreadable before a warning.
const unreadableFor = 2 * time.Second

// fresh returns the records of this work tree's store that were not reported yet.
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

// remember saves what was reported. The mark moves on only if nothing before it is unreported.
// The journal may have grown since it was read up to end, so reported records are kept by name.
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
