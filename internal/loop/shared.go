package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/git"
	"stig/internal/service/traces"
	"stig/internal/trace"
	"stig/internal/visible"
)

// sharedLook is what the repository shared before and after the command of a run. It is stored
// in a file beside the run's log until both were compared, so that a loop that resumes the run
// can compare too.
type sharedLook struct {
	Was git.Shared    `json:"was"`
	Now *git.Shared   `json:"now"` // null before the command ended
	Who git.Signature `json:"who"`
}

// watching is the loop's watch on what the repository shares.
type watching struct {
	git.Watch
	who git.Signature
	env []string // with which git signs as who
}

// watch returns the watch of the loop, created at the first call.
func (l *loop) watch(ctx context.Context) (w *watching, err error) {
	if l.watched != nil {
		return l.watched, nil
	}
	w = &watching{Watch: git.Watch{Git: l.app.GitIn(l.code.Root), At: l.code, Onto: l.Onto, InPlace: l.trees == nil}}
	w.Without = []string{storeDir(l.store), clone.ProfileDir(l.files)} // written by stig itself for an actor
	if l.trees != nil {
		w.Trees = l.trees.Dir
	}
	if w.who, w.env, err = w.Sign(ctx, l.name); err == nil {
		l.watched = w
	}
	return w, err
}

// watchShared records what the repository shares before the command of a run starts. It returns
// the variables with which git signs as the actor.
func (l *loop) watchShared(ctx context.Context, r *Run) (variables []string, err error) {
	if l.code.Root == "" {
		return nil, nil
	}
	w, err := l.watch(ctx)
	if err != nil {
		return nil, err
	}
	look := sharedLook{Who: w.who}
	look.Who.Since = r.Started.Truncate(time.Second)
	unlock, err := l.place.Lock(ctx, "shared")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if look.Was, err = w.Look(ctx); err != nil {
		l.tell(r.Issue, "what git shares between work trees is not watched: %v", err)
		return w.env, nil
	}
	l.sayUnseen(look.Was)
	files, err := l.place.RunFiles(r.ID)
	if err == nil {
		err = look.keep(files.Shared)
	}
	return w.env, err
}

// sayUnseen reports once that the files of the checkout are not watched.
func (l *loop) sayUnseen(s git.Shared) {
	if s.Paths == nil && l.trees != nil {
		l.once("changes of runs to files in the checkout " + l.code.Root + " are not noticed: it has too many files")
	}
}

func (s sharedLook) keep(path string) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return file.Replacement{Pattern: "r-*.tmp", Mode: 0o600}.Put(path, text)
}

func readLook(path string) (s sharedLook, there bool, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err == nil, err
}

// compareShared determines what changed outside the work tree of a run while its command ran.
// It restores settings that decide who commits or what runs, keeps dropped stashes, and reports
// that. A second call does nothing.
func (l *loop) compareShared(ctx context.Context, r *Run) (err error) {
	if l.code.Root == "" || r.Log == "" {
		return nil
	}
	path := strings.TrimSuffix(r.Log, filepath.Ext(r.Log)) + clone.SharedEnd
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := l.place.Lock(ctx, "shared")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	look, there, err := readLook(path) // others may have restored settings meanwhile
	if err != nil {
		l.tell(r.Issue, "%s: unreadable, so what run %s changed in what git shares is unknown: %v", path, r.ID, err)
		return os.Remove(path)
	}
	if !there {
		return nil
	}
	w, err := l.watch(ctx)
	if err != nil {
		return err
	}
	if look.Now == nil {
		now, err := w.Look(ctx)
		if err != nil {
			return err
		}
		look.Now = &now
		l.sayUnseen(now)
		if err := look.keep(path); err != nil {
			return err
		}
	}
	if err := l.settleShared(ctx, w, r, look); err != nil {
		return err
	}
	if err := l.sayShared(ctx, r); err != nil {
		return err
	}
	return os.Remove(path)
}

// settleShared records the changes between two looks in a run, and reverts those that must not
// stay.
func (l *loop) settleShared(ctx context.Context, w *watching, r *Run, look sharedLook) (err error) {
	others, err := l.overlaps(r)
	if err != nil {
		return err
	}
	for _, e := range others {
		look.Who.Others = append(look.Who.Others, e.Actor)
	}
	if r.Shared, err = w.Changes(ctx, look.Was, *look.Now, look.Who); err != nil || len(r.Shared) == 0 {
		return err
	}
	r.Overlaps = nil
	for _, e := range others {
		r.Overlaps = append(r.Overlaps, e.ID)
	}
	if err := w.UndoSettings(ctx, look.Was, *look.Now, r.Shared); err != nil {
		return err
	}
	if err := l.restoreOthers(r, look); err != nil {
		return err
	}
	for i, c := range r.Shared {
		if c.Kind == git.SharedStash && c.Now == "" && c.By == "" {
			if r.Shared[i].Kept, err = w.KeepStash(ctx, c.Name); err != nil {
				return err
			}
		}
	}
	return l.record(&r.Run)
}

// restoreOthers updates the looks of other runs in progress, so that restored settings do not
// count as their changes.
func (l *loop) restoreOthers(r *Run, look sharedLook) error {
	dir := filepath.Dir(r.Log)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), clone.SharedEnd)
		if !ok || id == r.ID {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		other, there, err := readLook(path)
		if err != nil || !there || other.Now != nil || !other.Was.Restore(look.Was, *look.Now, r.Shared) {
			continue // its own run reports a problem with it
		}
		if err := other.keep(path); err != nil {
			return err
		}
	}
	return nil
}

// overlaps returns the other runs that ran at the same time as a run's command.
func (l *loop) overlaps(r *Run) (others []clone.Run, err error) {
	runs, _, err := l.runs()
	for _, e := range runs {
		over := e.Outcome != "" && !e.Ended.After(r.Started) || !r.Ended.IsZero() && e.Started.After(r.Ended)
		if e.ID != r.ID && !over {
			others = append(others, e)
		}
	}
	return others, err
}

// sayShared reports what changed outside the work tree of a run: in the log of the loop, and on
// the issue if a person must know, whoever did it.
func (l *loop) sayShared(ctx context.Context, r *Run) error {
	if len(r.Shared) == 0 {
		return nil
	}
	for _, text := range r.SharedText(r.Shared) {
		l.tell(r.Issue, "%s", text)
	}
	grave := slices.DeleteFunc(slices.Clone(r.Shared), func(c git.SharedChange) bool { return !c.IsGrave() })
	if r.Issue == "" || len(grave) == 0 {
		return nil
	}
	text := strings.Join(r.SharedText(grave), ". ")
	err := l.leave(ctx, traces.GateName, traces.Draft{Issue: r.Issue, Type: trace.Notification, Content: map[string]any{
		"to": "@people", "payload": text, "run": r.ID,
	}})
	if fault.Is(err, fault.NotFound) {
		return nil // the issue was deleted meanwhile; the record has the changes
	}
	return err
}

// ownChanges returns descriptions of the changes signed by a run.
func ownChanges(r *clone.Run) (list []string) {
	for _, c := range r.Shared {
		if c.By != "" {
			list = append(list, c.String())
		}
	}
	return list
}

// strayWork returns where a run left signed work outside its work tree, with the commands that
// bring it there; "" for none.
func (l *loop) strayWork(ctx context.Context, r *Run) (text string) {
	dir := visible.Quoted(r.Worktree)
	for _, c := range r.Shared {
		do := ""
		switch {
		case c.By == "" || c.Now == "":
		case c.Kind == git.SharedStash:
			do = "stash apply " + c.Name
		case c.Kind != git.SharedBranch || !l.hasCommits(ctx, cmp.Or(c.Was, r.Base), c.Now):
		case c.Was == "":
			do = "merge " + visible.Quoted(c.Name)
		default:
			do = "cherry-pick " + c.Was + ".." + c.Now
		}
		if do != "" {
			text += fmt.Sprintf("- %s: `git -C %s %s` brings it into the work tree\n", c, dir, do)
		}
	}
	return text
}

// hasCommits reports whether to has commits that from does not have, or whether that is
// unknown.
func (l *loop) hasCommits(ctx context.Context, from, to string) bool {
	n, err := l.app.GitIn(l.code.Root).Ahead(ctx, from, to, "")
	return err != nil || n > 0
}
