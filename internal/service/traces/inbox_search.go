package traces

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// search is one search of a store.
type search struct {
	Query
	file  *beads.Snapshot
	graph *dag.Graph

	assigned []int        // the actor's issues, including closed ones
	mine     map[int]bool // the same
	blockers map[int]bool // blockers of the actor's unclosed issues, closed or not
	watched  map[int]bool // issues watched by id

	found   []found
	replies map[string][]string // who answered a trace, by its name
	wrote   map[string]bool     // names of the actor's own traces
	left    map[string]origin   // of each trace, by its name
}

// origin is where a trace comes from.
type origin struct{ issue, by, re string }

// found is an item before its answers are known.
type found struct {
	Item
	name string   // of the trace, "" for none
	re   []string // the traces that it answers
}

func newSearch(file *beads.Snapshot, graph *dag.Graph, r Query) *search {
	s := &search{Query: r, file: file, graph: graph, mine: map[int]bool{}, blockers: map[int]bool{}, watched: map[int]bool{},
		replies: map[string][]string{}, wrote: map[string]bool{}, left: map[string]origin{}}
	for i, issue := range file.All() {
		if issue.Assignee == "" || !s.counts(i) || !r.For.mine(issue.Assignee) {
			continue
		}
		s.assigned, s.mine[i] = append(s.assigned, i), true
		if !graph.Closed(i) {
			for _, b := range s.waitsFor(i) {
				s.blockers[b] = true
			}
		}
	}
	for _, id := range r.For.Watch {
		if i, ok := file.Index(id); ok {
			s.watched[i] = true
		}
	}
	return s
}

// counts reports whether the line at i is the effective one for its id and not a tombstone.
func (s *search) counts(i int) bool {
	at, ok := s.file.Index(s.file.At(i).ID)
	return ok && at == i && s.file.At(i).Status != beads.StatusTombstone
}

// waitsFor returns the direct blockers of an issue, closed or not.
func (s *search) waitsFor(i int) (list []int) {
	for _, dep := range s.file.At(i).Deps {
		if b, ok := s.file.Index(dep.On); ok && dag.Blocks(dep.Type) && b != i {
			list = append(list, b)
		}
	}
	return list
}

// comments searches the lines that changed since the actor appeared, and those with comments,
// which other programs add without a new updated_at. Most lines contain nothing for the actor;
// a search of their bytes shows that without parsing JSON.
func (s *search) comments() error {
	reader, look := s.file.Reader(), s.hints()
	for i, issue := range s.file.All() {
		if !issue.UpdatedAt.IsZero() && issue.UpdatedAt.Before(s.For.Since) && !issue.HasComments || !s.counts(i) {
			continue
		}
		near := s.mine[i] || s.blockers[i] || s.watched[i]
		if !near && !issue.HasComments && !issue.HasNotes && len(look.labels) == 0 {
			continue
		}
		if !near {
			line, err := reader.Line(issue)
			if err != nil {
				return err
			}
			if !look.may(issue, line) {
				continue
			}
		}
		record, err := reader.Record(issue)
		if err != nil {
			return err
		}
		s.read(i, record)
	}
	return nil
}

// hints are what to search for in a line.
type hints struct {
	labels [][]byte // watched labels, as they are written in a line
	names  [][]byte // the actor's name and the prefix of its sessions; nil if escapes may hide it
	called [][]byte // what may follow an @
}

func (s *search) hints() (h hints) {
	h.called = s.For.called()
	for _, label := range s.For.Watch {
		if _, isIssue := s.file.Index(label); !isIssue {
			h.labels = append(h.labels, []byte(`"`+label+`"`))
		}
	}
	if !strings.ContainsFunc(s.For.Name, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }) {
		h.names = [][]byte{[]byte(s.For.Name)}
		if !clone.IsSession(s.For.Name) {
			h.names = append(h.names, []byte(clone.Slug(s.For.Name)+"/"))
		}
	}
	return h
}

// parts are the keys of traces that may concern any actor, as they are written in a line, and
// escapes that may hide them or an @.
var parts = []string{`\nto: `, `\nneeds: `, `\nre: `, `\u0040`, `\u000`}

// may reports whether a line may contain something for the actor.
func (h hints) may(issue *beads.Issue, line []byte) bool {
	holds := func(part []byte) bool { return bytes.Contains(line, part) }
	switch {
	case slices.ContainsFunc(h.labels, holds):
		return true
	case issue.HasNotes && bytes.Contains(line, []byte("esolved (")) && (h.names == nil || slices.ContainsFunc(h.names, holds)):
		return true
	case !issue.HasComments:
		return false
	}
	if h.names == nil && bytes.IndexByte(line, '@') >= 0 || calls(line, h.called) {
		return true
	}
	return slices.ContainsFunc(parts, func(part string) bool { return bytes.Contains(line, []byte(part)) })
}

// read adds what concerns the actor from the line of the issue at i.
func (s *search) read(i int, record *beads.Record) {
	issue := s.file.At(i)
	closed := ClosedAt(issue, record)
	watched := s.watched[i] || slices.ContainsFunc(record.Labels(), func(label string) bool { return slices.Contains(s.For.Watch, label) })
	record.EachComment(func(at int, _ string, c beads.Comment) { s.comment(i, closed, watched, at, c) })
	s.answers(i, closed, record)
	if watched && !closed.IsZero() && issue.Assignee != s.For.Name {
		s.add(closed, found{Item: Item{ID: key(WhyWatched, issue.ID, stamp(closed)), Why: WhyWatched, Issue: issue.ID, At: closed, By: issue.Assignee,
			Text: "closed: " + record.Text(beads.CloseReason), Command: "stig show " + visible.Quoted(issue.ID)}})
	}
}

// ClosedAt returns when an issue was closed; zero if it is not.
func ClosedAt(issue *beads.Issue, record *beads.Record) time.Time {
	if issue.Status != beads.StatusClosed {
		return time.Time{}
	}
	if at, ok := record.Time(beads.ClosedAt); ok {
		return at.UTC()
	}
	return issue.UpdatedAt
}

// add adds an item, unless it is older than the actor or its issue was closed long ago.
func (s *search) add(closed time.Time, f found) {
	since := s.For.Since
	if f.Why == WhyAnswer && f.name == "" || f.Why == WhyReopened {
		since = day(since) // notes have dates without times
	}
	if f.At.Before(since) || LongGone(closed, f.At, s.Now) {
		return
	}
	if i, ok := s.file.Index(f.Issue); ok {
		f.Title = s.file.At(i).Title
	}
	f.Text = visible.OneLine(f.Text)
	s.found = append(s.found, f)
}

// comment adds an item for one comment of the issue at i.
func (s *search) comment(i int, closed time.Time, watched bool, at int, c beads.Comment) {
	issue := s.file.At(i)
	own := c.Author == s.For.Name
	if !own && (c.CreatedAt.Before(s.For.Since) && !c.CreatedAt.IsZero() || !watched && !trace.May(c) && !strings.Contains(c.Text, "@")) {
		return
	}
	left := trace.Read(issue.ID, at, c)
	from := origin{issue: issue.ID, by: c.Author}
	for _, name := range left.Values("re") {
		s.replies[name] = append(s.replies[name], c.Author)
		from.re = name
	}
	s.left[left.Name] = from
	if own {
		s.wrote[left.Name] = true
		return
	}
	f := found{name: left.Name, re: left.Values("re"), Item: Item{ID: left.Name, Issue: issue.ID, By: c.Author, Text: left.Summary}}
	if f.Type = left.Type; !left.IsTrace() {
		f.Text = left.Body
	}
	f.At = c.CreatedAt
	for _, instead := range []time.Time{issue.UpdatedAt, s.For.Since} { // the comment may have no time
		if f.At.IsZero() {
			f.At = instead
		}
	}
	f.Why = s.why(i, left, watched)
	f.ByRole = f.Why == WhyRole || f.Why == WhyHelp
	if f.Why != "" || len(f.re) > 0 {
		f.Command = commandOf(f.Item)
		s.add(closed, f)
	}
}

// why returns why a comment of the issue at i concerns the actor; "" if it does not.
func (s *search) why(i int, left trace.Entry, watched bool) string {
	needed := left.Type == trace.RequestForHelp &&
		slices.ContainsFunc(left.Values("needs"), func(role string) bool { return slices.Contains(s.For.Roles, role) })
	addressed := s.For.addressed(left.Values("to"))
	switch {
	case addressed != "":
		return addressed
	case left.Type == trace.Feedback && s.mine[i]:
		return WhyFeedback
	case needed:
		return WhyHelp
	case left.Type == trace.Finding && s.blockers[i]:
		return WhyFinding
	case s.For.mentioned(left.Whole()):
		return WhyMention
	case watched:
		return WhyWatched
	}
	return ""
}

// commandOf returns the command that handles a trace: an answer if it asks for one, or else
// reading it in full.
func commandOf(item Item) string {
	if isAsked(item.Type) {
		return "stig trace add " + visible.Quoted(item.Issue) + " result --re " + item.ID + " -m TEXT"
	}
	return "stig trace show " + item.ID
}

// answers adds the answers to questions that the actor asked in the notes.
func (s *search) answers(i int, closed time.Time, record *beads.Record) {
	issue := s.file.At(i)
	if !issue.HasNotes || !record.MayHold(beads.Notes, "esolved (") {
		return
	}
	asked := map[string]int{}
	for _, e := range signals.Exchanges(signals.Escalations(notes.Parse(record.Text(beads.Notes)))) {
		hash := e.Question.Hash()
		asked[hash]++
		if e.Answer == nil || !s.For.mine(e.Question.By) || e.Answer.By == s.For.Name {
			continue
		}
		name := hash
		if n := asked[hash]; n > 1 { // the same question asked again
			name += "-" + strconv.Itoa(n)
		}
		at, _ := time.Parse(time.DateOnly, e.Answer.Date)
		if at.IsZero() {
			at = day(issue.UpdatedAt)
		}
		text := "answered: " + e.Answer.Text
		if e.Answer.Withdraws() {
			text = "withdrawn: " + e.Answer.Text
		}
		s.add(closed, found{Item: Item{ID: key(WhyAnswer, issue.ID, name), Why: WhyAnswer, Issue: issue.ID, At: at, By: e.Answer.By,
			Text: text, Command: "stig orient " + visible.Quoted(issue.ID)}})
	}
}

// items returns the items that concern the actor, with their acknowledgements.
func (s *search) items() []Item {
	slices.SortStableFunc(s.found, func(a, b found) int { return byTime(a.Item, b.Item) })
	list, named := []Item{}, map[string]bool{}
	for _, f := range s.found {
		toOwn := slices.ContainsFunc(f.re, func(name string) bool { return s.wrote[name] })
		if toOwn && (f.Why == "" || f.Why == WhyMention || f.Why == WhyWatched) {
			f.Why = WhyAnswer
		}
		if f.Why == "" {
			continue
		}
		if named[f.ID] { // the same text by the same author on another issue
			f.ID = key(f.Why, f.Issue, f.name)
		}
		if named[f.ID] {
			continue // or twice on the same one
		}
		named[f.ID] = true
		f.Acked = s.Acked != nil && s.Acked(f.ID, f.At) || s.isAnswered(f)
		f.Thread = s.threadOf(f.name)
		list = append(list, f.Item)
	}
	return grouped(list)
}

// threadOf returns the thread of a trace: the issue and author of the first trace in its chain
// of answers. All traces of one author on one issue are one thread.
func (s *search) threadOf(name string) string {
	from, known := s.left[name]
	if !known {
		return ""
	}
	for range s.left { // bounded, since answers may form a cycle
		before, known := s.left[from.re]
		if !known {
			break
		}
		from = before
	}
	return from.issue + "/" + from.by
}

// isAnswered reports whether an answer acknowledges a trace: for every addressee if it was
// addressed by role, or else only for whoever answered.
func (s *search) isAnswered(f found) bool {
	return slices.ContainsFunc(s.replies[f.name], func(by string) bool {
		return by != f.By && (f.ByRole || s.For.mine(by))
	})
}

// key returns the id of an item that is not a trace.
func key(why, issue, key string) string { return why + "/" + issue + "/" + key }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
