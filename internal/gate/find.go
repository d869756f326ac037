package gate

import (
	"fmt"
	"strings"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/notes"
)

// The fields of an issue that may contain criteria.
const (
	FieldAcceptance  = "acceptance_criteria"
	FieldDescription = "description"
	FieldDesign      = "design"
)

// Passage is a stretch of an issue's text that says when the issue is done.
type Passage struct {
	Field string // FieldAcceptance, FieldDescription or FieldDesign
	Line  int    // 1-based line of the field at which Text begins
	Text  string // as written; in a list without the indentation
}

// Criteria are the acceptance criteria of an issue: the field of that name, or else what is
// under headings and labels in description and design.
type Criteria []Passage

// Find finds the acceptance criteria of an issue: the field of that name or, if that is empty,
// in description and design what is
//
//   - under a heading that begins with a label of the list criteria in words.txt, as
//     "Acceptance", "Definition of done", "Verification" or "Test plan", up to the next
//     heading of its level;
//   - behind such a label with a colon, in bold or not, at the beginning of a line,
//     a sentence or a list item: the rest of the paragraph, and the lists and code
//     directly below;
//   - below a line that is such a label and nothing else: the first paragraph, the
//     lists and the code directly below.
//
// Labels in code and quotes do not count. A passage that repeats an earlier one is omitted.
func Find(acceptance, description, design string) Criteria {
	if strings.TrimSpace(acceptance) != "" {
		return Criteria{{Field: FieldAcceptance, Line: 1, Text: acceptance}}
	}
	var c Criteria
	seen := map[string]bool{} // a one-line passage
	for _, in := range []struct{ field, text string }{{FieldDescription, description}, {FieldDesign, design}} {
		line, counted := 1, 0
		for _, at := range labelled(in.text) {
			line, counted = line+strings.Count(in.text[counted:at.Start], "\n"), at.Start
			p := Passage{Field: in.field, Line: line, Text: dedent(in.text, at)}
			if said := visible.OneLine(p.Text); !seen[said] {
				seen[said] = true
				c = append(c, p)
			}
		}
	}
	return c
}

// Of finds the criteria of an issue.
func Of(r *beads.Record) Criteria {
	return Find(r.Text(beads.AcceptanceCriteria), r.Text(beads.Description), r.Text(beads.Design))
}

// Without returns a description or a design with another text in place of each passage of
// criteria; labels stay. If there are acceptance criteria, it has no passages.
func Without(acceptance, text, instead string) string {
	if strings.TrimSpace(acceptance) != "" {
		return text
	}
	var rest strings.Builder
	at := 0
	for _, span := range labelled(text) {
		rest.WriteString(text[at:span.Start] + instead)
		at = span.End
	}
	return rest.String() + text[at:]
}

// Text is all criteria as one text, "" for none.
func (c Criteria) Text() string {
	if len(c) == 1 {
		return c[0].Text
	}
	texts := make([]string, len(c))
	for i, p := range c {
		texts[i] = strings.TrimRight(p.Text, " \t\r\n")
	}
	return strings.Join(texts, "\n\n")
}

// Plan is Plan for the text of each passage, with each check's field and line. A command
// repeated from an earlier passage is listed once.
func (c Criteria) Plan() []Check {
	checks := []Check{}
	seen := map[string]bool{}
	for _, p := range c {
		if len(checks) > maxCode {
			rest := unread(p.Line, fmt.Sprintf("not read: more than %d commands stand before it", maxCode))
			rest.Field = p.Field
			return append(checks, rest)
		}
		planned := Plan(p.Text)
		for _, check := range planned {
			check.Field, check.Line = p.Field, check.Line+p.Line-1
			if !check.Asked() || !seen[check.Text] {
				checks = append(checks, check)
			}
		}
		for _, check := range planned {
			seen[check.Text] = seen[check.Text] || check.Asked()
		}
	}
	return checks
}

// Place says where a check is: "description, line 12".
func (c Check) Place() string {
	name := c.Field
	if name == "" || name == FieldAcceptance {
		name = "acceptance criteria"
	}
	return fmt.Sprintf("%s, line %d", name, c.Line)
}

// dedent returns the text of a passage without the indentation of a list, so that it reads as
// it does there.
func dedent(text string, at notes.Span) string {
	lines := strings.Split(text[at.Start:at.End], "\n")
	first := 0
	if at.Start > 0 && text[at.Start-1] != '\n' {
		first = 1 // begins inside a line
	}
	indent := -1
	for _, line := range lines[min(first, len(lines)):] {
		if rest := strings.TrimLeft(line, " "); strings.TrimSpace(rest) != "" && (indent < 0 || len(line)-len(rest) < indent) {
			indent = len(line) - len(rest)
		}
	}
	for i := first; i < len(lines) && indent > 0; i++ {
		lines[i] = lines[i][min(indent, len(lines[i])-len(strings.TrimLeft(lines[i], " "))):]
	}
	return strings.Join(lines, "\n")
}
