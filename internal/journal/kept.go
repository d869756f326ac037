package journal

import (
	"errors"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/internal/store/jsonl"
)

// InFile means that a file beside the store has the value: see InFile.
func (f Finding) InFile() bool { return f.Record.Seq == "" }

// InFile lists what a file beside the store has and the store lacks: another program's version
// of the store, which lost its name to a write by stig. A value is Lost if its place in the
// store is empty, and Edited if something else is there: the file does not say which is newer.
func InFile(store *beads.Snapshot, kept jsonl.Leftover) (findings []Finding, err error) {
	file, err := jsonl.Read(beads.Place{Path: kept.Path, Dir: store.Place().Dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	record := clone.Record{At: kept.Modified}
	for i, issue := range file.All() {
		if counts, _ := file.Index(issue.ID); counts != i {
			continue
		}
		r, err := issue.Record()
		if err != nil {
			return nil, err
		}
		index, err := merge.IndexOf(store, []string{issue.ID})
		if err != nil {
			return nil, err
		}
		there, has := index[issue.ID]
		if !has {
			line := merge.Part{Kind: merge.KindIssue, Name: issue.ID, Text: string(r.Bytes())}
			findings = append(findings, Finding{Part: line, ID: issue.ID, State: Lost, Where: kept.Path, Record: record})
			continue
		}
		if there.Line == merge.EntryOf(r).Line {
			continue
		}
		for _, p := range merge.Parts(r) {
			finding := Finding{Part: p, ID: issue.ID, State: Lost, Where: kept.Path, Record: record}
			switch there.Parts[merge.PartName{Kind: p.Kind, Name: p.Name}] {
			case p.Digest():
				continue
			case "":
			default:
				finding.State = Edited
			}
			findings = append(findings, finding)
		}
	}
	return findings, nil
}
