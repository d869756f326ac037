package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/store/jsonl"
	"stig/notes"
	"stig/signals"
)

// upstream is a project that issues depend on, as its clone on this machine has it.
type upstream struct {
	unread string // why it cannot be read; "" if it can
	away   bool   // because it is not configured, or this machine has no clone of it

	ctx   context.Context
	place beads.Place
	file  *beads.Snapshot

	git       git.Client
	branch    string          // the published one
	unknown   string          // why there is no branch; "" if there is
	reverts   *git.Reverts    // there; nil until asked for
	published *beads.Snapshot // the store on that branch; nil if git does not track it
	store     string          // path of the store's file, from the root; "" if git does not track it
}

// openUpstream reads the store of a project, in its directory and on its published branch.
func openUpstream(ctx context.Context, h Host, p Project) *upstream {
	u := &upstream{ctx: ctx}
	switch err := u.read(h, p.Path); {
	case errors.Is(err, ErrNotHere):
		return &upstream{away: true, unread: fmt.Sprintf("project %q is not here: %s", p.Name, err)}
	case err != nil:
		return &upstream{unread: fmt.Sprintf("project %q cannot be read: %s", p.Name, err)}
	}
	if err := u.publish(h, p.Remote); err != nil {
		u.unknown = fmt.Sprintf("project %q: %s", p.Name, err)
	}
	return u
}

func (u *upstream) close() {
	for _, file := range []*beads.Snapshot{u.file, u.published} {
		if file != nil {
			_ = file.Close()
		}
	}
}

// ErrNotHere says that this machine has no clone of a project.
var ErrNotHere = errors.New("there is no directory")

// Here returns ErrNotHere unless a directory has a store. dir may be a glob without a match.
func Here(dir string) error {
	if isGlob(dir) {
		return fmt.Errorf("%w with %s that matches", ErrNotHere, beads.DirName)
	}
	if at := filepath.Join(git.RealPath(dir), beads.DirName); !isThere(at) {
		return fmt.Errorf("%w %s", ErrNotHere, at)
	}
	return nil
}

// read reads the store in a directory.
func (u *upstream) read(h Host, dir string) (err error) {
	if err := Here(dir); err != nil {
		return err
	}
	if u.place, err = jsonl.Discover(jsonl.Where{Dir: git.RealPath(dir)}); err != nil {
		return err
	}
	if u.file, err = h.Open(u.place).Snapshot(); err != nil {
		return err
	}
	if !u.file.CanEdit() {
		u.close()
		return fmt.Errorf("%s has unreadable lines", u.place.Name())
	}
	return nil
}

// publish finds the published branch, and reads the store on it.
func (u *upstream) publish(h Host, remote string) error {
	path := filepath.Join(git.RealPath(u.place.Dir), "store")
	if file := u.place.File(); file != "" {
		path = git.RealPath(file)
	}
	u.git = h.Git("").Around(path)
	at, err := u.git.Place(u.ctx)
	if err != nil {
		return err
	}
	if at.Root == "" {
		return errors.New("it is not in a git repository")
	}
	u.git.Dir, u.git.Top = at.Root, at.Root
	if u.branch, err = u.git.Published(u.ctx, remote); err != nil || u.place.File() == "" {
		return err
	}
	var text bytes.Buffer
	if u.git.FileAt(u.ctx, u.branch, path, &text) != nil {
		return nil // it is not tracked
	}
	if below, err := filepath.Rel(at.Root, path); err == nil && filepath.IsLocal(below) {
		u.store = filepath.ToSlash(below)
	}
	u.published, err = beads.NewSnapshot(beads.Place{Path: path}, beads.Source{Lines: bytes.NewReader(text.Bytes()), Size: int64(text.Len())})
	return err
}

// find returns how an issue of the project stands, by its id, or as the one that provides a
// capability.
func (u *upstream) find(of string) answer {
	if _, ok := u.file.Index(of); ok {
		return u.judge(of)
	}
	best := answer{External: beads.External{Why: fmt.Sprintf("there is no issue %q, and no closed issue with the label provides:%[1]s", of)}}
	for i, issue := range u.file.All() {
		if at, _ := u.file.Index(issue.ID); at != i {
			continue
		}
		record, err := u.newest(issue.ID)
		if err != nil || !beads.IsClosed(record.Text(beads.Status)) || !slices.Contains(record.Labels(), "provides:"+of) {
			continue
		}
		if a := u.judge(issue.ID); a.Done || best.Issue == "" {
			best = a
		}
		if best.Done {
			break
		}
	}
	return best
}

// newest returns an issue as its directory or the published branch has it, whichever was
// changed last.
func (u *upstream) newest(id string) (*beads.Record, error) {
	at, _ := u.file.Index(id)
	issue := u.file.At(at)
	if u.published != nil {
		if k, ok := u.published.Index(id); ok && u.published.At(k).UpdatedAt.After(issue.UpdatedAt) {
			issue = u.published.At(k)
		}
	}
	return issue.Record()
}

// judge returns whether an issue is closed by a verdict or by a person, and its work published.
func (u *upstream) judge(id string) answer {
	e := beads.External{Issue: id}
	record, err := u.newest(id)
	if err != nil {
		e.Why = fmt.Sprintf("%s cannot be read there: %v", id, err)
		return answer{External: e, unknown: true}
	}
	e.Title, e.Status = record.Text(beads.Title), record.Text(beads.Status)
	e.CloseReason = strings.TrimSpace(record.Text(beads.CloseReason))
	if last, ok := signals.LastEstimate(notes.Parse(record.Text(beads.Notes))); ok {
		e.Checkpoint = last.Body
	}
	switch end := beads.OutcomeOf(e.CloseReason).End; {
	case u.file.Repeated()[id] > 0:
		e.Why = fmt.Sprintf("%s is on several lines there", id)
	case e.Status != beads.StatusClosed:
		e.Why = fmt.Sprintf("%s has the status %q there", id, e.Status)
	case end != beads.EndDone:
		e.Why = fmt.Sprintf("%s was closed there as %s", id, end)
	case !u.vouched(e.CloseReason):
		e.Why = fmt.Sprintf("%s was closed there without a verdict or a person's waiver", id)
	case u.unknown != "":
		e.Why = fmt.Sprintf("%s is closed there, but %s", id, u.unknown)
		return answer{External: e, unknown: true}
	default:
		if e.Commit, e.Why, err = u.landed(id, e.CloseReason); err != nil {
			e.Why = fmt.Sprintf("%s is closed there, but git fails: %v", id, err)
		}
		e.Done = e.Why == ""
	}
	return answer{External: e, unknown: err != nil}
}

// vouched reports whether a close reason is a verdict, or a waiver by a person.
func (u *upstream) vouched(reason string) bool {
	if strings.HasPrefix(reason, gate.Verified) {
		return true
	}
	who := gate.WaivedBy(reason)
	if who == "" || clone.IsSession(who) {
		return false
	}
	profile, err := clone.LoadProfile(filepath.Dir(u.place.Dir), who)
	return err != nil || profile.Kind != clone.Agent && profile.Kind != clone.Program
}

// landed returns the commit that proves that the work on a closed issue is on the published
// branch and not reverted there, or why it is not.
func (u *upstream) landed(id, reason string) (commit, why string, err error) {
	on, work := shortRef(u.branch), git.Work{Issue: id, Store: u.store}
	commit, dirty := commitIn(reason)
	if commit != "" {
		has, known, err := u.git.Has(u.ctx, git.Work{Commit: commit, Store: u.store}, u.branch)
		switch {
		case err != nil:
			return "", "", err
		case known && !has:
			return "", fmt.Sprintf("%s is closed there, but commit %s is not on %s", id, commit, on), nil
		case known:
			work.Since = commit
		}
	}
	if work.Since != "" && !dirty {
		work.Commit = commit
	} else { // the published branch as a whole has to show the work
		if !u.isClean(commit) {
			switch {
			case !u.isClosedOn(id):
				return "", fmt.Sprintf("%s is closed there, but not on %s", id, on), nil
			case work.Since != "" && !u.hasMore(work.Since):
				return "", fmt.Sprintf("%s is closed there, but what was uncommitted then is not on %s", id, on), nil
			}
		}
		if commit, err = u.git.Commit(u.ctx, u.branch); err != nil {
			return "", "", err
		}
	}
	if u.reverts == nil {
		if u.reverts, err = u.git.Reverts(u.ctx, u.branch); err != nil {
			return "", "", err
		}
	}
	by, err := u.reverts.Of(u.ctx, work)
	if by.Commit != "" {
		why = fmt.Sprintf("%s is closed there, but commit %.7s on %s reverted its work", id, by.Commit, on)
	}
	return fmt.Sprintf("%.7s", commit), why, err
}

// commitIn returns the commit that a close reason names, and whether the work tree then had
// changes that the commit lacks.
func commitIn(reason string) (commit string, dirty bool) {
	results, ok := gate.ParseResults(reason)
	if !ok || strings.Trim(results.Commit, "0123456789abcdef") != "" {
		return "", false
	}
	return results.Commit, strings.Contains(reason, results.Commit+" with uncommitted changes")
}

// isClosedOn reports whether the store on the published branch has an issue as closed, by a
// verdict or a person.
func (u *upstream) isClosedOn(id string) bool {
	if u.published == nil {
		return false
	}
	at, ok := u.published.Index(id)
	if !ok || u.published.At(at).Status != beads.StatusClosed {
		return false
	}
	record, err := u.published.At(at).Record()
	return err == nil && u.vouched(strings.TrimSpace(record.Text(beads.CloseReason)))
}

// hasMore reports whether the published branch has changes beside the store since a commit.
func (u *upstream) hasMore(since string) bool {
	store := ""
	if u.store != "" {
		store = path.Dir(u.store)
	}
	changes, err := u.git.Between(u.ctx, since, u.branch, store)
	return err == nil && len(changes) > 0
}

// isClean reports whether the published branch has all that this clone has beside the store, so
// that it has the work on an issue whose close is in this directory only. The work is not in the
// commit before; "" if that is unknown.
func (u *upstream) isClean(before string) bool {
	if u.place.Mode != beads.Plain {
		return false // it may have been closed elsewhere
	}
	without, err := jsonl.Touched(u.place)
	if err != nil {
		return false
	}
	tree, err := u.git.Tree(u.ctx, without...)
	if err != nil || tree.Dirty || tree.Head == "" || before != "" && strings.HasPrefix(tree.Head, before) {
		return false
	}
	has, known, err := u.git.Has(u.ctx, git.Work{Commit: tree.Head, Store: u.store}, u.branch)
	return err == nil && has && known
}

// shortRef returns a branch as git branch prints it.
func shortRef(ref string) string {
	for _, space := range []string{"refs/heads/", "refs/remotes/"} {
		ref = strings.TrimPrefix(ref, space)
	}
	return ref
}
