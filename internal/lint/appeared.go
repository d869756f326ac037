package lint

import (
	"bytes"
	"slices"

	"stig/internal/beads"
)

// ofNotes are the judges that need only the issue itself and whose verdict an edit of its notes
// may change.
var ofNotes = []judge{malformed, values, escalation, estimate, merged, notStarted, unfounded}

// Appeared returns what an edit of the notes of an issue introduced: the diagnostics of the
// issue after the change that it did not have before. It reads only the two lines of the
// change.
func Appeared(p beads.Place, c beads.Change, rules Rules) ([]Diagnostic, error) {
	before, err := judgeLine(p, c.Before, rules)
	if err != nil {
		return nil, err
	}
	after, err := judgeLine(p, c.After, rules)
	if err != nil {
		return nil, err
	}
	appeared := slices.DeleteFunc(after, func(d Diagnostic) bool {
		return slices.ContainsFunc(before, func(was Diagnostic) bool { return was.Rule == d.Rule && was.Message == d.Message })
	})
	for i := range appeared {
		appeared[i].Line = c.Line
	}
	return appeared, nil
}

// judgeLine judges the notes of one line, as a store of its own; an empty line has no
// diagnostics.
func judgeLine(p beads.Place, line []byte, rules Rules) ([]Diagnostic, error) {
	f, err := beads.NewSnapshot(p, beads.Source{Lines: bytes.NewReader(line), Size: int64(len(line))})
	if err != nil {
		return nil, err
	}
	found, err := inspect(f, nil, rules, ofNotes, nil)
	return inOrder(found), err
}
