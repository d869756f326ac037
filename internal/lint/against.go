package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/merge"
	"stig/internal/visible"
	"stig/notes"
	"stig/signals"
)

// Past is an earlier version of the store, and its name.
type Past struct {
	File *beads.Snapshot
	Name string   // for messages, such as "main"
	Gate []string // settings of the gate that differ, each with both values
}

// against reports changes since an earlier version of the store that must not go unnoticed. It
// reads the lines of changed issues only.
func against(f *beads.Snapshot, past Past, rules Rules) ([]Diagnostic, error) {
	d, err := merge.Stores(past.File, f)
	if err != nil {
		return nil, err
	}
	l := losses{file: f, since: past.Name}
	for _, v := range d.Vanished {
		l.vanished(v)
	}
	for _, c := range d.Changed {
		l.changed(c)
	}
	found := l.found
	for _, setting := range past.Gate {
		found = append(found, breach(f, RuleGateSet, "", 1, setting,
			"check that this was intended: git diff "+past.Name+"... -- .stig.cue"))
	}
	var closed []string
	var changes []*change
	for _, id := range changedIssues(d) {
		at, ok := f.Index(id)
		if !ok {
			continue // vanished, which is already reported
		}
		was, _ := d.Before(id)
		c, err := changeOf(f, at, was, past, rules)
		if err != nil {
			return nil, err
		}
		c.judge()
		if c.commit != "" {
			changes = append(changes, c)
		} else {
			found = append(found, c.found...)
		}
		if c.toProve() {
			closed = append(closed, id)
		}
	}
	if err := lookUp(changes, rules); err != nil {
		return nil, err
	}
	for _, c := range changes {
		found = append(found, c.found...)
	}
	for _, id := range rules.Worked {
		if !slices.Contains(closed, id) {
			closed = append(closed, id)
		}
	}
	if rules.Prove == nil || closed == nil {
		return found, nil
	}
	failed, err := unproven(f, closed, past.Name, rules)
	return append(found, failed...), err
}

// changedIssues returns the ids of a difference, each once.
func changedIssues(d merge.Diff) (ids []string) {
	seen := map[string]bool{}
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, v := range d.Vanished {
		add(v.ID)
	}
	for _, c := range d.Changed {
		add(c.ID)
	}
	for _, a := range d.Added {
		add(a.ID)
	}
	return ids
}

// losses collects what is gone and somebody relied on.
type losses struct {
	file  *beads.Snapshot
	since string
	found []Diagnostic
}

func (l *losses) add(rule, id, message, hint string) {
	line := 0
	if at, there := l.file.Index(id); there {
		line = l.file.At(at).Line
	}
	l.found = append(l.found, breach(l.file, rule, id, line, message, hint))
}

func (l *losses) vanished(v merge.Vanished) {
	if l.deleted(v.ID) {
		return // a deleted issue keeps only its name
	}
	back := fmt.Sprintf("restore it: stig diff %s shows what it was", l.since)
	switch v.Kind {
	case merge.KindIssue:
		l.gone(v)
	case merge.Memory, merge.Line:
		l.forgotten(v)
	case merge.Section:
		if !l.keepsOne(v) {
			l.add(RuleSection, v.ID, fmt.Sprintf("the section %q is gone from its notes since %s", v.Name, l.since), back)
		}
	case merge.Signal:
		if _, known := signals.Named(v.Name); known {
			l.add(RuleSection, v.ID, fmt.Sprintf("the signal %s is gone since %s; it was %q", v.Name, l.since, v.Was), back)
		}
	case merge.Comment:
		l.add(RuleUnsaid, v.ID, strings.TrimSpace("a comment by "+v.Name)+" is gone since "+l.since+": "+opening(v.Was), back)
	case merge.Criteria:
		l.add(RuleWeakened, v.ID, fmt.Sprintf("acceptance criteria are gone since %s: %s", l.since, opening(v.Was)), back)
	case merge.Edge:
		if relies(v.Was) && !l.deleted(v.Name) {
			l.add(RuleEdge, v.ID, fmt.Sprintf("the dependency on %s (%s) is gone since %s", v.Name, v.Was, l.since),
				fmt.Sprintf("if that was not intended, type stig dep add %s --on %s --type %s", v.ID, v.Name, v.Was))
		}
	}
}

// gone reports an issue that is gone. Another one may have its id.
func (l *losses) gone(v merge.Vanished) {
	message := fmt.Sprintf("the issue %s is gone since %s", opening(v.Was), l.since)
	hint := fmt.Sprintf("restore its line, which git diff %s -- %s shows", l.since, l.file.Place().File())
	if at, taken := l.file.Index(v.ID); taken {
		message += fmt.Sprintf("; %s has its id", opening(l.file.At(at).Title))
		hint = strings.Replace(hint, "restore its line", "restore its line with another id", 1)
	}
	l.add(RuleVanished, v.ID, message, hint)
}

// forgotten reports a line that is gone and was not an issue.
func (l *losses) forgotten(v merge.Vanished) {
	message := fmt.Sprintf("the %s %s is gone since %s", v.Kind, opening(v.Name), l.since)
	if v.Kind == merge.Memory {
		message += "; it was " + opening(v.Was)
	}
	l.add(RuleVanished, "", message, fmt.Sprintf("restore its line, which git diff %s -- %s shows", l.since, l.file.Place().File()))
}

func (l *losses) changed(c merge.Changed) {
	switch {
	case c.Kind == merge.Criteria:
		l.add(RuleWeakened, c.ID, fmt.Sprintf("acceptance criteria changed since %s, from %s to %s", l.since, opening(c.From), opening(c.To)),
			"check that they require no less than before: stig diff "+l.since)
	case c.Kind == merge.Edge && relies(c.From) && !relies(c.To):
		l.add(RuleEdge, c.ID, fmt.Sprintf("the dependency on %s became %q since %s; it was %q", c.Name, c.To, l.since, c.From),
			fmt.Sprintf("if that was not intended, type stig dep add %s --on %s --type %s", c.ID, c.Name, c.From))
	}
}

// relies reports whether a dependency of this type orders work.
func relies(dependencyType string) bool {
	return dag.Blocks(dependencyType) || dag.Contains(dependencyType)
}

func (l *losses) deleted(id string) bool {
	at, there := l.file.Index(id)
	return there && l.file.At(at).Status == beads.StatusTombstone
}

// keepsOne reports whether the notes still have a section of that name: the last one is live,
// and reconciling merges the earlier ones into it.
func (l *losses) keepsOne(v merge.Vanished) bool {
	at, there := l.file.Index(v.ID)
	if !there {
		return false
	}
	record, err := l.file.At(at).Record()
	if err != nil {
		return false
	}
	_, kept := notes.Parse(record.Text(beads.Notes)).Live(v.Name)
	return kept
}

// opening returns the beginning of a text, quoted, on one line.
func opening(text string) string {
	const most = 60
	return strconv.Quote(visible.Clipped(visible.OneLine(text), most))
}
