package orient

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"stig/internal/beads"
	"stig/notes"
	"stig/signals"
)

// summary is what the notes of one issue say to other issues, without any text.
type summary struct {
	signals.Summary
	table     bool // has a signal table
	progress  string
	regressed bool
	wrong     int    // number of violations
	violation string // the first violation, with its place

	unsummarised int // traces since the last summary, 0 if they are few
}

func emptySummary() summary {
	return summary{Summary: signals.EmptySummary(), progress: signals.Progress.Default()}
}

// notedOf summarises the notes of an issue.
func notedOf(issue *beads.Issue, schema *signals.Schema) (summary, error) {
	if !issue.HasNotes {
		return emptySummary(), nil
	}
	record, err := issue.Record()
	if err != nil {
		return summary{}, err
	}
	return notedIn(record.Text(beads.Notes), new(signals.Reader), schema), nil
}

// Pending reports for each of the issues whether an unanswered question keeps the worker from
// it.
func Pending(f *beads.Snapshot, issues []int, worker string, schema *signals.Schema) ([]bool, error) {
	waits, _, err := Awaiting(f, issues, worker, schema)
	return waits, err
}

// Awaiting is Pending, and also returns the requests for review that issues wait for, by index.
func Awaiting(f *beads.Snapshot, issues []int, worker string, schema *signals.Schema) ([]bool, map[int]string, error) {
	waits, requests := make([]bool, len(issues)), map[int]string{}
	order := make([]int, len(issues)) // file order, which is fastest to read
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(a, b int) int { return issues[a] - issues[b] })
	reader, tables := f.Reader(), new(signals.Reader)
	for _, k := range order {
		issue := f.At(issues[k])
		if !issue.HasNotes {
			continue
		}
		for _, part := range []string{"ending", signals.EscalationSection, signals.ReviewSection} { // what waits has one of these
			text, err := reader.Notes(issue, part)
			if err != nil {
				return nil, nil, err
			}
			if text != "" {
				said := notedIn(text, tables, schema)
				waits[k], requests[issues[k]] = said.Holds(worker), said.Review
				break
			}
		}
	}
	return waits, requests, nil
}

// notedIn summarises the text of notes.
func notedIn(text string, tables *signals.Reader, schema *signals.Schema) summary {
	doc := notes.Parse(text)
	table := tables.Read(doc, schema)
	t := emptySummary()
	t.Summary, t.table = signals.Note(doc, table), table.Present()
	t.regressed = table.Value(signals.Confidence) == signals.ConfidenceRegressed
	if v := table.Value(signals.Progress); v != t.progress {
		t.progress = strings.Clone(v)
	}
	for _, m := range doc.Malformed() {
		t.wrongly(m.Error())
	}
	for _, f := range table.Findings() {
		if f.Severity == signals.Error {
			t.wrongly((&signals.InvalidError{Findings: []signals.Finding{f}}).Error())
		}
	}
	return t
}

func (t *summary) wrongly(message string) {
	if t.wrong == 0 {
		t.violation = strings.Clone(message)
	}
	t.wrong++
}

// readers are the buffers of one goroutine that reads notes.
type readers struct {
	lines  *beads.Reader
	tables *signals.Reader
}

// allNoted summarises the notes of all issues, in file order, in parallel.
func allNoted(f *beads.Snapshot, rules Rules) ([]summary, error) {
	const chunk = 256
	list := make([]summary, f.Len())
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, min(runtime.GOMAXPROCS(0), 8))
	for w := range errs {
		group.Go(func() {
			readers := readers{f.Reader(), new(signals.Reader)}
			for errs[w] == nil {
				start := int(next.Add(chunk)) - chunk
				if start >= len(list) {
					return
				}
				errs[w] = noteSome(f, readers, start, list[start:min(start+chunk, len(list))], rules)
			}
		})
	}
	group.Wait()
	return list, cmp.Or(errs...)
}

// noteSome fills a part of the list that begins with the issue at index first.
func noteSome(f *beads.Snapshot, from readers, first int, list []summary, rules Rules) error {
	for k := range list {
		issue := f.At(first + k)
		var err error
		if list[k], err = remembered(issue, from, rules); err != nil {
			return err
		}
	}
	return nil
}

// digest is the memo key of a summary; its value is Rules.Digest.
type digest int

// remembered is noteOne with a cache that is valid until the issue's line changes.
func remembered(issue *beads.Issue, from readers, rules Rules) (summary, error) {
	if known, ok := issue.Remembered(digest(rules.Digest)).(summary); ok {
		return known, nil
	}
	found, err := noteOne(issue, from, rules)
	if err == nil {
		issue.Remember(digest(rules.Digest), found)
	}
	return found, err
}

// noteOne summarises an issue from its line.
func noteOne(issue *beads.Issue, from readers, rules Rules) (summary, error) {
	t, many := emptySummary(), 0
	if issue.HasComments && !beads.IsClosed(issue.Status) {
		record, err := from.lines.Record(issue)
		if err != nil {
			return t, err
		}
		many = unsummarised(record, rules.Digest)
	}
	if issue.HasNotes {
		text, err := from.lines.Notes(issue, "<!--") // every section begins with it
		if err != nil {
			return t, err
		}
		if text != "" {
			t = notedIn(text, from.tables, rules.Schema)
		}
	}
	t.unsummarised = many
	return t, nil
}
