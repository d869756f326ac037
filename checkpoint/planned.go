package checkpoint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/visible"
	"stig/notes"
)

// ParsePlan reads issues from Markdown. A heading is the title of an issue, and the headings
// below it are its children. KEY: VALUE lines may follow a heading directly; then comes the
// description. The headings Acceptance and Design, one level lower, contain the criteria and
// the design.
//
//	# Build the pier
//
//	## Drive the piles
//
//	priority: 1
//	after: Order the piles
//
//	### Acceptance
//
//	- `make soundings` passes
//
// The key after lists what an issue waits for, separated by commas: titles or names in the
// plan, or ids. Drafts are returned in an order in which they can be created, otherwise in the
// order of the text. Errors are fault.Usage with the line.
func ParsePlan(markdown string, now time.Time) ([]Draft, error) {
	markdown = visible.LF(markdown)
	p := plan{text: markdown, now: now}
	parts := notes.Parts(markdown)
	if len(parts) > 0 && strings.TrimSpace(markdown[:parts[0].Start]) != "" {
		return nil, &BatchError{Line: 1, Err: usage("text before the first heading belongs to no issue", "write it under a heading")}
	}
	for _, part := range parts {
		if err := p.part(part); err != nil {
			return nil, err
		}
	}
	if len(p.drafts) == 0 {
		return nil, usage("the plan has no heading", "write each issue as a heading: # Build the pier, ## Drive the piles")
	}
	if err := p.link(); err != nil {
		return nil, err
	}
	return ordered(p.drafts, "after:")
}

// plan is the state of the parser.
type plan struct {
	text   string
	now    time.Time
	drafts []Draft
	levels []int      // heading levels of the drafts
	after  [][]string // the value of after of each draft, as written
	past   int        // headings before this offset belong to criteria or a design
	open   []int      // the drafts that can be parents of the next heading, the outermost first
}

func (p *plan) line(offset int) int { return 1 + strings.Count(p.text[:offset], "\n") }

// part parses one heading and its text.
func (p *plan) part(part notes.Part) error {
	if part.Start < p.past {
		return nil
	}
	for len(p.open) > 0 && p.levels[p.open[len(p.open)-1]] >= part.Level {
		p.open = p.open[:len(p.open)-1]
	}
	word, _, _ := strings.Cut(strings.ToLower(part.Heading), " ")
	if len(p.open) > 0 {
		of := &p.drafts[p.open[len(p.open)-1]]
		switch strings.TrimSuffix(word, ":") {
		case "acceptance":
			of.Acceptance, p.past, of.unread = part.Body, part.End, append(of.unread, unreadFields(part.Body)...)
			return nil
		case "design":
			of.Design, p.past, of.unread = part.Body, part.End, append(of.unread, unreadFields(part.Body)...)
			return nil
		}
	}
	d := Draft{Line: p.line(part.Start), Name: fmt.Sprintf("\x00%d", len(p.drafts)), Title: part.Heading, Type: "task", Priority: 2}
	if len(p.open) > 0 {
		above := p.open[len(p.open)-1]
		d.Parent = p.drafts[above].Name
		p.drafts[above].Type = "epic"
	}
	own := part.Body
	if below := notes.Parts(part.Body); len(below) > 0 {
		own = part.Body[:below[0].Start]
	}
	p.after = append(p.after, nil)
	p.drafts, p.levels = append(p.drafts, d), append(p.levels, part.Level)
	p.open = append(p.open, len(p.drafts)-1)
	return p.fields(len(p.drafts)-1, strings.TrimSpace(own))
}

var planField = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-*+] +)?[*_` + "`" + `]*([A-Za-z]+(?: [a-z]+)?)[*_` + "`" + `]*[ \t]*:[*_` + "`" + `]*(?:[ \t]+(\S.*))?$`)
})

// planKeys are the keys that a plan may have under a heading.
const planKeys = "name, type, priority, labels, after, cynefin, assignee, estimate, defer, due"

// isPlanKey reports whether a key is one that a plan may have.
func isPlanKey(key string) bool { return slices.Contains(strings.Split(planKeys, ", "), key) }

// meantKeys are words that people write for keys of a plan.
var meantKeys = []string{"depends on", "blocked by", "waits for", "needs", "requires", "depends", "deps", "dependencies", "prio", "label"}

// planLine reads a line KEY: VALUE, its key in small letters; "" is another line. The value
// may be missing.
func planLine(line string) (key, value string) {
	match := planField().FindStringSubmatch(line)
	if match == nil {
		return "", ""
	}
	return strings.ToLower(match[1]), strings.TrimSpace(match[2])
}

// fields takes the lines KEY: VALUE that stand directly under a heading, blank lines
// between them or not; the rest is the description. They begin with a key that is known,
// and up to the next blank line there is no other text, so that a misspelt key does not
// go unseen.
func (p *plan) fields(i int, text string) error {
	lines := strings.Split(text, "\n")
	for n, within := 0, false; n < len(lines); n++ {
		line := lines[n]
		key, value := planLine(line)
		switch {
		case strings.TrimSpace(line) == "":
			within = false
			continue
		case !within && !isPlanKey(key):
			p.drafts[i].Description = strings.TrimSpace(strings.Join(lines[n:], "\n"))
			p.drafts[i].unread = unreadFields(p.drafts[i].Description)
			return nil
		}
		err := error(nil)
		if key == "" {
			err = usage(fmt.Sprintf("must be KEY: VALUE with a key of %s; found %q", planKeys, line), "put a blank line between the fields and the description")
		} else {
			err = p.field(i, key, value)
		}
		if err != nil {
			return &BatchError{At: i, Line: p.fieldLine(i, line), Err: err}
		}
		within = true
	}
	return nil
}

// unreadFields warns of lines of a description that look as if they were fields: work
// would begin in the wrong order.
func unreadFields(description string) (warnings []string) {
	for _, line := range notes.Prose(description) {
		if key, _ := planLine(line.Text); isPlanKey(key) || slices.Contains(meantKeys, key) {
			warnings = append(warnings, fmt.Sprintf("%q is taken for text: the fields of a plan are %s, and stand directly under the heading", line.Text, planKeys))
		}
	}
	return warnings
}

// fieldLine is the line in which a field of a draft stands.
func (p *plan) fieldLine(i int, line string) int {
	for n, text := range strings.Split(p.text, "\n") {
		if n+1 > p.drafts[i].Line && text == line {
			return n + 1
		}
	}
	return p.drafts[i].Line
}

func (p *plan) field(i int, key, value string) (err error) {
	d := &p.drafts[i]
	if value == "" && isPlanKey(key) {
		return usage(key+": says nothing", "write the value behind it on the same line, several with commas between them: "+key+": …")
	}
	list := func() (words []string) {
		for word := range strings.SplitSeq(value, ",") {
			if word = strings.TrimSpace(word); word != "" {
				words = append(words, word)
			}
		}
		return words
	}
	switch key {
	case "name":
		// Children that were read before have the name that it had; there are none.
		d.Name = value
	case "type":
		d.Type = value
	case "priority":
		d.Priority, err = ParsePriority(value)
	case "labels":
		d.Labels = append(d.Labels, list()...)
	case "after":
		p.after[i] = append(p.after[i], list()...)
	case "cynefin":
		d.Cynefin = value
	case "assignee":
		d.Assignee = value
	case "estimate":
		d.Estimate, err = ParseEstimate(value)
	case "defer":
		d.Defer, err = ParseDay(key, value, p.now)
	case "due":
		d.Due, err = ParseDay(key, value, p.now)
	default:
		err = usage(fmt.Sprintf("%s: no field of a plan; known are %s", key, planKeys), "")
	}
	return err
}

// link finds what each draft waits for: in the plan by name or title, else by id.
func (p *plan) link() error {
	for i, names := range p.after {
		for _, name := range names {
			dep := ParseDep(name)
			var found []int
			for j, d := range p.drafts {
				if d.Name == dep.On || strings.EqualFold(d.Title, dep.On) || strings.EqualFold(d.Title, name) {
					found = append(found, j)
				}
			}
			switch {
			case len(found) > 1:
				return p.wrong(i, fmt.Sprintf("after: %q is the title of lines %d and %d", name, p.drafts[found[0]].Line, p.drafts[found[1]].Line), "give one of them a name: and write that")
			case len(found) == 1 && found[0] == i:
				return p.wrong(i, fmt.Sprintf("after: %q waits for itself", name), "leave it out")
			case len(found) == 1 && strings.EqualFold(p.drafts[found[0]].Title, name):
				dep = ParseDep(p.drafts[found[0]].Name)
			case len(found) == 1:
				dep.On = p.drafts[found[0]].Name
			case strings.ContainsAny(dep.On, " \t"):
				return p.wrong(i, fmt.Sprintf("after: nothing in the plan is called %q", name), "write a title or a name of the plan, or the id of an issue")
			}
			p.drafts[i].Deps = append(p.drafts[i].Deps, dep)
		}
	}
	return nil
}

func (p *plan) wrong(i int, reason, hint string) error {
	return &BatchError{At: i, Line: p.drafts[i].Line, Err: usage(reason, hint)}
}

// ordered sorts drafts so that each comes after those that it names, as late as their
// text has them. Drafts that wait for each other are refused with their lines; key is where
// the text says what a draft waits for.
func ordered(drafts []Draft, key string) (list []Draft, err error) {
	of := map[string]int{}
	for i, d := range drafts {
		if d.Name != "" {
			if _, twice := of[d.Name]; twice {
				return nil, &BatchError{At: i, Line: d.Line, Err: usage(fmt.Sprintf("name %q is taken by an earlier line", d.Name), "name each differently")}
			}
			of[d.Name] = i
		}
	}
	const waiting, done = 1, 2
	state := make([]int, len(drafts))
	var path []int
	var visit func(i int) error
	visit = func(i int) error {
		if state[i] == done {
			return nil
		}
		path = append(path, i)
		if state[i] == waiting {
			return ring(drafts, path, key)
		}
		state[i] = waiting
		for _, name := range needs(drafts[i]) {
			if j, ok := of[name]; ok {
				if err := visit(j); err != nil {
					return err
				}
			}
		}
		state[i], path = done, path[:len(path)-1]
		list = append(list, drafts[i])
		return nil
	}
	for i := range drafts {
		if err := visit(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// needs lists the names that a draft has to come after.
func needs(d Draft) (names []string) {
	if d.Parent != "" {
		names = append(names, d.Parent)
	}
	for _, dep := range d.Deps {
		names = append(names, dep.On)
	}
	return names
}

// ring refuses drafts that wait for each other: path ends where it came by before.
func ring(drafts []Draft, path []int, key string) error {
	last := path[len(path)-1]
	var words []string
	for _, i := range path[slices.Index(path, last):] {
		words = append(words, fmt.Sprintf("%q (line %d)", drafts[i].Title, drafts[i].Line))
	}
	return &BatchError{At: last, Line: drafts[last].Line, Err: usage("waits for itself: "+strings.Join(words, " needs "), "take one of these out of "+key)}
}
