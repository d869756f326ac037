package recovery

import (
	"errors"

	"stig/beads"
	"stig/diff"
	"stig/live"
)

// InFile lists what a file beside the store holds and the store lacks: a
// version of the store that another program wrote and a write of stig took the
// name from. Where the store has anything in the place of a value, that counts.
func InFile(store *beads.File, kept beads.Leftover) (findings []Finding, err error) {
	file, err := beads.Read(beads.Store{Path: kept.Path, Dir: store.Store().Dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	record := live.Record{At: kept.Modified}
	for i, issue := range file.All() {
		if counts, _ := file.Index(issue.ID); counts != i {
			continue
		}
		r, err := issue.Record()
		if err != nil {
			return nil, err
		}
		index, err := diff.IndexOf(store, []string{issue.ID})
		if err != nil {
			return nil, err
		}
		there, has := index[issue.ID]
		if !has {
			line := diff.Part{Kind: diff.Issue, Name: issue.ID, Text: string(r.Bytes())}
			findings = append(findings, Finding{Part: line, ID: issue.ID, State: Lost, Where: kept.Path, Record: record})
			continue
		}
		if there.Line == diff.EntryOf(r).Line {
			continue
		}
		for _, p := range diff.Parts(r) {
			if there.Parts[diff.PartName{Kind: p.Kind, Name: p.Name}] == "" {
				findings = append(findings, Finding{Part: p, ID: issue.ID, State: Lost, Where: kept.Path, Record: record})
			}
		}
	}
	return findings, nil
}
