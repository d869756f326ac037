package store

import (
	"fmt"
	"strings"
	"time"

	"stig/cmd/stig/cli"
	"stig/internal/journal"
	"stig/internal/merge"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// lostValue is a finding as JSON.
type lostValue struct {
	ID            string   `json:"id"`
	What          string   `json:"what"`
	Was           string   `json:"was"`
	OverwrittenBy string   `json:"overwritten_by"` // "" when unknown
	State         string   `json:"state"`
	Where         string   `json:"where,omitempty"`
	At            string   `json:"at"`
	By            string   `json:"by"`
	Argv          []string `json:"argv"` // command that puts it back; empty if none does
}

func lostOf(f journal.Finding) lostValue {
	v := lostValue{ID: f.ID, What: whatOf(f), Was: f.Text, State: string(f.State), Where: f.Where,
		At: f.Record.At.UTC().Format(time.RFC3339), By: f.Record.Actor, Argv: []string{}}
	if f.Kind == merge.Signal {
		v.Was, _ = merge.CutSignal(f.Text)
	}
	if f.State == journal.Lost {
		v.Argv = []string{"stig", "recover", f.ID, "--apply"}
	}
	return v
}

// whatOf returns the kind and the name of a part of an issue.
func whatOf(f journal.Finding) string {
	switch {
	case f.Kind == merge.KindIssue:
		return string(merge.KindIssue)
	case f.Removed():
		return string(f.Kind) + " " + f.Name + " (removed)"
	}
	return string(f.Kind) + " " + f.Name
}

func valuesOf(findings []journal.Finding) []lostValue {
	list := []lostValue{}
	for _, f := range findings {
		list = append(list, lostOf(f))
	}
	return list
}

// foundText lists lost edits, then the others.
func foundText(lost, others []journal.Finding) string {
	var found, rest grouped
	for _, f := range lost {
		line := lostLine(f)
		if f.Where != "" && !f.InFile() {
			line += " (lost in " + f.Where + ")"
		}
		found.add(f.ID, "%s", line)
	}
	for _, f := range others {
		rest.add(f.ID, "%s (%s)", lostLine(f), whereOf(f))
	}
	var text strings.Builder
	found.write(&text, "lost")
	rest.write(&text, "not lost")
	return text.String()
}

// whereOf returns what became of a value that is not lost.
func whereOf(f journal.Finding) string {
	switch f.State {
	case journal.Elsewhere:
		return "on " + f.Where
	case journal.Removed:
		return "removed by " + f.Where
	case journal.TakenBack:
		return "perhaps taken back: the line has a later date"
	}
	return string(f.State)
}

// lostLine returns a finding on one line: what, when, by whom, and its text, shortened.
func lostLine(f journal.Finding) string {
	what, at := cli.OneLine(whatOf(f), 60), f.Record.At.UTC().Format(time.RFC3339)
	line := fmt.Sprintf("%s, written %s", what, at)
	switch {
	case f.InFile():
		line = fmt.Sprintf("%s, in %s", what, workspace.Shortest(f.Where))
	case f.Record.Seen: // seen in a session of that actor, who did not write it
		line = fmt.Sprintf("%s, gone since %s", what, at)
	case f.Record.Actor != "":
		line += " by " + f.Record.Actor
	}
	switch {
	case f.Hidden:
		line += ": the journal has only a hash"
	case f.Kind != merge.KindIssue && !f.Removed():
		line += ": " + shortText(string(f.Kind), f.Text)
	}
	return line
}

// noteKept reports what became of the versions of the store that were kept beside it.
func noteKept(a *cli.App, files []service.KeptFile) {
	for _, f := range files {
		if f.Left == 0 {
			a.Note("removed %s", f.Path)
			continue
		}
		a.Note("%s: kept: %s not in the store", f.Path, visible.Counted(f.Left, "value"))
		a.Hint("type stig recover --all to see what, and stig recover --forget to remove the file")
	}
}
