package traces

import (
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
)

// Patience is how long an edit without a result may be missing from the store. After that its
// writer must have ended.
const Patience = time.Second

// AppliedRecords returns the records that a reading of the store contains, and how many are
// left. stig writes the journal first and then the store, one edit after the other. So the
// reading contains all records up to the last one that is visible in the lines or settled: it
// failed, was written before the store was read, or has no result for longer than Patience. A
// record without a result that is not visible blocks those after it until it is settled; then
// it is left out.
func AppliedRecords(records []clone.Record, store *beads.Snapshot, settled func(clone.Record) bool) (applied []clone.Record, rest int) {
	last := len(records)
	for ; last > 0; last-- {
		if r := records[last-1]; settled(r) || holds(store, r) {
			break
		}
	}
	for n, r := range records[:last] {
		if r.Result != clone.Unfinished || holds(store, r) {
			applied = append(applied, r)
			continue
		}
		if !settled(r) {
			return applied, len(records) - n
		}
	}
	return applied, len(records) - last
}

// holds reports whether the store has the state that a record left.
func holds(store *beads.Snapshot, r clone.Record) bool {
	parts := map[string][]merge.Part{}
	for _, c := range r.Changes {
		at, there := store.Index(c.Issue)
		if c.Kind == string(merge.KindIssue) {
			if there == (c.Now == "") {
				return false
			}
			continue
		}
		if !there {
			return false
		}
		if parts[c.Issue] == nil {
			record, err := store.At(at).Record()
			if err != nil {
				return false
			}
			parts[c.Issue] = merge.Parts(record)
		}
		now, _ := merge.FindPart(parts[c.Issue], merge.Kind(c.Kind), c.Name)
		want := merge.Part{Kind: merge.Kind(c.Kind), Name: c.Name, Text: c.Now}.Digest()
		if c.Hash {
			want = merge.Digest(c.Now)
		}
		if now.Digest() != want {
			return false
		}
	}
	return true
}
