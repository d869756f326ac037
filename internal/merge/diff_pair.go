package merge

import (
	"bytes"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/gate"
)

// pair is one issue before and after.
type pair struct {
	id            string
	before, after *beads.Record
	rename        func(text string) string // replaces ids in a text by current ones
	diff          *Diff
}

func (p *pair) vanished(k Kind, name, was string) {
	p.diff.Vanished = append(p.diff.Vanished, Vanished{p.id, k, name, was})
}

func (p *pair) changed(k Kind, name, from, to string) {
	p.diff.Changed = append(p.diff.Changed, Changed{p.id, k, name, from, to})
}

func (p *pair) added(k Kind, name string) {
	p.diff.Added = append(p.diff.Added, Added{p.id, k, name})
}

// criteria compares the acceptance criteria by line, wherever they are: those that moved from
// the description to their own field are kept. If lines only went they have vanished; otherwise
// it is unknown which line replaced which, and the criteria have changed.
func (p *pair) criteria() {
	was := gate.Of(p.before).Text()
	before, after := textLines(was), textLines(gate.Of(p.after).Text())
	gone, come := without(before, after), without(after, before)
	switch {
	case len(after) == 0 && len(before) > 0:
		p.vanished(Criteria, string(beads.AcceptanceCriteria), was)
	case len(come) == 0:
		for _, line := range gone {
			p.vanished(Criteria, string(beads.AcceptanceCriteria), line)
		}
	case len(gone) == 0:
		for _, line := range come {
			p.added(Criteria, line)
		}
	default:
		p.changed(Criteria, string(beads.AcceptanceCriteria), strings.Join(gone, "\n"), strings.Join(come, "\n"))
	}
}

// textLines are the non-blank lines of a text.
func textLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// without is the multiset difference of two lists.
func without(list, other []string) (left []string) {
	count := map[string]int{}
	for _, s := range other {
		count[s]++
	}
	for _, s := range list {
		if count[s]--; count[s] < 0 {
			left = append(left, s)
		}
	}
	return left
}

func (p *pair) edges(before, after []beads.Dep) {
	gone := slices.DeleteFunc(slices.Clone(before), func(d beads.Dep) bool { return slices.Contains(after, d) })
	come := slices.DeleteFunc(slices.Clone(after), func(d beads.Dep) bool { return slices.Contains(before, d) })
	for _, was := range gone {
		retyped := slices.IndexFunc(come, func(d beads.Dep) bool { return d.On == was.On })
		if retyped < 0 {
			p.vanished(Edge, was.On, was.Type)
			continue
		}
		p.changed(Edge, was.On, was.Type, come[retyped].Type)
		come = slices.Delete(come, retyped, retyped+1)
	}
	for _, is := range come {
		p.added(Edge, is.On)
	}
}

func (p *pair) labels() {
	for _, label := range without(p.before.Labels(), p.after.Labels()) {
		p.vanished(Label, label, label)
	}
	for _, label := range without(p.after.Labels(), p.before.Labels()) {
		p.added(Label, label)
	}
}

// comments compares by author and text, since some tools renumber ids.
func (p *pair) comments() {
	before, after := comments(p.before), comments(p.after)
	for i := range before {
		before[i].text = p.rename(before[i].text)
	}
	had, has := counted(before), counted(after)
	for _, c := range before {
		if has[c]--; has[c] < 0 {
			p.vanished(Comment, c.author, c.text)
		}
	}
	for _, c := range after {
		if had[c]--; had[c] < 0 {
			p.added(Comment, c.author)
		}
	}
}

// counted is a list as a multiset: saying the same twice counts twice.
func counted(list []comment) map[comment]int {
	times := make(map[comment]int, len(list))
	for _, c := range list {
		times[c]++
	}
	return times
}

type comment struct{ author, text string }

func comments(r *beads.Record) (list []comment) {
	for _, raw := range r.Elements("comments") {
		c, err := beads.ParseRecord(raw)
		if err != nil {
			// Not an object: it has no author, and is its own text.
			list = append(list, comment{"", string(raw)})
			continue
		}
		list = append(list, comment{c.Text("author"), strings.TrimSpace(c.Text("text"))})
	}
	return list
}

// elsewhere are the keys that are compared by content, and those that are not compared: the id
// is the same, and every write changes updated_at.
var elsewhere = []beads.Key{
	beads.ID, beads.UpdatedAt, beads.Notes, beads.AcceptanceCriteria, "labels", "dependencies", "comments",
}

func (p *pair) keys() {
	for _, k := range p.before.Keys() {
		if slices.Contains(elsewhere, k) {
			continue
		}
		was, is := p.before.Raw(k), p.after.Raw(k)
		switch {
		case bytes.Equal(was, is) || beads.Meaning(was) == beads.Meaning(is):
		case beads.Meaning(is) == "":
			p.vanished(Key, string(k), shown(p.before, k))
		case beads.Meaning(was) == "":
			p.added(Key, string(k))
		default:
			p.changed(Key, string(k), shown(p.before, k), shown(p.after, k))
		}
	}
	for _, k := range p.after.Keys() {
		if !slices.Contains(elsewhere, k) && p.before.Raw(k) == nil && beads.Meaning(p.after.Raw(k)) != "" {
			p.added(Key, string(k))
		}
	}
}

// shown formats a value as text, a string decoded.
func shown(r *beads.Record, k beads.Key) string {
	if raw := r.Raw(k); len(raw) > 0 && raw[0] != '"' {
		return string(raw)
	}
	return r.Text(k)
}
