package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
)

// VersionOf names a line of an issue by its content: its parts and its updated_at, in any
// spelling. nil is the absent line, "".
func VersionOf(r *beads.Record) string {
	if r == nil {
		return ""
	}
	var said []string
	for part, digest := range merge.EntryOf(r).Parts {
		said = append(said, string(part.Kind)+"\x00"+part.Name+"\x00"+string(digest)+"\n")
	}
	slices.Sort(said)
	sum := sha256.New()
	for _, one := range append(said, r.Text(beads.ID), "\n", dateOf(r).Format(time.RFC3339)) {
		sum.Write([]byte(one))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// dateOf returns updated_at to the second; zero if there is none.
func dateOf(r *beads.Record) time.Time {
	if r == nil {
		return time.Time{}
	}
	at, _ := r.Time(beads.UpdatedAt)
	return at.UTC().Truncate(time.Second)
}

// VersionBetween names the lines of an issue before and after an edit; either may be nil.
func VersionBetween(id string, before, after *beads.Record) clone.Version {
	return clone.Version{Issue: id, Was: VersionOf(before), Now: VersionOf(after), At: dateOf(after)}
}

// Merged names the lines of the issues that both sides of a merge changed differently, and of
// those it renamed: their result comes from both sides. An issue that one side alone changed
// keeps its line. renamed are the lines of those with another id.
func Merged(base, ours, theirs, result []byte) (list []clone.Version, renamed []*beads.Record) {
	our := RowsOf(ours)
	ids, mine, others := bothIn(our, RowsOf(theirs))
	_, dropped, made := bothIn(our, RowsOf(result))
	b := issuesIn(base, ids)
	for _, id := range ids {
		o, t, r := mine[id], others[id], made[id]
		if r == nil && dropped[id] == nil {
			r = o // it stayed as it was
		}
		if o == nil || t == nil || r == nil || !o.Origin().Together(t.Origin()) || same(b[id], o) || same(b[id], t) {
			continue
		}
		v := VersionBetween(id, o, r)
		v.Other, v.Base = VersionOf(t), VersionOf(b[id])
		list = append(list, v)
	}
	for id, r := range made {
		if mine[id] != nil || others[id] != nil || !beads.IsRenamed(id) {
			continue
		}
		for _, side := range []map[string]*beads.Record{mine, others} {
			for former, was := range side {
				if was.Origin().Same(r.Origin()) && was.Origin().Rename(former, func(string) bool { return false }) == id {
					v := VersionBetween(id, nil, r)
					v.Other, v.Former = VersionOf(was), former
					list, renamed = append(list, v), append(renamed, r)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b clone.Version) int { return cmp.Compare(a.Issue, b.Issue) })
	return list, renamed
}

// bothIn returns the issues whose lines differ in two texts.
func bothIn(a, b Rows) (ids []string, inA, inB map[string]*beads.Record) {
	gone, come := differing(a, b)
	ids, inA = records(gone)
	_, inB = records(come)
	return ids, inA, inB
}

// same reports whether two lines have the same content; nil is no line.
func same(a, b *beads.Record) bool { return VersionOf(a) == VersionOf(b) }
