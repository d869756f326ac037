package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"stig/beads"
)

// lineLimit is the longest line in bytes that every bd command reads.
const lineLimit = 60 << 10

// printChanges says which issues an edit changed, or shows the diff of a dry run.
func (a *app) printChanges(changes []beads.Change, warnings []string, dryRun bool) error {
	if a.json {
		return a.printEdit("edit", map[string]any{"warnings": append([]string{}, warnings...)}, changes, dryRun)
	}
	if dryRun {
		return a.printDiff(changes)
	}
	if len(changes) == 0 {
		return a.print("nothing changed\n")
	}
	for _, c := range changes {
		if err := a.printf("%s: written\n", c.ID); err != nil {
			return err
		}
	}
	a.warnOfEdit("", warnings, changes)
	return nil
}

// printEdit prints the data of an edit: its own keys, whether it was written,
// the issues it touched, and for a dry run the diff.
func (a *app) printEdit(kind string, body any, changes []beads.Change, dryRun bool) error {
	own, err := json.Marshal(body)
	if err != nil {
		return err
	}
	merged := map[string]any{}
	if err := json.Unmarshal(own, &merged); err != nil {
		return err
	}
	ids := []string{}
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	merged["issues"], merged["dry_run"] = ids, dryRun
	if dryRun {
		if merged["diff"], err = diffText(changes); err != nil {
			return err
		}
	}
	return a.printJSON(kind, merged)
}

func (a *app) printDiff(changes []beads.Change) error {
	if len(changes) == 0 {
		return a.print("nothing would change\n")
	}
	text, err := diffText(changes)
	if err != nil {
		return err
	}
	return a.print(text)
}

// diffText shows changed lines key by key, texts by their own lines, and a new
// line as it will stand.
func diffText(changes []beads.Change) (string, error) {
	var text strings.Builder
	for _, c := range changes {
		if c.Before == nil {
			fmt.Fprintf(&text, "+%s\n", c.After)
			continue
		}
		values, err := c.Values()
		if err != nil {
			return "", err
		}
		for _, v := range values {
			name := c.ID + " " + string(v.Key)
			_, hunks, _ := bytes.Cut(diff.Diff(name, lines(v.Before), name, lines(v.After)), []byte("\n"))
			text.Write(hunks)
		}
	}
	return text.String(), nil
}

// lines ends a text with a newline, as the diff expects.
func lines(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(strings.TrimSuffix(text, "\n") + "\n")
}

// warnOfEdit warns of what an edit leaves to look at. The warnings are about one
// issue, or name theirs when id is "".
func (a *core) warnOfEdit(id string, warnings []string, changes []beads.Change) {
	if id != "" {
		id += ": "
	}
	for _, w := range warnings {
		a.warn("%s%s", id, w)
	}
	a.warnOfLines(changes)
}

// warnOfLines warns of lines that some bd commands cannot read.
func (a *core) warnOfLines(changes []beads.Change) {
	for _, c := range changes {
		if len(c.After) > lineLimit {
			a.warn("%s: its line is %d bytes long; some versions of bd read at most 65536 of a line", c.ID, len(c.After))
		}
	}
}
