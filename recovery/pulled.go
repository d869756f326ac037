package recovery

import (
	"bytes"
	"context"
	"errors"

	"stig/beads"
	"stig/diff"
	"stig/git"
)

// mostPulled bounds how many commits are read to see whether one took values back.
const mostPulled = 100

// Pulled implements Held. The journal of this clone does not say what was done in another,
// and who commits what another program wrote over does it here: so the reflog tells.
func (c Clone) Pulled(ctx context.Context, since string, ids []string, visit func(commit string, before, after diff.Index) bool) error {
	if c.Git.Dir == "" {
		return nil
	}
	changes, err := c.Git.History(ctx, c.Path, since)
	if _, none := errors.AsType[*git.RevisionError](err); none {
		return nil // no commit yet, or the one that was checked out then is gone
	}
	if err != nil || len(changes) == 0 {
		return err
	}
	madeHere, err := c.Git.MadeHere(ctx)
	if err != nil {
		return err
	}
	read := 0
	for _, change := range changes {
		if len(change.Before) != 1 || change.Before[0] == "" || change.After == "" || madeHere(change.Commit) {
			continue
		}
		if read++; read > mostPulled {
			return nil
		}
		var texts [][]byte
		err := c.Git.Blobs(ctx, []string{change.Before[0], change.After}, func(_ string, text []byte) { texts = append(texts, bytes.Clone(text)) })
		if err != nil {
			return err
		}
		before, after := indexIn(texts[0], ids), indexIn(texts[1], withoutOlder(ids, texts[0], texts[1]))
		if !visit(change.Commit, before, after) {
			return nil
		}
	}
	return nil
}

// withoutOlder leaves out the issues that have an earlier date than before: an old copy was
// written over them.
func withoutOlder(ids []string, before, after []byte) (list []string) {
	for _, id := range ids {
		was, is := beads.RecordIn(before, id), beads.RecordIn(after, id)
		if was == nil || is == nil {
			continue
		}
		from, known := was.Time(beads.UpdatedAt)
		if to, dated := is.Time(beads.UpdatedAt); known && dated && !to.Before(from) {
			list = append(list, id)
		}
	}
	return list
}

// leavePulled has what somebody took back in another clone, and committed, not count as
// lost. Comments, sections and whole issues are not taken back: these go by accident.
func (f *finder) leavePulled(findings []Finding) error {
	open := map[string][]*Finding{} // by the commit on which they were written
	for i := range findings {
		switch finding := &findings[i]; {
		case finding.State != Lost || finding.Record.Seen:
		case finding.Kind == diff.Key, finding.Kind == diff.Label, finding.Kind == diff.Edge, finding.Kind == diff.Signal:
			open[finding.Record.Head] = append(open[finding.Record.Head], finding)
		}
	}
	for since, list := range open {
		var ids []string
		for _, finding := range list {
			ids = append(ids, finding.ID)
		}
		err := f.Held.Pulled(f.ctx, since, ids, func(commit string, before, after diff.Index) bool {
			left := list[:0]
			for _, finding := range list {
				was, had := before[finding.ID]
				is, has := after[finding.ID]
				part := name{finding.ID, diff.PartName{Kind: finding.Kind, Name: finding.Name}}
				if !had || !has || was.Parts[part.part] == is.Parts[part.part] {
					left = append(left, finding)
				} else if was.Parts[part.part] == finding.digest && is.Parts[part.part] == f.now(part) {
					finding.State, finding.Where = Edited, "commit "+commit
				}
			}
			list = left
			return len(list) > 0
		})
		if err != nil {
			return err
		}
	}
	return nil
}
