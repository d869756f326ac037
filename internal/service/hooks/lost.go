package hooks

import (
	"bytes"
	"cmp"
	"context"
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

// postToolUse says what another program than stig took from the store, or closed in
// it, since the session last looked.
func postToolUse(ctx context.Context, a *workspace.Run, h assistant.Host, e assistant.Event) []byte {
	text, _ := lostSince(ctx, a, e.Session) // when the session started, the error was said
	if text == "" {
		return nil
	}
	return h.After(e.Name, workspace.Visible(text))
}

// lostSince looks at the store for a session, and says what it lost since the session
// last looked; "" at the first time. The error says that the session cannot remember
// how the store stands; whatever else goes wrong, it looks again after the next tool.
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
	l, err := journal.NewLook(store, session)
	if err != nil || l.Unchanged() || git.Busy(l.Place.Tree.Own) != "" {
		return "", nil
	}
	end, err := l.Turn(ctx)
	if err != nil {
		return "", nil
	}
	defer end()
	if l.Unchanged() || l.Read(ctx) != nil {
		return "", nil
	}
	found, err := l.Find(func(commit string) ([]byte, error) { return textAt(ctx, a, store, commit) },
		func(commit string) ([]byte, []byte, error) { return mergedAt(ctx, a, store, commit) },
		func(r *beads.Record, p merge.Part) (*beads.Record, error) { return journal.Put(r, p, a.Schema) })
	now, err2 := a.Clock()
	if err != nil || err2 != nil {
		return "", nil
	}
	recordGone(ctx, a, l.Place, found, now)
	if err := l.Keep(now); err != nil {
		return "", err
	}
	found.Gone = stillLost(ctx, a, l, found.Gone)
	found.Closed = slices.DeleteFunc(found.Closed, func(c journal.Closed) bool {
		return gated(ctx, a, store, assistant.Attempt{IDs: []string{c.ID}, Why: c.Reason})[0].proven
	})
	return found.Report(store), nil
}

// textAt is the text of the store in a commit; "" where it has none.
func textAt(ctx context.Context, a *workspace.Run, store beads.Place, commit string) ([]byte, error) {
	if commit == "" {
		return nil, nil
	}
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = repo.FileAt(ctx, commit, path, &text)
	if fault.Is(err, fault.NoRevision) {
		return nil, nil
	}
	return text.Bytes(), err
}

// mergedAt is the text of the store in the first parent of a merge, and in the commit
// from which its sides come; "" of a commit that is no merge.
func mergedAt(ctx context.Context, a *workspace.Run, store beads.Place, commit string) (ours, base []byte, err error) {
	repo, _, err := a.Git(store)
	if err != nil {
		return nil, nil, err
	}
	result, err := repo.Run(ctx, "merge-base", commit+"^1", commit+"^2")
	start := strings.TrimSpace(string(result.Stdout))
	if err != nil || result.Exit != 0 || start == "" {
		return nil, nil, err
	}
	if base, err = textAt(ctx, a, store, start); err != nil {
		return nil, nil, err
	}
	ours, err = textAt(ctx, a, store, commit+"^1")
	return ours, base, err
}

// recordGone puts into the journal what stood in the store and the journal lacks, so
// that stig recover can put it back. What cannot be recorded is not reported.
func recordGone(ctx context.Context, a *workspace.Run, place clone.Place, found journal.Losses, now time.Time) {
	r := clone.Record{At: now, Command: "lost", Seen: true}
	for _, g := range found.Gone {
		if !g.Journalled {
			r.Changes = append(r.Changes, workspace.RecordedEdit(g.ID, merge.Edit{Kind: g.Kind, Name: g.Name, Was: g.Now, Now: g.Was}))
		}
	}
	if len(r.Changes) == 0 {
		return
	}
	r.Actor, _ = a.ActorName(ctx) // what is lost is recorded all the same
	if pending, err := place.Begin(r); err == nil {
		_ = pending.End(clone.Written) // without it stig recover --all alone lists it
	}
}

// stillLost lists what of it stig recover puts back: no branch, stash or other work
// tree holds it.
func stillLost(ctx context.Context, a *workspace.Run, l *journal.Look, gone []journal.Gone) (lost []journal.Gone) {
	if len(gone) == 0 {
		return nil
	}
	all, err := service.LostHere(ctx, a, l.Store)
	if err != nil {
		return nil
	}
	type part struct{ id, kind, name string }
	of := map[part]journal.Gone{}
	for _, g := range gone {
		of[part{g.ID, string(g.Kind), g.Name}] = g
	}
	for _, f := range all {
		if g, fresh := of[part{f.ID, string(f.Kind), f.Name}]; fresh {
			g.Hidden = f.Hidden
			lost = append(lost, g)
		}
	}
	if len(lost) > 0 {
		_, _ = service.RememberLost(l.Place, l.Stamp(), all) // else stig orient says it again
	}
	return lost
}
