package journal

import (
	"context"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/signals"
)

// State is what became of a value that stig wrote and the store lacks.
type State string

const (
	Lost       State = "lost"       // nothing explains that it is gone
	Elsewhere  State = "elsewhere"  // another branch, work tree or a stash holds it
	Edited     State = "edited"     // something else was written in its place since
	Dropped    State = "dropped"    // its branch was removed, or never held it in a commit
	Unfinished State = "unfinished" // its writer ended before the store was seen to hold it
)

// Finding is one value that stig wrote and the store lacks, or that it took away
// and the store has again.
type Finding struct {
	merge.Part        // what is missing
	Hidden     bool   // the journal kept a hash of the text, which is "" here
	ID         string // of the issue
	State      State
	Where      string // what holds it, for Elsewhere
	Record     clone.Record
	digest     merge.Digest   // of the text
	replaced   []merge.Digest // what may stand in its place
}

// Removed reports whether the edit took the part away.
func (f Finding) Removed() bool { return f.digest == "" && f.Text == "" }

// Question is what Find needs.
type Question struct {
	Place   clone.Place
	Journal clone.Journal
	File    *beads.Snapshot // the store as it is
	Held    Held            // what git and other work trees hold
	Quick   bool            // leave out what was written on other branches and in other work trees
}

// Held says what is held outside of the store. It is asked only about values that the store
// lacks.
type Held interface {
	// Reachable indexes issues in the commits reachable from HEAD that are not
	// older than a record, the latest first, until visit returns false.
	Reachable(ctx context.Context, since clone.Record, ids []string, visit func(merge.Index) bool) error
	// Outside indexes issues in stashes, in other work trees and at the tips of
	// branches that HEAD does not hold.
	Outside(ctx context.Context, ids []string, visit func(where string, there merge.Index)) error
	// Head indexes issues in the commit that is checked out.
	Head(ctx context.Context, ids []string) (merge.Index, error)
	// Deleted reports which of the issues were deleted on purpose.
	Deleted(ctx context.Context, ids []string) (map[string]bool, error)
	// Ancestor reports whether a commit is an ancestor of HEAD, or is HEAD.
	Ancestor(ctx context.Context, commit string) bool
	// Commits indexes issues before and after each commit with one parent that HEAD has
	// and the commit since has not, the latest first and so many at most, until visit returns
	// false. Of a commit they are those that somebody wrote in it: in another clone, or here by another
	// program, after stig had written to them. Of one that reverts another they are all.
	Commits(ctx context.Context, since string, most int, written map[string]time.Time, visit func(before, after merge.Index) bool) error
	// Merged reports whether HEAD has a merge that the commit since has not, or was moved
	// otherwise than by commits.
	Merged(ctx context.Context, since string) bool
	// Branch reports whether there is a branch of that name.
	Branch(ctx context.Context, name string) bool
}

// name identifies a part among those of all issues.
type name struct {
	id   string
	part merge.PartName
}

// step is one value that a record wrote into a part.
type step struct {
	record clone.Record
	clone.Change
}

// finder works out the findings of one question.
type finder struct {
	Question
	ctx     context.Context
	names   []name // in the order in which the journal first has them
	chains  map[name][]step
	filled  map[name][]merge.Digest // defaults that are not in the chains
	current merge.Index
	reached map[name]map[string]bool
	// branches are those that were asked for, and whether they are there
	branches map[string]bool
}

// Find lists the values that stig wrote, or that a session saw, and the store lacks.
//
// A value is Lost when all of these hold: it was written in this work tree on the branch
// that is checked out now, or a commit reachable from HEAD held it; its place is empty, or
// again holds a value that it had replaced; no later edit of stig removed it, and nobody
// reverted it on purpose (see leaveTaken); and HEAD holds it, or no stash, other work tree
// or branch tip outside of HEAD does. A removal is lost when it was made here, and the place
// again holds a value that it had removed. Values are listed by issue, in the order of the
// journal.
func Find(ctx context.Context, q Question) ([]Finding, error) {
	f := &finder{Question: q, ctx: ctx, chains: map[name][]step{}, filled: map[name][]merge.Digest{}, branches: map[string]bool{}}
	f.link()
	f.dropFilled()
	var err error
	if f.current, err = merge.IndexOf(q.File, f.issues()); err != nil {
		return nil, err
	}
	if !q.Quick {
		if err := f.reach(); err != nil {
			return nil, err
		}
	}
	var findings []Finding
	for _, n := range f.names {
		if finding, ok := f.judge(n); ok {
			findings = append(findings, finding)
		}
	}
	findings, err = f.withoutDeleted(withoutLines(findings))
	if err == nil {
		err = f.lookOutside(findings)
	}
	if err == nil {
		err = f.leaveTaken(findings)
	}
	f.leaveState(findings)
	slices.SortStableFunc(findings, byFirst(findings))
	return findings, err
}

// link lists the steps of each part. A new line of an issue is a step of each
// part in it, too.
func (f *finder) link() {
	for _, r := range f.Journal.Records {
		if r.Result == clone.Failed {
			continue
		}
		for _, c := range r.Changes {
			f.add(r, c)
			if r.Forgets && c.Kind == string(merge.KindIssue) {
				f.forget(r, c.Issue)
			}
			if c.Kind != string(merge.KindIssue) || c.Hash || c.Now == "" {
				continue
			}
			line, err := beads.ParseRecord([]byte(c.Now))
			if err != nil {
				continue
			}
			for _, p := range merge.Parts(line) {
				f.add(r, clone.Change{Issue: c.Issue, Kind: string(p.Kind), Name: p.Name, Now: p.Text})
			}
		}
	}
}

// forget adds a step that forgets to each part of an issue.
func (f *finder) forget(r clone.Record, id string) {
	for _, n := range f.names {
		if n.id == id && n.part.Kind != merge.KindIssue {
			f.add(r, clone.Change{Issue: id, Kind: string(n.part.Kind), Name: n.part.Name})
		}
	}
}

func (f *finder) add(r clone.Record, c clone.Change) {
	n := name{c.Issue, merge.PartName{Kind: merge.Kind(c.Kind), Name: c.Name}}
	if f.chains[n] == nil {
		f.names = append(f.names, n)
	}
	f.chains[n] = append(f.chains[n], step{r, c})
}

// dropFilled drops from the ends of chains the defaults that an edit wrote when it found no
// signal table and made one: nobody asked for them, and if a row had another value before,
// that value was lost with the table.
func (f *finder) dropFilled() {
	for n, chain := range f.chains {
		end := len(chain)
		for end > 0 && chain[end-1].fills() {
			end--
		}
		if end == 0 || end == len(chain) || chain[end-1].Now == "" {
			continue
		}
		for _, s := range chain[end:] {
			f.filled[n] = append(f.filled[n], s.written())
		}
		f.chains[n] = chain[:end]
	}
}

// fills reports whether a step wrote the default of a signal into a table that
// its record made.
func (s step) fills() bool {
	signal, known := signals.Named(s.Name)
	value, _ := merge.CutSignal(s.Now)
	return s.Kind == string(merge.Signal) && s.Was == "" && !s.record.Seen && known && value == signal.Default() &&
		slices.ContainsFunc(s.record.Changes, func(c clone.Change) bool {
			return c.Issue == s.Issue && c.Kind == s.Kind && c.Name == signals.SchemaVersion.String() && c.Was == ""
		})
}

// issues lists the issues in the journal.
func (f *finder) issues() (ids []string) {
	listed := map[string]bool{}
	for _, n := range f.names {
		if !listed[n.id] {
			listed[n.id] = true
			ids = append(ids, n.id)
		}
	}
	return ids
}

// now is what the store holds of a part, "" for nothing.
func (f *finder) now(n name) merge.Digest { return f.current[n.id].Parts[n.part] }

// there reports whether the store has an issue.
func (f *finder) there(id string) bool {
	_, ok := f.current[id]
	return ok
}

// written is what a step wrote, "" where it took the part away.
func (s step) written() merge.Digest {
	if s.Hash {
		return merge.Digest(s.Now)
	}
	return merge.Part{Kind: merge.Kind(s.Kind), Name: s.Name, Text: s.Now}.Digest()
}

// held is what a step replaced.
func (s step) held() merge.Digest {
	if s.Hash {
		return merge.Digest(s.Was)
	}
	return merge.Part{Kind: merge.Kind(s.Kind), Name: s.Name, Text: s.Was}.Digest()
}

// here reports whether a record was written in this work tree, on the branch
// that is checked out.
func (f *finder) here(r clone.Record) bool {
	if r.Worktree != f.Place.Worktree || r.Branch != f.Place.Branch {
		return false
	}
	return r.Branch != "" || r.Head == f.Place.Head || f.Held.Ancestor(f.ctx, r.Head)
}

// judge works out what became of the last value of a part, or of its removal.
// An edit whose writer ended before its result was recorded does not hide an
// older one that is lost.
func (f *finder) judge(n name) (missing Finding, ok bool) {
	if f.another(n.id) {
		return Finding{}, false
	}
	chain, now := f.chains[n], f.now(n)
	var unfinished, away Finding
	for i, s := range slices.Backward(chain) {
		reached := f.reached[n][s.record.Seq]
		switch {
		case s.written() == now, s.record.Forgets && (reached || f.here(s.record)):
			return unfinished, unfinished.State != ""
		case !reached && !f.here(s.record):
			if away.State == "" && s.Now != "" && !s.record.Forgets && !f.Quick {
				away = f.away(n, s)
			}
		case !reached && s.record.Result == clone.Unfinished:
			if unfinished.State == "" && s.Now != "" {
				unfinished = s.finding(n, Unfinished)
			}
		default:
			held := append(replaced(chain[:i+1]), f.filled[n]...)
			if now == "" || slices.Contains(held, now) {
				missing = s.finding(n, Lost)
				missing.replaced = held
				return missing, true
			}
			if unfinished.State != "" {
				return unfinished, true
			}
			return s.finding(n, Edited), s.Now != ""
		}
	}
	if unfinished.State != "" {
		return unfinished, true
	}
	return away, away.State != ""
}

// finding is what a step wrote, or took away, as a finding.
func (s step) finding(n name, state State) Finding {
	finding := Finding{Part: merge.Part{Kind: n.part.Kind, Name: n.part.Name}, ID: n.id, State: state, Record: s.record,
		Hidden: s.Hash && s.Now != "", digest: s.written()}
	if !s.Hash {
		finding.Text = s.Now
	}
	return finding
}

// branch reports whether there is a branch of that name: many steps are of one.
func (f *finder) branch(name string) bool {
	there, asked := f.branches[name]
	if !asked {
		there = f.Held.Branch(f.ctx, name)
		f.branches[name] = there
	}
	return there
}

// away is the finding for a step that was written somewhere else.
func (f *finder) away(n name, s step) Finding {
	finding := s.finding(n, Dropped)
	if s.record.Branch != "" && f.branch(s.record.Branch) {
		finding.State, finding.Where = Elsewhere, "branch "+s.record.Branch
	}
	return finding
}

// another reports whether the store has another issue under an id than the one
// that the journal saw made: branches may give one id twice.
func (f *finder) another(id string) bool {
	return slices.ContainsFunc([]beads.Key{beads.CreatedAt, beads.CreatedBy}, func(k beads.Key) bool {
		n := name{id, merge.PartName{Kind: merge.Key, Name: string(k)}}
		now := f.now(n)
		return now != "" && len(f.chains[n]) > 0 && !slices.ContainsFunc(f.chains[n], func(s step) bool { return s.written() == now })
	})
}

// replaced lists the values that stood in a part before.
func replaced(chain []step) (list []merge.Digest) {
	for _, s := range chain {
		if held := s.held(); held != "" {
			list = append(list, held)
		}
	}
	return list
}

// withoutLines leaves out the parts of an issue that is missing whole, as far
// as they came with its line.
func withoutLines(findings []Finding) []Finding {
	lines := map[string]string{} // the record of each such issue
	for _, finding := range findings {
		if finding.Kind == merge.KindIssue {
			lines[finding.ID] = finding.Record.Seq
		}
	}
	return slices.DeleteFunc(findings, func(finding Finding) bool {
		return finding.Kind != merge.KindIssue && lines[finding.ID] == finding.Record.Seq
	})
}

// leaveState gives the values that were written with a status the state of that status,
// unless the issue has it: who deleted an issue does not belong to one that is open.
func (f *finder) leaveState(findings []Finding) {
	status := merge.PartName{Kind: merge.Key, Name: string(beads.Status)}
	became := map[[2]string]Finding{} // the status that a record wrote into an issue
	for _, finding := range findings {
		if finding.Kind == status.Kind && finding.Name == status.Name {
			became[[2]string{finding.ID, finding.Record.Seq}] = finding
		}
	}
	for i := range findings {
		finding := &findings[i]
		if finding.State != Lost || finding.Kind != merge.Key || !slices.Contains(ofState, finding.Name) {
			continue
		}
		n := name{finding.ID, status}
		if with, ok := became[[2]string{finding.ID, finding.Record.Seq}]; ok {
			finding.State, finding.Where = with.State, with.Where
		} else if slices.ContainsFunc(f.chains[n], func(s step) bool { return s.record.Seq == finding.Record.Seq && s.written() != f.now(n) }) {
			finding.State = Edited
		}
	}
}

// ofState are the keys that are written with a status, and go with it.
var ofState = []string{"closed_at", "close_reason", "deleted_at", "deleted_by", "delete_reason", "original_type"}

// withoutDeleted leaves out what belongs to issues that were deleted on purpose.
func (f *finder) withoutDeleted(findings []Finding) ([]Finding, error) {
	findings = slices.DeleteFunc(findings, func(finding Finding) bool { return f.current[finding.ID].Status == beads.StatusTombstone })
	var ids []string
	for _, finding := range findings {
		if !f.there(finding.ID) && !slices.Contains(ids, finding.ID) {
			ids = append(ids, finding.ID)
		}
	}
	if len(ids) == 0 {
		return findings, nil
	}
	deleted, err := f.Held.Deleted(f.ctx, ids)
	return slices.DeleteFunc(findings, func(finding Finding) bool { return deleted[finding.ID] }), err
}

// reach finds which values that were written elsewhere a commit reachable from
// HEAD held.
func (f *finder) reach() error {
	f.reached = map[name]map[string]bool{}
	open := map[name][]step{}
	var ids []string
	var oldest *clone.Record
	for _, n := range f.names {
		now := f.now(n)
		for _, s := range slices.Backward(f.chains[n]) {
			if s.written() == now || f.here(s.record) {
				break
			}
			if s.Now == "" {
				continue
			}
			open[n] = append(open[n], s)
			if !slices.Contains(ids, n.id) {
				ids = append(ids, n.id)
			}
			if oldest == nil || s.record.At.Before(oldest.At) {
				oldest = &s.record
			}
		}
	}
	if oldest == nil {
		return nil
	}
	return f.Held.Reachable(f.ctx, *oldest, ids, func(there merge.Index) bool {
		for n, steps := range open {
			open[n] = slices.DeleteFunc(steps, func(s step) bool {
				found := s.written() == there[n.id].Parts[n.part]
				if found {
					f.mark(n, s.record.Seq)
				}
				return found
			})
			if len(open[n]) == 0 {
				delete(open, n)
			}
		}
		return len(open) > 0
	})
}

func (f *finder) mark(n name, seq string) {
	if f.reached[n] == nil {
		f.reached[n] = map[string]bool{}
	}
	f.reached[n][seq] = true
}

// lookOutside asks what holds the values that seem lost. What the commit that is
// checked out holds is lost whatever else holds it: neither another branch nor a stash
// took it away. A place that lacks what an edit took away holds that edit only if it
// holds what else the edit wrote.
func (f *finder) lookOutside(findings []Finding) error {
	var ids []string
	for _, finding := range findings {
		if finding.State == Lost && !slices.Contains(ids, finding.ID) {
			ids = append(ids, finding.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	head, err := f.Held.Head(f.ctx, ids)
	if err != nil {
		return err
	}
	err = f.Held.Outside(f.ctx, ids, func(where string, there merge.Index) {
		for i := range findings {
			finding := &findings[i]
			entry, holds := there[finding.ID]
			if finding.State == Lost && holds && !finding.in(head) && finding.digest == entry.Parts[merge.PartName{Kind: finding.Kind, Name: finding.Name}] {
				finding.State, finding.Where = Elsewhere, where
			}
		}
	})
	lost := map[[2]string]bool{} // issue and record of a value that is lost
	for _, finding := range findings {
		if finding.State == Lost && !finding.Removed() {
			lost[[2]string{finding.ID, finding.Record.Seq}] = true
		}
	}
	for i := range findings {
		if finding := &findings[i]; finding.Removed() && lost[[2]string{finding.ID, finding.Record.Seq}] {
			finding.State, finding.Where = Lost, ""
		}
	}
	return err
}

// in reports whether an index holds a value.
func (f Finding) in(index merge.Index) bool {
	return f.digest != "" && f.digest == index[f.ID].Parts[merge.PartName{Kind: f.Kind, Name: f.Name}]
}

// byFirst orders findings by the first one of their issue.
func byFirst(findings []Finding) func(a, b Finding) int {
	first := map[string]int{}
	for i, finding := range findings {
		if _, known := first[finding.ID]; !known {
			first[finding.ID] = i
		}
	}
	return func(a, b Finding) int { return first[a.ID] - first[b.ID] }
}
