package bd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
)

// step is one writing call of bd.
type step struct {
	argv  []string
	stdin []byte
	actor string // "" for the run's actor
}

// flags are the flags of bd update that set a value. Each sets its own column alone, so that
// concurrent writes to other columns survive.
var flags = []struct {
	key  beads.Key
	flag string
}{
	{beads.Title, "--title"}, {beads.Description, "--description"}, {beads.Design, "--design"},
	{beads.AcceptanceCriteria, "--acceptance"}, {beads.Notes, "--notes"}, {"spec_id", "--spec-id"},
	{beads.Status, "--status"}, {beads.Priority, "--priority"}, {beads.IssueType, "--type"}, {beads.Assignee, "--assignee"},
	{beads.EstimatedMinutes, "--estimate"}, {"due_at", "--due"}, {beads.DeferUntil, "--defer"}, {"external_ref", "--external-ref"},
}

// importable are the keys of an issue that bd import can also set, all at once.
var importable = []beads.Key{
	beads.Title, beads.Description, beads.Design, beads.AcceptanceCriteria, beads.Notes, beads.Priority, beads.IssueType,
	beads.Assignee, beads.EstimatedMinutes, "external_ref", "metadata",
}

// derived are keys that bd sets itself.
var derived = []beads.Key{
	"_type", beads.UpdatedAt, "started_at", beads.ClosedAt, "closed_by_session", "dependency_count", "dependent_count", "comment_count", "parent",
}

const (
	// longestText is the longest argument for a program: systems allow 128 KiB.
	longestText = 100 << 10
	// mostUpdates is how many issues are changed by separate commands; more are imported.
	mostUpdates = 16
)

// plan returns the bd calls that make the changes: new issues first, in one import. The error
// is a fault.Refused if bd has no command for a change.
func plan(p beads.Place, changes []beads.Change) (steps []step, err error) {
	var lines bytes.Buffer
	var updates, later []step
	many := len(changes) > mostUpdates
	for _, c := range changes {
		if len(c.Before) == 0 {
			lines.Write(append(c.After, '\n'))
			continue
		}
		e, err := edited(p, c)
		if err != nil {
			return nil, err
		}
		imported := e.imports(many)
		if imported {
			lines.Write(e.line())
		}
		if argv := e.update(imported); len(argv) > 0 {
			updates = append(updates, step{argv: argv, actor: e.claimedBy()})
		}
		later = append(later, e.afterwards()...)
	}
	if lines.Len() > 0 {
		steps = append(steps, step{argv: []string{"import", "-"}, stdin: lines.Bytes()})
	}
	return slices.Concat(steps, updates, later), nil
}

// edit is a change to an existing issue.
type edit struct {
	id            string
	before, after *beads.Record
	values        map[beads.Key]beads.Value
}

// edited reads a change, and refuses what no bd command can make.
func edited(p beads.Place, c beads.Change) (*edit, error) {
	e := &edit{id: c.ID, values: map[beads.Key]beads.Value{}}
	var err error
	if e.before, err = beads.ParseRecord(c.Before); err != nil {
		return nil, err
	}
	if e.after, err = beads.ParseRecord(c.After); err != nil {
		return nil, err
	}
	values, err := c.Values()
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if slices.Contains(derived, v.Key) {
			continue
		}
		if !e.has(v.Key) {
			return nil, &fault.Error{Code: fault.Refused, Path: dirOf(p), Reason: fmt.Sprintf("%s: bd has no command that changes %s", c.ID, v.Key),
				Hint: "type bd update --help to see what it can change"}
		}
		e.values[v.Key] = v
	}
	return e, nil
}

// has reports whether bd has a command for a key.
func (e *edit) has(k beads.Key) bool {
	switch k {
	case beads.Labels, beads.Dependencies, beads.CloseReason, "metadata":
		return true
	case beads.Comments: // bd adds some but removes none
		return len(e.after.Comments()) >= len(e.before.Comments())
	}
	return flagOf(k) != ""
}

func flagOf(k beads.Key) string {
	for _, f := range flags {
		if f.key == k {
			return f.flag
		}
	}
	return ""
}

// closes reports whether the edit closes the issue, or gives a closed one another reason.
func (e *edit) closes() bool {
	_, status := e.values[beads.Status]
	_, reason := e.values[beads.CloseReason]
	return e.after.Text(beads.Status) == beads.StatusClosed && (status || reason)
}

// claimedBy returns who claims the issue, since bd has a command that refuses if somebody else
// was first; "" for other edits.
func (e *edit) claimedBy() string {
	status, assignee := e.values[beads.Status], e.values[beads.Assignee]
	if status.Before == beads.StatusOpen && status.After == beads.StatusInProgress && assignee.Before == "" {
		return assignee.After
	}
	return ""
}

// update returns the bd update that sets labels and values that are not imported; nil for none.
func (e *edit) update(imported bool) []string {
	argv := []string{"update", e.id}
	claimed := e.claimedBy() != ""
	if claimed {
		argv = append(argv, "--claim")
	}
	for _, f := range flags {
		v, changed := e.values[f.key]
		if !changed || imported && slices.Contains(importable, f.key) || claimed && (f.key == beads.Status || f.key == beads.Assignee) || e.closes() && f.key == beads.Status {
			continue
		}
		argv = append(argv, f.flag+"="+v.After)
		if _, too := e.values[beads.Status]; f.key == beads.DeferUntil && !too { // otherwise bd sets the status itself
			argv = append(argv, "--status="+e.after.Text(beads.Status))
		}
	}
	was, is := e.before.Labels(), e.after.Labels()
	for _, label := range is {
		if !slices.Contains(was, label) {
			argv = append(argv, "--add-label="+asField(label))
		}
	}
	for _, label := range was {
		if !slices.Contains(is, label) {
			argv = append(argv, "--remove-label="+asField(label))
		}
	}
	if len(argv) == 2 {
		return nil
	}
	return argv
}

// asField quotes a label for bd, which reads a comma-separated list from each flag.
func asField(label string) string {
	if !strings.ContainsAny(label, "\",\n") {
		return label
	}
	return `"` + strings.ReplaceAll(label, `"`, `""`) + `"`
}

// imports reports whether bd imports the importable keys, all at once: because it has no flag
// for the change, a text is too long for an argument, or many issues change and a command for
// each would take long.
func (e *edit) imports(many bool) bool {
	for k, v := range e.values {
		if slices.Contains(importable, k) && (many || len(v.After) > longestText || k == "metadata" || k == beads.EstimatedMinutes && v.After == "") {
			return true
		}
	}
	return false
}

// line returns the issue as bd imports it: without lists, since an import only adds to them and
// others may have changed them.
func (e *edit) line() []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(e.after.Bytes(), &members) != nil {
		return nil // unreachable: the line was parsed
	}
	for _, k := range []beads.Key{beads.Labels, beads.Dependencies, beads.Comments} {
		delete(members, string(k))
	}
	line, err := json.Marshal(members)
	if err != nil {
		return nil // unreachable too
	}
	return append(line, '\n')
}

// afterwards returns the calls after the update: bd links, closes and comments one by one.
func (e *edit) afterwards() (steps []step) {
	add := func(argv ...string) { steps = append(steps, step{argv: argv}) }
	was, is := e.before.Deps(), e.after.Deps()
	for _, d := range was {
		if !slices.Contains(is, d) {
			add("dep", "remove", e.id, d.On)
		}
	}
	for _, d := range is {
		if !slices.Contains(was, d) {
			add("dep", "add", e.id, d.On, "--type="+d.Type)
		}
	}
	if e.closes() {
		add("close", e.id, "--force", "--reason="+e.after.Text(beads.CloseReason))
	}
	for _, c := range e.added() {
		one := step{argv: []string{"comments", "add", "--author=" + c.Author, "--", e.id, c.Text}}
		if len(c.Text) > longestText { // bd before 1.0 lacks the flag
			one = step{argv: []string{"comment", e.id, "--stdin"}, stdin: []byte(c.Text), actor: c.Author}
		}
		steps = append(steps, one)
	}
	return steps
}

// added returns the new comments.
func (e *edit) added() []beads.Comment {
	was := e.before.Comments()
	return slices.DeleteFunc(e.after.Comments(), func(c beads.Comment) bool {
		return slices.ContainsFunc(was, func(o beads.Comment) bool { return o.Author == c.Author && o.Text == c.Text })
	})
}
