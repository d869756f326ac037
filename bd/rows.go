package bd

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What is in the tables of a database of bd 1.0, and how its export writes it as lines.

// issueRow is an issue with the keys of bd's export, in its order.
type issueRow struct {
	RecordType         string          `json:"_type"`
	ID                 string          `json:"id"`
	Title              string          `json:"title"`
	Description        string          `json:"description,omitempty"`
	Design             string          `json:"design,omitempty"`
	AcceptanceCriteria string          `json:"acceptance_criteria,omitempty"`
	Notes              string          `json:"notes,omitempty"`
	SpecID             string          `json:"spec_id,omitempty"`
	Status             string          `json:"status,omitempty"`
	Priority           int             `json:"priority"`
	IssueType          string          `json:"issue_type,omitempty"`
	Assignee           string          `json:"assignee,omitempty"`
	Owner              string          `json:"owner,omitempty"`
	EstimatedMinutes   *int64          `json:"estimated_minutes,omitempty"`
	CreatedAt          time.Time       `json:"created_at"`
	CreatedBy          string          `json:"created_by,omitempty"`
	UpdatedAt          time.Time       `json:"updated_at"`
	StartedAt          *time.Time      `json:"started_at,omitempty"`
	ClosedAt           *time.Time      `json:"closed_at,omitempty"`
	CloseReason        string          `json:"close_reason,omitempty"`
	DueAt              *time.Time      `json:"due_at,omitempty"`
	DeferUntil         *time.Time      `json:"defer_until,omitempty"`
	ExternalRef        *string         `json:"external_ref,omitempty"`
	SourceSystem       string          `json:"source_system,omitempty"`
	Metadata           json.RawMessage `json:"metadata,omitempty"`
	CompactionLevel    int             `json:"compaction_level,omitempty"`
	CompactedAt        *time.Time      `json:"compacted_at,omitempty"`
	CompactedAtCommit  *string         `json:"compacted_at_commit,omitempty"`
	OriginalSize       int             `json:"original_size,omitempty"`
	Labels             []string        `json:"labels,omitempty"`
	Dependencies       []dependencyRow `json:"dependencies,omitempty"`
	Comments           []commentRow    `json:"comments,omitempty"`
	Sender             string          `json:"sender,omitempty"`
	Ephemeral          bool            `json:"ephemeral,omitempty"`
	NoHistory          bool            `json:"no_history,omitempty"`
	WispType           string          `json:"wisp_type,omitempty"`
	Pinned             bool            `json:"pinned,omitempty"`
	IsTemplate         bool            `json:"is_template,omitempty"`
	AwaitType          string          `json:"await_type,omitempty"`
	AwaitID            string          `json:"await_id,omitempty"`
	Timeout            int             `json:"timeout,omitempty"`
	Waiters            []string        `json:"waiters,omitempty"`
	MolType            string          `json:"mol_type,omitempty"`
	WorkType           string          `json:"work_type,omitempty"`
	EventKind          string          `json:"event_kind,omitempty"`
	Actor              string          `json:"actor,omitempty"`
	Target             string          `json:"target,omitempty"`
	Payload            string          `json:"payload,omitempty"`
	DependencyCount    int             `json:"dependency_count"`
	DependentCount     int             `json:"dependent_count"`
	CommentCount       int             `json:"comment_count"`

	wisp bool // from the table of wisps
}

type dependencyRow struct {
	IssueID     string    `json:"issue_id"`
	DependsOnID string    `json:"depends_on_id"`
	Type        string    `json:"type"`
	CreatedAt   time.Time `json:"created_at"`
	CreatedBy   string    `json:"created_by,omitempty"`
	Metadata    string    `json:"metadata,omitempty"`
	ThreadID    string    `json:"thread_id,omitempty"`

	id, external string // by which bd's query orders the rows of an issue
}

type commentRow struct {
	ID        string    `json:"id"`
	IssueID   string    `json:"issue_id"`
	Author    string    `json:"author"`
	Text      string    `json:"text"`
	CreatedAt time.Time `json:"created_at"`
}

// contents is what one snapshot of the database holds.
type contents struct {
	issues   []*issueRow
	labels   map[string][]string
	depends  []dependencyRow
	comments map[string][]commentRow
	project  string   // the id of the project that the database is of; "" for none
	infra    []string // types of issues that bd exports only when it is asked to
}

// infraTypes are the types that bd's export leaves out where nothing is configured.
var infraTypes = []string{"agent", "rig", "role", "message"}

// lines gives the contents as bd export writes them, byte for byte.
func (c *contents) lines() ([]byte, error) {
	c.issues = slices.DeleteFunc(c.issues, func(i *issueRow) bool {
		return i.Ephemeral || i.IsTemplate || slices.Contains(c.infra, i.IssueType)
	})
	slices.SortStableFunc(c.issues, inExportOrder)
	c.relate()
	var text bytes.Buffer
	for _, i := range c.issues {
		line, err := json.Marshal(i)
		if err != nil {
			return nil, err
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	return text.Bytes(), nil
}

// inExportOrder is the order of bd's query, which reads the tables one after the other.
func inExportOrder(a, b *issueRow) int {
	if a.wisp != b.wisp {
		if a.wisp {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
}

// relate gives the issues their labels, dependencies and comments, and the counts.
func (c *contents) relate() {
	byID := make(map[string]*issueRow, len(c.issues))
	for _, i := range c.issues {
		byID[i.ID] = i
		i.Labels, i.Comments = c.labels[i.ID], c.comments[i.ID]
		i.CommentCount = len(i.Comments)
		i.CreatedAt, i.UpdatedAt = orEpoch(i.CreatedAt), orEpoch(i.UpdatedAt)
	}
	for _, d := range c.depends {
		from, on := byID[d.IssueID], byID[d.DependsOnID]
		if from != nil {
			from.Dependencies = append(from.Dependencies, d)
		}
		if d.Type == "blocks" && from != nil {
			from.DependencyCount++
		}
		if d.Type == "blocks" && on != nil {
			on.DependentCount++
		}
	}
}

// column is one of the tables issues and wisps, and where a row keeps its value.
type column struct {
	name string
	into any
}

// columns are those that the export shows.
func (i *issueRow) columns() []column {
	return []column{
		{"id", &i.ID}, {"title", &i.Title}, {"description", &i.Description}, {"design", &i.Design},
		{"acceptance_criteria", &i.AcceptanceCriteria}, {"notes", &i.Notes}, {"spec_id", &i.SpecID}, {"status", &i.Status},
		{"priority", &i.Priority}, {"issue_type", &i.IssueType}, {"assignee", &i.Assignee}, {"owner", &i.Owner},
		{"estimated_minutes", &i.EstimatedMinutes}, {"created_at", &i.CreatedAt}, {"created_by", &i.CreatedBy},
		{"updated_at", &i.UpdatedAt}, {"started_at", &i.StartedAt}, {"closed_at", &i.ClosedAt}, {"close_reason", &i.CloseReason},
		{"due_at", &i.DueAt}, {"defer_until", &i.DeferUntil}, {"external_ref", &i.ExternalRef}, {"source_system", &i.SourceSystem},
		{"metadata", &i.Metadata}, {"compaction_level", &i.CompactionLevel}, {"compacted_at", &i.CompactedAt},
		{"compacted_at_commit", &i.CompactedAtCommit}, {"original_size", &i.OriginalSize}, {"sender", &i.Sender},
		{"ephemeral", &i.Ephemeral}, {"no_history", &i.NoHistory}, {"wisp_type", &i.WispType}, {"pinned", &i.Pinned},
		{"is_template", &i.IsTemplate}, {"await_type", &i.AwaitType}, {"await_id", &i.AwaitID}, {"timeout_ns", &i.Timeout},
		{"waiters", &i.Waiters}, {"mol_type", &i.MolType}, {"work_type", &i.WorkType}, {"event_kind", &i.EventKind},
		{"actor", &i.Actor}, {"target", &i.Target}, {"payload", &i.Payload},
	}
}

// cell takes the value of a column as the server writes it. What is NULL leaves the
// place as it is.
type cell struct{ into any }

// Scan implements sql.Scanner.
func (c cell) Scan(from any) error {
	var value sql.NullString
	if err := value.Scan(from); err != nil || !value.Valid {
		return err
	}
	switch into := c.into.(type) {
	case *string:
		*into = value.String
	case **string:
		*into = &value.String
	case *int:
		return json.Unmarshal([]byte(value.String), into)
	case **int64:
		return json.Unmarshal([]byte(value.String), into)
	case *bool:
		*into = value.String != "0" && value.String != "false" && value.String != ""
	case *time.Time:
		*into = parseTime(value.String)
	case **time.Time:
		at := parseTime(value.String)
		*into = &at
	case *json.RawMessage:
		if value.String != "" && value.String != "{}" { // the export leaves an empty object out
			*into = json.RawMessage(value.String)
		}
	case *[]string:
		if json.Unmarshal([]byte(value.String), into) != nil {
			*into = nil
		}
	default:
		return fmt.Errorf("no way to keep a %T", c.into)
	}
	return nil
}

// scanInto reads a row into places, in their order.
func scanInto(row interface{ Scan(...any) error }, places ...any) error {
	cells := make([]any, len(places))
	for k, into := range places {
		cells[k] = cell{into}
	}
	return row.Scan(cells...)
}

// parseTime reads a time as servers and the driver write it, in UTC; the zero time for
// anything else.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// orEpoch is a time that each row has: the epoch where a row has none.
func orEpoch(at time.Time) time.Time {
	if at.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return at
}
