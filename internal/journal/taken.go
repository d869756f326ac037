package journal

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/merge"
)

// How many commits are read, of the latest, to see whether one took values back: a look
// that comes with other commands must not take seconds.
const (
	mostTaken      = 500
	mostTakenQuick = 50
)

// ahead is how far the date of an issue may be ahead of the clock: of several edits in one
// second each has a date of its own.
const ahead = time.Minute

// Commits implements Held. The journal of this clone does not say what was done in another,
// and who commits what another program wrote over does it here: so the reflog tells.
func (c Clone) Commits(ctx context.Context, since string, most int, written map[string]time.Time, visit func(before, after merge.Index) bool) error {
	if c.Git.Dir == "" {
		return nil
	}
	changes, err := c.Git.History(ctx, c.Path, since)
	if fault.Is(err, fault.NoRevision) {
		return nil // no commit yet, or the one that was checked out then is gone
	}
	if err != nil || len(changes) == 0 {
		return err
	}
	madeHere, err := c.Git.MadeHere(ctx)
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c beads.Version) bool { return len(c.Before) != 1 || c.Before[0] == "" || c.After == "" })
	for batch := range slices.Chunk(changes[:min(len(changes), most)], atOnce) {
		texts := map[string]map[string]*beads.Record{} // by blob
		err := c.Git.Blobs(ctx, beads.Names(batch), func(blob string, text []byte) { texts[blob] = recordsIn(text, written) })
		if err != nil {
			return err
		}
		for _, change := range batch {
			before, after := dated(texts[change.Before[0]], texts[change.After], written, madeHere(change.Commit), reverts(change))
			if !visit(before, after) {
				return nil
			}
		}
	}
	return nil
}

// recordsIn gives the issues of those ids in the text of a store.
func recordsIn(text []byte, ids map[string]time.Time) map[string]*beads.Record {
	records := map[string]*beads.Record{}
	for id := range ids {
		if r := beads.RecordIn(text, id); r != nil {
			if own, err := beads.ParseRecord(bytes.Clone(r.Bytes())); err == nil { // the text does not last
				records[id] = own
			}
		}
	}
	return records
}

// reverts reports whether a commit says, as git revert and forges have it, that it takes back
// another: that is meant, though it sets issues to an earlier date as an old copy would.
func reverts(v beads.Version) bool { return strings.HasPrefix(v.Subject, `Revert "`) }

// dated indexes the issues that somebody wrote in a commit: with no earlier date than before,
// and, in one that was made here, with a later one than the last edit of stig; or all, where
// the commit is meant as it is.
func dated(was, is map[string]*beads.Record, written map[string]time.Time, here, meant bool) (before, after merge.Index) {
	before, after = merge.Index{}, merge.Index{}
	for id, from := range was {
		to, there := is[id]
		if !there {
			continue
		}
		old, known := from.Time(beads.UpdatedAt)
		now, has := to.Time(beads.UpdatedAt)
		if meant || known && has && !now.Before(old) && (!here || now.After(written[id].Add(ahead))) {
			before[id], after[id] = merge.EntryOf(from), merge.EntryOf(to)
		}
	}
	return before, after
}

// Merged implements Held.
func (c Clone) Merged(ctx context.Context, since string) bool {
	if c.Git.Dir == "" {
		return false
	}
	head, err := c.Git.Commit(ctx, "HEAD")
	if err == nil && head == since || err != nil && since == "" {
		return false
	}
	result, err := c.Git.Run(ctx, "rev-list", "--merges", "--max-count=1", since+"..HEAD")
	return since == "" || err != nil || result.Exit != 0 || len(result.Stdout) > 0 || !c.Ancestor(ctx, since)
}

// leaveTaken has what somebody took back on purpose not count as lost: in another clone, with
// git revert, or here by another program that gave the issue a later date. Comments, sections and whole
// issues are not taken back: these go by accident, and what goes with them does.
func (f *finder) leaveTaken(findings []Finding) error {
	written := f.written()
	open := map[string][]*Finding{} // by the commit on which they were written
	for i := range findings {
		finding := &findings[i]
		if finding.State != Lost || finding.Record.Seen {
			continue
		}
		switch finding.Kind {
		case merge.Key, merge.Label, merge.Edge, merge.Signal:
			open[finding.Record.Head] = append(open[finding.Record.Head], finding)
		default:
			written[finding.ID] = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // no date says that this was meant
		}
	}
	most := mostTaken
	if f.Quick {
		most = mostTakenQuick
	}
	for since, list := range open {
		of := map[string]time.Time{}
		for _, finding := range list {
			of[finding.ID] = written[finding.ID]
		}
		left := list
		err := f.Held.Commits(f.ctx, since, most, of, func(before, after merge.Index) bool {
			left = f.leaveCommitted(left, before, after)
			return len(left) > 0
		})
		if err != nil {
			return err
		}
		merged := f.Held.Merged(f.ctx, since)
		for _, finding := range left {
			if finding.Kind == merge.Key && !merged && f.later(finding.ID, written[finding.ID]) {
				finding.State = Edited
			}
		}
	}
	return nil
}

// leaveCommitted judges the findings that a commit changed, and gives the others.
func (f *finder) leaveCommitted(list []*Finding, before, after merge.Index) (left []*Finding) {
	for _, finding := range list {
		part := merge.PartName{Kind: finding.Kind, Name: finding.Name}
		was, is := before[finding.ID].Parts[part], after[finding.ID].Parts[part]
		switch {
		case was == is:
			left = append(left, finding)
		case was == finding.digest && is == f.now(name{finding.ID, part}):
			finding.State = Edited
		}
	}
	return left
}

// written says when stig last wrote to the issues.
func (f *finder) written() map[string]time.Time {
	last := map[string]time.Time{}
	for _, r := range f.Journal.Records {
		if r.Result == clone.Failed || r.Forgets || r.Seen {
			continue
		}
		for _, c := range r.Changes {
			if r.At.After(last[c.Issue]) {
				last[c.Issue] = r.At
			}
		}
	}
	return last
}

// later reports whether somebody else than stig wrote to an issue after stig did.
func (f *finder) later(id string, written time.Time) bool {
	at, there := f.File.Index(id)
	if !there {
		return false
	}
	r, err := f.File.At(at).Record()
	if err != nil {
		return false
	}
	date, known := r.Time(beads.UpdatedAt)
	return known && date.After(written.Add(ahead))
}
