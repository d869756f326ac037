package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/git"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// beginClean takes out of the work tree of a run what runs of other actors left there
// uncommitted, and all of its branch where a person rejected that for a credential. What this
// actor itself left stays. It reports whether the tree holds no work, and has the prompt say
// what there is of earlier runs.
func (l *loop) beginClean(ctx context.Context, r *Run) (fresh bool, err error) {
	last, err := l.lastIn(r)
	if err != nil {
		return false, err
	}
	rejected, err := l.isRejected(ctx, r)
	if err != nil {
		return false, err
	}
	there := git.Uncommitted{}
	if r.Base, fresh = r.tree.Base, r.tree.New; !fresh {
		if there, err = r.tree.Uncommitted(ctx); err != nil {
			return false, err
		}
		content, _, err := l.content(ctx, r)
		if err != nil {
			return false, err
		}
		if fresh, err = l.isFresh(r, content); err != nil {
			return false, err
		}
		if fresh {
			there.Files = nil // of setup
		}
	}
	switch {
	case rejected, !there.IsNothing() && last.Actor != l.name:
		if err := l.setAside(ctx, r, last, rejected); err != nil {
			return false, err
		}
		fresh = r.tree.New
	case !there.IsNothing():
		r.found = append(r.found, ownLeftovers(last.ID, there))
	}
	return fresh, l.findLeftovers(ctx, r)
}

// lastIn is the last run that had the work tree of a run for itself; where none is known that
// of somebody unknown.
func (l *loop) lastIn(r *Run) (clone.Run, error) {
	runs, _, err := l.runs()
	last := clone.Run{ID: "unknown", Actor: "unknown"}
	for _, e := range runs {
		if e.ID != r.ID && e.Worktree == r.tree.Dir {
			last = e
		}
	}
	return last, err
}

// setAside puts the work tree of a run aside as what another run left, with its branch where
// that was rejected, and makes a new one.
func (l *loop) setAside(ctx context.Context, r *Run, last clone.Run, rejected bool) error {
	held, err := l.holdDebris(ctx, r, last)
	if err != nil {
		return err
	}
	kept, err := r.tree.SetAside(ctx, git.Aside{Run: last.ID, Actor: last.Actor, Held: held, Branch: rejected})
	if err == nil {
		err = l.place.PruneHeld(last.ID)
	}
	if err != nil {
		return err
	}
	what := fmt.Sprintf("run %s of %s left changes uncommitted", last.ID, workspace.Visible(last.Actor))
	switch {
	case kept.Branch != "":
		l.tell(r.Issue, "%s; they are out of the work tree, on branch %s: %s", what, kept.Branch, listed(kept.Files))
	case kept.Commit != "":
		l.tell(r.Issue, "%s; they are out of the work tree, in commit %.12[2]s: %s; the issue has as many branches of leftovers as it may, so type git branch NAME %.12[2]s to keep it",
			what, kept.Commit, listed(kept.Files))
		r.found = append(r.found, fmt.Sprintf("Commit %.12s has leftovers of %s (%s), which are not in this work tree: %s.", kept.Commit, last.ID, last.Actor, listed(kept.Files)))
	}
	r.tree, err = git.PrepareWorktree(ctx, *l.trees, r.tree.Issue)
	return err
}

// holdDebris says, and records, what is to be moved out of a work tree that another run left,
// and gives the directory that takes it.
func (l *loop) holdDebris(ctx context.Context, r *Run, last clone.Run) (held string, err error) {
	left, err := r.tree.Omitted(ctx)
	if err != nil {
		return "", err
	}
	if held, err = l.place.Held(last.ID); err != nil || len(left) == 0 {
		return held, err
	}
	l.tell(r.Issue, "run %s of %s left files that no commit takes; they are moved to %s: %s", last.ID, workspace.Visible(last.Actor), held, listed(left))
	if last.Started.IsZero() { // nobody knows of it
		leftOut(&r.Run, left)
		return held, l.record(&r.Run)
	}
	leftOut(&last, left)
	return held, l.record(&last)
}

// findLeftovers has the prompt of a run name what others left of its issue.
func (l *loop) findLeftovers(ctx context.Context, r *Run) error {
	if r.Issue == "" {
		return nil
	}
	all, err := r.tree.Leftovers(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		r.found = append(r.found, fmt.Sprintf("Branch %s has %s, which are not in this work tree: %s. Take what you can use, such as with git checkout %[1]s -- FILE.", one.Branch, one.Subject, listed(one.Files)))
	}
	runs, _, err := l.runs()
	for _, e := range runs {
		if e.Issue != r.Issue || e.ID == r.ID || len(e.LeftOut) == 0 {
			continue
		}
		if held, err := l.place.Held(e.ID); err == nil && workspace.Exists(held) {
			r.found = append(r.found, fmt.Sprintf("Run %s of %s left files that no commit takes; they are in %s: %s.", e.ID, e.Actor, held, listed(e.LeftOut)))
		}
	}
	return err
}

// ownLeftovers says to an actor what its last run left in the work tree.
func ownLeftovers(run string, there git.Uncommitted) string {
	text := fmt.Sprintf("Your run %s left this uncommitted, and it is still here: %s.", run, listed(there.Files))
	if len(there.Files) == 0 {
		text = fmt.Sprintf("Your run %s left the work tree on another branch.", run)
	}
	if there.Doing != "" {
		text += " git is in the middle of a " + there.Doing + "."
	}
	return text
}

// mostListed is how many names a line has.
const mostListed = 8

// listed is the first names of a list, and how many more there are.
func listed[T any](names []T) string {
	var all []string
	for _, name := range names {
		all = append(all, workspace.Visible(visible.OneLine(fmt.Sprint(name))))
	}
	return visible.Some(all, mostListed)
}

// mostLeftOut is how many names of files that are left out a record has.
const mostLeftOut = 50

// leftOut has the record of a run say what is no part of its commit.
func leftOut(r *clone.Run, left []git.LeftOut) {
	for _, one := range left {
		text := workspace.Visible(one.String())
		switch {
		case slices.Contains(r.LeftOut, text) || len(r.LeftOut) > mostLeftOut:
		case len(r.LeftOut) == mostLeftOut:
			r.LeftOut = append(r.LeftOut, "and more")
		default:
			r.LeftOut = append(r.LeftOut, text)
		}
	}
}

// holdBack moves what a run made and its commit leaves out away from the work tree, so that
// the checks see what is committed.
func (l *loop) holdBack(r *Run) error {
	if r.tree == nil || len(r.tree.LeftOut) == 0 {
		return nil
	}
	held, err := l.place.Held(r.ID)
	if err != nil {
		return err
	}
	if err := l.record(&r.Run); err != nil { // it says what is moved, whatever happens
		return err
	}
	l.tell(r.Issue, "left out of the commit, and moved to %s: %s", held, listed(r.LeftOut))
	if err := r.tree.MoveOut(r.tree.LeftOut, held); err != nil {
		return err
	}
	return l.place.PruneHeld(r.ID)
}

// saidLeftOut begins the feedback of a run whose checks fail with what they could not see.
func (l *loop) saidLeftOut(r *Run) string {
	if len(r.LeftOut) == 0 {
		return ""
	}
	held, _ := l.place.Held(r.ID)
	return fmt.Sprintf("left out: %s; kept in %s. Checks see what is committed: have git ignore such files, or escalate if one belongs to the work; a person allows it in .stig.cue, commit: allow: [\"GLOB\"].", listed(r.LeftOut), held)
}

// mostSearched is how many bytes of a file are looked through for credentials.
const mostSearched = 64 << 20

// mostPlaces is how many places a question names.
const mostPlaces = 30

// suspect has a person decide where a commit that is to land holds what looks like a
// credential, and nobody has said yet that it is none.
func (l *loop) suspect(ctx context.Context, r *Run, record *beads.Record) (observation, error) {
	if r.tree == nil {
		return "", nil
	}
	from, tip := r.tree.Landing()
	if from == tip {
		return "", nil // it landed before its loop was killed
	}
	places, err := l.credentials(ctx, r, record, from, tip)
	if err != nil || len(places) == 0 {
		return "", err
	}
	r.Why = "what is to land holds what looks like a credential: " + strings.TrimPrefix(places[0], "- ")
	more := ""
	if len(places) > mostPlaces {
		more = fmt.Sprintf("\n\nThere are %d more places.", len(places)-mostPlaces)
	}
	r.question = checkpoint.Question{Options: []string{checkpoint.NoSecret, beginAnew}, Text: fmt.Sprintf(
		"Commits of run %s of %s hold what looks like a credential, so that they do not land:\n\n%s%s\n\nIs it none? If it is one, revoke it where it was issued: its branch has it.\n%s",
		r.ID, l.name, strings.Join(places[:min(len(places), mostPlaces)], "\n"), more, l.where(ctx, r))}
	return sawCredential, nil
}

// beginAnew is the other option of the question about a credential.
const beginAnew = "reject it: the work begins anew without these commits"

// credentials lists, as items of Markdown, where commits brought in what looks like a
// credential or cannot be looked through, but for the places of which a person said that
// there is none. Commits that took it out again are no help: they land with the others.
func (l *loop) credentials(ctx context.Context, r *Run, record *beads.Record, from, tip string) (places []string, err error) {
	client := l.app.GitIn(r.tree.Dir)
	client.Trusted = true // workers ran in it
	versions, err := client.Versions(ctx, from, tip)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range exchanges(record) {
		if l.takes(e, checkpoint.NoSecret) {
			for line := range strings.Lines(e.Question.Text) {
				known[strings.TrimSpace(line)] = true
			}
		}
	}
	found, err := secretsOf(ctx, client, versions)
	for _, v := range versions {
		was := map[string]bool{}
		for _, blob := range v.Was {
			for _, s := range found[blob] {
				was[s.value] = true
			}
		}
		for _, s := range found[v.Blob] {
			place := fmt.Sprintf("- %s%s in commit %.12s: %s", workspace.Visible(visible.OneLine(v.Path)), s.line, v.Commit, s.kind)
			if !was[s.value] && !known[place] && !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return places, err
}

// inBlob is what looks like a credential in a blob.
type inBlob struct{ line, kind, value string }

// secretsOf finds what looks like credentials in files as commits left them, and, of those
// that have any, in what they were before.
func secretsOf(ctx context.Context, client git.Client, versions []git.FileVersion) (map[string][]inBlob, error) {
	found, seen := map[string][]inBlob{}, map[string]bool{}
	search := func(blobs []string) error {
		blobs = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(blobs))), func(blob string) bool { return seen[blob] || strings.Trim(blob, "0") == "" })
		return client.BlobsUpTo(ctx, blobs, mostSearched, func(blob string, text []byte, size int64) {
			seen[blob] = true
			if size > mostSearched {
				found[blob] = []inBlob{{kind: fmt.Sprintf("%d MB, more than is looked through", size>>20), value: blob}}
			} else if visible.MayHoldSecret(text) {
				whole := string(text)
				for _, s := range visible.Secrets(whole) {
					found[blob] = append(found[blob], inBlob{fmt.Sprintf(":%d", 1+strings.Count(whole[:s.Start], "\n")), s.Kind, whole[s.Start:s.End]})
				}
			}
		})
	}
	var now, before []string
	for _, v := range versions {
		now = append(now, v.Blob)
	}
	if err := search(now); err != nil {
		return nil, err
	}
	for _, v := range versions {
		if len(found[v.Blob]) > 0 {
			before = append(before, v.Was...)
		}
	}
	return found, search(before)
}

// isRejected reports whether the last answer on an issue rejects the commits of its branch for
// a credential that they still hold.
func (l *loop) isRejected(ctx context.Context, r *Run) (bool, error) {
	if r.Issue == "" || r.tree.Head == r.tree.Base {
		return false, nil
	}
	record, err := l.recordOf(r.Issue)
	if err != nil || record == nil {
		return false, err
	}
	said := exchanges(record)
	if len(said) == 0 {
		return false, nil
	}
	last := said[len(said)-1]
	options := signals.ReadQuestion(last.Question.Text).Options
	if last.Answer == nil || len(options) == 0 || options[0] != checkpoint.NoSecret || strings.HasPrefix(last.Answer.Text, checkpoint.NoSecret) {
		return false, nil
	}
	places, err := l.credentials(ctx, r, record, r.tree.Base, r.tree.Head)
	return len(places) > 0, err
}
