package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// unspecified is what git reports for an attribute that no line sets.
const unspecified = "unspecified"

// merging is how git merges the store.
type merging struct {
	attribute string // value of git's attribute merge: a driver, one of git's own, or unspecified
	command   string // of the driver; "" if this clone configures none of that name
	absent    string // program of the driver, if it is not on PATH
}

// Merging returns how git merges the store.
func (d *mergeDriver) Merging(ctx context.Context) (m merging, err error) {
	text, err := d.git.Must(ctx, "check-attr", "-z", "merge", "--", d.store)
	if err != nil {
		return m, err
	}
	fields := strings.Split(text, "\x00")
	if len(fields) < 3 {
		return m, fmt.Errorf("git check-attr: expected three fields, found %q", text)
	}
	m.attribute = fields[2]
	if m.attribute == unspecified {
		if byDefault, err := d.config(ctx, "merge.default"); err != nil || byDefault == "" {
			return m, err
		} else {
			m.attribute = byDefault
		}
	}
	if slices.Contains([]string{"set", "unset"}, m.attribute) {
		return m, nil
	}
	if m.command, err = d.config(ctx, "merge."+m.attribute+".driver"); err != nil {
		return m, err
	}
	program, _, _ := strings.Cut(m.command, " ")
	if m.command != "" && !strings.ContainsAny(program, "\"'$=~(") && !d.have(program) {
		m.absent = program
	}
	return m, nil
}

// String describes m as a statement about the store.
func (m merging) String() string {
	switch {
	case m.absent != "":
		return fmt.Sprintf("git merges the store with %q, whose program %s is not on PATH", m.attribute, m.absent)
	case m.command != "":
		return fmt.Sprintf("git merges the store with %q", m.attribute)
	case m.attribute == "union":
		return "git merges the store with union, which keeps the lines of both sides: an issue that both changed appears twice"
	case m.attribute == "unset" || m.attribute == "binary":
		return "git does not merge the store: it keeps this side and reports a conflict"
	case slices.Contains([]string{unspecified, "set", "text"}, m.attribute):
		return "git merges the store line by line"
	}
	return fmt.Sprintf("git merges the store line by line: no driver %q is configured in this clone", m.attribute)
}
