package journal

import (
	"math/big"
	"slices"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
	"stig/signals"
)

// edit is what one record did to one issue.
type edit struct {
	number  int // index among the edits of the issue, in journal order
	record  *clone.Record
	version clone.Version
	valued  bool // the record is from an earlier version and names no versions
	parts   map[merge.PartName]clone.Change
	names   []merge.PartName // in the record's order

	from, other, base []*edit // that led to the lines before: of this side, the other side of a merge, and the base
	tips              []*edit // whose values were restored
	used              bool    // another edit starts from this one
}

// at is the date of the line after the edit, to the second.
func (e *edit) at() time.Time {
	if e.valued {
		return e.record.At.UTC().Truncate(time.Second)
	}
	return e.version.At
}

// history is the edits of one issue.
type history struct {
	id     string
	edits  []*edit
	names  []merge.PartName               // in the order of their first appearance in the journal
	of     map[merge.PartName][]*edit     // edits that changed a part
	makers map[string][]*edit             // edits that led to a version
	known  map[string]bool                // versions named by a record
	forgot map[merge.PartName]*forgetting // what was dropped
	held   map[*edit]holding              // what edits led to, as far as requested
	all    map[string]*history            // for the other issues too
}

// forgetting names dropped edits of a part: those that led to the tips, or, in records of
// earlier versions, all until then.
type forgetting struct {
	before int
	tips   []*edit
}

// histories groups the edits in a journal by issue, and lists the issues.
func histories(j clone.Journal) (ids []string, all map[string]*history) {
	all = map[string]*history{}
	of := func(id string) *history {
		if all[id] == nil {
			ids = append(ids, id)
			all[id] = &history{id: id, of: map[merge.PartName][]*edit{}, makers: map[string][]*edit{}, known: map[string]bool{},
				forgot: map[merge.PartName]*forgetting{}, held: map[*edit]holding{}, all: all}
		}
		return all[id]
	}
	for i := range j.Records {
		r := &j.Records[i]
		if r.Result == clone.Failed {
			continue
		}
		for _, v := range r.Versions {
			of(v.Issue).addVersion(r, v)
		}
		for _, c := range r.Changes {
			of(c.Issue).addChange(r, c)
		}
	}
	return ids, all
}

// addVersion adds the edit of a record that names versions.
func (h *history) addVersion(r *clone.Record, v clone.Version) {
	if r.Forgets {
		return
	}
	h.add(&edit{record: r, version: v, parts: map[merge.PartName]clone.Change{}})
}

// add adds an edit and links it to its predecessors.
func (h *history) add(e *edit) {
	v, former := e.version, h
	if v.Former != "" && h.all[v.Former] != nil {
		former = h.all[v.Former]
	}
	e.from, e.other, e.base = h.led(v.Was), former.led(v.Other), h.led(v.Base)
	for _, before := range slices.Concat(e.from, e.other) {
		before.used = true
	}
	e.tips = h.withRecords(v.Tips)
	e.number = len(h.edits)
	h.edits = append(h.edits, e)
	h.makers[v.Now] = append(h.makers[v.Now], e)
	for _, version := range []string{v.Was, v.Now, v.Other, v.Base} {
		h.known[version] = true
	}
}

// maker returns the edit that led to a version, the last one if several did within a second;
// nil for none.
func (h *history) maker(version string) *edit {
	if makers := h.makers[version]; version != "" && len(makers) > 0 {
		return makers[len(makers)-1]
	}
	return nil
}

// led lists the edits that led to a version: its maker, and those with the same result.
func (h *history) led(version string) (list []*edit) {
	last := h.maker(version)
	if last == nil {
		return nil
	}
	for _, e := range h.makers[version] {
		if e.version.Was == last.version.Was && e.version.Other == last.version.Other {
			list = append(list, e)
		}
	}
	return list
}

// withRecords returns the edits of those records.
func (h *history) withRecords(seqs []string) (list []*edit) {
	for _, e := range h.edits {
		if slices.Contains(seqs, e.record.Seq) {
			list = append(list, e)
		}
	}
	return list
}

// addChange adds a change to the last edit if both have the same record, or, in a record of an
// earlier version, to an edit that follows the previous one.
func (h *history) addChange(r *clone.Record, c clone.Change) {
	part := merge.PartName{Kind: merge.Kind(c.Kind), Name: c.Name}
	if r.Forgets {
		h.forget(r, part)
		return
	}
	last := len(h.edits) - 1
	if last < 0 || h.edits[last].record != r {
		e := &edit{record: r, valued: true, parts: map[merge.PartName]clone.Change{}}
		e.version = clone.Version{Issue: h.id, Now: "record " + r.Seq} // no line has this name
		for _, before := range slices.Backward(h.edits) {
			if before.valued {
				e.version.Was = before.version.Now
				break
			}
		}
		h.add(e)
	}
	e := h.edits[len(h.edits)-1]
	if before := lastOf(h.of[part], func(*edit) bool { return true }); e.valued && before != nil && !before.valued &&
		digestOf(before.parts[part], before.parts[part].Now) == digestOf(c, c.Was) {
		e.from, before.used = append(e.from, before), true // what it replaced is what that one wrote
	}
	h.put(e, part, c)
	if part.Kind != merge.KindIssue || c.Hash || c.Now == "" {
		return
	}
	if line, err := beads.ParseRecord([]byte(c.Now)); err == nil {
		for _, p := range merge.Parts(line) {
			h.put(e, merge.PartName{Kind: p.Kind, Name: p.Name}, clone.Change{Issue: c.Issue, Kind: string(p.Kind), Name: p.Name, Now: p.Text})
		}
	}
}

func (h *history) put(e *edit, part merge.PartName, c clone.Change) {
	if len(h.of[part]) == 0 {
		h.names = append(h.names, part)
	}
	if _, twice := e.parts[part]; !twice {
		h.of[part] = append(h.of[part], e)
		e.names = append(e.names, part)
	}
	e.parts[part] = c
}

// forget records that a part was dropped; an issue is dropped with all its parts.
func (h *history) forget(r *clone.Record, part merge.PartName) {
	f := &forgetting{before: len(h.edits)}
	for _, v := range r.Versions {
		if v.Issue == h.id {
			f.tips = h.withRecords(v.Tips)
		}
	}
	h.forgot[part] = f
	if part.Kind == merge.KindIssue {
		for _, name := range h.names {
			h.forgot[name] = f
		}
	}
}

// wasForgotten reports whether an edit of a part was dropped.
func (h *history) wasForgotten(e *edit, part merge.PartName) bool {
	f := h.forgot[part]
	if f == nil || e.number >= f.before {
		return false
	}
	return len(f.tips) == 0 || slices.ContainsFunc(f.tips, func(tip *edit) bool { return h.after(tip).has(e, part) })
}

// tips returns the edits from which no other starts.
func (h *history) tips() []*edit {
	return slices.DeleteFunc(slices.Clone(h.edits), func(e *edit) bool { return e.used || e.version.Now == "" })
}

// holding is the edits contained in a line: all their parts, or some.
type holding struct {
	whole *big.Int // by edit number
	parts map[merge.PartName]*big.Int
}

func nothing() holding {
	return holding{new(big.Int), map[merge.PartName]*big.Int{}}
}

// has reports whether a part of an edit is contained.
func (h holding) has(e *edit, part merge.PartName) bool {
	some := h.parts[part]
	return h.whole.Bit(e.number) == 1 || some != nil && some.Bit(e.number) == 1
}

func (h holding) add(o holding) {
	h.whole.Or(h.whole, o.whole)
	for part, some := range o.parts {
		h.addPart(part, some)
	}
}

func (h holding) addPart(part merge.PartName, some *big.Int) {
	if h.parts[part] == nil {
		h.parts[part] = new(big.Int)
	}
	h.parts[part].Or(h.parts[part], some)
}

// part returns what is contained of one part.
func (h holding) part(part merge.PartName) *big.Int {
	held := new(big.Int).Set(h.whole)
	if some := h.parts[part]; some != nil {
		held.Or(held, some)
	}
	return held
}

// less returns the difference.
func (h holding) less(o holding) holding {
	left := nothing()
	left.whole.AndNot(h.whole, o.whole)
	for part, some := range h.parts {
		left.parts[part] = new(big.Int).AndNot(some, o.part(part))
	}
	return left
}

// version returns what a recorded line contains: the history of the edits that made it. The
// absent line contains nothing.
func (h *history) version(version string) holding {
	if last := h.maker(version); last != nil {
		return h.after(last)
	}
	return nothing()
}

// after returns what the line after an edit contains: its history, what a merge brought since
// the sides parted, and restored parts.
func (h *history) after(e *edit) holding {
	if held, known := h.held[e]; known {
		return held
	}
	held := nothing()
	h.held[e] = held // also while it is being computed
	open, seen := []*edit{e}, map[*edit]bool{e: true}
	for len(open) > 0 {
		var one *edit
		one, open = open[len(open)-1], open[:len(open)-1]
		if done, known := h.held[one]; known && one != e {
			held.add(done)
			continue
		}
		held.whole.SetBit(held.whole, one.number, 1)
		h.bring(held, one)
		for _, before := range one.from {
			if !seen[before] {
				seen[before] = true
				open = append(open, before)
			}
		}
	}
	h.followRoots(held, nil)
	return held
}

// behind returns the history of an edit, including both sides of a merge, whether its line
// contains it or not.
func behind(e *edit) map[*edit]bool {
	all, open := map[*edit]bool{e: true}, []*edit{e}
	for len(open) > 0 {
		one := open[len(open)-1]
		open = open[:len(open)-1]
		for _, before := range slices.Concat(one.from, one.other) {
			if !all[before] {
				all[before] = true
				open = append(open, before)
			}
		}
	}
	return all
}

// startsFrom reports whether an edit or one in its history starts from a version.
func (e *edit) startsFrom(version string) bool {
	for before := range behind(e) {
		if before.version.Was == version || before.version.Other == version {
			return true
		}
	}
	return false
}

// afterAll returns what the lines after some edits contain together.
func (h *history) afterAll(edits []*edit) holding {
	held := nothing()
	for _, e := range edits {
		held.add(h.after(e))
	}
	return held
}

// bring adds what an edit brought from other lines than its predecessor.
func (h *history) bring(held holding, e *edit) {
	if e.version.Former == "" { // otherwise the other side is an issue with another id
		held.add(h.afterAll(e.other).less(h.afterAll(e.base)))
	}
	for _, tip := range e.tips {
		from := h.after(tip)
		for part := range e.parts {
			held.addPart(part, from.part(part))
		}
	}
}

// followRoots adds the content of lines that another program wrote and stig edited: for each
// part the earlier edits that wrote the value which that edit found. shown is what the final
// line has in parts that no edit touched since; nil if unknown.
func (h *history) followRoots(held holding, shown map[merge.PartName]merge.Digest) {
	for _, first := range h.edits {
		if first.valued || first.version.Was == "" || len(first.from) > 0 || held.whole.Bit(first.number) == 0 {
			continue
		}
		for _, part := range h.names {
			value, known := shown[part], shown != nil
			since := slices.IndexFunc(h.of[part], func(e *edit) bool { return e.number >= first.number && held.has(e, part) })
			if since >= 0 {
				c := h.of[part][since].parts[part]
				value, known = digestOf(c, c.Was), true
			}
			if known {
				held.byValue(h, part, value, func(e *edit) bool {
					return !e.valued && e.number < first.number && !e.startsFrom(first.version.Was)
				})
			}
		}
	}
}

// line returns what a line contains. For an unrecorded one these are the parts whose value it
// shows with a later date, and for records of earlier versions with no earlier one. What a
// session saw is contained where its value is shown.
func (h *history) line(r *beads.Record) holding {
	version := VersionOf(r)
	if version == "" {
		return nothing()
	}
	held := nothing()
	held.add(h.version(version))
	known, date, shown := h.known[version], dateOf(r), merge.EntryOf(r).Parts
	h.followRoots(held, shown)
	for _, part := range h.names {
		held.byValue(h, part, shown[part], func(e *edit) bool {
			return e.record.Seen || e.valued && (date.IsZero() || !date.Before(e.at())) || !e.valued && !known && date.After(e.at())
		})
	}
	return held
}

// byValue adds the edits of a part whose value a line shows, and those of earlier versions if a
// later edit of the part is contained.
func (h holding) byValue(of *history, part merge.PartName, shown merge.Digest, dated func(*edit) bool) {
	later := false
	for _, e := range slices.Backward(of.of[part]) {
		switch {
		case h.has(e, part):
			later = later || !e.valued
		case e.valued && later, digestOf(e.parts[part], e.parts[part].Now) == shown && dated(e):
			h.addPart(part, of.after(e).part(part))
		}
	}
}

// digestOf returns the digest of a change's text.
func digestOf(c clone.Change, text string) merge.Digest {
	if c.Hash {
		return merge.Digest(text)
	}
	return merge.Part{Kind: merge.Kind(c.Kind), Name: c.Name, Text: text}.Digest()
}

// fills reports whether an edit wrote the default of a signal into a new table, which nobody
// requested.
func (e *edit) fills(part merge.PartName) bool {
	signal, known := signals.Named(part.Name)
	if part.Kind != merge.Signal || !known || e.record.Seen || e.parts[part].Was != "" {
		return false
	}
	value, _ := merge.CutSignal(e.parts[part].Now)
	table, made := e.parts[merge.PartName{Kind: merge.Signal, Name: signals.SchemaVersion.String()}]
	return made && table.Was == "" && value == signal.Default()
}
