package journal

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
)

// State is what became of a value that stig wrote and the store lacks.
type State string

const (
	Lost       State = "lost"       // nothing explains that it is gone
	Elsewhere  State = "elsewhere"  // another branch, work tree, side of a merge or stash holds it
	Edited     State = "edited"     // something else was written in its place since
	Removed    State = "removed"    // a commit took it away on purpose
	TakenBack  State = "taken back" // somebody's uncommitted line lacks it, with a later date
	Unfinished State = "unfinished" // its writer ended before the store was seen to hold it
)

// IsAnswer reports whether a value with that state is accounted for. An unfinished edit was
// never acknowledged.
func (s State) IsAnswer() bool { return s != Lost && s != TakenBack }

// Finding is one value that stig wrote and the store lacks, or that it removed and the store
// has again.
type Finding struct {
	merge.Part        // what is missing
	Hidden     bool   // the journal has only a hash of the text, which is "" here
	ID         string // of the issue
	State      State
	Where      string // what has it, for Elsewhere; the commit that removed it
	Record     clone.Record
	Shown      merge.Digest // what the store has in its place
	Tips       []string     // the records that led to it, the first one to this text; none in a file beside the store

	digest merge.Digest // of the text
	edit   *edit        // the text's last record
	tip    *edit        // the issue's last record
	tree   string       // the other work tree it was written in
	dead   bool         // the issue was deleted when this was found
}

// Removed reports whether the edit removed the part.
func (f Finding) Removed() bool { return f.digest == "" && f.Text == "" }

func (f Finding) part() merge.PartName { return merge.PartName{Kind: f.Kind, Name: f.Name} }

// TipsOf returns the records that led to findings, by issue.
func TipsOf(findings []Finding) map[string][]string {
	tips := map[string][]string{}
	for _, f := range findings {
		for _, tip := range f.Tips {
			if !slices.Contains(tips[f.ID], tip) {
				tips[f.ID] = append(tips[f.ID], tip)
			}
		}
	}
	return tips
}

// Question is the input of Find.
type Question struct {
	Place   clone.Place
	Journal clone.Journal
	Store   Text // the store as it is
	Held    Held // what git and other work trees have
	Quick   bool // omit what was written in other work trees
}

// Text provides issues of a store.
type Text func(ids []string) (Lines, error)

// InSnapshot provides the issues of a snapshot.
func InSnapshot(file *beads.Snapshot) Text {
	return func(ids []string) (Lines, error) { return linesIn(file, ids) }
}

// InRows provides the issues of a store's lines.
func InRows(rows Rows) Text { return func(ids []string) (Lines, error) { return rows.in(ids), nil } }

// Lines are issues, by id.
type Lines map[string]*beads.Record

// Held knows what exists outside the store. It is asked only about values that the store lacks.
type Held interface {
	// Head returns issues in the commit that is checked out.
	Head(ctx context.Context, ids []string) (Lines, error)
	// Outside visits issues in stashes, other work trees, a merge in progress and branch tips
	// outside HEAD, until visit returns false.
	Outside(ctx context.Context, ids []string, visit func(where string, there Lines) bool) error
	// Past returns the commits reachable from HEAD that changed the store since a time.
	Past(ctx context.Context, since time.Time, ids []string) (Past, error)
	// Branches returns the commits of other branches that HEAD lacks, in the same form.
	Branches(ctx context.Context, since time.Time, ids []string) (Past, error)
	// Deleted reports which of the issues another program lists as deleted.
	Deleted(ids []string) (map[string]bool, error)
}

// finder computes the findings of one question. Its maps are keyed by issue id.
type finder struct {
	Question
	ctx       context.Context
	histories map[string]*history
	store     Lines
	head      Lines
	held      map[string]holding // content of the store's lines
}

// Find lists what stig wrote and the store lacks, by issue in journal order.
//
// For each version that no record starts from, and each part, it compares the store with the
// value after the last edit that the store's line is not based on. If the store has a value
// that none of these edits wrote or replaced, somebody changed it since. Otherwise it is
// missing, and Find looks for it elsewhere, in the commits behind HEAD, and by the date of the
// store's line. Lost is what none of these explains.
func Find(ctx context.Context, q Question) (findings []Finding, err error) {
	f := &finder{Question: q, ctx: ctx, held: map[string]holding{}}
	ids, histories := histories(q.Journal)
	f.histories = histories
	if f.store, err = q.Store(ids); err != nil {
		return nil, err
	}
	for _, id := range ids {
		f.held[id] = histories[id].line(f.store[id])
		findings = append(findings, f.missing(histories[id])...)
	}
	if len(findings) > 0 {
		findings, err = f.explain(findings)
	}
	return findings, err
}

// linesIn returns those issues of a store.
func linesIn(file *beads.Snapshot, ids []string) (Lines, error) {
	lines := Lines{}
	for _, id := range ids {
		at, there := file.Index(id)
		if !there {
			continue
		}
		r, err := file.At(at).Record()
		if err != nil {
			return nil, err
		}
		lines[id] = r
	}
	return lines, nil
}

// missing lists what the store lacks of one issue.
func (f *finder) missing(h *history) (list []Finding) {
	now, held := f.store[h.id], f.held[h.id]
	shown := map[merge.PartName]merge.Digest{}
	if now != nil {
		shown = merge.EntryOf(now).Parts
	}
	if now != nil && h.another(now) {
		return nil
	}
	for _, tip := range h.tips() {
		if f.Quick && tip.record.Worktree != f.Place.Worktree {
			continue
		}
		list = append(list, h.missingOf(tip, held, shown)...)
	}
	for i := range list {
		list[i].dead = isTombstone(now)
	}
	return list
}

// another reports whether a line belongs to another issue than the one whose creation the
// journal recorded: two clones may assign one id twice.
func (h *history) another(now *beads.Record) bool {
	seen := false
	for _, e := range h.of[merge.PartName{Kind: merge.KindIssue, Name: h.id}] {
		c := e.parts[merge.PartName{Kind: merge.KindIssue, Name: h.id}]
		if made, err := beads.ParseRecord([]byte(c.Now)); err == nil && !e.record.Seen {
			if made.Origin().Together(now.Origin()) {
				return false
			}
			seen = true
		}
	}
	return seen
}

// missingOf lists what is missing of one tip.
func (h *history) missingOf(tip *edit, held holding, shown map[merge.PartName]merge.Digest) (list []Finding) {
	for part, chain := range h.chains(tip, held) {
		done := slices.DeleteFunc(slices.Clone(chain), func(e *edit) bool { return h.isUnfinished(e) })
		if len(done) < len(chain) {
			last := chain[len(chain)-1]
			if last.parts[part].Now != "" && h.isUnfinished(last) && digestOf(last.parts[part], last.parts[part].Now) != shown[part] {
				list = append(list, h.finding(tip, last, part, Unfinished, shown[part]))
			}
		}
		chain = withoutFilled(done, part)
		if len(chain) == 0 {
			continue
		}
		state := h.compare(chain, part, held, shown[part])
		if state != "" {
			list = append(list, h.finding(tip, chain[len(chain)-1], part, state, shown[part]))
		}
	}
	return list
}

// chains returns for each part the edits that led to a tip since the last one in the line, by
// the first of them: sections are restored in the order in which they were written.
func (h *history) chains(tip *edit, held holding) iter.Seq2[merge.PartName, []*edit] {
	led := behind(tip)
	chains := map[merge.PartName][]*edit{}
	var names []merge.PartName
	for _, part := range h.names {
		for _, e := range h.of[part] {
			switch {
			case !led[e] || h.wasForgotten(e, part):
			case held.has(e, part):
				chains[part] = nil // the line has something newer
			default:
				chains[part] = append(chains[part], e)
			}
		}
		if len(chains[part]) > 0 && !h.isOlder(tip, chains[part], part) {
			names = append(names, part)
		}
	}
	slices.SortStableFunc(names, func(a, b merge.PartName) int {
		first, second := chains[a][0], chains[b][0]
		return cmp.Or(first.number-second.number, slices.Index(first.names, a)-slices.Index(second.names, b))
	})
	return func(yield func(merge.PartName, []*edit) bool) {
		for _, part := range names {
			if !yield(part, chains[part]) {
				return
			}
		}
	}
}

// isOlder reports whether a later tip includes the last edit of a part, even if it was
// restored: its outcome there counts.
func (h *history) isOlder(tip *edit, chain []*edit, part merge.PartName) bool {
	last := chain[len(chain)-1]
	return slices.ContainsFunc(h.tips(), func(other *edit) bool {
		return other.number > tip.number && h.after(other).has(last, part)
	})
}

func lastOf(edits []*edit, is func(*edit) bool) *edit {
	for _, e := range slices.Backward(edits) {
		if is(e) {
			return e
		}
	}
	return nil
}

// isUnfinished reports whether the result of an edit never appeared.
func (h *history) isUnfinished(e *edit) bool {
	return e.record.Result == clone.Unfinished && !e.used
}

// withoutFilled drops the defaults that an edit wrote into a new signal table from the end of a
// chain: if the row had another value before, that one was lost with the table.
func withoutFilled(chain []*edit, part merge.PartName) []*edit {
	end := len(chain)
	for end > 0 && chain[end-1].fills(part) {
		end--
	}
	if end == 0 {
		return chain
	}
	return chain[:end]
}

// compare judges the store's value of a part by the edits that the store's line is not based
// on; "" if nothing is missing.
func (h *history) compare(chain []*edit, part merge.PartName, held holding, shown merge.Digest) State {
	first, last := chain[0].parts[part], chain[len(chain)-1].parts[part]
	wanted := digestOf(last, last.Now)
	switch {
	case wanted == shown, digestOf(first, first.Was) == wanted:
		return ""
	case shown == "": // a removal is never overwritten
		return Lost
	case slices.ContainsFunc(chain, func(e *edit) bool {
		c := e.parts[part]
		return shown == digestOf(c, c.Was) || shown == digestOf(c, c.Now)
	}):
		return Lost
	}
	if filled := lastOf(h.of[part], func(e *edit) bool { return held.has(e, part) }); filled != nil && filled.fills(part) && digestOf(filled.parts[part], filled.parts[part].Now) == shown {
		return Lost
	}
	if wanted == "" {
		return "" // something else stands where stig took something away
	}
	return Edited
}

func (h *history) finding(tip, e *edit, part merge.PartName, state State, shown merge.Digest) Finding {
	c := e.parts[part]
	f := Finding{Part: merge.Part{Kind: part.Kind, Name: part.Name}, ID: h.id, State: state, Record: *e.record,
		Hidden: c.Hash && c.Now != "", Shown: shown, Tips: []string{tip.record.Seq}, digest: digestOf(c, c.Now), edit: e, tip: tip}
	if !c.Hash {
		f.Text = c.Now
	}
	return f
}

// explain looks for missing values elsewhere and in the past, and omits what is listed as part
// of something else.
func (f *finder) explain(findings []Finding) (_ []Finding, err error) {
	var ids []string
	for _, finding := range findings {
		if finding.State == Lost && !slices.Contains(ids, finding.ID) {
			ids = append(ids, finding.ID)
		}
	}
	if len(ids) > 0 {
		if f.head, err = f.Held.Head(f.ctx, ids); err == nil {
			findings, err = f.withoutDeleted(findings, ids)
		}
		if err == nil {
			err = f.lookOutside(findings, ids)
		}
		if err == nil {
			err = f.lookBack(findings, ids)
		}
		if err != nil {
			return nil, err
		}
		f.lookAtDates(findings)
		leaveTrees(findings)
	}
	leaveState(findings, f.histories)
	findings = f.withLines(leaveOlder(findings))
	slices.SortStableFunc(findings, byIssue(findings))
	return findings, nil
}

// holds reports whether a line has what a finding misses: it is based on the last edit of it,
// or on one after which the edits it lacks cancel out. A line that lacks an edit that the
// store's has is older, and does not.
func (f *finder) holds(r *beads.Record, finding *Finding) bool {
	h, part, here := f.histories[finding.ID], finding.part(), f.held[finding.ID]
	held, of := h.line(r), h.after(finding.tip)
	if held.has(finding.edit, part) {
		return true
	}
	var last *edit
	for _, e := range h.of[part] {
		switch {
		case !of.has(e, part):
		case held.has(e, part):
			last = e
		case here.has(e, part):
			return false
		}
	}
	return last != nil && digestOf(last.parts[part], last.parts[part].Now) == finding.digest
}

// open returns the findings that nothing explains so far.
func open(findings []Finding) (list []*Finding) {
	for i := range findings {
		if findings[i].State == Lost {
			list = append(list, &findings[i])
		}
	}
	return list
}

// withoutDeleted drops what belongs to issues that somebody deleted: the store has a tombstone
// that stig did not write, or the issue is gone from it, and HEAD has a tombstone or bd lists
// it as deleted.
func (f *finder) withoutDeleted(findings []Finding, ids []string) ([]Finding, error) {
	deleted, err := f.Held.Deleted(ids)
	return slices.DeleteFunc(findings, func(finding Finding) bool {
		line, head := f.store[finding.ID], f.head[finding.ID]
		if line == nil {
			return isTombstone(head) || deleted[finding.ID]
		}
		return isTombstone(line) && !f.histories[finding.ID].known[VersionOf(line)]
	}), err
}

func isTombstone(r *beads.Record) bool {
	return r != nil && r.Text(beads.Status) == beads.StatusTombstone
}

// lookOutside finds which other place has what is missing. What HEAD's commit has is lost in
// any case: neither another branch nor a stash removed it.
func (f *finder) lookOutside(findings []Finding, ids []string) error {
	left := slices.DeleteFunc(open(findings), func(finding *Finding) bool { return f.holds(f.head[finding.ID], finding) })
	if len(left) == 0 {
		return nil
	}
	return f.Held.Outside(f.ctx, ids, func(where string, there Lines) bool {
		left = slices.DeleteFunc(left, func(finding *Finding) bool {
			if strings.HasPrefix(where, "work tree "+finding.Record.Worktree) {
				finding.tree = where
			}
			held := there[finding.ID] != nil && f.holds(there[finding.ID], finding)
			if held {
				finding.State, finding.Where = Elsewhere, where
			}
			return held
		})
		return len(left) > 0
	})
}

// leaveTrees attributes what never arrived here to the work tree it was written in.
func leaveTrees(findings []Finding) {
	for _, finding := range open(findings) {
		if finding.tree != "" && finding.Where == "" {
			finding.State, finding.Where = Elsewhere, finding.tree
		}
	}
}

// lookAtDates finds what somebody reverted in an uncommitted line.
func (f *finder) lookAtDates(findings []Finding) {
	for _, finding := range open(findings) {
		line := f.store[finding.ID]
		if finding.Where == "" && !same(line, f.head[finding.ID]) && f.takesBack(line, finding) {
			finding.State = TakenBack
		}
	}
}

// takesBack reports whether somebody else wrote a line with a later date than an edit.
func (f *finder) takesBack(line *beads.Record, finding *Finding) bool {
	return line != nil && !f.histories[finding.ID].known[VersionOf(line)] && dateOf(line).After(finding.edit.at())
}

// leaveOlder merges what is lost twice: of the values of one part the latest requested one
// counts. An edit in several versions is reported once.
func leaveOlder(findings []Finding) (list []Finding) {
	type name struct {
		id   string
		part merge.PartName
		edit *edit // nil for what is lost
	}
	places := map[name]int{}
	for _, finding := range findings {
		n := name{finding.ID, finding.part(), finding.edit}
		if finding.State == Lost {
			n.edit = nil
		}
		at, known := places[n]
		if !known {
			places[n] = len(list)
			list = append(list, finding)
			continue
		}
		one, two := list[at], finding
		if one.edit.fills(one.part()) && !two.edit.fills(two.part()) || two.edit.number > one.edit.number && !two.edit.fills(two.part()) {
			one, two = two, one
		}
		one.Tips = append(slices.Clone(one.Tips), two.Tips...)
		list[at] = one
	}
	return list
}

// withLines drops what came with the line of an issue that is missing as a whole. If the
// journal did not record its creation, its line is that of HEAD.
func (f *finder) withLines(findings []Finding) (list []Finding) {
	lines := map[string][]merge.Part{} // by issue
	for _, finding := range findings {
		if finding.Kind == merge.KindIssue {
			lines[finding.ID] = append(lines[finding.ID], partsOf(finding.Text)...)
		}
	}
	for _, finding := range findings {
		head := f.head[finding.ID]
		if lines[finding.ID] == nil && finding.State == Lost && f.store[finding.ID] == nil && head != nil {
			line := finding
			line.Part, line.Hidden = merge.Part{Kind: merge.KindIssue, Name: finding.ID, Text: string(head.Bytes())}, false
			line.digest = line.Part.Digest()
			list, lines[finding.ID] = append(list, line), merge.Parts(head)
		}
		came, there := merge.FindPart(lines[finding.ID], finding.Kind, finding.Name)
		if finding.Kind == merge.KindIssue || !there || came.Digest() != finding.digest {
			list = append(list, finding)
		}
	}
	return list
}

// partsOf returns the parts of a line; none if it is unreadable.
func partsOf(line string) []merge.Part {
	r, err := beads.ParseRecord([]byte(line))
	if err != nil {
		return nil
	}
	return merge.Parts(r)
}

// ofState are the keys written together with a status.
var ofState = []string{"closed_at", "close_reason", "deleted_at", "deleted_by", "delete_reason", "original_type"}

// leaveState gives values written with a status the same state as that status, unless the issue
// has it: who deleted an issue does not belong to an open one.
func leaveState(findings []Finding, histories map[string]*history) {
	status := merge.PartName{Kind: merge.Key, Name: string(beads.Status)}
	became := map[[2]string]Finding{} // the status that a tip misses
	for _, finding := range findings {
		if finding.part() == status {
			became[[2]string{finding.ID, finding.Tips[0]}] = finding
		}
	}
	for _, finding := range open(findings) {
		if finding.Kind != merge.Key || !slices.Contains(ofState, finding.Name) {
			continue
		}
		if with, ok := became[[2]string{finding.ID, finding.Tips[0]}]; ok {
			finding.State, finding.Where = with.State, cmp.Or(with.Where, finding.Where)
		}
	}
}

// byIssue sorts findings by the first one of their issue.
func byIssue(findings []Finding) func(a, b Finding) int {
	first := map[string]int{}
	for i, finding := range findings {
		if _, known := first[finding.ID]; !known {
			first[finding.ID] = i
		}
	}
	return func(a, b Finding) int { return first[a.ID] - first[b.ID] }
}
