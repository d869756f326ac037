package loop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/workspace"
)

// filter selects the issues that a loop takes.
type filter struct {
	issue      string   // only this one; "" for any
	labels     []string // with all of these
	types      []string // with one of these
	priorities []int    // with one of these
	epic       string   // inside this one
	roles      []string // with one of these as a label
}

// readFilter parses the filter of the request. Short ids are completed.
func (l *loop) readFilter() (f filter, err error) {
	f.roles = l.roles
	file, err := l.store.Snapshot()
	if err != nil {
		return f, err
	}
	defer file.Close()
	full := func(id string) (string, error) {
		issue, err := file.Find(id)
		if err != nil {
			return "", err
		}
		return issue.ID, nil
	}
	for _, word := range l.Filter {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok && f.issue != "":
			return f, workspace.Usage("two issues given: "+f.issue+" and "+word, "give one, or a filter such as label=network")
		case !ok:
			if f.issue, err = full(word); err != nil {
				return f, err
			}
			continue
		}
		switch key {
		case "label":
			f.labels = append(f.labels, value)
		case "type":
			f.types = append(f.types, value)
		case "priority":
			n, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(value), "P"))
			if err != nil {
				return f, workspace.Usage(fmt.Sprintf("priority: must be a whole number; found %q", value), "")
			}
			f.priorities = append(f.priorities, n)
		case "parent":
			if f.epic, err = full(value); err != nil {
				return f, err
			}
		default:
			return f, workspace.Usage(fmt.Sprintf("filter: must be an issue, or start with label=, type=, priority= or parent=; found %q", word), "")
		}
	}
	if l.Epic != "" {
		f.epic, err = full(l.Epic)
	}
	return f, err
}

// matcher decides which issues of a snapshot match. It reads an issue's line last.
type matcher struct {
	filter
	file   *beads.Snapshot
	reader *beads.Reader
	within map[int]bool // nil for any
}

func (f filter) over(file *beads.Snapshot, graph *dag.Graph) matcher {
	m := matcher{filter: f, file: file, reader: file.Reader()}
	if f.epic != "" {
		m.within = map[int]bool{}
		if at, ok := file.Index(f.epic); ok {
			for _, i := range graph.Inside(at) {
				m.within[i] = true
			}
		}
	}
	return m
}

func (m matcher) fits(i int) (bool, error) {
	issue := m.file.At(i)
	switch {
	case m.issue != "" && issue.ID != m.issue,
		m.within != nil && !m.within[i],
		len(m.types) > 0 && !slices.Contains(m.types, issue.Type),
		len(m.priorities) > 0 && !slices.Contains(m.priorities, issue.Priority):
		return false, nil
	}
	record, err := m.reader.Record(issue)
	if err != nil {
		return false, err
	}
	has := record.Labels()
	lacks := func(label string) bool { return !slices.Contains(has, label) }
	switch {
	case slices.Contains(has, beads.ChannelLabel), slices.ContainsFunc(m.labels, lacks):
		return false, nil
	case len(m.roles) == 0:
		return true, nil
	}
	return slices.ContainsFunc(m.roles, func(role string) bool { return !lacks(role) }), nil
}
