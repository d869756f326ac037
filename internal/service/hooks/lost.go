package hooks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/journal"
	"stig/internal/merge"
	"stig/internal/service"
	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

const (
	lookWait = 2 * time.Second // how long a look waits for writers of the store and for other looks
	lookMost = 256 << 20       // largest store in bytes that is checked
)

// postToolUse reports what programs other than stig removed from the store, or closed in it,
// since the session last looked.
func postToolUse(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	text, _ := lostSince(ctx, a, e.Session) // an error was reported when the session started
	if text == "" {
		return nil
	}
	return h.After(e.Name, workspace.Visible(text))
}

// isClosed is the suffix under which a reported close of an issue is remembered.
const isClosed = " closed"

// look is one look of a session at the store.
type look struct {
	store   beads.Place
	place   clone.Place
	session string
	was     clone.Look
	known   bool // the session looked before
}

// lostSince returns what the store lost since the session last looked; "" the first time. The
// error says that the session's state cannot be saved. After any other failure it tries again
// after the next tool call.
func lostSince(ctx context.Context, a *workspace.Run, session string) (text string, err error) {
	store, err := jsonl.Discover(a.Where())
	if session == "" {
		return "", nil
	}
	if err != nil {
		return journal.Vanished(cmp.Or(a.Dir, "."), session), nil
	}
	if store.Mode == beads.Server || store.Mode == beads.BD {
		return "", nil // a file beside it is only a copy, and the database has its own history
	}
	l := look{store: store, session: session}
	if l.place, err = clone.At(store.Path); err != nil || l.unchanged() || git.Busy(l.place.Tree.Own) != "" {
		return "", nil
	}
	limited, cancel := context.WithTimeout(ctx, lookWait)
	defer cancel()
	unlock, err := l.place.LockLook(limited, session)
	if err != nil && limited.Err() != nil {
		return "", nil
	}
	if err == nil { // if locking is impossible, saving is too, and Keep reports that
		defer func() { _ = unlock() }()
	}
	if l.unchanged() {
		return "", nil
	}
	return l.report(ctx, a)
}

// unchanged reports whether the store's file and HEAD are the same as at the last look.
func (l *look) unchanged() bool {
	l.was, l.known = l.place.Looked(l.session)
	return l.known && (l.place.Head == "" || l.place.Head == l.was.Head) && l.was.Stamp == clone.Stamp(l.store.Path)
}

// report returns the losses that the session was not told about.
func (l *look) report(ctx context.Context, a *workspace.Run) (string, error) {
	path, err := filepath.Abs(l.store.Path)
	now, err2 := a.Clock()
	if err != nil || err2 != nil {
		return "", nil
	}
	next := clone.Look{Store: path, Stamp: clone.Stamp(path), Head: cmp.Or(l.place.Head, l.was.Head), Lines: l.was.Lines, Told: l.was.Told}
	if l.known && l.place.Seen().Left == next.Stamp {
		return "", l.place.Keep(l.session, next, now) // only stig wrote it
	}
	text, past, err := l.read(ctx)
	if err != nil {
		return "", nil
	}
	rows := journal.RowsOf(text)
	var closed []journal.Closed
	next.Lines, next.Told = rows.Sums(), slices.DeleteFunc(slices.Clone(l.was.Told), func(name string) bool { return !strings.HasSuffix(name, isClosed) })
	if !l.known || next.Head != l.was.Head || journal.Lacks(next.Lines, l.was.Lines) {
		next.Told = nil
		head, err := l.head(ctx, a)
		if err != nil {
			return "", nil
		}
		var gone []journal.Gone
		if gone, closed = journal.Others(journal.RowsOf(head), rows, past, l.place); l.known && len(gone) > 0 {
			past.Records = append(past.Records, l.record(ctx, a, gone, now)...) // text does not contain what others recorded since
		}
	}
	lost, err := service.LostIn(ctx, a, l.store, rows, past)
	if err != nil {
		return "", nil
	}
	fresh := slices.DeleteFunc(slices.Clone(lost), func(f journal.Finding) bool { return l.alreadySaid(&next, service.NameOfLost(f)) })
	closed = slices.DeleteFunc(closed, func(c journal.Closed) bool { return l.alreadySaid(&next, c.ID+isClosed) })
	if err := l.place.Keep(l.session, next, now); err != nil || !l.known {
		return "", err
	}
	_, _ = service.RememberLost(l.place, next.Stamp, lost) // if this fails, stig orient reports it again
	closed = slices.DeleteFunc(closed, func(c journal.Closed) bool {
		g := gated(ctx, a, l.store, []string{c.ID, c.Reason})
		return len(g) > 0 && g[0].proven
	})
	return journal.Report(l.store, fresh, closed), nil
}

// alreadySaid reports whether the session was told about name, and records that it is.
func (l *look) alreadySaid(next *clone.Look, name string) bool {
	next.Told = append(next.Told, name)
	return slices.Contains(l.was.Told, name)
}

// read reads the store and its journal while writers are paused.
func (l *look) read(ctx context.Context) (text []byte, past clone.Journal, err error) {
	info, err := os.Stat(l.store.Path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > lookMost) {
		err = fmt.Errorf("%s: not a plain file of at most %d MiB", l.store.Path, lookMost>>20)
	}
	if err != nil {
		return nil, past, err
	}
	resume, err := jsonl.Pause(ctx, l.store, lookWait)
	if err != nil {
		return nil, past, err
	}
	past, err = l.place.Recent()
	text, err2 := os.ReadFile(l.store.Path)
	return text, past, errors.Join(err, err2, resume())
}

// head returns the text of the store at HEAD; "" if there is none.
func (l *look) head(ctx context.Context, a *workspace.Run) ([]byte, error) {
	repo, path, err := a.Git(l.store)
	if err != nil || l.place.Head == "" {
		return nil, err
	}
	var text bytes.Buffer
	if info, err := os.Stat(l.store.Path); err == nil {
		text.Grow(int(info.Size()) + bytes.MinRead)
	}
	err = repo.FileAt(ctx, l.place.Head, path, &text)
	if fault.Is(err, fault.NoRevision) {
		err = nil
	}
	return text.Bytes(), err
}

// record adds to the journal what the store had and the journal lacks, so that stig recover can
// restore it. It returns nothing if that fails.
func (l *look) record(ctx context.Context, a *workspace.Run, gone []journal.Gone, now time.Time) []clone.Record {
	r := clone.Record{At: now, Command: "lost", Seen: true}
	for _, g := range gone {
		r.Changes = append(r.Changes, workspace.RecordedEdit(g.ID, merge.Edit{Kind: g.Kind, Name: g.Name, Was: g.Now, Now: g.Was}))
	}
	r.Actor, _ = a.ActorName(ctx) // the loss is recorded even without an actor
	pending, err := l.place.Begin(r)
	if err != nil || pending.End(clone.Written) != nil {
		return nil
	}
	r = pending.Record
	r.Result = clone.Written
	return []clone.Record{r}
}
