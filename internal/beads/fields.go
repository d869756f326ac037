package beads

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// Key is a key of an issue's line that stig understands.
type Key string

// These keys are used by name; any other known key can be written as Key("…").
const (
	ID                 Key = "id"
	Title              Key = "title"
	Description        Key = "description"
	Design             Key = "design"
	AcceptanceCriteria Key = "acceptance_criteria"
	Notes              Key = "notes"
	Status             Key = "status"
	Priority           Key = "priority"
	IssueType          Key = "issue_type"
	Assignee           Key = "assignee"
	CreatedAt          Key = "created_at"
	UpdatedAt          Key = "updated_at"
	StartedAt          Key = "started_at"
	ClosedAt           Key = "closed_at"
	CloseReason        Key = "close_reason"
)

// The statuses of bd (beads-format §4); a project may define its own.
const (
	StatusOpen       = "open"
	StatusInProgress = "in_progress" // somebody works on it: its assignee
	StatusBlocked    = "blocked"     // said to be held up, whatever its dependencies are
	StatusDeferred   = "deferred"    // put off
	StatusPinned     = "pinned"      // a notice and no work
	StatusHooked     = "hooked"      // work on the hook of an agent of Gas Town
	StatusClosed     = "closed"
	StatusTombstone  = "tombstone" // deleted: the line says that there was an issue
)

// IsClosed reports whether an issue with that status is finished: closed or deleted.
func IsClosed(status string) bool { return status == StatusClosed || status == StatusTombstone }

// kind is the type of a key's value.
type kind byte

const (
	textual  kind = iota // a string
	timely               // a string holding a time, RFC 3339
	whole                // a whole number of 32 bits
	wide                 // a whole number of 64 bits
	decimal              // a number
	numbered             // the id of a comment: a whole number, or a UUID as bd 1.0 has
	boolean              // true or false
	texts                // a list of strings
	rows                 // a list of dependency rows
	remarks              // a list of comments
	listed               // another list
	mapping              // an object
	anything             // any JSON value
)

// isText reports whether values of the kind are strings.
func (k kind) isText() bool { return k <= timely }

type keyKind struct {
	key  Key
	kind kind
}

// order is the key order of bd 0.49, with the keys that bd 1.0.5 and beads_rust add in their
// places. A new key goes to its slot.
var order = []keyKind{
	{"_type", anything}, {"_schema", anything},
	{ID, textual}, {Title, textual}, {Description, textual}, {Design, textual},
	{AcceptanceCriteria, textual}, {Notes, textual}, {"spec_id", textual},
	{Status, textual}, {Priority, whole}, {IssueType, textual}, {Assignee, textual},
	{"owner", textual}, {"estimated_minutes", whole}, {CreatedAt, timely},
	{"created_by", textual}, {UpdatedAt, timely}, {"started_at", timely},
	{ClosedAt, timely}, {CloseReason, textual}, {"closed_by_session", textual},
	{"due_at", timely}, {"defer_until", timely}, {"external_ref", textual},
	{"source_system", textual}, {"source_repo", textual}, {"source_repo_path", textual},
	{"agent_context", anything}, {"metadata", anything},
	{"compaction_level", whole}, {"compacted_at", timely},
	{"compacted_at_commit", textual}, {"original_size", whole},
	{"labels", texts}, {Dependencies, rows}, {Comments, remarks},
	{"deleted_at", timely}, {"deleted_by", textual}, {"delete_reason", textual},
	{"original_type", textual}, {"sender", textual}, {"ephemeral", boolean},
	{"no_history", boolean}, {"wisp_type", textual}, {"pinned", boolean},
	{"is_template", boolean}, {"bonded_from", listed}, {"creator", mapping},
	{"validations", listed}, {"quality_score", decimal}, {"crystallizes", boolean},
	{"await_type", textual}, {"await_id", textual}, {"timeout", wide},
	{"waiters", texts}, {"holder", textual}, {"source_formula", textual},
	{"source_location", textual}, {"hook_bead", textual}, {"role_bead", textual},
	{"agent_state", textual}, {"last_activity", timely}, {"role_type", textual},
	{"rig", textual}, {"mol_type", textual}, {"work_type", textual},
	{"event_kind", textual}, {"actor", textual}, {"target", textual}, {"payload", textual},
	{"dependency_count", whole}, {"dependent_count", whole},
	{"comment_count", whole}, {"parent", textual},
}

// Known reports whether a key is part of the format.
func (k Key) Known() bool { return slot(k) >= 0 }

// slot returns the index of a key in order, or -1.
func slot(k Key) int {
	return slices.IndexFunc(order, func(o keyKind) bool { return o.key == k })
}

// The keys that an edit of an issue sets.
const (
	DeferUntil       Key = "defer_until"
	DueAt            Key = "due_at"
	ExternalRef      Key = "external_ref"
	EstimatedMinutes Key = "estimated_minutes" // a number: see Tx.SetNumber
	Labels           Key = "labels"            // a list: see Tx.SetLabels
)

// Number returns the whole number under a key, and whether there is one.
func (r *Record) Number(k Key) (int, bool) {
	n, err := strconv.Atoi(string(r.Raw(k)))
	return n, err == nil
}

// SetNumber sets a numeric key; nil removes it. It refuses what Record refuses, and a key that
// holds something else.
func (tx *Tx) SetNumber(id string, k Key, n *int) error {
	if k != Priority && k != EstimatedMinutes {
		return fmt.Errorf("%s: %s: does not hold a number", id, k)
	}
	return tx.edit(id, func(r *Record) (*Record, error) {
		return r.changed(tx.now, nil, []listEdit{{of: k, do: func(r *Record, _ style) *Record { return r.withNumber(k, n) }}})
	})
}

func (r *Record) withNumber(k Key, n *int) *Record {
	old, there := r.Number(k)
	if n == nil {
		return r.without(k)
	}
	if there && old == *n {
		return r
	}
	raw := strconv.AppendInt(nil, int64(*n), 10)
	if i := r.last(k); i >= 0 {
		return r.splice(r.members[i].val, raw)
	}
	return r.insertRaw(k, raw)
}

// SetLabels appends labels and drops others. Adding a label that is there, or dropping one that
// is not, changes nothing; the key disappears with the last label. It refuses what Record
// refuses, a value that is not a list, and labels that are not UTF-8.
func (tx *Tx) SetLabels(id string, add, drop []string) error {
	return tx.edit(id, func(r *Record) (*Record, error) {
		if err := r.takes(Labels, add...); err != nil {
			return nil, err
		}
		return r.changed(tx.now, nil, []listEdit{{of: Labels, do: func(r *Record, st style) *Record {
			for _, label := range drop {
				r = r.withoutLabel(label)
			}
			for _, label := range add {
				r = r.withLabel(label, st)
			}
			return r
		}}})
	})
}

func (r *Record) withLabel(label string, st style) *Record {
	if slices.Contains(r.Labels(), label) {
		return r
	}
	_, comma := r.spacing()
	return r.appendElement(Labels, comma, composer{style: st}.text(label))
}

func (r *Record) withoutLabel(label string) *Record {
	return r.dropElements(Labels, func(element []byte) bool {
		raw, ok := unquote(element)
		return ok && bytes.Equal(appendText(nil, raw), []byte(label))
	})
}
