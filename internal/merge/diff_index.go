package merge

import (
	"crypto/sha256"
	"encoding/hex"

	"stig/internal/beads"
)

// Digest is a hash of a line or of a part: 16 hexadecimal digits, "" of
// nothing.
type Digest string

// PartName tells a part from the others of its issue.
type PartName struct {
	Kind Kind
	Name string
}

// Entry is what an index keeps of an issue: enough to see what of it changed or
// went, and none of its texts.
type Entry struct {
	Line   Digest // of the line's bytes
	Status string
	Parts  map[PartName]Digest
}

// Index says how a store stood, issue by issue.
type Index map[string]Entry

// EntryOf makes the entry of an issue. The issue itself is a part of it, so that
// one that is missing and one without parts differ.
func EntryOf(r *beads.Record) Entry {
	sum := sha256.Sum256(r.Bytes())
	e := Entry{Line: Digest(hex.EncodeToString(sum[:8])), Status: r.Text(beads.Status), Parts: map[PartName]Digest{}}
	id := r.Text(beads.ID)
	e.Parts[PartName{KindIssue, id}] = Part{KindIssue, id, id}.Digest()
	for _, p := range Parts(r) {
		e.Parts[PartName{p.Kind, p.Name}] = p.Digest()
	}
	return e
}

// IndexOf makes the index of those issues of a store; what the store lacks is
// not in it. Errors are those of beads.Issue.Record.
func IndexOf(f *beads.Snapshot, ids []string) (Index, error) {
	index := Index{}
	for _, id := range ids {
		at, ok := f.Index(id)
		if !ok {
			continue
		}
		r, err := f.At(at).Record()
		if err != nil {
			return nil, err
		}
		index[id] = EntryOf(r)
	}
	return index, nil
}
