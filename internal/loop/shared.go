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

// sharedLook is what the repository shared around the command of a run, in a file beside the
// log of that until both were compared: a loop that goes on for one that was killed compares too.
type sharedLook struct {
	Was git.Shared    `json:"was"`
	Now *git.Shared   `json:"now"` // null before the command ended
	Who git.Signature `json:"who"`
}

// watching is what the loop looks with at what the repository shares.
type watching struct {
	git.Watch
	who git.Signature
	env []string // by which git signs so
}

// watch is that of the loop, made at the first call.
func (l *loop) watch(ctx context.Context) (w *watching, err error) {
	if l.watched != nil {
		return l.watched, nil
	}
	w = &watching{Watch: git.Watch{Git: l.app.GitIn(l.code.Root), At: l.code, Onto: l.Onto, InPlace: l.trees == nil}}
	w.Without = []string{storeDir(l.store), clone.ProfileDir(l.files)} // what stig itself writes for an actor
	if l.trees != nil {
		w.Trees = l.trees.Dir
	}
	if w.who, w.env, err = w.Sign(ctx, l.name); err == nil {
		l.watched = w
	}
	return w, err
}

// watchShared remembers what the repository shares before the command of a run starts, and
// gives the variables by which git signs as the actor.
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

// sayUnseen says once that the files of the checkout are not looked at.
func (l *loop) sayUnseen(s git.Shared) {
	if s.Paths == nil && l.trees != nil {
		l.once("files that runs change in the checkout " + l.code.Root + " are not noticed: it has too many to look at")
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

// compareShared finds out what changed outside of the work tree of a run while its command
// ran, puts back what decides who commits or what runs, keeps stashes that are gone, and says
// so. It does nothing the second time.
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
	look, there, err := readLook(path) // others may have put settings back since
	if err != nil {
		l.tell(r.Issue, "%s: cannot be read: what run %s changed of what git shares is not known: %v", path, r.ID, err)
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

// settleShared puts the changes of two looks into the record of a run, and undoes what is to
// be undone.
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

// restoreOthers has what was put back be no change of other runs that began meanwhile.
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
			continue // its own run says what is wrong with it
		}
		if err := other.keep(path); err != nil {
			return err
		}
	}
	return nil
}

// overlaps lists the other runs that ran while the command of a run did.
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

// sayShared says what changed outside of the work tree of a run: in the log of the loop, and
// on the issue where it concerns a person whoever did it.
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
		return nil // the issue was deleted meanwhile; the record has it
	}
	return err
}

// ownChanges are those of a run that it signed, in words.
func ownChanges(r *clone.Run) (list []string) {
	for _, c := range r.Shared {
		if c.By != "" {
			list = append(list, c.String())
		}
	}
	return list
}

// strayWork says where the work of a run is that signed it outside of its work tree, with the
// commands that bring it there; "" for none.
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

// hasCommits reports whether a commit has others before it that from lacks, or that is not known.
func (l *loop) hasCommits(ctx context.Context, from, to string) bool {
	n, err := l.app.GitIn(l.code.Root).Ahead(ctx, from, to, "")
	return err != nil || n > 0
}
