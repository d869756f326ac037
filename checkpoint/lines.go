package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
)

// badLine returns a fault.Usage for a line of a batch or a form, counted from 1.
func badLine(line int, reason, hint string) error {
	return usage(fmt.Sprintf("line %d: %s", line, reason), hint)
}

// fields are the keys of one line of a batch. Each is read once; keys that are left at the end
// are unknown.
type fields struct {
	line   int
	values map[string]json.RawMessage
	known  []string
	err    error
}

// text reads a string; nil if the key is absent, "" for null.
func (f *fields) text(key string) *string {
	var s string
	if !f.read(key, &s, "a text") {
		return nil
	}
	return &s
}

func (f *fields) list(key string) *[]string {
	list := []string{}
	if !f.read(key, &list, "a list of texts") {
		return nil
	}
	return &list
}

// number reads a number, or a string that parse accepts.
func (f *fields) number(key string, parse func(string) (int, error)) *int {
	raw := f.values[key]
	text := strings.Trim(string(raw), `"`)
	f.known = append(f.known, key)
	delete(f.values, key)
	if raw == nil || f.err != nil {
		return nil
	}
	if text == "null" {
		text = ""
	}
	n, err := parse(text)
	if err != nil {
		f.err = err
	}
	return &n
}

// day reads a day or a time as ParseDay does.
func (f *fields) day(key string, now time.Time) *time.Time {
	t, err := dayOf(key, f.text(key), now)
	if f.err == nil {
		f.err = err
	}
	return t
}

func (f *fields) read(key string, to any, what string) bool {
	f.known = append(f.known, key)
	raw, ok := f.values[key]
	delete(f.values, key)
	if !ok || f.err != nil {
		return false
	}
	if err := json.Unmarshal(raw, to); err != nil {
		f.err = usage(fmt.Sprintf("%s: must be %s; found %s", key, what, raw), "")
	}
	return true
}

// end returns an error for keys that were not read.
func (f *fields) end() error {
	if f.err == nil && len(f.values) > 0 {
		slices.Sort(f.known)
		f.err = usage(fmt.Sprintf("unknown key %q", slices.Sorted(maps.Keys(f.values))[0]), "the keys are "+strings.Join(f.known, ", "))
	}
	return f.err
}

// eachLine reads JSON objects, one per line. Blank lines are skipped but counted.
func eachLine(text []byte, do func(*fields) error) error {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		f := &fields{line: i + 1}
		err := decodeLine(line, &f.values)
		if err == nil {
			err = do(f)
		}
		if e, ok := err.(*fault.Error); ok {
			return badLine(i+1, e.Error(), e.Hint)
		}
		if err != nil {
			return badLine(i+1, err.Error(), "")
		}
	}
	return nil
}

func decodeLine(line []byte, into *map[string]json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	if err := decoder.Decode(into); err != nil || *into == nil {
		return usage("must be a JSON object", `such as {"title":"Read both forms","priority":1}`)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return usage("must be one JSON object", "put each object on a line of its own")
	}
	return nil
}

// ParseDrafts reads issues to create, one JSON object per line, with the keys of a store's
// lines. Additional keys are name, which later lines may use in parent and deps, parent, deps
// (ids, or TYPE:ID), and cynefin. Errors are fault.Usage.
func ParseDrafts(text []byte, now time.Time) (drafts []Draft, err error) {
	err = eachLine(text, func(f *fields) error {
		d := Draft{Line: f.line, Type: "task", Priority: 2}
		for _, k := range []struct {
			key string
			to  *string
		}{
			{"title", &d.Title}, {"issue_type", &d.Type}, {"description", &d.Description}, {"design", &d.Design},
			{"acceptance_criteria", &d.Acceptance}, {"assignee", &d.Assignee}, {"external_ref", &d.ExternalRef},
			{"parent", &d.Parent}, {"cynefin", &d.Cynefin}, {"name", &d.Name},
		} {
			if given := f.text(k.key); given != nil {
				*k.to = *given
			}
		}
		if p := f.number("priority", ParsePriority); p != nil {
			d.Priority = *p
		}
		if e := f.number("estimated_minutes", ParseEstimate); e != nil {
			d.Estimate = *e
		}
		if l := f.list("labels"); l != nil {
			d.Labels = *l
		}
		if list := f.list("deps"); list != nil {
			for _, dep := range *list {
				d.Deps = append(d.Deps, ParseDep(dep))
			}
		}
		if t := f.day("defer_until", now); t != nil {
			d.Defer = *t
		}
		if t := f.day("due_at", now); t != nil {
			d.Due = *t
		}
		drafts = append(drafts, d)
		return f.end()
	})
	if err != nil {
		return nil, err
	}
	return ordered(drafts, "deps or parent")
}

// ParseAmendments reads edits of issues, one JSON object per line: id and the fields to change,
// with the keys of a store's lines; null or "" removes a field. Additional keys are parent,
// add_labels and remove_labels. Errors are fault.Usage.
func ParseAmendments(text []byte, now time.Time) (ids []string, list []Amendment, err error) {
	err = eachLine(text, func(f *fields) error {
		id := f.text("id")
		a := Amendment{
			Line:  f.line,
			Title: f.text("title"), Description: f.text("description"), Design: f.text("design"), Acceptance: f.text("acceptance_criteria"),
			Type: f.text("issue_type"), Status: f.text("status"), Assignee: f.text("assignee"), ExternalRef: f.text("external_ref"), Parent: f.text("parent"),
			Priority: f.number("priority", ParsePriority), Estimate: f.number("estimated_minutes", ParseEstimate), Labels: f.list("labels"),
		}
		if add := f.list("add_labels"); add != nil {
			a.AddLabels = *add
		}
		if drop := f.list("remove_labels"); drop != nil {
			a.RemoveLabels = *drop
		}
		a.Defer, a.Due = f.day("defer_until", now), f.day("due_at", now)
		if err := f.end(); err != nil {
			return err
		}
		if id == nil || *id == "" {
			return usage("id: is missing", `name the issue: {"id":"…","priority":1}`)
		}
		if a.IsEmpty() {
			return usage(*id+": nothing to change", "give a field beside the id")
		}
		ids, list = append(ids, *id), append(list, a)
		return nil
	})
	return ids, list, err
}

// ParsePriority parses 0 to 4, or P0 to P4.
func ParsePriority(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(text), "P"))
	if err != nil || n < 0 || n > 4 || len(text) > 2 {
		return 0, usage(fmt.Sprintf("priority: must be 0 to 4, or P0 to P4; found %q", text), "0 is the most urgent")
	}
	return n, nil
}

// ParseDep parses TYPE:ID, or the ID of a blocker. An issue in another store is
// external:PROJECT:ID.
func ParseDep(text string) beads.Dep {
	kind, on, typed := strings.Cut(text, ":")
	if !typed || kind == "external" {
		return beads.Dep{On: text, Type: "blocks"}
	}
	return beads.Dep{On: on, Type: kind}
}
