package checkpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
)

// formLines and formTexts list the one-line and the long fields of a form, in order.
var (
	formLines = []string{"title", "type", "priority", "assignee", "labels", "parent", "defer", "due", "estimate", "external-ref"}
	formTexts = []string{"description", "design", "acceptance criteria"}
)

// Form renders the fields of an issue as a text to edit: short fields as KEY: VALUE lines, then
// the long ones, each below a heading line. ok is false if a value contains such a heading
// line.
func Form(r *beads.Record) (form string, ok bool) {
	var b strings.Builder
	values := formOf(r)
	for _, name := range formLines {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%s: %s", name, values[name]), " ") + "\n")
	}
	for _, name := range formTexts {
		b.WriteString("\n" + formHeading(name) + "\n" + values[name] + "\n")
	}
	read, err := readForm(b.String())
	for name, value := range values {
		ok = err == nil && read[name] == strings.TrimSpace(value)
		if !ok {
			break
		}
	}
	return b.String(), ok
}

func formHeading(name string) string { return "===== " + name + " =====" }

// formOf returns the fields of an issue as shown in its form.
func formOf(r *beads.Record) map[string]string {
	values := map[string]string{
		"title": r.Text(beads.Title), "type": r.Text(beads.IssueType), "assignee": r.Text(beads.Assignee), "labels": strings.Join(r.Labels(), ", "),
		"defer": r.Text(beads.DeferUntil), "due": r.Text(beads.DueAt), "external-ref": r.Text(beads.ExternalRef), "description": r.Text(beads.Description),
		"design": r.Text(beads.Design), "acceptance criteria": r.Text(beads.AcceptanceCriteria),
	}
	for name, key := range map[string]beads.Key{"priority": beads.Priority, "estimate": beads.EstimatedMinutes} {
		values[name] = string(r.Raw(key))
	}
	for _, d := range r.Deps() {
		if d.Type == parentChild {
			values["parent"] = d.On
		}
	}
	return values
}

// readForm parses a form.
func readForm(form string) (map[string]string, error) {
	values, text := map[string]string{}, ""
	for i, line := range strings.Split(form, "\n") {
		if next := slices.IndexFunc(formTexts, func(name string) bool { return line == formHeading(name) }); next >= 0 {
			text = formTexts[next]
			if _, twice := values[text]; twice {
				return nil, badLine(i+1, fmt.Sprintf("%q appears twice", line), "omit one of them")
			}
			values[text] = ""
			continue
		}
		if text != "" {
			values[text] += line + "\n"
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if name = strings.ToLower(strings.TrimSpace(name)); !ok || !slices.Contains(formLines, name) {
			return nil, badLine(i+1, fmt.Sprintf("must begin with one of %s; found %q", strings.Join(formLines, ", "), line), "write longer texts below their headings")
		}
		values[name] = value
	}
	for name, value := range values {
		values[name] = strings.TrimSpace(value)
	}
	return values, nil
}

// ParseForm returns the changes that an edited form makes to the issue. A removed line or
// heading changes nothing; an empty one removes the field. Errors are fault.Usage.
func ParseForm(form string, r *beads.Record, now time.Time) (Amendment, error) {
	var a Amendment
	now = now.UTC()
	after, err := readForm(form)
	if err != nil {
		return a, err
	}
	before := formOf(r)
	text := func(name string) *string {
		value, there := after[name]
		if !there || value == strings.TrimSpace(before[name]) {
			return nil
		}
		return &value
	}
	a.Title, a.Type, a.Assignee, a.Parent, a.ExternalRef = text("title"), text("type"), text("assignee"), text("parent"), text("external-ref")
	a.Description, a.Design, a.Acceptance = text("description"), text("design"), text("acceptance criteria")
	if p := text("priority"); p != nil {
		n, err := ParsePriority(*p)
		if err != nil {
			return a, err
		}
		a.Priority = &n
	}
	if e := text("estimate"); e != nil {
		n, err := ParseEstimate(*e)
		if err != nil {
			return a, err
		}
		if a.Estimate = &n; strconv.Itoa(n) == before["estimate"] {
			a.Estimate = nil
		}
	}
	for _, day := range []struct {
		name string
		to   **time.Time
	}{{"defer", &a.Defer}, {"due", &a.Due}} {
		if *day.to, err = dayOf(day.name, text(day.name), now); err != nil {
			return a, err
		}
	}
	if l := text("labels"); l != nil {
		labels := []string{}
		for label := range strings.SplitSeq(*l, ",") {
			if label = strings.TrimSpace(label); label != "" {
				labels = append(labels, label)
			}
		}
		a.Labels = &labels
	}
	return a, nil
}
