package journal

import (
	"bytes"
	"slices"

	"stig/internal/beads"
	"stig/internal/merge"
)

// weigh takes the history of git into account: what it took away or closed is not
// another program's doing, and what it brought is missed where it is gone already.
func (found *Losses) weigh(f *lossFinder) error {
	current, err := f.Past.New()
	if err != nil {
		return err
	}
	brought := f.broughtAndGone(current)
	if len(found.Gone)+len(found.Closed)+len(brought) == 0 {
		return nil
	}
	former, err := f.Past.Old()
	if err != nil {
		return err
	}
	var ids []string
	for _, g := range slices.Concat(found.Gone, brought) {
		ids = append(ids, g.ID)
	}
	for _, c := range found.Closed {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	was, is, seen := issuesIn(former, ids), issuesIn(current, ids), issuesIn(f.Before, ids)
	merged, err := f.lostInMerge(ids)
	if err != nil {
		return err
	}
	found.Gone = slices.DeleteFunc(found.Gone, func(g Gone) bool { return holds(was, g) && !holds(is, g) && !merged(g) })
	for i := range found.Gone {
		found.Gone[i].dated = found.Gone[i].dated && !merged(found.Gone[i])
	}
	found.Closed = slices.DeleteFunc(found.Closed, func(c Closed) bool {
		return is[c.ID] != nil && is[c.ID].Text(beads.Status) == beads.StatusClosed
	})
	for _, g := range brought {
		if !g.replaced && !holds(was, g) && !holds(seen, g) {
			found.Gone = append(found.Gone, g)
		}
	}
	return nil
}

// broughtAndGone lists what the commit that is checked out holds, and the store no
// more.
func (f *lossFinder) broughtAndGone(current []byte) (list []Gone) {
	if bytes.Equal(current, f.Now) {
		return nil
	}
	there := &lossFinder{question: f.question, wrote: f.wrote}
	there.compare(current)
	for _, id := range there.ids {
		list = append(list, there.gone(id)...)
	}
	return list
}

// lostInMerge finds what a merge that is checked out took from the side that was: what
// that side wrote since the sides parted. What the other side took away went on purpose.
func (f *lossFinder) lostInMerge(ids []string) (lost func(Gone) bool, err error) {
	ours, base, err := f.Past.Merge()
	mine, start := issuesIn(ours, ids), issuesIn(base, ids)
	return func(g Gone) bool {
		g.replaced = g.Kind != merge.KindIssue
		return holds(mine, g) && !holds(start, g)
	}, err
}

// holds reports whether one of those issues holds a part; of one that was replaced, with
// the text that it had.
func holds(issues map[string]*beads.Record, g Gone) bool {
	r := issues[g.ID]
	if r == nil || g.Kind == merge.KindIssue {
		return r != nil
	}
	part, there := merge.FindPart(merge.Parts(r), g.Kind, g.Name)
	return there && (!g.replaced || part.Same(g.Was))
}
