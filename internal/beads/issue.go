package beads

import (
	"bytes"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"time"
)

// Dep is one dependency row: the issue that holds it depends on On. Type is "" if the row has
// none.
type Dep struct{ On, Type string }

// The types of rows whose effect depends on more than their target.
const (
	WaitsFor    = "waits-for"          // until the children of the target are closed
	Conditional = "conditional-blocks" // only if the target failed
)

// Issue is the read-only view of one line. What answers about the whole store need is in
// memory; the rest is read from the line on demand (Record). Texts are "" if absent, null or
// not a string.
type Issue struct {
	ID, Title, Status, Type, Assignee string
	Priority                          int // 0 if absent or not a whole number
	Deps                              []Dep
	Unread                            []Unread        // malformed values; nil for nearly all lines
	AnyChild                          map[string]bool // the targets of waits-for rows that need only one closed child
	UpdatedAt, DeferUntil             time.Time       // UTC; zero when absent or unreadable
	Pinned, Ephemeral, Template       bool
	Channel                           bool // has the label channel: a place to talk, not work
	HasNotes                          bool // notes are present and not empty
	HasComments                       bool // comments are present and not empty
	Line                              int  // 1-based line of the file

	of   *Snapshot
	off  int64  // of the line's first byte, after any byte order mark
	size int    // in bytes, without the line ending
	sum  uint32 // of the id; see idTable

	version uint64 // of the line; see Memo
	kept    *remembered

	// The range of the notes' value in the line; 0 if there are none or if they end beyond this
	// type's range.
	notesStart, notesEnd uint32
}

// Ref identifies an issue to readers of another one.
type Ref struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

// Ref returns the reference to the issue.
func (i *Issue) Ref() Ref { return Ref{ID: i.ID, Title: i.Title, Status: i.Status} }

// Rows returns the dependency rows of an issue, among them malformed ones with a target.
func (i *Issue) Rows() []Dep {
	rows := i.Deps
	for _, u := range i.Unread {
		if u.Rule == UnreadRow && u.Dep.On != "" {
			rows = append(slices.Clip(rows), u.Dep)
		}
	}
	return rows
}

// Refs returns references to issues by index; never nil.
func (f *Snapshot) Refs(indices []int) []Ref {
	list := make([]Ref, len(indices))
	for k, i := range indices {
		list[k] = f.At(i).Ref()
	}
	return list
}

// IsPinned reports whether an issue is a notice rather than work, by its key or its status.
func (i *Issue) IsPinned() bool { return i.Pinned || i.Status == StatusPinned }

// IsClaimed reports whether an issue is in progress and has an assignee.
func (i *Issue) IsClaimed() bool { return i.Status == StatusInProgress && i.Assignee != "" }

// The keys examined in every line: first texts, then a number, lists and flags, then texts of
// which only the type matters.
const (
	inID = iota
	inType
	inSchema
	inTitle
	inStatus
	inIssueType
	inAssignee
	inNotes
	inCreatedAt
	inUpdatedAt
	inStartedAt
	inClosedAt
	inDueAt
	inDeferUntil
	inPriority
	inDependencies
	inBlockedBy // written by other programs
	inDependsOn
	inLabels
	inComments
	inPinned
	inEphemeral
	inTemplate
	inSpecID
	inOwner
	inCreatedBy
	inCloseReason
	inClosedBySession
	inExternalRef
	inSourceSystem
	inSourceRepo
	inSourceRepoPath
	inCompactedAtCommit
	inDeletedBy
	inDeleteReason
	inOriginalType
	inSender
	inWispType
	inAwaitType
	inAwaitID
	inHolder
	inSourceFormula
	inSourceLocation
	inHookBead
	inRoleBead
	inAgentState
	inRoleType
	inRig
	inMolType
	inWorkType
	inEventKind
	inActor
	inTarget
	inPayload
	inParent
	inDescription
	inDesign
	inAcceptanceCriteria
	inCompactedAt
	inDeletedAt
	inLastActivity
	indexed
)

func indexOf(key []byte) int {
	switch string(key) {
	case "id":
		return inID
	case "_type":
		return inType
	case "_schema":
		return inSchema
	case "title":
		return inTitle
	case "status":
		return inStatus
	case "issue_type":
		return inIssueType
	case "assignee":
		return inAssignee
	case "notes":
		return inNotes
	case "created_at":
		return inCreatedAt
	case "updated_at":
		return inUpdatedAt
	case "started_at":
		return inStartedAt
	case "closed_at":
		return inClosedAt
	case "due_at":
		return inDueAt
	case "defer_until":
		return inDeferUntil
	case "priority":
		return inPriority
	case "dependencies":
		return inDependencies
	case "blocked_by":
		return inBlockedBy
	case "depends_on":
		return inDependsOn
	case "labels":
		return inLabels
	case "comments":
		return inComments
	case "pinned":
		return inPinned
	case "ephemeral":
		return inEphemeral
	case "is_template":
		return inTemplate
	case "spec_id":
		return inSpecID
	case "owner":
		return inOwner
	case "created_by":
		return inCreatedBy
	case "close_reason":
		return inCloseReason
	case "closed_by_session":
		return inClosedBySession
	case "external_ref":
		return inExternalRef
	case "source_system":
		return inSourceSystem
	case "source_repo":
		return inSourceRepo
	case "source_repo_path":
		return inSourceRepoPath
	case "compacted_at_commit":
		return inCompactedAtCommit
	case "deleted_by":
		return inDeletedBy
	case "delete_reason":
		return inDeleteReason
	case "original_type":
		return inOriginalType
	case "sender":
		return inSender
	case "wisp_type":
		return inWispType
	case "await_type":
		return inAwaitType
	case "await_id":
		return inAwaitID
	case "holder":
		return inHolder
	case "source_formula":
		return inSourceFormula
	case "source_location":
		return inSourceLocation
	case "hook_bead":
		return inHookBead
	case "role_bead":
		return inRoleBead
	case "agent_state":
		return inAgentState
	case "role_type":
		return inRoleType
	case "rig":
		return inRig
	case "mol_type":
		return inMolType
	case "work_type":
		return inWorkType
	case "event_kind":
		return inEventKind
	case "actor":
		return inActor
	case "target":
		return inTarget
	case "payload":
		return inPayload
	case "parent":
		return inParent
	case "description":
		return inDescription
	case "design":
		return inDesign
	case "acceptance_criteria":
		return inAcceptanceCriteria
	case "compacted_at":
		return inCompactedAt
	case "deleted_at":
		return inDeletedAt
	case "last_activity":
		return inLastActivity
	}
	return -1
}

// indexer builds issues from lines. It allocates many at once and belongs to one goroutine.
type indexer struct {
	of      *Snapshot
	seed    maphash.Seed
	issues  []Issue
	deps    []Dep
	texts   *strings.Builder
	words   map[string]string // statuses, types and names: few, often repeated
	scratch []byte
	row     []Dep
	few     bool // when only a few lines are indexed, keeping one issue must not keep room for others
}

func newIndexer(f *Snapshot, seed maphash.Seed) *indexer {
	memo := f.source.Memo
	return &indexer{of: f, seed: seed, texts: &strings.Builder{}, words: map[string]string{}, few: memo != nil && !memo.isEmpty()}
}

// issue parses one line. It returns neither an issue nor a problem for a line that is not about
// an issue (another "_type", a "_schema" header).
func (x *indexer) issue(line []byte) (*Issue, *syntaxError) {
	var at [indexed]span
	var m member
	odd, others := false, uint64(0)
	w := walker{scanner: scanner{b: line}}
	for w.next(&m) {
		key := x.key(line, m)
		i := indexOf(key)
		if i < 0 {
			bit := uint64(1) << (sketch(key) % 64)
			odd = odd || others&bit != 0
			others |= bit
			continue
		}
		odd = odd || at[i].end > 0 || !suits(i, line[m.val.start])
		at[i] = m.val
	}
	if w.err != nil {
		return nil, w.err
	}
	if kind := x.text(line, at[inType]); len(kind) > 0 && string(kind) != "issue" {
		return nil, nil
	}
	if raw := at[inID].of(line); len(raw) == 0 || string(raw) == "null" {
		if at[inSchema] != (span{}) {
			return nil, nil
		}
		return nil, &syntaxError{message: `an object without "id"`, sound: true}
	}
	id := x.text(line, at[inID])
	if len(id) == 0 {
		return nil, &syntaxError{offset: at[inID].start, message: `"id" must be a string that is not empty`, sound: true}
	}
	is := x.fill(line, x.keep(id), &at)
	if odd { // maybe: keys may only look alike
		is.Unread = append(is.Unread, unreadFlaws(line)...)
	}
	return is, nil
}

// sketch hashes a key: equal keys have equal sketches.
func sketch(key []byte) (n uint) {
	if len(key) > 0 {
		n = uint(len(key))*31 + uint(key[0])*7 + uint(key[len(key)-1])
	}
	return n
}

// suits reports whether a value that begins this way can belong to an indexed key.
func suits(i int, begins byte) bool {
	switch {
	case begins == 'n' || i < inPriority || i >= inSpecID:
		return begins == '"' || begins == 'n' || i == inType || i == inSchema || i == inID
	case i == inPriority:
		return begins == '-' || isDigit(begins)
	case i <= inComments:
		return begins == '['
	}
	return begins == 't' || begins == 'f'
}

func (x *indexer) fill(line []byte, id string, at *[indexed]span) *Issue {
	is := x.blank()
	is.of = x.of
	is.ID, is.sum = id, sumOf(x.seed, id)
	is.Title = x.keep(x.text(line, at[inTitle]))
	is.Status = x.word(x.text(line, at[inStatus]))
	is.Type = x.word(x.text(line, at[inIssueType]))
	is.Assignee = x.word(x.text(line, at[inAssignee]))
	is.Priority = wholeNumber(at[inPriority].of(line))
	x.dependencies(is, at[inDependencies].of(line))
	is.besideRows("blocked_by", at[inBlockedBy].of(line))
	is.besideRows("depends_on", at[inDependsOn].of(line))
	is.UpdatedAt = x.time(is, UpdatedAt, line, at[inUpdatedAt])
	is.DeferUntil = x.time(is, DeferUntil, line, at[inDeferUntil])
	for _, t := range [...]struct {
		k  Key
		at int
	}{{CreatedAt, inCreatedAt}, {StartedAt, inStartedAt}, {ClosedAt, inClosedAt}, {DueAt, inDueAt}} {
		if v := at[t.at]; v.end > 0 && !isPlainTime(v.of(line)) {
			x.time(is, t.k, line, v)
		}
	}
	is.Pinned = isTrue(line, at[inPinned])
	is.Ephemeral = isTrue(line, at[inEphemeral])
	is.Template = isTrue(line, at[inTemplate])
	is.Channel = holdsChannel(at[inLabels].of(line))
	notes := at[inNotes].of(line)
	is.HasNotes = len(notes) > 2 && notes[0] == '"'
	is.HasComments = at[inComments].end-at[inComments].start > 2 && line[at[inComments].start] == '['
	if is.HasNotes && at[inNotes].end <= math.MaxUint32 {
		is.notesStart, is.notesEnd = uint32(at[inNotes].start), uint32(at[inNotes].end)
	}
	return is
}

// blank returns a new issue from the current slab.
func (x *indexer) blank() *Issue {
	const slab = 124 // a size that the allocator hands out without waste
	if len(x.issues) == cap(x.issues) {
		x.issues = make([]Issue, 0, slab)
	}
	x.issues = append(x.issues, Issue{})
	return &x.issues[len(x.issues)-1]
}

// text decodes a string value; it returns nothing for any other value. The result is valid
// until the next call.
func (x *indexer) text(line []byte, v span) []byte {
	raw := v.of(line)
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	x.scratch = appendText(x.scratch[:0], raw[1:len(raw)-1])
	return x.scratch
}

// key decodes the key of a member. The result is valid until the next call.
func (x *indexer) key(b []byte, m member) []byte {
	if !m.escaped {
		return m.key.of(b)
	}
	x.scratch = appendText(x.scratch[:0], m.key.of(b))
	return x.scratch
}

// keep returns b as a string inside a large shared one.
func (x *indexer) keep(b []byte) string {
	slab := 32 << 10
	if x.few {
		slab = 0
	}
	if len(b) == 0 {
		return ""
	}
	if x.texts.Cap()-x.texts.Len() < len(b) {
		x.texts = &strings.Builder{}
		x.texts.Grow(max(slab, len(b)))
	}
	start := x.texts.Len()
	x.texts.Write(b)
	return x.texts.String()[start:]
}

// word is keep for texts that few values share.
func (x *indexer) word(b []byte) string {
	const enough = 4096
	if s, ok := x.words[string(b)]; ok {
		return s
	}
	s := x.keep(b)
	if len(x.words) < enough {
		x.words[s] = s
	}
	return s
}

// dependencies reads a value known to be well formed.
func (x *indexer) dependencies(is *Issue, list []byte) {
	switch {
	case len(list) == 0 || list[0] == 'n':
		return
	case list[0] != '[':
		is.Unread = append(is.Unread, unreadRows(list)...)
		return
	}
	x.row = x.row[:0]
	s := scanner{b: list}
	for i := s.blanks(1); list[i] != ']'; i = s.nextElement(i) {
		start, d, anyChild := i, Dep{}, false
		if list[i] == '{' {
			d, anyChild, i = x.dependency(&s, i)
		} else {
			i = s.value(i, 0)
		}
		if d.On == "" {
			is.Unread = append(is.Unread, unreadRows(list[start:i])...)
			continue
		}
		x.row = append(x.row, d)
		if anyChild {
			if is.AnyChild == nil {
				is.AnyChild = map[string]bool{}
			}
			is.AnyChild[d.On] = true
		}
	}
	is.Deps = x.keepRow()
}

// dependency reads the object at offset i and returns the offset after it.
func (x *indexer) dependency(s *scanner, i int) (d Dep, anyChild bool, end int) {
	var on, kind, metadata span
	var m member
	for i = s.blanks(i + 1); s.b[i] != '}'; i = s.nextElement(i) {
		i = s.member(i, 0, &m)
		switch string(x.key(s.b, m)) {
		case "depends_on_id":
			on = m.val
		case "type":
			kind = m.val
		case "metadata":
			metadata = m.val
		}
	}
	d = Dep{On: x.keep(x.text(s.b, on)), Type: x.word(x.text(s.b, kind))}
	return d, d.Type == WaitsFor && anyChildren(metadata.of(s.b)), i + 1
}

func (x *indexer) keepRow() []Dep {
	slab := 256
	if x.few {
		slab = 0
	}
	n := len(x.row)
	if n == 0 {
		return nil
	}
	if cap(x.deps)-len(x.deps) < n {
		x.deps = make([]Dep, 0, max(slab, n))
	}
	start := len(x.deps)
	x.deps = append(x.deps, x.row...)
	return x.deps[start : start+n : start+n]
}

func isTrue(line []byte, v span) bool { return string(v.of(line)) == "true" }

// ChannelLabel marks issues that are places to talk.
const ChannelLabel = "channel"

// holdsChannel reports whether a well-formed value is a list of labels that contains
// ChannelLabel.
func holdsChannel(list []byte) bool {
	if !bytes.Contains(list, []byte(`"`+ChannelLabel+`"`)) || list[0] != '[' {
		return false
	}
	s := scanner{b: list}
	for i := s.blanks(1); list[i] != ']'; i = s.nextElement(i) {
		start := i
		i = s.value(i, 0)
		if string(list[start:i]) == `"`+ChannelLabel+`"` {
			return true
		}
	}
	return false
}

// wholeNumber reads an integer of up to nine digits; anything else is 0.
func wholeNumber(raw []byte) int {
	digits, sign := raw, 1
	if len(raw) > 0 && raw[0] == '-' {
		digits, sign = raw[1:], -1
	}
	if len(digits) > 9 {
		return 0
	}
	n := 0
	for _, c := range digits {
		if !isDigit(c) {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return sign * n
}
