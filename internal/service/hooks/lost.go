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
	lookWait = 2 * time.Second // how long a look waits for those who write the store, and for other looks
	lookMost = 256 << 20       // bytes of the longest store that is looked at
)

// postToolUse says what another program than stig took from the store, or closed in
// it, since the session last looked.
func postToolUse(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	text, _ := lostSince(ctx, a, e.Session) // when the session started, the error was said
	if text == "" {
		return nil
	}
	return h.After(e.Name, workspace.Visible(text))
}

// isClosed ends the name of what a session was told of an issue that was closed.
const isClosed = " closed"

// look is one look at the store for a session.
type look struct {
	store   beads.Place
	place   clone.Place
	session string
	was     clone.Look
	known   bool // the session looked before
}

// lostSince looks at the store for a session, and says what it lost since the session
// last looked; "" at the first time. The error says that the session cannot remember
// what it was told; whatever else goes wrong, it looks again after the next tool.
func lostSince(ctx context.Context, a *workspace.Run, session string) (text string, err error) {
	store, err := jsonl.Discover(a.Where())
	if session == "" {
		return "", nil
	}
	if err != nil {
		return journal.Vanished(cmp.Or(a.Dir, "."), session), nil
	}
	if store.Mode == beads.Server || store.Mode == beads.BD {
		return "", nil // a file beside it is a copy, and whoever keeps the database keeps its history
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
	if err == nil { // where nothing can be locked nothing can be kept either, and keep says so
		defer func() { _ = unlock() }()
	}
	if l.unchanged() {
		return "", nil
	}
	return l.report(ctx, a)
}

// unchanged reports whether the file of the store and the commit that is checked out
// are those of the look before.
func (l *look) unchanged() bool {
	l.was, l.known = l.place.Looked(l.session)
	return l.known && (l.place.Head == "" || l.place.Head == l.was.Head) && l.was.Stamp == clone.Stamp(l.store.Path)
}

// report says what is lost that the session was not told.
func (l *look) report(ctx context.Context, a *workspace.Run) (string, error) {
	path, err := filepath.Abs(l.store.Path)
	now, err2 := a.Clock()
	if err != nil || err2 != nil {
		return "", nil
	}
	next := clone.Look{Store: path, Stamp: clone.Stamp(path), Head: cmp.Or(l.place.Head, l.was.Head), Lines: l.was.Lines, Told: l.was.Told}
	if l.known && l.place.Seen().Left == next.Stamp {
		return "", l.place.Keep(l.session, next, now) // stig alone wrote it
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
			past.Records = append(past.Records, l.record(ctx, a, gone, now)...) // what others recorded since is not in the text
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
	_, _ = service.RememberLost(l.place, next.Stamp, lost) // else stig orient says it again
	closed = slices.DeleteFunc(closed, func(c journal.Closed) bool {
		g := gated(ctx, a, l.store, []string{c.ID, c.Reason})
		return len(g) > 0 && g[0].proven
	})
	return journal.Report(l.store, fresh, closed), nil
}

// alreadySaid reports whether the session was alreadySaid something, and notes that it is.
func (l *look) alreadySaid(next *clone.Look, name string) bool {
	next.Told = append(next.Told, name)
	return slices.Contains(l.was.Told, name)
}

// read reads the store and its journal while nobody writes them.
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

// head is the text of the store in the commit that is checked out; "" where there is none.
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

// record puts into the journal what stood in the store and the journal lacks, so
// that stig recover can put it back. What cannot be recorded is not reported.
func (l *look) record(ctx context.Context, a *workspace.Run, gone []journal.Gone, now time.Time) []clone.Record {
	r := clone.Record{At: now, Command: "lost", Seen: true}
	for _, g := range gone {
		r.Changes = append(r.Changes, workspace.RecordedEdit(g.ID, merge.Edit{Kind: g.Kind, Name: g.Name, Was: g.Now, Now: g.Was}))
	}
	r.Actor, _ = a.ActorName(ctx) // what is lost is recorded all the same
	pending, err := l.place.Begin(r)
	if err != nil || pending.End(clone.Written) != nil {
		return nil
	}
	r = pending.Record
	r.Result = clone.Written
	return []clone.Record{r}
}
