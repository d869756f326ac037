package beads

import "slices"

// Key names a key of an issue's line that stig understands.
type Key string

// The keys that are asked for by name; every other key of the known order can
// be written as Key("…").
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
	ClosedAt           Key = "closed_at"
	CloseReason        Key = "close_reason"
)

// kind is what the value of a key is.
type kind byte

const (
	textual    kind = iota // a string
	timely                 // a string holding a time, RFC 3339
	structured             // number, bool, list or object: never set as text
)

type keyKind struct {
	key  Key
	kind kind
}

// order is the order in which bd 0.49 writes keys, with those that bd 1.0.5
// and beads_rust have besides at their places. A new key goes to its slot.
var order = []keyKind{
	{"_type", structured}, {"_schema", structured},
	{ID, textual}, {Title, textual}, {Description, textual}, {Design, textual},
	{AcceptanceCriteria, textual}, {Notes, textual}, {"spec_id", textual},
	{Status, textual}, {Priority, structured}, {IssueType, textual}, {Assignee, textual},
	{"owner", textual}, {"estimated_minutes", structured}, {CreatedAt, timely},
	{"created_by", textual}, {UpdatedAt, timely}, {"started_at", timely},
	{ClosedAt, timely}, {CloseReason, textual}, {"closed_by_session", textual},
	{"due_at", timely}, {"defer_until", timely}, {"external_ref", textual},
	{"source_system", textual}, {"source_repo", textual}, {"source_repo_path", textual},
	{"agent_context", structured}, {"metadata", structured},
	{"compaction_level", structured}, {"compacted_at", timely},
	{"compacted_at_commit", textual}, {"original_size", structured},
	{"labels", structured}, {Dependencies, structured}, {Comments, structured},
	{"deleted_at", timely}, {"deleted_by", textual}, {"delete_reason", textual},
	{"original_type", textual}, {"sender", textual}, {"ephemeral", structured},
	{"no_history", structured}, {"wisp_type", textual}, {"pinned", structured},
	{"is_template", structured}, {"bonded_from", structured}, {"creator", structured},
	{"validations", structured}, {"quality_score", structured}, {"crystallizes", structured},
	{"await_type", textual}, {"await_id", textual}, {"timeout", structured},
	{"waiters", structured}, {"holder", textual}, {"source_formula", textual},
	{"source_location", textual}, {"hook_bead", textual}, {"role_bead", textual},
	{"agent_state", textual}, {"last_activity", timely}, {"role_type", textual},
	{"rig", textual}, {"mol_type", textual}, {"work_type", textual},
	{"event_kind", textual}, {"actor", textual}, {"target", textual}, {"payload", textual},
	{"dependency_count", structured}, {"dependent_count", structured},
	{"comment_count", structured}, {"parent", textual},
}

// slot is the place of a key in the order, or -1.
func slot(k Key) int {
	return slices.IndexFunc(order, func(o keyKind) bool { return o.key == k })
}
