package lint

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// Rules are what a store is validated against.
type Rules struct {
	Schema *signals.Schema
	Now    time.Time // for dates that are ahead; the zero time skips them
	Past   *Past     // what Check also compares the store with; nil for nothing

	// MayHold reports whether labels say that checks may pass before the work too; nil means
	// no.
	MayHold    func(labels []string) bool
	Unfinished *Unfinished // the merge that Check reports; nil for none
	// Commits reports for each name whether git has such a commit; nil skips this. Only Check
	// with Past calls it, once.
	Commits func(names []string) ([]bool, error)
	// Review is set if work lands by review: checks that the branch weakened, or that passed
	// before the work, are errors then. Worked are issues that commits since name, whose criteria
	// must pass although they close after the review.
	Review bool
	Worked []string
	// Prove runs the criteria of issues, with the files of now and of the past; nil runs
	// nothing. Only Check with Past calls it, for issues that were closed since.
	Prove func(ids []string) ([]Proof, error)
}

// Proof is the result of running the criteria of a closed issue.
type Proof struct {
	Failed   string   // why they do not pass; "" if they do
	Green    bool     // all of them pass, also with the files of the past, and nothing allows that
	Weakened []string // files that they read and that changed since: with the earlier ones they fail
}

// subject is one issue with everything read of it, shared by all judges.
type subject struct {
	file   *beads.Snapshot
	rules  Rules
	issue  *beads.Issue
	record *beads.Record // valid while the issue is judged
	doc    *notes.Doc
	table  *signals.Table
	reason string // why it was closed; "" if it is not
	found  []Diagnostic
	links  []beads.Dep // see rows; nil until first needed

	numbers []number // of its comments
	asked   []answer // what was looked up in the rest of the store
	outside bool     // another store was asked, which may answer differently next time
}

func subjectOf(f *beads.Snapshot, rules Rules, issue *beads.Issue, record *beads.Record) subject {
	doc := notes.Parse(record.Text(beads.Notes))
	reason := ""
	if issue.Status == beads.StatusClosed {
		reason = strings.TrimSpace(record.Text(beads.CloseReason))
	}
	return subject{
		reason: reason,
		file:   f, rules: rules, issue: issue, record: record,
		doc: doc, table: signals.Read(doc, rules.Schema),
	}
}

// judge validates an issue against some rules.
type judge func(*subject)

// chunk is how many issues a worker takes at a time: enough that little is read ahead in vain,
// few enough that no worker is left with the rest.
const chunk = 128

// inspect judges every issue, or those given, on all cores. The diagnostics are in the order of
// the issues, whatever the number of cores. as is the key of the judges in the memo of the
// snapshot, if it has one; nil stores nothing in it.
func inspect(f *beads.Snapshot, only []int, rules Rules, judges []judge, as any) ([]Diagnostic, error) {
	indices := only
	if only == nil {
		indices = everyIndex(f)
	}
	chunks := slices.Collect(slices.Chunk(indices, chunk))
	found := make([][]Diagnostic, len(chunks))
	numbers := make([][]number, len(chunks))
	errs := make([]error, len(chunks))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(chunks)) {
		workers.Go(func() {
			reader := f.Reader()
			for {
				n := int(next.Add(1)) - 1
				if n >= len(chunks) {
					return
				}
				found[n], numbers[n], errs[n] = judgeAll(f, reader, chunks[n], rules, judges, as)
			}
		})
	}
	workers.Wait()
	var all []Diagnostic
	for n := range chunks {
		if errs[n] != nil {
			return nil, errs[n]
		}
		all = append(all, found[n]...)
	}
	return append(all, renumbered(f, slices.Concat(numbers...))...), nil
}

func everyIndex(f *beads.Snapshot) []int {
	indices := make([]int, f.Len())
	for i := range indices {
		indices[i] = i
	}
	return indices
}

func judgeAll(f *beads.Snapshot, reader *beads.Reader, indices []int, rules Rules, judges []judge, as any) (found []Diagnostic, numbers []number, err error) {
	for _, i := range indices {
		issue := f.At(i)
		s := recalled(f, issue, as)
		if s == nil {
			record, err := reader.Record(issue)
			if err != nil {
				return nil, nil, err
			}
			s = judgeOne(f, issue, record, rules, judges)
			s.remember(as)
		}
		found, numbers = append(found, s.found...), append(numbers, s.numbers...)
	}
	return found, numbers, nil
}

func judgeOne(f *beads.Snapshot, issue *beads.Issue, record *beads.Record, rules Rules, judges []judge) *subject {
	s := subjectOf(f, rules, issue, record)
	for _, judge := range judges {
		judge(&s)
	}
	return &s
}

// add reports a breach of a rule; line and column are the place in the notes, or 0, 0 if it is
// about the issue.
func (s *subject) add(rule string, line, column int, message, hint string) {
	d := breach(s.file, rule, s.issue.ID, s.issue.Line, message, hint)
	d.NotesLine, d.NotesColumn = line, column
	s.found = append(s.found, d)
}

// closed reports whether the work was closed, not deleted.
func (s *subject) closed() bool { return s.issue.Status == beads.StatusClosed }

// over reports whether nobody will work on the issue any more.
func (s *subject) over() bool { return beads.IsClosed(s.issue.Status) }
