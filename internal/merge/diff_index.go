package merge

import (
	"crypto/sha256"
	"encoding/hex"

	"stig/internal/beads"
)

// Digest is a hash of a line or a part: 16 hexadecimal digits, "" for nothing.
type Digest string

// PartName distinguishes a part from the others of its issue.
type PartName struct {
	Kind Kind
	Name string
}

// Entry is what an index stores of an issue: enough to see what changed or vanished, without
// its texts.
type Entry struct {
	Line   Digest // hash of the line
	Status string
	Parts  map[PartName]Digest
}

// Index is the state of a store, issue by issue.
type Index map[string]Entry

// EntryOf returns the entry of an issue. The issue itself is a part of it, so that a missing
// issue differs from one without parts.
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

// IndexOf returns the index of those issues of a store, without missing ones. Errors are those
// of beads.Issue.Record.
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
