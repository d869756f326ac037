package beads

import (
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"strings"

	"stig/internal/fault"
)

// Snapshot is a store as read: an index of its issues and the source of their lines. The index
// is immutable, and the lines must not change. It is safe for concurrent use until Close.
type Snapshot struct {
	place    Place
	source   Source
	size     int64    // in bytes
	issues   []*Issue // in file order
	others   []*Issue // positions of lines that are not issues
	byID     idTable
	repeats  map[string][]int // repeated ids and their lines
	problems []Problem
	marked   []conflict                                  // the regions between conflict markers, by line
	external func(issue *Issue, id string) External      // nil answers beads.NotShown
	request  func(issue *Issue) (number int, waits bool) // nil for none
	sums     []Sum                                       // checksums of the text up to the end of each block; nil unless Source.Summed
}

// Source is what a snapshot is read from: a text with one issue a line, such as an open file.
type Source struct {
	Lines   io.ReaderAt
	Size    int64        // in bytes; what is appended meanwhile is read too
	Close   func() error // nil if there is nothing to close
	Summed  bool         // the snapshot has a Sum
	Excerpt *Excerpt     // what the text has of the store; nil if it is the whole store
	Memo    *Memo        // caches what is derived from lines for the next reading; nil caches nothing

	// Prefix returns what the ids of new issues begin with: the prefix from the store's
	// configuration, or as fallback what the store was made with; "" if there is none. It may
	// be nil.
	Prefix func(fallback bool) (string, error)
}

// NewSnapshot reads a source in blocks, on all cores, and builds an index. It is for
// implementations of Store.Snapshot and Store.Edit. Errors come from reading the source.
func NewSnapshot(p Place, from Source) (*Snapshot, error) {
	f := &Snapshot{place: p, source: from, repeats: map[string][]int{}}
	seed := maphash.MakeSeed()
	parts, err := eachBlock(from.Lines, from.Size, func() func(block) part { return newIndexer(f, seed).part })
	if err != nil {
		return nil, err
	}
	f.assemble(parts, seed)
	f.reportRepeats()
	if from.Memo != nil {
		from.Memo.keep(f)
	}
	return f, nil
}

// Close closes the source; records read before stay valid.
func (f *Snapshot) Close() error {
	if f.source.Close == nil {
		return nil
	}
	return f.source.Close()
}

// Shared returns another handle on the snapshot with its own Close, so that whoever shares one
// knows when its last reader is done.
func (f *Snapshot) Shared(done func() error) *Snapshot {
	shared := *f
	shared.source.Close = done
	return &shared
}

// Place returns the location of the store.
func (f *Snapshot) Place() Place { return f.place }

// Size is the length of the text in bytes.
func (f *Snapshot) Size() int64 { return f.size }

// Sum is the checksum of the text, if Source.Summed was set.
func (f *Snapshot) Sum() (s Sum) {
	if n := len(f.sums); n > 0 {
		s = f.sums[n-1]
	}
	return s
}

// Len is the number of issues, including tombstones and repeated ids; in an excerpt the number
// of its own.
func (f *Snapshot) Len() int { return len(f.issues) }

// At returns the issue at index i, in file order.
func (f *Snapshot) At(i int) *Issue { return f.issues[i] }

// All yields the issues with their indices, in file order.
func (f *Snapshot) All() iter.Seq2[int, *Issue] {
	f.Need(0, Everything)
	return slices.All(f.issues)
}

// Problems returns the problems in the file, by line.
func (f *Snapshot) Problems() []Problem { return f.problems }

// Index returns the index of the issue with exactly this id, the last one if it repeats.
func (f *Snapshot) Index(id string) (int, bool) {
	i := f.byID.place(f.issues, id)
	if i < 0 {
		f.lacks(id)
	}
	return max(i, 0), i >= 0
}

// Distinct reports whether no id is on two lines.
func (f *Snapshot) Distinct() bool { return len(f.repeats) == 0 }

// Repeated returns the repeated ids and how many lines each has.
func (f *Snapshot) Repeated() map[string]int {
	lines := map[string]int{}
	for id, at := range f.repeats {
		lines[id] = len(at)
	}
	return lines
}

// Find returns the issue with this id, or the only one whose id is a prefix, a hyphen and this.
// The error is a fault.NotFound with similar ids.
func (f *Snapshot) Find(id string) (*Issue, error) {
	if i, ok := f.Index(id); ok {
		return f.issues[i], nil
	}
	f.Need(0, Everything)
	var found []string
	if id != "" {
		found = f.ids(func(s string) bool { return strings.HasSuffix(s, "-"+id) })
	}
	if len(found) == 1 {
		i, _ := f.Index(found[0])
		return f.issues[i], nil
	}
	missing := NotFound(id, near(id, found, f.ids)...)
	if f.Len() == 0 {
		missing.Hint = "the store has no issues yet; type stig create TITLE to add the first"
	}
	return nil, missing
}

// FindRecord is Find, with the whole line of the issue.
func (f *Snapshot) FindRecord(id string) (*Issue, *Record, error) {
	issue, err := f.Find(id)
	if err != nil {
		return nil, nil, err
	}
	record, err := issue.Record()
	return issue, record, err
}

// FindAll returns the issues with those ids, in order. It fails if Find does.
func (f *Snapshot) FindAll(ids []string) (found []*Issue, err error) {
	for _, id := range ids {
		issue, err := f.Find(id)
		if err != nil {
			return nil, err
		}
		found = append(found, issue)
	}
	return found, nil
}

// ids returns the distinct ids that match, in file order.
func (f *Snapshot) ids(match func(string) bool) (found []string) {
	for i, is := range f.issues {
		if match(is.ID) && f.byID.place(f.issues, is.ID) == i {
			found = append(found, is.ID)
		}
	}
	return found
}

// Record reads and parses the issue's whole line again. If another program rewrote the file in
// place and the line no longer holds the issue, the error is a fault.Changed; otherwise a
// fault.Store.
func (i *Issue) Record() (*Record, error) {
	line, err := i.AppendLine(nil)
	if err != nil {
		return nil, err
	}
	r, bad := parseRecord(line)
	if bad != nil || !r.is(i.ID) {
		return nil, i.gone()
	}
	return r, nil
}

// unread is the error for a line that could not be read in full.
func (i *Issue) unread(err error) error {
	if isEnd(err) {
		return i.gone()
	}
	return Unreadable(i.of.place.Name(), err)
}

func (i *Issue) gone() error {
	return &fault.Error{Code: fault.Changed,
		Path:   i.of.place.Name(),
		Reason: fmt.Sprintf("line %d no longer holds %s", i.Line, i.ID),
		Hint:   "another program rewrote the store in place: retry",
	}
}

// After returns the snapshot that results from an edit, whose text from now holds. It indexes
// the changed lines only, and otherwise reads what the checksum needs. It returns nil if a full
// reading is needed: after new lines, and if ids repeat.
func (tx *Tx) After(from Source) (*Snapshot, error) {
	f, changed := tx.snapshot, tx.changed()
	if len(changed) == 0 || len(tx.added) > 0 || len(f.problems) > 0 || f.sums == nil {
		return nil, nil
	}
	from.Summed = true
	next := &Snapshot{place: f.place, source: from, size: f.size, byID: f.byID, repeats: map[string][]int{}}
	if !next.copyIssues(f, tx.records) {
		return nil, nil
	}
	for _, was := range f.others {
		is := *was
		for _, c := range changed {
			if c.off < was.off {
				is.off += int64(len(tx.records[c].line) - c.size)
			}
		}
		is.of = next
		next.others = append(next.others, &is)
	}
	var replaced []stretch
	var gone []uint64
	for _, c := range changed {
		gone = append(gone, c.version)
		replaced = append(replaced, stretch{c.off, int64(len(tx.records[c].line) - c.size)})
	}
	var err error
	next.sums, err = sumsAfter(f.sums, from.Lines, replaced)
	if err != nil || next.Sum().size != next.size {
		return nil, err
	}
	if from.Memo != nil {
		from.Memo.follow(next, gone)
	}
	return next, nil
}

// copyIssues copies the unchanged issues of a snapshot, and reports whether that was possible.
func (f *Snapshot) copyIssues(from *Snapshot, changed map[*Issue]*Record) bool {
	x := newIndexer(f, f.byID.seed)
	x.few = true
	all := make([]Issue, len(from.issues))
	f.issues = make([]*Issue, len(all))
	var shift int64
	for i, was := range from.issues {
		is := &all[i]
		*is = *was
		if r := changed[was]; r != nil && r.origin != nil {
			now, bad := x.issue(r.line)
			if bad != nil || now == nil || now.ID != was.ID {
				return false
			}
			*is = *now
			is.Line, is.off, is.size = was.Line, was.off, len(r.line)
			if m := f.source.Memo; m != nil {
				is.version, _ = m.known(r.line)
			}
		}
		is.of, is.off = f, is.off+shift
		shift += int64(is.size - was.size)
		f.issues[i] = is
	}
	f.size += shift
	return true
}

// Others returns the lines that are not issues, such as memories, in file order, each with its
// position.
func (f *Snapshot) Others() []*Issue {
	f.Need(0, Everything)
	return f.others
}

// Memory is a fact that bd remembers beside the issues, as written by bd remember KEY VALUE.
type Memory struct{ Key, Value string }

// Memories returns the memories of the store, in file order. Errors are those of Issue.Record.
func (f *Snapshot) Memories() (list []Memory, err error) {
	for _, other := range f.Others() {
		line, err := other.AppendLine(nil)
		if err != nil {
			return nil, err
		}
		record, bad := parseRecord(line)
		if bad != nil {
			return nil, other.gone()
		}
		if record.Text("_type") == "memory" {
			list = append(list, Memory{record.Text("key"), record.Text("value")})
		}
	}
	return list, nil
}
