package orient

import (
	"regexp"
	"slices"
	"strings"

	"stig/notes"
)

// asking are the words that announce what is open, in a heading or a label.
const asking = `(?:open questions?|questions?|unknowns?|uncertaint(?:y|ies)|assumptions?|to decide|decisions? needed|` +
	`to (?:discover|find out|clarify)|to be (?:decided|clarified)|risks?)`

// openQuestions finds what a text leaves open: the lists under headings and labels
// that announce it, tasks that are not ticked off among them, and prose with a
// question mark or TBD. name says whose text it is.
func openQuestions(name, text string) []Item {
	if text == "" {
		return nil
	}
	tbd := regexp.MustCompile(`\bTBD\b`)
	heading := regexp.MustCompile(`(?i)\b` + asking + `\b`)

	var found []Item
	add := func(from, text string) {
		had := func(have Item) bool { return strings.Contains(have.Text, text) }
		if text != "" && !slices.ContainsFunc(found, had) {
			found = append(found, Item{From: from, Text: text})
		}
	}
	for _, p := range notes.Parts(text) {
		if heading.MatchString(p.Heading) {
			for _, item := range listItems(p.Body) {
				add(p.Heading, item)
			}
		}
	}
	for _, l := range labelled(text) {
		add(l.From, l.Text)
	}
	task := regexp.MustCompile(`^\[([ xX])\]\s+`)
	for _, line := range notes.Prose(text) {
		if mark := task.FindStringSubmatch(line.Text); mark != nil {
			if line.Text = line.Text[len(mark[0]):]; mark[1] != " " {
				continue
			}
		}
		if strings.Contains(line.Text+" ", "? ") || tbd.MatchString(line.Text) {
			add(name, line.Text)
		}
	}
	return found
}

// labelled lists what stands under a label such as "Risks:": what follows it on
// its line, and the list below it.
func labelled(text string) (list []Item) {
	label := regexp.MustCompile(`(?i)^\s*(?:[-*+]\s+)?(?:\*\*|__)?(` + asking + `)\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*(.*)$`)
	lines := strings.Split(text, "\n")
	for k, line := range lines {
		m := label.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if m == nil {
			continue
		}
		if m[2] != "" {
			list = append(list, Item{From: m[1], Text: m[2]})
		}
		for _, item := range listItems(strings.TrimLeft(listBelow(lines[k+1:]), "\n")) {
			list = append(list, Item{From: m[1], Text: item})
		}
	}
	return list
}

// listBelow gives the list with which lines begin, a blank line above it allowed.
func listBelow(lines []string) string {
	bullet := regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s`)
	end := 0
	for k, line := range lines {
		blank := strings.TrimSpace(line) == ""
		switch {
		case bullet.MatchString(line), end > 0 && !blank && strings.HasPrefix(line, " "):
			end = k + 1
		case blank && end == 0 && k == 0:
		default:
			return strings.Join(lines[:end], "\n")
		}
	}
	return strings.Join(lines[:end], "\n")
}

// listItems gives the items of the lists in a text, each on one line. A task that
// is ticked off is open no longer.
func listItems(text string) []string {
	bullet := regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?`)
	var items []string
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch mark := bullet.FindStringSubmatch(line); {
		case mark != nil:
			inside = !strings.EqualFold(mark[1], "x")
			if inside {
				items = append(items, line[len(mark[0]):])
			}
		case line == "":
			inside = false
		case inside:
			items[len(items)-1] += " " + line
		}
	}
	return items
}
