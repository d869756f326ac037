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

// beginClean moves what runs of other actors left uncommitted out of a run's work tree, or its
// whole branch if a person rejected that because of a credential. What this actor left stays.
// It reports whether the tree contains no work, and lists leftovers of earlier runs for the
// prompt.
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
			there.Files = nil // written by setup
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

// lastIn returns the last run in the work tree of a run; if none is known, a run of actor
// "unknown".
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

// setAside sets the work tree of a run aside as leftovers of another run, with its branch if
// that was rejected, and creates a new one.
func (l *loop) setAside(ctx context.Context, r *Run, last clone.Run, rejected bool) error {
	err := l.aside(ctx, r, last, rejected, fmt.Sprintf("run %s of %s left uncommitted changes; they", last.ID, workspace.Visible(last.Actor)))
	if err == nil {
		r.tree, err = git.PrepareWorktree(ctx, l.treesOf(r), r.tree.Issue)
	}
	return err
}

// aside removes the work tree of a run and keeps its content as leftovers of the last run in it,
// with its branch if branch is set. what names that content in messages.
func (l *loop) aside(ctx context.Context, r *Run, last clone.Run, branch bool, what string) error {
	held, err := l.holdDebris(ctx, r, last)
	if err != nil {
		return err
	}
	kept, err := r.tree.SetAside(ctx, git.Aside{Run: last.ID, Actor: last.Actor, Held: held, Branch: branch})
	if err == nil {
		err = l.place.PruneHeld(last.ID)
	}
	switch {
	case kept.Branch != "":
		l.tell(r.Issue, "%s were moved to branch %s: %s", what, kept.Branch, listed(kept.Files))
	case kept.Commit != "":
		l.tell(r.Issue, "%s were moved to commit %.12[2]s: %s; the issue has the maximum number of branches for leftovers, so type git branch NAME %.12[2]s to keep it",
			what, kept.Commit, listed(kept.Files))
		r.found = append(r.found, fmt.Sprintf("Commit %.12s has leftovers of %s (%s), which are not in this work tree: %s.", kept.Commit, last.ID, last.Actor, listed(kept.Files)))
	}
	return err
}

// holdDebris reports and records the files to be moved out of a work tree that another run
// left, and returns the directory for them.
func (l *loop) holdDebris(ctx context.Context, r *Run, last clone.Run) (held string, err error) {
	left, err := r.tree.Omitted(ctx)
	if err != nil {
		return "", err
	}
	if held, err = l.place.Held(last.ID); err != nil || len(left) == 0 {
		return held, err
	}
	l.tell(r.Issue, "run %s of %s left files that cannot be committed; they were moved to %s: %s", last.ID, workspace.Visible(last.Actor), held, listed(left))
	if last.Started.IsZero() { // an unknown run
		leftOut(&r.Run, left)
		return held, l.record(&r.Run)
	}
	leftOut(&last, left)
	return held, l.record(&last)
}

// findLeftovers adds to the prompt of a run what others left of its issue.
func (l *loop) findLeftovers(ctx context.Context, r *Run) error {
	if r.Issue == "" {
		return nil
	}
	all, err := r.tree.Leftovers(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		r.found = append(r.found, fmt.Sprintf("Branch %s has %s, which are not in this work tree: %s. Use what helps, for example with git checkout %[1]s -- FILE.", one.Branch, one.Subject, listed(one.Files)))
	}
	runs, _, err := l.runs()
	for _, e := range runs {
		if e.Issue != r.Issue || e.ID == r.ID || len(e.LeftOut) == 0 {
			continue
		}
		if held, err := l.place.Held(e.ID); err == nil && workspace.Exists(held) {
			r.found = append(r.found, fmt.Sprintf("Run %s of %s left files that cannot be committed; they are in %s: %s.", e.ID, e.Actor, held, listed(e.LeftOut)))
		}
	}
	return err
}

// ownLeftovers tells an actor what its last run left in the work tree.
func ownLeftovers(run string, there git.Uncommitted) string {
	text := fmt.Sprintf("Your run %s left uncommitted changes, which are still here: %s.", run, listed(there.Files))
	if len(there.Files) == 0 {
		text = fmt.Sprintf("Your run %s left the work tree on another branch.", run)
	}
	if there.Doing != "" {
		text += " git is in the middle of a " + there.Doing + "."
	}
	return text
}

// mostListed is the maximum number of names on a line.
const mostListed = 8

// listed returns the first names of a list and the number of the others.
func listed[T any](names []T) string {
	var all []string
	for _, name := range names {
		all = append(all, workspace.Visible(visible.OneLine(fmt.Sprint(name))))
	}
	return visible.Some(all, mostListed)
}

// mostLeftOut is the maximum number of left-out files in a record.
const mostLeftOut = 50

// leftOut records the files left out of a run's commit.
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

// holdBack moves the files left out of a run's commit out of the work tree, so that the checks
// see only what is committed.
func (l *loop) holdBack(r *Run) error {
	if r.tree == nil || len(r.tree.LeftOut) == 0 {
		return nil
	}
	held, err := l.place.Held(r.ID)
	if err != nil {
		return err
	}
	if err := l.record(&r.Run); err != nil { // the record must name the files before they are moved
		return err
	}
	l.tell(r.Issue, "left out of the commit and moved to %s: %s", held, listed(r.LeftOut))
	if err := r.tree.MoveOut(r.tree.LeftOut, held); err != nil {
		return err
	}
	return l.place.PruneHeld(r.ID)
}

// saidLeftOut returns the start of the feedback for failed checks: the files that they could
// not see.
func (l *loop) saidLeftOut(r *Run) string {
	if len(r.LeftOut) == 0 {
		return ""
	}
	held, _ := l.place.Held(r.ID)
	return fmt.Sprintf("left out: %s; kept in %s. Checks see only what is committed: let git ignore such files, or escalate if one belongs to the work; a person allows it in .stig.cue, commit: allow: [\"GLOB\"].", listed(r.LeftOut), held)
}

// mostSearched is the maximum size in bytes of a file that is searched for credentials.
const mostSearched = 64 << 20

// mostPlaces is the maximum number of places in a question.
const mostPlaces = 30

// suspect sets a question to a person if the commits to land contain what looks like a
// credential, unless a person has already said that it is not one.
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
	r.Why = "the commits to land contain what looks like a credential: " + strings.TrimPrefix(places[0], "- ")
	more := ""
	if len(places) > mostPlaces {
		more = fmt.Sprintf("\n\nThere are %d more places.", len(places)-mostPlaces)
	}
	r.question = checkpoint.Question{Options: []string{checkpoint.NoSecret, beginAnew}, Text: fmt.Sprintf(
		"Commits of run %s of %s contain what looks like a credential, so they do not land:\n\n%s%s\n\nIs it a false alarm? If it is a real one, revoke it where it was issued: its branch has it.\n%s",
		r.ID, l.name, strings.Join(places[:min(len(places), mostPlaces)], "\n"), more, l.where(ctx, r))}
	return sawCredential, nil
}

// beginAnew is the second option of the question about a credential.
const beginAnew = "reject it: the work begins anew without these commits"

// credentials returns, as Markdown items, where commits added what looks like a credential or
// cannot be searched. It omits places that a person confirmed to have none. A later commit that
// removes a credential does not help, since both commits land.
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

// secretsOf finds what looks like credentials in the files that commits changed, and, for files
// with any, in their earlier versions.
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

// isRejected reports whether the last answer on an issue rejects the commits of its branch
// because of a credential that they still contain.
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
