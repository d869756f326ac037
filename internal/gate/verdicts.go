package gate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"stig/internal/git"
)

// Verdicts stores the last verdict of each issue in a directory in git's own: the folder
// "verdicts" of Place.Own.
//
// Each has a checksum, so that a verdict does not count if it was edited by hand, belongs to
// another issue or format, or is incomplete. The checksum is not a signature: it stops an
// assistant that edits the file to get on, not somebody who computes the checksum for a
// forgery. Whoever can write there can also replace the programs that the checks run. What must
// not be forged should run again where the forger has no access: in CI.
type Verdicts struct{ Dir string }

// kept is the file of a verdict. The checksum covers the raw bytes of the verdict.
type kept struct {
	Format   string          `json:"format"`
	Checksum string          `json:"checksum"`
	Verdict  json.RawMessage `json:"verdict"`
}

// keptFormat is part of the checksum's input.
const keptFormat = "stig verdict 1"

func (k kept) sum() string { return Hash(keptFormat + "\n" + string(k.Verdict)) }

// Save atomically stores a verdict in place of the previous one, even one that did not pass.
func (s Verdicts) Save(v *Verdict) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	k := kept{Format: keptFormat, Verdict: text}
	k.Checksum = k.sum()
	file, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return replace(s.file(v.issue), append(file, '\n'))
}

// Fresh returns the verdict for an issue if it passed and still counts: neither the criteria
// nor the tree have changed since, and what ran is what Plan makes of the criteria now. Another
// version of stig, or a program installed since, may find more in them. Without a repository
// none counts, since nothing shows what has changed.
func (s Verdicts) Fresh(id, acceptance string, plan []Check, tree git.Tree) (*Verdict, bool) {
	r, ok := s.last(id)
	if !ok || tree.State == "" || r.Hash != Hash(acceptance) || r.Tree != tree || !r.ran(plan) {
		return nil, false
	}
	v := r.verdict()
	v.notRun = NotRun(plan)
	return v, v.Passed()
}

// Forget removes the verdict for an issue.
func (s Verdicts) Forget(id string) error {
	if err := os.Remove(s.file(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Failed returns the last verdict for an issue if it did not pass, whatever has changed since.
func (s Verdicts) Failed(id string) (*Verdict, bool) {
	v, ok := s.Last(id)
	return v, ok && !v.Passed()
}

// Last returns the last verdict for an issue, whatever has changed since, to show it. Fresh
// returns the one that counts.
func (s Verdicts) Last(id string) (*Verdict, bool) {
	r, ok := s.last(id)
	if !ok {
		return nil, false
	}
	return r.verdict(), true
}

// last reads the record of an issue.
func (s Verdicts) last(id string) (r record, ok bool) {
	text, err := os.ReadFile(s.file(id))
	if err != nil {
		return r, false
	}
	var k kept
	if json.Unmarshal(text, &k) != nil || k.Format != keptFormat || k.Checksum != k.sum() {
		return r, false
	}
	return r, json.Unmarshal(k.Verdict, &r) == nil && r.ID == id
}

// ran reports whether the checks of the record are those that a plan requires, in order.
func (r record) ran(plan []Check) bool {
	asked := slices.DeleteFunc(slices.Clone(plan), func(c Check) bool { return !c.Asked() })
	return slices.EqualFunc(r.Checks, asked, func(o Outcome, c Check) bool {
		return o.Text == c.Text && o.Class == c.Class && o.Expect == c.Expect
	})
}

func (s Verdicts) file(id string) string { return filepath.Join(s.Dir, fileName(id)+".json") }
